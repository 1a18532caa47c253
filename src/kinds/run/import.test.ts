import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideBegin, decideCommand } from '../../kernel/lifecycle.ts';
import type { KindCommand } from '../../kernel/kind.ts';
import { absentSession, appendEvents, isOpened, viewOfSession, type OpenedSession } from '../../kernel/session.ts';
import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { kind } from './index.ts';

const node = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  name: id,
  type: 'skill',
  executor: 'worker',
  args: '',
  on_fail: 'abort',
  idempotent: false,
  auto_continue: false,
  details: {},
  ...more,
});

const work = (status: string, more: JsonObject = {}): JsonObject => ({
  status,
  started_at: null,
  completed_at: null,
  session_id: null,
  output_path: null,
  artifacts: [],
  error: null,
  ...more,
});
const checkpoint = (status: string): JsonObject => ({ status, saved_at: null, snapshot_path: null });

/** A and B side by side, a checkpoint, and C. */
const found = (states: JsonObject, more: JsonObject = {}, documentMore: JsonObject = {}): KindCommand => ({
  type: 'import',
  digest: JSON.stringify([states, documentMore]),
  is_over: false,
  document: {
    session_id: 'r',
    template_id: 't',
    template_path: 't.json',
    template_name: 'T',
    status: 'running',
    context: {},
    execution_plan: [
      { batch: 1, nodes: ['A', 'B'], parallel: true },
      { batch: 2, nodes: ['CP'], parallel: false },
      { batch: 3, nodes: ['C'], parallel: false },
    ],
    current_batch: 1,
    current_node: 'A',
    last_checkpoint: null,
    node_states: { A: work('pending'), B: work('pending'), CP: checkpoint('pending'), C: work('pending'), ...states },
    created_at: '2026-03-01T08:00:00Z',
    updated_at: '2026-03-01T09:00:00Z',
    completed_at: null,
    ...documentMore,
  },
  nodes: [node('C'), node('A'), node('CP', { type: 'checkpoint', executor: null }), node('B')],
  unknown: {},
  unknown_of_nodes: {},
  unknown_of_batches: {},
  ...more,
});

const append = (session: OpenedSession, events: readonly DecidedEvent[]): OpenedSession => {
  const origin = { now: '2026-03-17T12:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' };
  const { session: after } = appendEvents(session, events, origin);
  return isOpened(after) ? after : assert.fail('it is not open');
};

const asked = (session: OpenedSession, command: KindCommand): { after: OpenedSession; types: readonly string[] } => {
  const decided = decideCommand(session, command);
  if (!decided.ok) assert.fail(decided.error.message);
  return { after: append(session, decided.value), types: decided.value.map(({ type }) => type) };
};

const opened = (): OpenedSession => {
  const begun = decideBegin(absentSession(kind, 'run:r'), { branch: null, worktree: 'main' });
  assert.ok(begun.ok);
  return append(absentSession(kind, 'run:r') as OpenedSession, begun.value);
};

const imported = (states: JsonObject, more: JsonObject = {}, documentMore: JsonObject = {}) =>
  asked(opened(), found(states, more, documentMore));

const readyIn = (session: OpenedSession): readonly string[] =>
  (session.folded.steps?.ready({ limit: 10 }).steps ?? []).map(({ id, attempt }) => `${id} ${attempt}`);
const doubtfulIn = (session: OpenedSession): readonly string[] => session.folded.steps?.inDoubt() ?? [];

test('what was running is in doubt, what has failed is ready as its next attempt, and what was skipped is done', () => {
  const { after, types } = imported({ A: work('running'), B: work('failed', { error: 'no' }) });
  assert.deepEqual([types, doubtfulIn(after), readyIn(after)], [['RunImported'], ['A'], ['B 2']]);
  const skipped = imported({ A: work('skipped', { error: 'not needed' }), B: work('completed') }).after;
  assert.deepEqual(viewOfSession(skipped).where, { current_batch: 2, current_node: 'CP', done: 2, total: 4 });
});

test('nodes count in the order of the plan, whatever order their template has', () => {
  assert.deepEqual(readyIn(imported({}).after), ['A 1', 'B 1']);
});

test('a run that has come to a checkpoint reaches it with the import, unless it is over', () => {
  const done = { A: work('completed'), B: work('completed') };
  assert.deepEqual(imported(done).types, ['RunImported', 'CheckpointReached']);
  assert.deepEqual(imported(done, { is_over: true }).types, ['RunImported']);
  const paused = imported(done, {}, { status: 'paused', current_node: 'CP', current_batch: 2 });
  assert.deepEqual(paused.types, ['RunImported', 'CheckpointReached', 'CheckpointDecided']);
  assert.deepEqual(readyIn(paused.after), ['C 1']);
});

