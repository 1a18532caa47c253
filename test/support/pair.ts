/** A kind with two mirrors that change with every commit, the second of which names the first; and who writes them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as v from 'valibot';
import { defineKind } from '../../src/kernel/kind.ts';
import type { Store } from '../../src/kernel/ports.ts';
import { ok } from '../../src/lib/result.ts';
import { syncMirrors, type MirrorWorld } from '../../src/mirror/sync.ts';
import { files } from '../../src/surfaces/files.ts';
import { createHost } from '../../src/surfaces/host.ts';
import { createProjectFiles } from '../../src/surfaces/project-files.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

const command = (type: 'begin' | 'continue') => v.object({ type: v.literal(type) });

const pair = defineKind({
  name: 'pair',
  summary: 'two files, for tests',
  stateVersion: 1,
  commands: v.variant('type', [command('begin'), command('continue')]),
  events: v.variant('type', [v.object({ type: v.literal('Moved') })]),
  eventVersions: { Moved: 1 },
  initial: { moves: 0, last: 0 },
  evolve: (state, _, { seq }) => ({ moves: state.moves + 1, last: seq }),
  decide: () => ok([]),
  view: ({ moves }) => ({
    position: `moved ${moves}`,
    where: { moves },
    fields: {},
    remaining: [],
    missing: [],
    next: { kind: 'finish', text: 'Finish.', command: 'stint finish' },
    evidence: [],
  }),
  folder: (session) => `pairs/${session}`,
  mirrors: ({ last }) =>
    last === 0
      ? []
      : ['z-snapshot', 'a-state'].map((path) => ({ path, source: last, render: ({ seq }) => `${path} of ${seq}\n` })),
  examples: [{ type: 'begin' }],
});

const kinds = new Map([['pair', pair]]);

/** A store in a folder, and the mirrors beside it. */
export const pairIn = (cwd: string): MirrorWorld => {
  const here = { id: 'here', root: cwd, worktree: 'main', branch: 'main', label: 'here' };
  return {
    store: openSqliteStore(join(cwd, 'stint.db'), kinds, { create: true }),
    kinds,
    places: { here, claim: () => ok('here'), homeOf: () => here },
    files,
    project: async () => createProjectFiles(cwd, cwd),
    host: createHost('desk'),
    caller: {
      actor: 'ana',
      session: undefined,
      process: undefined,
      agent: null,
      user: () => 'ana',
      leaseToken: undefined,
      takeOver: false,
      now: '2026-03-17T10:00:00.000Z',
      freshId: () => 'c',
      requestId: undefined,
      expectRevision: undefined,
      dryRun: false,
      redact: true,
    },
  };
};

/** Moves the session once more, and opens it where it is not open yet; nothing is mirrored. */
export const move = async (store: Store): Promise<void> => {
  const outcome = await store.commit({
    keys: ['pair:a'],
    guards: [],
    origin: { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
    request: { id: 'c', verb: 'move', digest: '', given: false },
    journalOnly: false,
    expectRevision: undefined,
    dryRun: false,
    decide: (sessions) => {
      const first = { type: 'SessionOpened', v: 1, data: { branch: 'main', worktree: 'main' } };
      const isOpen = sessions.get('pair:a')?.common !== undefined;
      return ok(new Map([['pair:a', [...(isOpen ? [] : [first]), { type: 'Moved', v: 1, data: {} }]]]));
    },
    answer: () => ({}),
  });
  assert.ok(outcome.ok);
};

/** Moves it so many times and brings the mirrors up to date after each. */
export const moveOften = async (cwd: string, times: number): Promise<void> => {
  const world = pairIn(cwd);
  for (let time = 0; time < times; time += 1) {
    await move(world.store);
    const warnings = await syncMirrors(world, ['pair:a']);
    assert.deepEqual(warnings, []);
  }
};
