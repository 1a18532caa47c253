import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ok } from '../lib/result.ts';
import { defineKind } from './kind.ts';
import { absentSession, appendEvents, isOpened, type OpenedSession, type Session } from './session.ts';
import { decideTakeOver, type LeftSession, type TakenOver } from './take-over.ts';
import { kernelEvent } from './event.ts';

/** A kind that keeps the digest of what it was taken from. */
const kind = defineKind<
  { readonly digest: string },
  Command,
  { readonly type: 'ThingImported'; readonly digest: string }
>({
  name: 'thing',
  summary: 'a thing',
  stateVersion: 1,
  commands: v.variant('type', [
    v.strictObject({ type: v.literal('begin') }),
    v.strictObject({ type: v.literal('continue'), after: v.nullable(v.string()) }),
    v.strictObject({ type: v.literal('import'), digest: v.string() }),
  ]),
  events: v.strictObject({ type: v.literal('ThingImported'), digest: v.string() }),
  eventVersions: { ThingImported: 1 },
  initial: { digest: '' },
  evolve: (_, { digest }) => ({ digest }),
  decide: ({ digest }, command) =>
    ok(
      command.type === 'import' && command.digest !== digest ? [{ type: 'ThingImported', digest: command.digest }] : [],
    ),
  view: () => ({
    position: 'there',
    where: {},
    fields: {},
    evidence: [],
    missing: [],
    remaining: [],
    next: { kind: 'none', text: '', command: null },
  }),
  folder: (name) => `things/${name}`,
  mirrors: () => [],
  examples: [{ type: 'begin' }, { type: 'continue', after: null }, { type: 'import', digest: '1' }],
});

type Command =
  | { readonly type: 'begin' }
  | { readonly type: 'continue'; readonly after: string | null }
  | { readonly type: 'import'; readonly digest: string };

const left = (digest: string, more: Partial<LeftSession> = {}): LeftSession => ({
  source: 'elsewhere t',
  opening: { branch: null, worktree: 'main', goal: 'Brew it' },
  command: { type: 'import', digest },
  created: '2026-05-02T08:00:00Z',
  updated: '2026-05-02T09:00:00Z',
  entries: [],
  paused: null,
  closed: null,
  isArchived: false,
  isInterrupted: true,
  problems: [],
  lost: [],
  files: [],
  ...more,
});

const absent = absentSession(kind, 'thing:t');
const taken = (session: Session, what: LeftSession): TakenOver => {
  const decided = decideTakeOver(session, what);
  return decided.ok ? decided.value : assert.fail(decided.error.message);
};
const after = (session: Session, events: TakenOver['events']): OpenedSession => {
  const origin = { now: '2026-06-01T00:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' };
  const { session: appended } = appendEvents(session, events, origin);
  return isOpened(appended) ? appended : assert.fail('it is not open');
};
const typesOf = ({ events }: TakenOver): readonly string[] => events.map(({ type }) => type);

test('a session is taken over with its times, as it was left', () => {
  const first = taken(absent, left('1'));
  assert.deepEqual(
    first.events.map(({ type, happened }) => [type, happened]),
    [
      ['SessionOpened', '2026-05-02T08:00:00.000Z'],
      ['ThingImported', '2026-05-02T09:00:00.000Z'],
      ['Imported', undefined],
    ],
  );
  const { common } = after(absent, first.events);
  assert.deepEqual(
    [common.goal, common.status, common.interruptedAt],
    ['Brew it', 'active', '2026-05-02T09:00:00.000Z'],
  );
  const closed = { outcome: 'aborted', reason: 'given up', at: '2026-05-02T10:00:00Z' } as const;
  const over = taken(absent, left('1', { closed, isArchived: true, isInterrupted: false }));
  assert.deepEqual(typesOf(over), ['SessionOpened', 'ThingImported', 'SessionClosed', 'SessionArchived', 'Imported']);
  const paused = after(absent, taken(absent, left('1', { paused: { reason: 'tea' }, isInterrupted: false })).events);
  assert.equal(paused.common.pause?.reason, 'tea');
});

test('taking it again changes nothing, and a newer version of it is taken instead, also one that was closed', () => {
  const closed = { outcome: 'completed', reason: null, at: '2026-05-02T09:00:00Z' } as const;
  const session = after(absent, taken(absent, left('1', { closed, isArchived: true })).events);
  assert.deepEqual(taken(session, left('1')), { result: 'unchanged', why: null, events: [] });
  const newer = taken(session, left('2', { updated: '2026-05-03T09:00:00Z' }));
  assert.equal(newer.result, 'updated');
  assert.deepEqual(typesOf(newer), ['SessionUnarchived', 'SessionReopened', 'ThingImported', 'Imported']);
});

test('nothing that is newer is overwritten: a later version, what went on here, what was begun here', () => {
  const session = after(absent, taken(absent, left('1')).events);
  const older = taken(session, left('0', { updated: '2026-05-01T09:00:00Z' }));
  assert.deepEqual([older.result, older.why], ['left', 'A newer version of it was taken over.']);
  const moved = after(session, [kernelEvent('SessionPaused', {})]);
  assert.equal(taken(moved, left('2')).why, 'It has gone on here since it was taken over.');
  const own = after(absent, [kernelEvent('SessionOpened', { branch: null, worktree: 'main' })]);
  assert.equal(taken(own, left('2')).why, 'A session of this name was begun here.');
});

test('what is whole is never taken away by what is not, and comes instead of it whatever their times', () => {
  const lost = ['It ends in the middle.'];
  const whole = after(absent, taken(absent, left('1')).events);
  const torn = taken(whole, left('2', { lost, updated: '2026-05-03T09:00:00Z' }));
  assert.deepEqual([torn.result, torn.events], ['left', []]);
  assert.match(torn.why ?? '', /^Something of this file is lost, and what was taken over .* stays\.$/);
  const salvaged = after(absent, taken(absent, left('2', { lost })).events);
  assert.deepEqual(salvaged.common.imported?.lost, lost);
  assert.equal(taken(salvaged, left('3', { lost, updated: '2026-05-03T09:00:00Z' })).result, 'left');
  const again = taken(salvaged, left('1', { updated: '2026-05-01T09:00:00Z' }));
  assert.equal(again.result, 'updated');
  assert.equal(after(salvaged, again.events).common.imported?.lost, undefined);
});

test('what was written down comes once, in its order, and only what is new of it the next time', () => {
  const entry = (text: string, at: string) => ({ entry: 'decision', text, at }) as const;
  const early = entry('Green', '2026-05-02T08:10:00Z');
  const long = entry('x'.repeat(3000), '2026-05-02T08:20:00Z');
  const error = { entry: 'error', text: 'spilt', at: '2026-05-02T08:15:00Z' } as const;
  const session = after(absent, taken(absent, left('1', { entries: [early, long, error] })).events);
  const { journal } = session.common;
  assert.deepEqual(journal?.counts, { decision: 2, error: 1 });
  assert.deepEqual(
    journal.recent.decision?.map(({ at }) => at.slice(11, 16)),
    ['08:10', '08:20'],
  );
  const more = entry('Cup', '2026-05-02T09:10:00Z');
  const again = taken(session, left('2', { entries: [early, long, more, error], updated: '2026-05-02T10:00:00Z' }));
  assert.deepEqual(
    again.events.flatMap(({ type, data }) => (type === 'Noted' ? [data['text']] : [])),
    ['Cup'],
  );
});
