/** A kind that is loaded when a session of it is first met; every verb here is a process of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { openStint } from '../../src/index.ts';
import { createKinds, loadKind } from '../../src/kernel/kinds.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { isOnServer } from '../support/stores.ts';
import { createWorld, fileOnly, later, listOf, repository, type Printed, type TestWorld } from '../support/world.ts';
import { defineSheet } from './sheet/index.ts';

type How = 'lazy' | 'broken' | 'unknown';

const run = (world: TestWorld, how: How, verb: string, input: JsonObject = {}, call: JsonObject = {}): Printed => {
  const child = spawnSync(
    process.execPath,
    [
      join(repository, 'test/support/lazy-hand.ts'),
      world.project,
      how,
      verb,
      JSON.stringify(input),
      JSON.stringify(call),
    ],
    { env: world.env, encoding: 'utf8' },
  );
  assert.equal(child.status, 0, child.stderr);
  return JSON.parse(child.stdout);
};

/** Runs a verb that must succeed, and says whether the kind is to be loaded for it. */
const ask = (world: TestWorld, needsKind: boolean, verb: string, input?: JsonObject, call?: JsonObject): Printed => {
  const { loaded, answer, refusal } = run(world, 'lazy', verb, input, call);
  assert.ok(refusal === undefined, `${verb}: ${refusal?.message}`);
  assert.equal(loaded, needsKind, `${verb}: the kind is ${needsKind ? '' : 'not '}loaded`);
  return answer;
};

/** A review and a sheet, open side by side. */
const sideBySide = (context: TestContext): TestWorld => {
  const world = createWorld(context);
  ask(world, false, 'begin', { kind: 'review', name: 'r' });
  ask(world, true, 'begin', { kind: 'sheet', name: 'x' });
  return world;
};

/** Changes a store by hand. */
const spoil = async (world: TestWorld, statement: string): Promise<void> => {
  if (isOnServer(world)) {
    const client = new pg.Client({ connectionString: world.env['STINT_STORE'] });
    await client.connect();
    await client.query(`SET search_path = "stint_${world.env['STINT_PROJECT']}"`);
    await client.query(statement);
    await client.end();
    return;
  }
  const database = new DatabaseSync(world.path('.stint/stint.db'));
  database.exec(statement);
  database.close();
};

test('a kind is loaded for its own sessions, and not for those of others', (context) => {
  const world = sideBySide(context);
  const review = { session: 'review:r' };
  const sheet = { session: 'sheet:x' };
  assert.deepEqual(
    listOf(ask(world, true, 'list').sessions).map(({ session, position }) => [session, position]),
    [
      ['review:r', 'context (1/8), round 1'],
      ['sheet:x', '0 of 3'],
    ],
  );
  assert.equal(listOf(ask(world, true, 'list', { kind: 'sheet' }).sessions).length, 1);
  ask(world, false, 'note', { text: 'a remark', ...review });
  ask(world, false, 'status', review);
  ask(world, false, 'advance', { phase: 'change-context', ...review });
  ask(world, true, 'note', { text: 'a remark', ...sheet });
  assert.equal(ask(world, true, 'status', sheet).position, '0 of 3');
  assert.equal(ask(world, true, 'show', sheet).session.folder, 'sheets/x');
  assert.equal(listOf(ask(world, true, 'timeline', sheet).spans).length, 1);
  // It may be meant: only it can say that it has no such command.
  assert.equal(ask(world, true, 'advance', { phase: 'analysis' }).session, 'review:r');
  assert.deepEqual(run(world, 'lazy', 'begin', { kind: 'shet' }).refusal.candidates, ['sheet']);
});

test('a step is handed out by a process that meets its kind for the first time', (context) => {
  const world = sideBySide(context);
  const [step] = listOf(ask(world, true, 'next', { claim: true, session: 'sheet:x' }).steps);
  assert.deepEqual([step.id, step.attempt], ['c-001', 1]);
  const start = { step: step.id, attempt: 1, token: step.token, session: 'sheet:x' };
  const started = ask(world, true, 'start', start, { requestId: 's' });
  assert.deepEqual(ask(world, true, 'start', start, { requestId: 's' }), { ...started, replayed: true });
});

test('one commit is over sessions of both sorts', (context) => {
  const world = sideBySide(context);
  const closed = listOf(ask(later(world, 8 * 24 * 60), true, 'reconcile').closed);
  assert.deepEqual(new Set(closed.map(({ session }) => session)), new Set(['review:r', 'sheet:x']));
});

