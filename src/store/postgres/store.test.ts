import assert from 'node:assert/strict';
import { test } from 'node:test';
import { administer, askServer, useDatabase, useServer } from '../../../test/support/postgres.ts';
import { decideBegin } from '../../kernel/lifecycle.ts';
import { absentSession } from '../../kernel/session.ts';
import { kind } from '../../kinds/review/index.ts';
import { ok } from '../../lib/result.ts';
import { testStore } from '../contract.ts';
import { readAddress } from './address.ts';
import { openPostgresStore } from './store.ts';

const server = useServer();

testStore({
  name: 'postgres',
  open: async (t, kinds) => {
    const address = readAddress(await useDatabase(t, server), 'test');
    if (!address.ok) throw new Error(address.error.message);
    const opened = await openPostgresStore(address.value, kinds, { create: true });
    if (opened === undefined) throw new Error('no store was made');
    t.after(opened.store.close);
    return opened.store;
  },
});

/** What undoes each step of the schema from the second one on. */
const undo = [
  'ALTER TABLE session DROP COLUMN paused_at; ALTER TABLE session DROP COLUMN archived_at',
  `DROP TABLE snapshot; UPDATE session SET snapshot = '{}', snapshot_seq = 1, snapshot_version = 1, tail_bytes = 9`,
  'DROP TABLE sample',
];

for (const version of undo.map((_, index) => index + 1))
  test(`a project of schema ${version} is brought up to date with its rows, and nothing of it counts as damaged`, async (t) => {
    const kinds = new Map([[kind.name, kind]]);
    const url = await useDatabase(t, server);
    const address = readAddress(url, 'test');
    if (!address.ok) throw new Error(address.error.message);
    const first = await openPostgresStore(address.value, kinds, { create: true });
    const decided = decideBegin(absentSession(kind, 'review:a'), { branch: 'main', worktree: 'main' });
    assert.ok(decided.ok && first !== undefined);
    const outcome = await first.store.commit({
      keys: ['review:a'],
      guards: [],
      origin: { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
      request: { id: 'c', verb: 'begin', digest: '', given: false },
      journalOnly: false,
      expectRevision: undefined,
      dryRun: false,
      decide: () => ok(new Map([['review:a', decided.value]])),
      answer: () => ({}),
    });
    assert.ok(outcome.ok);
    const before = await first.store.read('review:a');
    await first.store.close();
    await administer(
      url,
      'SET search_path = stint_test',
      ...undo.slice(version - 1).toReversed(),
      `UPDATE session SET view_version = '0.1', checksum = 1`,
      `UPDATE meta SET value = '${version}' WHERE key = 'schema'`,
    );
    const raised = await openPostgresStore(address.value, kinds, { create: false });
    assert.ok(raised !== undefined);
    t.after(raised.store.close);
    assert.equal(raised.store.readOnly, undefined);
    assert.deepEqual(await raised.store.verify(), []);
    assert.deepEqual(await raised.store.read('review:a'), before);
    const [row] = await askServer(url, 'SELECT view_version, snapshot FROM stint_test.session');
    assert.equal(row?.['snapshot'], null);
    assert.notEqual(row?.['view_version'], '0.1');
  });
