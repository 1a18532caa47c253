/** Writes into the store of a world what no verb of the test writes, or not so often: entries of the journal. */
import assert from 'node:assert/strict';
import { kernelEvent, type NewEvent } from '../../src/kernel/event.ts';
import type { Store } from '../../src/kernel/ports.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { kinds } from '../../src/kinds/registry.gen.ts';
import { readAddress } from '../../src/store/postgres/address.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { noon, type TestWorld } from './world.ts';

/** An entry of the journal as its event holds it. */
export const noted = (entry: string, text: string, more: JsonObject = {}): NewEvent =>
  kernelEvent('Noted', { entry, text, ...more });

/** Begins a review that is to come to something. */
export const beginWithGoal = (world: TestWorld, name: string, goal: string): string => {
  const { session } = world.answer('begin', 'review', '--name', name, '--branch', 'main', '--goal', goal);
  return String(session);
};

let requests = 0;

/** Appends events to a session. */
export const writeEvents = async (
  world: TestWorld,
  key: string,
  events: readonly NewEvent[],
  { at = noon, actor = 'ana@desk' } = {},
): Promise<void> => {
  const store = await openStoreOf(world);
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
      decide: (sessions) => ({ ok: true, value: new Map([...sessions].map(([session]) => [session, events])) }),
      answer: () => ({}),
    });
    assert.ok(outcome.ok, JSON.stringify(outcome));
  } finally {
    await store.close();
  }
};

const openStoreOf = async (world: TestWorld): Promise<Store> => {
  const known = new Map(kinds.map((kind) => [kind.name, kind]));
  const { STINT_STORE: server, STINT_PROJECT: project } = world.env;
  if (server === undefined) return openSqliteStore(world.path('.stint/stint.db'), known, { create: false });
  const address = readAddress(server, project);
  assert.ok(address.ok, 'the address of the server');
  const opened = await openPostgresStore(address.value, known, { create: false });
  assert.ok(opened !== undefined, 'the project is there');
  return opened.store;
};