test('what is wrong with a row is found and made right by its kind', async (context) => {
  const world = sideBySide(context);
  assert.equal(ask(world, true, 'doctor').healthy, true);
  await spoil(world, `UPDATE session SET position = 'elsewhere' WHERE key = 'sheet:x'`);
  assert.equal(
    listOf(ask(world, true, 'list').sessions).find(({ session }) => session === 'sheet:x').position,
    '0 of 3',
    'a list makes the row anew',
  );
  assert.equal(listOf(run(world, 'lazy', 'doctor').report.findings)[0].subject, 'sheet:x');
  assert.deepEqual(
    listOf(ask(world, true, 'rebuild').sessions).map(({ session, rebuilt }) => [session, rebuilt]),
    [
      ['review:r', false],
      ['sheet:x', true],
    ],
  );
  assert.equal(ask(world, true, 'doctor').healthy, true);
});

test('a damaged store is read and repaired with it', { skip: fileOnly }, async (context) => {
  const world = sideBySide(context);
  const session = 'sheet:x';
  ask(world, true, 'next', { claim: true, session });
  ask(world, true, 'note', { text: 'a remark', session });
  await spoil(
    world,
    `DROP TRIGGER event_is_immutable; UPDATE event SET data = '' WHERE session = 'sheet:x' AND type = 'Noted'`,
  );
  const shown = ask(world, true, 'show', { session });
  assert.match(shown.session.flaw, /event 3/);
  assert.match(run(world, 'broken', 'show', { session }).refusal.message, /could not be loaded/);
  assert.deepEqual(
    listOf(run(world, 'broken', 'doctor', { fix: true }).report.findings).map(({ subject }) => subject),
    ['sheet:x'],
    'nothing is repaired without it',
  );
  assert.equal(ask(world, true, 'doctor', { fix: true }).healthy, true);
  assert.deepEqual(
    listOf(ask(world, false, 'log', { session }).events).map(({ type }) => type),
    ['SessionOpened', 'StepClaimed', 'StepInterrupted', 'Salvaged'],
    'who has the step is not known any more',
  );
});

test('a kind that cannot be loaded is told to those who need it, and to nobody else', async (context) => {
  const world = sideBySide(context);
  const refusal = {
    code: 'invariant-unmet',
    message: 'The kind sheet could not be loaded: no such module.',
    retryable: false,
    hint: 'install stint again',
  };
  assert.equal(listOf(run(world, 'broken', 'list').answer.sessions).length, 2);
  assert.equal(run(world, 'broken', 'note', { text: 'a remark', session: 'review:r' }).answer.session, 'review:r');
  for (const [verb, input] of [
    ['status', { session: 'sheet:x' }],
    ['note', { text: 'a remark', session: 'sheet:x' }],
    ['begin', { kind: 'sheet', name: 'y' }],
    ['next', { claim: true, session: 'sheet:x' }],
  ] as const)
    assert.deepEqual(run(world, 'broken', verb, input).refusal, refusal, verb);
  const findings = [{ subject: 'sheet:x', problem: refusal.message, fix: null }];
  assert.deepEqual(run(world, 'broken', 'doctor').report.findings, findings);
  // It is no damage of the store: nothing is repaired.
  const fixed = run(world, 'broken', 'doctor', { fix: true }).report;
  assert.deepEqual([fixed.findings, fixed.kept_aside, fixed.rebuilt], [findings, null, []]);
  assert.deepEqual(
    listOf(run(world, 'broken', 'rebuild').report.sessions).map(({ session, problem }) => [session, problem]),
    [
      ['review:r', null],
      ['sheet:x', refusal.message],
    ],
  );
  assert.equal(ask(world, true, 'doctor').healthy, true);
});

test('a session of a kind that nobody knows is shown as far as it goes, and not written', (context) => {
  const world = sideBySide(context);
  const shown = run(world, 'unknown', 'status', { session: 'x' });
  assert.equal(shown.answer.position, '0 of 3');
  assert.equal(run(world, 'unknown', 'note', { text: 'a remark', session: 'x' }).refusal.code, 'newer-version');
});

test('a store that is gone is missed where only the folder of such a kind tells', { skip: fileOnly }, (context) => {
  const world = sideBySide(context);
  mkdirSync(world.path('sheets/x'), { recursive: true });
  for (const folder of ['.stint', '.ocr']) rmSync(world.path(folder), { recursive: true });
  const sheet = { name: 'sheet', load: async () => ({ kind: defineSheet(2) }) };
  const atOnce = openStint({ cwd: world.project, kinds: [sheet] });
  assert.equal(atOnce.ok ? '' : atOnce.error.code, 'usage');
});

test('a module with another kind is not taken for the one that it was to be', async () => {
  const kinds = createKinds([{ name: 'table', load: async () => ({ kind: defineSheet(2) }) }]);
  assert.throws(() => kinds.get('table'), /not loaded/);
  await assert.rejects(async () => loadKind(kinds, 'table'), /The kind table could not be loaded: it is sheet\./);
  assert.throws(() => kinds.get('table'), /could not be loaded/);
  assert.equal(await loadKind(kinds, 'sheet'), undefined);
});
