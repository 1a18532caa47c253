/** Writes into the store of a world what no verb of the test writes: entries of the journal, sessions with a goal. */
import assert from 'node:assert/strict';
import { kernelEvent, type NewEvent } from '../../src/kernel/event.ts';
import { decideBegin } from '../../src/kernel/lifecycle.ts';
import type { Store } from '../../src/kernel/ports.ts';
import type { Session } from '../../src/kernel/session.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { kinds } from '../../src/kinds/registry.gen.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { noon, type TestWorld } from './world.ts';

/** An entry of the journal as its event holds it. */
export const noted = (entry: string, text: string, more: JsonObject = {}): NewEvent =>
  kernelEvent('Noted', { entry, text, ...more });

/** Appends events to a session. */
export const writeEvents = async (
  world: TestWorld,
  key: string,
  events: readonly NewEvent[],
  { at = noon, actor = 'ana@desk' } = {},
): Promise<void> => commitTo(world, key, at, actor, () => events);

/** Begins a review that is to come to something. */
export const beginWithGoal = async (world: TestWorld, name: string, goal: string, at = noon): Promise<string> => {
  // The first session of a checkout makes its store and its place.
  world.answer('begin', 'review', '--name', 'first', '--branch', 'first');
  world.answer('finish', '--abort', '--session', 'review:first');
  const key = `review:${name}`;
  await commitTo(world, key, at, 'ana@desk', (session) => {
    const begun = decideBegin(session, { branch: 'main', worktree: 'main' });
    assert.ok(begun.ok);
    const [opened, ...others] = begun.value;
    assert.ok(opened !== undefined);
    return [{ ...opened, data: { ...opened.data, goal } }, ...others];
  });
  return key;
};

let requests = 0;

const commitTo = async (
  world: TestWorld,
  key: string,
  at: string,
  actor: string,
  decide: (session: Session) => readonly NewEvent[],
): Promise<void> => {
  const store: Store = openSqliteStore(world.path('.stint/stint.db'), new Map(kinds.map((kind) => [kind.name, kind])), {
    create: false,
  });
  try {
    const [row] = await store.rows({});
    const id = `written-${(requests += 1)}`;
    const outcome = await store.commit({
      keys: [key],
      guards: [],
      origin: { now: at, actor, place: row?.place ?? '', cause: id },
      request: { id, given: false, verb: 'test', digest: '' },
      expectRevision: undefined,
      dryRun: false,
      journalOnly: false,
      decide: (sessions) => ({
        ok: true,
        value: new Map([...sessions].map(([session, found]) => [session, decide(found)])),
      }),
      answer: () => ({}),
    });
    assert.ok(outcome.ok, JSON.stringify(outcome));
  } finally {
    await store.close();
  }
};