test('work ahead of a checkpoint that was not reached stays as it is', () => {
  const states = { A: work('completed'), B: work('completed'), C: work('running') };
  const { after } = imported(states);
  assert.deepEqual([viewOfSession(after).next.kind, doubtfulIn(after)], ['decide', ['C']]);
  const decided = asked(after, { type: 'decide', node: 'CP', answer: 'continue' }).after;
  assert.deepEqual([viewOfSession(decided).where['current_node'], readyIn(decided)], ['C', []]);
});

test('a run with nothing left to do is not closed because of that', () => {
  const all = { A: work('completed'), B: work('completed'), CP: checkpoint('completed'), C: work('completed') };
  const { after, types } = imported(all);
  assert.deepEqual([types, after.common.status, viewOfSession(after).missing], [['RunImported'], 'active', []]);
});

test('the same file changes nothing, another one is taken instead, and what was begun here is refused', () => {
  const first = imported({ A: work('running') }).after;
  assert.deepEqual(asked(first, found({ A: work('running') })).types, []);
  const second = asked(first, found({ A: work('completed') })).after;
  assert.deepEqual([doubtfulIn(second), readyIn(second)], [[], ['B 1']]);
  const { type: _, digest: __, document, is_over: ___, ...more } = found({});
  const { template_id, template_path, template_name, context } = document as JsonObject;
  const planned = asked(opened(), {
    type: 'plan',
    template_id: template_id ?? '',
    template_path: template_path ?? '',
    template_name: template_name ?? '',
    nodes: more['nodes'] ?? [],
    plan: [{ batch: 1, nodes: ['A', 'B', 'CP', 'C'], parallel: false }],
    context: context ?? {},
  }).after;
  const refused = decideCommand(planned, found({}));
  assert.ok(!refused.ok && refused.error.code === 'conflict');
});

test('a run without a batch that gets a plan keeps what is known of its nodes', () => {
  const states = {
    A: work('completed', { completed_at: '2026-03-01T08:30:00Z', output_path: 'a.md' }),
    B: work('skipped'),
    CP: checkpoint('completed'),
    C: work('running'),
    D: work('failed', { error: 'no' }),
    X: work('completed'),
  };
  const { after } = imported(states, { nodes: [] }, { execution_plan: [] });
  const planned = asked(after, {
    type: 'plan',
    template_id: 't',
    template_path: 't.json',
    template_name: 'T',
    nodes: [node('A'), node('B'), node('CP', { type: 'checkpoint', executor: null }), node('C'), node('D'), node('E')],
    plan: [
      { batch: 1, nodes: ['A', 'B'], parallel: true },
      { batch: 2, nodes: ['CP'], parallel: false },
      { batch: 3, nodes: ['C', 'D', 'E'], parallel: true },
    ],
    context: {},
  });
  assert.deepEqual(planned.types, ['RunPlanned']);
  assert.deepEqual([readyIn(planned.after), doubtfulIn(planned.after)], [['D 2', 'E 1'], ['C']]);
  assert.partialDeepStrictEqual(viewOfSession(planned.after).where, { current_batch: 3, done: 3, total: 6 });
  const [mirror] = planned.after.folded.mirrors(planned.after.common);
  const written = JSON.parse(mirror?.render({} as never) ?? '');
  assert.deepEqual(
    Object.entries<JsonObject>(written.node_states).map(([id, { status }]) => [id, status]),
    [
      ['A', 'completed'],
      ['B', 'skipped'],
      ['CP', 'completed'],
      ['C', 'failed'],
      ['D', 'pending'],
      ['E', 'pending'],
      ['X', 'completed'],
    ],
  );
  assert.equal(written.node_states.A.output_path, 'a.md');
});

test('a template that is found later makes another run of the same file', () => {
  const first = imported({}).after;
  const withTemplate = found({}, { template_digest: 'of the template' });
  const { after, types } = asked(first, withTemplate);
  assert.deepEqual([types, asked(after, withTemplate).types, asked(after, found({})).types], [['RunImported'], [], []]);
});

test('as it was taken over it has no files here; once it has moved it has, with all that was not understood', () => {
  const { after } = imported(
    { CP: checkpoint('pending'), X: work('completed', { output_path: 'x' }) },
    { unknown: { k: 1 }, unknown_of_nodes: { A: { l: 2 }, X: { m: 3 } }, unknown_of_batches: { '2': { n: 4 } } },
  );
  const taken = append(after, [kernelEvent('Imported', { source: 's', taken: 1 })]);
  assert.deepEqual(taken.folded.mirrors(taken.common), []);
  const moved = append(taken, [kernelEvent('SessionPaused', {})]);
  const [mirror] = moved.folded.mirrors(moved.common);
  assert.ok(mirror !== undefined);
  const written = JSON.parse(mirror.render({} as never));
  assert.deepEqual(
    [
      written.k,
      written.node_states.A.l,
      written.node_states.X.m,
      written.node_states.X.output_path,
      written.execution_plan[1].n,
    ],
    [1, 2, 3, 'x', 4],
  );
});
