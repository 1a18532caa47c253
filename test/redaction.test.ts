/** Secrets through the writing verbs of every kind: none is stored, mirrored or answered. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { caseFile } from './support/cases.ts';
import { currentFile, orchestrationIn } from './support/orchestrations.ts';
import { checkpoint, templateOf, work, writeTemplate } from './support/runs.ts';
import { assertNowhere, secretsOf } from './support/secrets.ts';
import { reviewIn } from './support/reviews.ts';
import { createWorld, withoutShared, type TestWorld } from './support/world.ts';

/** The fake secrets of case M01: all of them as one text, and the first of them alone. */
const secretsOfCase = (): { readonly text: string; readonly token: string; readonly hidden: readonly string[] } => {
  const text = Buffer.from(readFileSync(caseFile('M01', 'secrets.b64'), 'utf8'), 'base64').toString();
  const given = text.split('\n').filter((line) => line !== '');
  return { text, token: given[0] ?? '', hidden: secretsOf(given) };
};

/** Runs lines one after the other; each must be taken, and none may show or leave a secret. */
const assertClean = (world: TestWorld, commands: readonly (readonly string[])[], hidden: readonly string[]): void => {
  for (const command of commands) {
    const { stdout, stderr, status } = world.run(...command);
    assert.equal(status, 0, `${command.slice(0, 3).join(' ')}: ${stderr}`);
    for (const secret of hidden) assert.ok(!(stdout + stderr).includes(secret), `${command[0]} shows a secret`);
  }
  assertNowhere(world.root, hidden);
};

const asked = [['status'], ['status', '--json'], ['log', '--json'], ['journal', '--json'], ['brief'], ['timeline']];

suite('M01: no secret gets in', { skip: withoutShared('cases') }, () => {
  const { text, token, hidden } = secretsOfCase();

  test('by a review, its processes and its lease', (context) => {
    const world = reviewIn(context, 'context');
    assertClean(
      world,
      [
        [
          'process',
          'start',
          '--kind',
          'instance',
          '--role',
          token,
          '--persona',
          token,
          '--name',
          token,
          '--note',
          text,
        ],
        ['process', 'start', '--kind', 'supervisor', '--vendor', token, '--model', token],
        ['note', 'error', text],
        ['note', 'assumption', text, '--rationale', text],
        ['block', text, '--needs', text],
        ['unblock', '--how', text],
        ['lease', 'claim', '--purpose', token],
        ['lease', 'release'],
        ['pause', '--reason', text],
        ['resume'],
        ['finish', '--abort', '--reason', text],
        ['reopen', '--reason', text, '--session', 'review:2026-03-17-main'],
        ...asked,
      ],
      hidden,
    );
  });

  test('by a task', (context) => {
    const world = createWorld(context);
    assertClean(
      world,
      [
        ['begin', 'task', '--name', 'importer', '--goal', text],
        ['step', 'add', text],
        ['step', 'add', token],
        ['step', 'drop', '2', '--reason', text],
        ['block', text, '--needs', text],
        ['unblock', '--how', text],
        ['task', 'move', 'ready-for-review', '--override', text],
        ...asked,
      ],
      hidden,
    );
  });

  test('by an orchestration', (context) => {
    const world = orchestrationIn(context);
    assertClean(
      world,
      [
        ['agent', 'start', 'a', '--type', 'code', '--task', text, '--vendor-session', token],
        ['agent', 'progress', 'a', '--percent', '50'],
        ['agent', 'pause', 'a', '--reason', text],
        ['agent', 'continue', 'a'],
        ['agent', 'complete', 'a', text],
        ['decide', 'wave-1', 'continue', '--reason', text],
        ['agent', 'start', 'b', '--type', 'test', '--task', token],
        ['agent', 'fail', 'b', '--error', text],
        ['todo', 'add', text],
        ['focus', text],
        ['compress', text],
        ['save'],
        ['report'],
        ['agent', 'list'],
        ['new', text],
        ...asked,
      ],
      hidden,
    );
    assert.ok(readFileSync(world.path(currentFile), 'utf8').includes('[REDACTED]'));
  });

  test('by a run, its values, results and decisions', (context) => {
    const world = createWorld(context);
    writeTemplate(
      world,
      'flow',
      templateOf([[work('A', { args_template: 'do {goal}' }), work('B')], [checkpoint('CP', false)], [work('C')]], {
        context_schema: { goal: { type: 'string', required: true, description: 'What is to be done' } },
      }),
    );
    assertClean(
      world,
      [
        ['run', 'flow', '--context', `goal=${text}`],
        ['next', '--claim'],
        ['start', 'A'],
        ['complete', 'A', '--output', text],
        ['skip', 'B', '--reason', text],
        ['decide', 'CP', 'continue', '--reason', text],
        ['next', '--claim'],
        ['fail', 'C', '--error', text],
        ...asked.map((command) => [...command, '--session', 'run:WFR-flow-20260317-120000']),
      ],
      hidden,
    );
  });
});
