/** What a command line can say to a verb besides one text a flag: lists, texts from elsewhere, and answers. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Verb } from '../src/kernel/verb.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { parseCommandLine } from '../src/surfaces/cli/arguments.ts';
import { helpToJson, usageOf, verbHelpText } from '../src/surfaces/cli/help.ts';
import { readElsewhere } from '../src/surfaces/cli/payload.ts';
import { amend, complete, play } from './support/asking-verbs.ts';
import { onTerminal } from './support/terminal.ts';
import { createWorld, runWholeProcesses, type Printed, type TestWorld } from './support/world.ts';

runWholeProcesses();

const program = join(import.meta.dirname, 'support/asking-verbs.ts');

/** A folder and an environment of their own. */
const here = (context: TestContext): TestWorld => createWorld(context, { git: false });

/** Runs a command line of the verbs for tests, without a terminal. */
const run = (
  world: TestWorld,
  args: readonly string[],
  { input = '', env = {} }: { readonly input?: string | Uint8Array; readonly env?: Record<string, string> } = {},
) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: world.project,
    env: { ...world.env, ...env },
    input,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

const answerOf = (world: TestWorld, args: readonly string[], input?: string | Uint8Array): Printed => {
  const { status, stdout, stderr } = run(world, [...args, '--json'], input === undefined ? {} : { input });
  assert.deepEqual([status, stderr], [0, ''], stdout.slice(0, 1000));
  return JSON.parse(stdout);
};

const errorOf = (world: TestWorld, args: readonly string[], input?: string | Uint8Array): Printed => {
  const { status, stdout } = run(world, [...args, '--json'], input === undefined ? {} : { input });
  const { error } = JSON.parse(stdout);
  assert.equal(status, error.exit);
  return error;
};

/** The input that a command line of a verb says, or the refusal of the line or of its input. */
const inputOf = (verb: Verb, ...args: readonly string[]): JsonObject | string => {
  const request = parseCommandLine([verb], [verb.name, ...args]);
  if (!request.ok) return request.error.message;
  assert.ok(request.value.kind === 'run');
  const { input } = request.value.line;
  const prepared = verb.prepare(input);
  return prepared.ok ? input : prepared.error.message;
};

test('a flag of a list may be repeated: each text is kept, in order, with its doubles', () => {
  assert.deepEqual(inputOf(play, 'flow', '--rerun', 'N-2', '--rerun=N-1', '--rerun', 'N-2'), {
    flow: 'flow',
    rerun: ['N-2', 'N-1', 'N-2'],
  });
  assert.deepEqual(inputOf(play, 'flow'), { flow: 'flow' });
  assert.equal(inputOf(play, 'flow', '--rerun'), 'play: --rerun needs a value.');
  assert.equal(inputOf(play, 'flow', '--flow', 'other'), 'play: flow is given twice.', 'a text is not a list');
});

test('a free word NAME=VALUE belongs to the list of pairs, wherever it stands, in the order of the line', () => {
  const context = ['goal=x y', 'scope=src/auth', 'deep=a=b', 'empty='];
  for (const args of [
    ['flow', '--context', 'goal=x y', 'scope=src/auth', 'deep=a=b', 'empty='],
    ['--context=goal=x y', 'scope=src/auth', '--context', 'deep=a=b', 'flow', 'empty='],
    ['goal=x y', 'scope=src/auth', 'flow', '--', 'deep=a=b', 'empty='],
  ])
    assert.deepEqual(inputOf(play, ...args), { flow: 'flow', context }, args.join(' '));
});

