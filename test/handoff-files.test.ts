/** The files of documents while they are written, and when whoever writes them is killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openStint } from '../src/postgres.ts';
import { killAtEachStep } from './support/campaigns.ts';
import { current, handedOver, textOf, transfer } from './support/documents.ts';
import { storeIn } from './support/environment.ts';
import { later, repository, runWholeProcesses, type TestWorld } from './support/world.ts';

runWholeProcesses();

/** A world with a task and its documents; somebody keeps long notes in them. */
const noted = (context: TestContext, notes = ''): TestWorld => {
  const world = handedOver(context, '--remaining-step', 'Go');
  for (const path of [current, transfer])
    writeFileSync(world.path(path), `${textOf(world, path)}\n## Notes\n${notes}\n`);
  later(world, 1).answer('note', 'begun');
  return world;
};

it('a file that is written again and again is whole whenever it is read, and a pair that is read through stint is never mixed', async (context) => {
  const world = noted(context, 'a long line of notes\n'.repeat(20_000));
  const writer = spawn(process.execPath, [join(repository, 'test/support/document-writer.ts'), world.project], {
    env: { ...world.env, STINT_NOW: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(writer.stdout, 'data');
  const size = readFileSync(world.path(current)).length;
  const seen = new Set<string>();
  for (let count = 0; count < 5000; count += 1) {
    const path = count % 2 === 0 ? current : transfer;
    const text = readFileSync(world.path(path), 'utf8');
    assert.ok(
      text.startsWith(count % 2 === 0 ? '# Session State\n' : '# Handover\n'),
      `${path} begins with its heading`,
    );
    assert.ok(text.endsWith('a long line of notes\n\n'), `${path} ends as it was written`);
    assert.ok(text.length > size - 1000 || count % 2 === 1, 'nothing of it is missing');
    const [, step = ''] = /## Current step\n(.*)\n/.exec(text) ?? [];
    seen.add(step);
    // Whoever reads on and on would keep the others from the processor.
    if (count % 50 === 0) await nextTurn();
  }
  assert.ok(seen.size > 3, `it was written while it was read: ${[...seen].join(', ')}`);

  const opened = await openStint({ cwd: world.project, ...storeIn(world.env) });
  assert.ok(opened.ok);
  for (let count = 0; count < 100; count += 1) {
    const report = await opened.value.run('handoff validate', {});
    assert.ok(report.ok, report.ok ? '' : JSON.stringify(report.error.report));
  }
  await opened.value.close();
  writer.kill('SIGTERM');
  const [status] = await once(writer, 'exit');
  assert.equal(status, 0);
});

it('an update that is killed before any of its changes on disk has happened or not, and what was written by hand is not lost', (context) => {
  const world = noted(context, 'before');
  const path = world.path(current);
  writeFileSync(path, readFileSync(path, 'utf8').replace('- Decision: None', '- Decision: by hand'));
  const step = {
    args: ['handoff', 'update', '--updated-by', 'ana', '--current-step', 'Writing'],
    types: ['Noted', 'DocumentEdited', 'DocumentEdited'],
    healed: (killed: TestWorld, wasCommitted: boolean, what: string) => {
      const text = readFileSync(killed.path(current), 'utf8');
      assert.match(text, /- Decision: by hand\n/, what);
      assert.match(text, /\n## Notes\nbefore\n/, what);
      assert.equal(text.includes('## Current step\nWriting\n'), wasCommitted, what);
      killed.answer('handoff', 'validate');
      const decisions = killed.answer('journal', '--type', 'decision');
      assert.equal(decisions.entries.length, wasCommitted ? 1 : 0, `${what}: it was taken in once`);
    },
  };
  context.diagnostic(`${killAtEachStep(context, world, step, 2)} kills`);
});

it('a handover in other words hands over the same task, and no account is made of what a merge has left', (context) => {
  const world = noted(context);
  const { session } = world.answer('list').sessions[0];
  const answer = later(world, 2).answer(
    'handoff',
    'new-handover',
    '--task-summary',
    'Ship all of it',
    '--updated-by',
    'ana',
    '--next-owner',
    'ben',
  );
  assert.equal(answer.session, session);
  assert.match(readFileSync(world.path(current), 'utf8'), /## Task\nShip all of it\n/);
  assert.equal(world.answer('handoff', 'audit').result, 'clean');
  const marked = `${readFileSync(world.path(current), 'utf8')}<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n`;
  writeFileSync(world.path(current), marked);
  assert.match(world.refusal(9, 'handoff', 'reconcile', '--updated-by', 'ana').message, /a merge has left a conflict/);
  assert.equal(readFileSync(world.path(current), 'utf8'), marked);
});

it('what reconcile does not follow of two documents that say two things is in the log with what it follows', (context) => {
  const world = noted(context);
  for (const [path, said] of [
    [current, 'Writing the tests'],
    [transfer, 'Writing a guide'],
  ] as const)
    writeFileSync(
      world.path(path),
      textOf(world, path)
        .replace(/(## Current step\n).*/, `$1${said}`)
        .replace(/(## Remaining (?:steps|work)\n).*/, `$1- Go on ${said}`),
    );
  world.refusal(9, 'handoff', 'update', '--updated-by', 'ana', '--what-was-done', 'Something');
  const { session } = later(world, 2).answer('handoff', 'reconcile', '--updated-by', 'ana');
  const { current_step: step } = world.answer('handoff', 'summarize');
  assert.equal(step, 'Writing the tests');
  const log = JSON.stringify(world.answer('show', session).events);
  for (const said of ['Writing a guide', 'Go on Writing a guide']) assert.ok(log.includes(`${said}\\n`), said);
});
