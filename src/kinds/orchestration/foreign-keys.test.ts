import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOrchestratorFile } from '../../formats/orchestrator/read.ts';
import { joinKeys } from '../../kernel/common.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { put } from '../../lib/persistent-map.ts';
import { addedKeys, foreignKeysOf } from './foreign-keys.ts';
import { emptyOrchestration, newAgent, type OrchestrationState } from './state.ts';

const work = (task: string, outcome = '') => ({ task, outcome, files: [] });

/** An orchestration with two agents, two pieces of work and two todos, the first of which is gone. */
const state: OrchestrationState = {
  ...emptyOrchestration,
  agents: ['boil', 'pour'].reduce((map, id) => put(map, id, newAgent(id, 'code', id)), emptyOrchestration.agents),
  order: ['boil', 'pour'],
  completed: [work('Water', 'hot'), work('Water', 'cold'), work('Cups')],
  todos: [
    { id: 2, text: 'Lay' },
    { id: 3, text: 'Serve' },
  ],
};

/** What its file says, and what somebody has made of that. */
const file = (more: JsonObject = {}): JsonObject => ({
  schema_version: '1.0',
  session_id: 'tea',
  created: '2026-03-01T08:00:00Z',
  updated: '2026-03-01T08:10:00Z',
  project: { name: 'tea', path: '/srv/tea', git_branch: null },
  goal: 'Serve tea',
  mode: 'default',
  status: 'in_progress',
  agents: ['boil', 'pour'].map((id) => ({ id, type: 'code', task: id, status: 'pending', started: null })),
  completed_work: state.completed.map((one) => ({ ...one, files: [] })),
  pending_tasks: ['Lay', 'Serve'],
  decisions_made: [{ decision: 'Green', rationale: 'late', timestamp: null }],
  context_usage: { estimated_tokens: 0, percentage: 0, last_compression: null },
  errors: [{ message: 'spilt' }],
  ...more,
});

const clock = { now: '2026-03-02T00:00:00Z', offsetAt: () => 0 };

/** What a file adds to what is known. */
const added = (
  more: JsonObject,
  known: { readonly added?: { event: number; keys: Record<string, JsonObject> } } = {},
) => {
  const found = readOrchestratorFile(JSON.stringify(file(more)), { path: 'x.json', clock, isOurs: true });
  return found.what === 'session' ? addedKeys(state, known, found.session) : assert.fail(found.what);
};

test('what the file of a session says that is of the format, or ours, adds nothing, whatever its values', () => {
  assert.deepEqual(added({}), {});
  assert.deepEqual(
    added({ goal: 'x', mode: 'odd', status: 'odd', schema_version: 'odd', session_id: 7, updated: 'x' }),
    {},
  );
  assert.deepEqual(added({ focus: 7, agents_total: 'many', decisions_total: 3 }), {});
  const agent = {
    id: 'boil',
    files: 3,
    result_file: 'x',
    vendor_session: 'x',
    paused: true,
    in_doubt: 'x',
    status: 'odd',
  };
  assert.deepEqual(added({ agents: [agent], errors: [{ message: 'spilt', class: 'odd' }] }), {});
});

test('every other key is added to the part that it stands in, also one that another form of the format would know', () => {
  const keys = { zz: [1], started_at: 'x', output: 'y' };
  assert.deepEqual(
    added({
      ...keys,
      project: { name: 'tea', branch: 'main', zz: 1 },
      context_usage: { percentage: 3, percent: 4 },
      agents: [
        { id: 'pour', ...keys },
        { id: 'boil', tokens_used: 3 },
      ],
      completed_work: [work('Water', 'hot'), { ...work('Water', 'cold'), zz: 'second' }],
      pending_tasks: ['Lay', { task: 'Serve', priority: 'high' }],
      decisions_made: [{ decision: 'Green', by: 'ana' }],
      errors: [{ message: 'spilt', where: 'table' }],
    }),
    {
      file: keys,
      project: { branch: 'main', zz: 1 },
      context_usage: { percent: 4 },
      'agents pour': keys,
      'agents boil': { tokens_used: 3 },
      'completed_work 1': { zz: 'second' },
      'pending_tasks 2': { priority: 'high' },
      'text Green': { by: 'ana' },
      'text spilt': { where: 'table' },
    },
  );
});

test('entries that stand elsewhere in their list are known by what they say, and those that are not here are left out', () => {
  assert.deepEqual(
    added({
      agents: [{ id: 'new', zz: 1 }],
      completed_work: [
        { ...work('Other'), zz: 1 },
        { ...work('Cups'), zz: 2 },
      ],
      pending_tasks: [
        { task: 'Serve', zz: 3 },
        { task: 'Other', zz: 4 },
      ],
    }),
    { 'completed_work 2': { zz: 2 }, 'pending_tasks 2': { zz: 3 } },
  );
});

test('what is known already is not added again, a value that changed is, and what is gone stays', () => {
  const keys = { file: { a: { deep: [1, { b: 2 }] }, c: 1 }, 'agents pour': { x: 1 } };
  const known = { added: { event: 3, keys } };
  assert.deepEqual(added({ a: { deep: [1, { b: 2 }] } }, known), {});
  const news = added({ c: 2, d: null }, known);
  assert.deepEqual(news, { file: { c: 2, d: null } });
  const foreign = foreignKeysOf(state, { added: { event: 4, keys: joinKeys(keys, news) } });
  assert.deepEqual(foreign('file'), { a: keys.file.a, c: 2, d: null });
  assert.deepEqual(foreign('agents', 'pour'), { x: 1 });
});

test('how far all of it is, once a file says so, is ours to count', () => {
  assert.deepEqual(added({ progress: 0.5 }), { file: { progress: 0.5 } });
  assert.deepEqual(added({ progress: 0.9 }, { added: { event: 3, keys: { file: { progress: 0.5 } } } }), {});
});

test('keys with the names of what every object has are keys as others', () => {
  const more: JsonObject = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": 3}');
  const keys = added(more);
  assert.equal(JSON.stringify(keys), '{"file":{"__proto__":{"x":1},"constructor":2,"toString":3}}');
  assert.equal(JSON.stringify(joinKeys(keys, {})), JSON.stringify(keys));
  assert.deepEqual(added(more, { added: { event: 3, keys } }), {});
});