test('a word that is no pair is a positional or is refused, and so is a pair for a verb that takes none', () => {
  assert.deepEqual(inputOf(play, './a=b.yaml'), { flow: './a=b.yaml' }, 'a path is no pair');
  assert.deepEqual(inputOf(play, '--flow', 'a=b'), { flow: 'a=b' });
  assert.equal(inputOf(play, 'a=b'), 'play: flow is missing.');
  assert.equal(inputOf(play, 'flow', '--context', 'goal=x', 'scope'), 'play does not take "scope".');
  assert.equal(inputOf(play, 'flow', '--', '-v=1'), 'play does not take "-v=1".');
  assert.equal(inputOf(play, 'flow', '=1'), 'play does not take "=1".');
  assert.equal(inputOf(complete, 'N-1', '--output', 'x', 'goal=x'), 'complete does not take "goal=x".');
});

test('what is in a list is checked text by text, and named by its place', () => {
  assert.equal(inputOf(play, 'flow', '--context', 'a=1', '--context', 'goal'), 'play: context[1] expected NAME=VALUE.');
  const refused = (input: JsonObject): string | undefined => {
    const prepared = play.prepare(input);
    return prepared.ok ? undefined : prepared.error.message;
  };
  assert.equal(refused({ flow: 'x', rerun: 'N-1' }), 'play: rerun expected a list of texts.');
  assert.equal(refused({ flow: 'x', rerun: ['N-1', 2] }), 'play: rerun[1] expected a text.');
  assert.equal(refused({ flow: 'x', rerun: [] }), undefined);
});

test('help says which flags are repeated, which words are pairs, and where a text may come from', () => {
  assert.equal(usageOf(play), 'stint play <flow> [NAME=VALUE ...] [flags]');
  assert.equal(usageOf(complete), 'stint complete <node> --output TEXT|--output-file F|--stdin [flags]');
  assert.equal(usageOf(amend), 'stint amend [--reason TEXT|--reason-file F|--stdin] [NAME=VALUE ...] [flags]');
  assert.match(verbHelpText(play), /\n {2}--rerun TEXT \.\.\. +Nodes to run again\.\n/);
  assert.match(
    verbHelpText(play),
    /\n {2}--context-file TEXT +Read more of --context from this file, a JSON object of texts\.\n/,
  );
  assert.match(verbHelpText(complete), /\n {2}--output-file TEXT +Read --output from this file, whole\.\n/);
  assert.match(
    verbHelpText(complete),
    /\n {2}--stdin +Read --output from standard input, whole; so does - in its place\.\n/,
  );
  const { verbs }: Printed = helpToJson([play, complete]);
  const [played, completed] = verbs;
  assert.deepEqual(played.fields[1], {
    name: 'context',
    type: 'texts',
    required: false,
    description: 'What the flow is told.',
    words: 'NAME=VALUE',
  });
  assert.deepEqual(completed.fields[1], {
    name: 'output',
    type: 'text',
    required: true,
    description: 'What came of it.',
    or: ['output-file', 'stdin'],
  });
});

test('a text comes by its flag, from a file or from standard input, whole and as it is, without a byte order mark', async (context) => {
  const world = here(context);
  const completed = async (...args: readonly string[]): Promise<JsonObject> => {
    const request = parseCommandLine([complete], ['complete', 'N-1', ...args]);
    assert.ok(request.ok && request.value.kind === 'run');
    const read = await readElsewhere(request.value.line.input, request.value.line.elsewhere);
    assert.ok(read.ok);
    return read.value;
  };
  for (const text of ['', ' ', 'one\r\ntwo\r\n', '\uFEFF', `${'long '.repeat(200_000)}\n`, '{"a": 1}', 'null\u0000']) {
    const output = text.replace('\uFEFF', '');
    const file = world.write('text', text);
    assert.equal((await completed('--output-file', file))['output'], output);
    assert.equal((await completed('--output', output))['output'], output);
  }
  const text = `\uFEFF${'long\r\n'.repeat(50_000)}`;
  for (const args of [['--output-file', '-'], ['--stdin'], ['-']])
    assert.equal(answerOf(world, ['complete', 'N-1', ...args], text).output, text.slice(1));
  assert.equal(answerOf(world, ['complete', 'N-1', '-'], '').output, '', 'an empty text is one');
  assert.equal(answerOf(world, ['complete', 'N-1', '--output', '-'], 'x').output, '-', 'the flag says the text itself');
});

test('a text that must be given is given in one of its ways; one that may be left out, in one at most', (context) => {
  const world = here(context);
  const message = 'complete takes the output from --output, --output-file or --stdin, one of them.';
  for (const args of [
    [],
    ['--output', '', '--stdin'],
    ['--output', 'x', '--output-file', 'text'],
    ['--output-file', 'text', '-'],
  ])
    assert.equal(errorOf(world, ['complete', 'N-1', ...args], 'x').message, message, args.join(' '));
  assert.equal(answerOf(world, ['amend']).reason, null);
  assert.equal(answerOf(world, ['amend', '-'], 'because').reason, 'because');
  assert.match(errorOf(world, ['amend', '-', '--reason', 'x']).message, /^amend takes the reason from /);
});

test('a text that cannot be read whole is refused as a payload is', (context) => {
  const world = here(context);
  mkdirSync(world.path('folder'));
  world.write('latin', Buffer.from('one\nf\u00fcr', 'latin1'));
  world.write('large', Buffer.alloc(16 * 1024 * 1024 + 1, 'x'));
  const refusalOf = (file: string) => {
    const { exit, message } = errorOf(world, ['complete', 'N-1', '--output-file', file]);
    return [exit, message];
  };
  assert.deepEqual(refusalOf('absent'), [4, 'The output absent does not exist.']);
  assert.deepEqual(refusalOf('folder'), [4, 'The output folder is a folder.']);
  assert.deepEqual(refusalOf('latin'), [7, 'The output in latin is not UTF-8 (line 2).']);
  assert.deepEqual(refusalOf('large'), [7, 'The output in large is larger than 16 MiB; nothing was stored.']);
});

test('a file of pairs is a JSON object of texts; what the line says itself stands in its place', (context) => {
  const world = here(context);
  world.write(
    'context.json',
    '\uFEFF{"goal": "theirs", "aim": "a=b\\n", "scope": "", "constructor": "c", "__proto__": "p"}',
  );
  const fromFile = ['aim=a=b\n', 'scope=', 'constructor=c', '__proto__=p'];
  const args = ['play', 'flow', 'goal=mine', '--context-file'];
  assert.deepEqual(answerOf(world, [...args, 'context.json']).context, [...fromFile, 'goal=mine']);
  const input = '{"goal": "x", "scope": "y"}';
  assert.deepEqual(answerOf(world, ['play', 'flow', '--context-file', '-'], input).context, ['goal=x', 'scope=y']);
});

test('a file of pairs that holds something else is refused with the path of each fault, without what it holds', (context) => {
  const world = here(context);
  const refusalOf = (input: string) => {
    const { exit, message, faults } = errorOf(world, ['play', 'flow', '--context-file', '-'], input);
    assert.equal(exit, 7);
    return faults ?? message;
  };
  assert.deepEqual(refusalOf('{"a": 1, "b": "x", "c d": null, "e": ["f"], "g": {}}'), [
    '$.a expected a text',
    '$["c d"] expected a text',
    '$.e expected a text',
    '$.g expected a text',
  ]);
  assert.deepEqual(refusalOf('{"": "x", "a=b": "y"}'), [
    '$[""] has no name for a value: expected one without =',
    '$["a=b"] has no name for a value: expected one without =',
  ]);
  assert.deepEqual(refusalOf('["goal=x"]'), ['$ expected an object']);
  assert.equal(refusalOf(' '), 'There is no context: standard input is empty.');
  assert.equal(
    refusalOf('{"a": "b", "a": "c"}'),
    'The context in standard input has one key twice in an object, at line 1, column 12.',
  );
});

test('standard input is read once', (context) => {
  const world = here(context);
  const error = errorOf(world, ['amend', '-', '--context-file', '-'], '{}');
  assert.deepEqual([error.exit, error.message], [2, 'amend: standard input is read once.']);
});

// Asking.

const asked = ['"goal (What is to be reached.): "', '"scope (Where: [31mred ): "'];

const missing = [
  'stint: flow is told too little.',
  '  missing: --context goal=VALUE (What is to be reached.)',
  '  missing: --context scope=VALUE (Where: [31mred )',
  '  try: stint play --help',
  '',
].join('\n');

test('where nobody can be asked, what is missing is listed, a line each', (context) => {
  const world = here(context);
  const outcome = run(world, ['play', 'flow']);
  assert.deepEqual([outcome.status, outcome.stdout, outcome.stderr], [2, '', missing]);
  assert.deepEqual(errorOf(world, ['play', 'flow', 'goal=x']).asks, [
    { field: 'context', name: 'scope', description: 'Where: \u001b[31mred\n\u0007' },
  ]);
});

/** Runs a command line where these answers are typed. */
const runAnswering = (
  world: TestWorld,
  args: readonly string[],
  answers: readonly (string | null)[],
  env: Record<string, string> = {},
) => run(world, args, { env: { ANSWERS: JSON.stringify(answers), ...env } });

test('a person is asked for each value that is missing, until the line is not empty, and the line is run with them', (context) => {
  const world = here(context);
  const { status, stdout, stderr } = runAnswering(world, ['play', 'flow', 'more=1'], ['', ' ', 'x = y', 'src']);
  assert.deepEqual([status, stderr.split('\n')], [0, [asked[0], asked[0], asked[0], asked[1], '']]);
  assert.deepEqual(JSON.parse(stdout), { flow: 'flow', context: ['more=1', 'goal=x = y', 'scope=src'], rerun: [] });
});

test('who gives up is refused as if nobody had been asked, and Ctrl-C ends with 130 and no refusal', (context) => {
  const world = here(context);
  const gaveUp = runAnswering(world, ['play', 'flow'], ['x', null]);
  assert.deepEqual([gaveUp.status, gaveUp.stdout, gaveUp.stderr], [2, '', `${asked.join('\n')}\n${missing}`]);
  const interrupted = runAnswering(world, ['play', 'flow'], ['x']);
  assert.deepEqual([interrupted.status, interrupted.stdout, interrupted.stderr], [130, '', `${asked.join('\n')}\n`]);
});

test('nobody is asked with --json, with --quiet, in CI, or where standard input was read', (context) => {
  const world = here(context);
  const answers = ['x', 'y'];
  assert.equal(JSON.parse(runAnswering(world, ['play', 'flow', '--json'], answers).stdout).error.asks.length, 2);
  assert.equal(runAnswering(world, ['play', 'flow', '--quiet'], answers).stderr, missing);
  assert.equal(runAnswering(world, ['play', 'flow'], answers, { CI: 'true' }).stderr, missing);
  assert.equal(runAnswering(world, ['play', 'flow'], answers, { CI: '' }).status, 0, 'empty is not set');
  const read = run(world, ['play', 'flow', '--context-file', '-'], {
    input: '{}',
    env: { ANSWERS: JSON.stringify(answers) },
  });
  assert.equal(read.stderr, missing);
});

test('of several ways to go on a person chooses one by its number, which is run in the place of the refused line', (context) => {
  const world = here(context);
  const refused = 'stint: It is stuck.\n';
  const ways =
    String.raw`  1  amend it[31m (stint amend --reason 'it'\''s stuck')` +
    '\n  2  do nothing (stint nothing)\n  3  amend it otherwise (stint amend --reason REASON)\n';
  const question = `${JSON.stringify(`${ways}Which one? [1-3, or nothing] `)}\n`;
  const amended = runAnswering(world, ['stuck', '--actor', 'ana'], ['4', 'x', '1']);
  assert.deepEqual([amended.status, amended.stderr], [0, refused + question.repeat(3)]);
  assert.deepEqual(JSON.parse(amended.stdout), { reason: "it's stuck", context: [] });
  const told = runAnswering(world, ['stuck'], ['3', '-- so']);
  assert.deepEqual([told.status, told.stderr], [0, `${refused}${question}"reason (Why.): "\n`]);
  assert.deepEqual(JSON.parse(told.stdout).reason, '-- so', 'what a way still needs is asked for');
  for (const answers of [[''], [null], ['3', ''], ['3', null]])
    assert.deepEqual(runAnswering(world, ['stuck'], answers).status, 6, 'whoever chooses none has the refusal');
  assert.equal(runAnswering(world, ['stuck'], []).status, 130, 'Ctrl-C');
  assert.equal(runAnswering(world, ['stuck'], ['2']).status, 2, 'what was chosen may be refused too');
});

test('an agent is told the ways to go on, and not asked', (context) => {
  const world = here(context);
  const { status, stdout, stderr } = runAnswering(world, ['stuck', '--json'], ['1']);
  assert.deepEqual([status, stderr], [6, '']);
  assert.deepEqual(JSON.parse(stdout).error.ways[1], { text: 'do nothing', command: 'stint nothing' });
  for (const env of [{ CI: 'true' }, {}])
    assert.equal(
      runAnswering(world, 'CI' in env ? ['stuck'] : ['stuck', '--quiet'], ['1'], env).stderr,
      'stint: It is stuck.\n',
    );
});

const line = `${process.execPath} ${program}`;

test('on a real terminal one is asked on standard error, also where the answer goes into a file', async (context) => {
  const world = here(context);
  const outcome = await onTerminal(world, `${line} play flow > answer; cat answer`, [
    ['goal (What', '\r'],
    ['goal (What', 'g\u00fct\r'],
    ['scope (', 'src\r'],
  ]);
  if (outcome === undefined) return context.skip('there is no script(1)');
  assert.equal(outcome.status, 0, outcome.printed);
  assert.match(outcome.printed, /\{"flow":"flow","context":\["goal=g\u00fct","scope=src"\],"rerun":\[\]\}\r\n$/);
});

test('on a real terminal what is typed ahead is not lost', async (context) => {
  const outcome = await onTerminal(here(context), `${line} play flow`, [['goal (What', 'x\rsrc\r']]);
  if (outcome === undefined) return context.skip('there is no script(1)');
  assert.match(outcome.printed, /"context":\["goal=x","scope=src"\]/);
  assert.equal(outcome.status, 0);
});

test('on a real terminal Ctrl-D gives up with the refusal, and Ctrl-C with 130', async (context) => {
  const world = here(context);
  const gaveUp = await onTerminal(world, `${line} play flow`, [
    ['goal (What', 'x\r'],
    ['scope (', '\u0004'],
  ]);
  if (gaveUp === undefined) return context.skip('there is no script(1)');
  assert.equal(gaveUp.status, 2, gaveUp.printed);
  assert.ok(gaveUp.printed.endsWith(`: \r\n${missing.replaceAll('\n', '\r\n')}`), gaveUp.printed);
  const interrupted = await onTerminal(world, `${line} play flow`, [['goal (What', 'x\u0003']]);
  assert.equal(interrupted?.status, 130, interrupted?.printed);
  assert.doesNotMatch(interrupted?.printed ?? '', /stint:/);
});

test('with standard input or standard error elsewhere nobody is asked, though the rest is a terminal', async (context) => {
  const world = here(context);
  for (const away of ['< /dev/null', '2> refused; s=$?; cat refused; exit $s']) {
    const outcome = await onTerminal(world, `${line} play flow ${away}`, []);
    if (outcome === undefined) return context.skip('there is no script(1)');
    assert.deepEqual([outcome.status, outcome.printed], [2, missing.replaceAll('\n', '\r\n')], away);
  }
});
