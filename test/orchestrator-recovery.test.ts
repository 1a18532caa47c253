/** What lies where an orchestration does and is damaged, or is of another program: it never counts as nothing, and nothing of it is lost. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { as, claim } from './support/leases.ts';
import { dumpStore, eventsOf, treeOf } from './support/stores.ts';
import { onTerminal } from './support/terminal.ts';
import {
  command,
  createWorld,
  fileOnly,
  listOf,
  refusedText,
  say,
  shared,
  sorted,
  withoutShared,
  type Printed,
  type TestWorld,
} from './support/world.ts';

const current = '.claude/orchestrator-session.json';
const history = '.claude/orchestrator-history';

/** A session as an orchestrator writes it. */
const left = (more: Printed = {}): string =>
  JSON.stringify(
    {
      schema_version: '1.0',
      session_id: '2026-03-01-tea123',
      created: '2026-03-01T08:00:00Z',
      updated: '2026-03-01T08:10:00Z',
      goal: 'Serve tea',
      mode: 'default',
      status: 'in_progress',
      agents: [{ id: 'pour-1', type: 'code', task: 'Pour', status: 'in_progress', started: '2026-03-01T08:05:00Z' }],
      completed_work: [],
      pending_tasks: ['Lay the table'],
      decisions_made: [],
      context_usage: {},
      errors: [],
      ...more,
    },
    null,
    2,
  );
const torn = left().slice(0, 420);
const conflict = left().replace(
  '  "mode": "default",\n',
  '<<<<<<< HEAD\n  "mode": "debug",\n=======\n  "mode": "default",\n>>>>>>> other\n',
);

/** Contents that no orchestrator can read. */
const damages: Readonly<Record<string, string | Uint8Array>> = {
  'cut off': torn,
  empty: '',
  'NULs at its end': `${left()}${'\0'.repeat(64)}`,
  'nothing but NULs': Buffer.alloc(4096),
  'a git conflict': conflict,
  'two documents': left() + left({ goal: 'Serve coffee' }),
  'of a newer version': left({ schema_version: '2.0' }),
  'no text': Buffer.from([0xff, 0xfe, 0x00, 0xd8]),
  'of another program': '{"permissions": {"allow": []}}',
};

/** A world with an orchestration of ours in which an agent is at work. */
const oursIn = (context: TestContext): { readonly world: TestWorld; readonly key: string } => {
  const world = createWorld(context);
  const { session } = world.answer('begin', 'orchestration', '--goal', 'Serve coffee');
  world.answer('agent', 'start', 'grind-1', '--type', 'code', '--task', 'Grind');
  world.answer('todo', 'add', 'Boil water');
  return { world, key: session };
};

/** Changes what the file of a session holds, as another program would. */
const edit = (world: TestWorld, change: (file: Printed) => Printed, path = current): void => {
  world.write(path, JSON.stringify(change(JSON.parse(readFileSync(world.path(path), 'utf8'))), null, 2));
};

const written = (world: TestWorld, path = current): Printed => JSON.parse(readFileSync(world.path(path), 'utf8'));

/** The files that were set aside. */
const keptIn = (world: TestWorld): readonly string[] =>
  readdirSync(world.path('.claude'))
    .filter((name) => name.includes('.kept-'))
    .map((name) => readFileSync(world.path('.claude', name)).toString('base64'));
const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');

for (const [damage, content] of Object.entries(damages)) {
  test(`with the file of our own orchestration damaged (${damage}) every verb goes on, and the bad file is kept`, (context) => {
    const { world, key } = oursIn(context);
    const sound = readFileSync(world.path(current), 'utf8');
    world.write(current, content);
    const [files, store] = [treeOf(world.path('.claude')), dumpStore(world)];
    for (const args of [
      ['status'],
      ['brief'],
      ['agent', 'list'],
      ['report'],
      ['history'],
      ['list'],
      ['progress', '--once'],
    ])
      world.answer(...args);
    assert.equal(world.answer('status').session, key);
    assert.deepEqual([treeOf(world.path('.claude')), dumpStore(world)], [files, store], 'looking changes nothing');
    const { status, stderr } = world.run('note', 'remark', 'ground');
    assert.equal(status, 0);
    const newer =
      'was written by a newer version: its schema is "2.0", and 1 is what is understood here; that version is kept as NAME; a newer stint takes it over: upgrade stint';
    const told =
      damage === 'of a newer version' ? newer : 'had been changed by somebody else; that version is kept as NAME';
    assert.equal(
      stderr.replace(/orchestrator-session\.json\.kept-[\da-f]{8}/, 'NAME'),
      `stint: warning: orchestrator-session.json ${told}\n`,
    );
    assert.deepEqual(keptIn(world), [base64(content)]);
    assert.equal(readFileSync(world.path(current), 'utf8'), sound, 'a remark is not shown in it');
    world.answer('agent', 'complete', 'grind-1', '--summary', 'Ground');
    assert.equal(world.answer('doctor').healthy, true);
  });
}

test('with the file of our own orchestration gone every verb goes on, and the next one that writes makes it anew', (context) => {
  const { world } = oursIn(context);
  rmSync(world.path(current));
  world.answer('todo', 'add', 'Warm the cups');
  assert.equal(JSON.parse(readFileSync(world.path(current), 'utf8')).pending_tasks.length, 2);
});

/** What may lie in the place of the file and is none, with the name under which it is kept, and what must be true of it there. */
const noFiles: Readonly<Record<string, readonly [put: (path: string) => void, isKept: (path: string) => boolean]>> = {
  folder: [
    (path) => {
      mkdirSync(path);
      writeFileSync(join(path, 'notes.txt'), 'mine');
    },
    (path) => readFileSync(join(path, 'notes.txt'), 'utf8') === 'mine',
  ],
  // A session that could be read, so that whoever followed the link would take it for the file.
  link: [(path) => symlinkSync('../target.json', path), (path) => readlinkSync(path) === '../target.json'],
  pipe: [(path) => void spawnSync('mkfifo', [path]), (path) => lstatSync(path).isFIFO()],
};

/** A link that leads nowhere, and one that leads out of the checkout. */
const links: readonly string[] = ['nowhere.json', '../../outside.json'];

for (const [what, [lay, isKept]] of Object.entries(noFiles)) {
  test(`a ${what} in the place of the file is set aside as it is by whatever writes, and its name is told`, (context) => {
    const { world, key } = oursIn(context);
    const target = world.write('target.json', left());
    rmSync(world.path(current));
    lay(world.path(current));
    world.answer('status');
    assert.ok(isKept(world.path(current)), 'looking changes nothing');
    assert.equal(world.run('doctor').status, 6);
    const one = createWorld(context, { from: world });
    rmSync(one.path(current), { recursive: true, force: true });
    lay(one.path(current));
    const warned = new RegExp(
      `orchestrator-session\\.json was a ${what}, which is kept as orchestrator-session\\.json\\.kept-${what}$`,
      'm',
    );
    for (const [there, args] of [
      [world, ['note', 'remark', 'ground']],
      [one, ['begin', 'orchestration', '--fresh', '--goal', 'Serve coffee']],
    ] as const) {
      const { status, stderr } = there.run(...args);
      assert.deepEqual([status, warned.test(stderr)], [0, true], stderr);
      assert.ok(isKept(there.path(`${current}.kept-${what}`)));
      assert.equal(JSON.parse(readFileSync(there.path(current), 'utf8')).goal, 'Serve coffee');
      assert.ok(lstatSync(there.path(current)).isFile());
      assert.equal(there.answer('doctor').healthy, true);
    }
    assert.equal(readFileSync(target, 'utf8'), left(), 'what a link leads to is not touched');
    // The next one has a name of its own.
    rmSync(world.path(current));
    lay(world.path(current));
    assert.match(String(world.answer('rebuild').warnings), new RegExp(`kept-${what}-2$`));
    assert.equal(world.answer('status').session, key);
  });

  test(`a ${what} where no session lies is told by whoever would begin, and set aside by begin --fresh`, (context) => {
    const world = createWorld(context);
    mkdirSync(world.path('.claude'));
    const target = world.write('target.json', left());
    lay(world.path(current));
    assert.notEqual(world.run('begin', 'orchestration', '--goal', 'Serve coffee').status, 0);
    assert.ok(isKept(world.path(current)));
    const { status, stderr } = world.run('begin', 'orchestration', '--fresh', '--goal', 'Serve coffee');
    assert.equal(status, 0);
    assert.match(
      stderr,
      new RegExp(`was a ${what}, which is kept as orchestrator-session\\.json\\.kept-${what}$`, 'm'),
    );
    assert.ok(isKept(world.path(`${current}.kept-${what}`)));
    assert.equal(JSON.parse(readFileSync(world.path(current), 'utf8')).goal, 'Serve coffee');
    assert.equal(readFileSync(target, 'utf8'), left());
    // What others put there once the session has left is theirs.
    world.answer('finish', '--abort');
    lay(world.path(current));
    world.answer('history');
    world.answer('rebuild');
    assert.ok(isKept(world.path(current)));
    assert.equal(world.answer('doctor').healthy, true);
  });
}

for (const target of links) {
  test(`nothing is written through a link to ${target}`, (context) => {
    const world = createWorld(context);
    mkdirSync(world.path('.claude'));
    symlinkSync(target, world.path(current));
    const { status, stderr } = world.run('begin', 'orchestration', '--fresh', '--goal', 'Serve coffee');
    assert.deepEqual([status, stderr.includes('was a link, which is kept as ')], [0, true], stderr);
    assert.equal(readlinkSync(world.path(`${current}.kept-link`)), target);
    assert.equal(existsSync(world.path('.claude', target)), false);
    assert.equal(JSON.parse(readFileSync(world.path(current), 'utf8')).goal, 'Serve coffee');
  });
}

test('what another program adds to the file of a session goes on record without moving it, and stays in the file and in every later one', (context) => {
  const { world, key } = oursIn(context);
  const { revision } = world.answer('show', key);
  // Somebody holds the session, and alone moves it.
  claim(world, '--session', key);
  edit(world, (file) => ({
    ...file,
    goal: 'Rule the world',
    ticket: { id: 7 },
    agents: [{ ...file.agents[0], task: 'Nothing', tokens_used: 12 }],
    pending_tasks: [{ task: 'Boil water', due: 'noon' }],
  }));
  const edited = readFileSync(world.path(current));
  const { status, stderr } = as(world, 'bob').run('note', 'remark', 'ground', '--session', key);
  assert.equal(status, 0);
  assert.match(stderr, /is kept as orchestrator-session\.json\.kept-[\da-f]{8}; the keys that it adds stay in ours\n$/);
  assert.deepEqual(keptIn(world), [base64(edited)]);
  const holds = (file: Printed): void => {
    assert.deepEqual([file.goal, file.ticket], ['Serve coffee', { id: 7 }]);
    assert.deepEqual([file.agents[0].task, file.agents[0].tokens_used], ['Grind', 12]);
    assert.deepEqual(file.pending_tasks, [{ task: 'Boil water', due: 'noon' }]);
  };
  holds(written(world));
  assert.equal(world.answer('show', key).revision, revision);
  assert.deepEqual(eventsOf(world, key).at(-1).data, {
    keys: { file: { ticket: { id: 7 } }, 'agents grind-1': { tokens_used: 12 }, 'pending_tasks 0': { due: 'noon' } },
  });
  world.answer('agent', 'complete', 'grind-1', '--summary', 'Ground');
  holds(written(world));
  rmSync(world.path(current));
  world.answer('rebuild');
  holds(written(world));
  const count = eventsOf(world, key).length;
  edit(world, (file) => ({ ...file, goal: 'x' }));
  assert.match(
    String(world.answer('rebuild').warnings),
    /kept-[\da-f]{8}$/,
    'nothing is added, and nothing is said of it',
  );
  assert.equal(eventsOf(world, key).length, count);
  edit(world, (file) => ({ ...file, late: 'AKIAIOSFODNN7EXAMPLE' }));
  world.run('finish', '--abort');
  const over = written(world, `${history}/${key.slice('orchestration:'.length)}.json`);
  holds(over);
  assert.match(over.late, /^\[REDACTED/, 'a secret is not put on record');
  assert.equal(existsSync(world.path(current)), false);
  assert.equal(world.answer('doctor').healthy, true);
});

test('what is added to the file of a session that makes way for another stays with that session', (context) => {
  const { world, key } = oursIn(context);
  edit(world, (file) => ({ ...file, ticket: 7 }));
  world.run('new', 'Serve tea', '--name', 'tea');
  assert.equal(written(world, `${history}/${key.slice('orchestration:'.length)}.json`).ticket, 7);
  assert.deepEqual([written(world).goal, written(world).ticket], ['Serve tea', undefined]);
  // In the file of one that is over it counts as well.
  edit(world, (file) => ({ ...file, late: 8 }), `${history}/${key.slice('orchestration:'.length)}.json`);
  world.run('rebuild');
  assert.equal(written(world, `${history}/${key.slice('orchestration:'.length)}.json`).late, 8);
  assert.equal(world.answer('doctor').healthy, true);
});

test('rebuild alone keeps what was added, also to a session that was taken over', (context) => {
  const world = createWorld(context);
  world.write(current, left({ zz: 1, agents: [] }));
  world.answer('import', 'orchestrator');
  world.run('todo', 'add', 'Wash up');
  edit(world, (file) => ({ ...file, zz: 2, added: true }));
  world.answer('rebuild');
  world.answer('todo', 'add', 'Dry up');
  assert.deepEqual([written(world).zz, written(world).added, written(world).pending_tasks.length], [2, true, 3]);
});

// Without a session of ours.

/** A world in which something lies where the orchestration would. */
const strangeIn = (context: TestContext, content: string | Uint8Array = torn): TestWorld => {
  const world = createWorld(context);
  world.write(current, content);
  return world;
};

const begin = ['begin', 'orchestration', '--goal', 'Serve coffee', '--mode', 'debug'];
const asking: readonly (readonly string[])[] = [
  begin,
  ['new', 'Serve coffee'],
  ['resume'],
  ['continue'],
  ['status'],
  ['brief'],
  ['next'],
  ['note', 'x'],
  ['pause'],
  ['agent', 'list'],
  ['agent', 'start', 'a', '--type', 't', '--task', 'x'],
  ['todo', 'add', 'x'],
  ['report'],
];

const fresh = 'stint begin orchestration --fresh --goal GOAL';

/** What is said of each: exit code, the end of the message, and the ways to go on. */
const told: Readonly<Record<string, readonly [exit: number, message: string, ...ways: string[]]>> = {
  'cut off': [
    14,
    'holds a session that is not taken over, and something of it is lost: It ends in the middle, as a write that was cut off ($.pending_tasks), at line 19, column 18.',
    'stint import orchestrator --salvage',
  ],
  empty: [14, 'cannot be read. It is empty.'],
  'NULs at its end': [
    6,
    'holds a session that is not taken over: Serve tea, in progress, updated 2026-03-01T08:10:00Z.',
    'stint import orchestrator',
  ],
  'nothing but NULs': [
    14,
    'cannot be read. It holds nothing but NUL bytes, as a write leaves them that a crash cut off.',
  ],
  'a git conflict': [
    6,
    'holds several versions of a session, none of which is taken over. It has a git conflict at line 7.',
    'stint import orchestrator --choose=ours',
    'stint import orchestrator --choose=theirs',
  ],
  'two documents': [
    6,
    'holds several versions of a session, none of which is taken over. It holds 2 documents that differ.',
    'stint import orchestrator --choose=first',
    'stint import orchestrator --choose=second',
  ],
  'of a newer version': [
    13,
    'is left as it is. It was written by a newer version: its schema is "2.0", and 1 is what is understood here.',
  ],
  'no text': [14, 'cannot be read. It is UTF-16, not UTF-8.'],
  'of another program': [
    6,
    'is no session that can be taken over: it is the settings of an agent program. They say what may be done, and nothing of what was.',
  ],
};

for (const [damage, [exit, message, ...ways]] of Object.entries(told)) {
  test(`what lies there without a session of ours (${damage}) is told by whoever would begin or go on, with ways that work`, (context) => {
    const content = damages[damage] ?? '';
    const world = strangeIn(context, content);
    const files = treeOf(world.project, (path) => path === '.git');
    for (const args of asking) {
      const error = world.refusal(exit, ...args);
      assert.equal(error.message, `${current} ${message}`, args.join(' '));
      const commands = listOf(error.ways).map((way) => way.command);
      const fresher =
        args === begin
          ? "stint begin orchestration --fresh --mode=debug '--goal=Serve coffee'"
          : args[0] === 'new'
            ? "stint begin orchestration --fresh '--goal=Serve coffee'"
            : fresh;
      assert.deepEqual(commands, [...ways, 'stint history', fresher], args.join(' '));
      assert.deepEqual([error.legal, error.hint], [commands, commands[0]]);
    }
    assert.deepEqual(
      treeOf(world.project, (path) => path === '.git'),
      files,
      'nothing is changed, and no store is made',
    );
    for (const way of [...ways, 'stint history', fresh]) {
      const one = createWorld(context, { from: world });
      const outcome = one.run(...way.split(' ').slice(1), '--json');
      assert.equal(outcome.status, 0, `${way}: ${outcome.stdout}`);
      if (way.includes(' import '))
        assert.equal(one.answer('status').goal, way.endsWith('second') ? 'Serve coffee' : 'Serve tea');
      else if (way === fresh) {
        assert.match(outcome.stderr, /that version is kept as orchestrator-session\.json\.kept-/);
        assert.deepEqual(keptIn(one), [base64(content)], 'what lay there is kept');
        assert.equal(one.answer('status').goal, 'GOAL');
      } else one.refusal(exit, 'status');
    }
  });
}

test('a folder in its place is told too, and a link that leads out', (context) => {
  const world = createWorld(context);
  mkdirSync(world.path(current), { recursive: true });
  assert.equal(world.refusal(14, 'status').message, `${current} cannot be read. It is a folder, not a file.`);
});

test('the last good copy is a way where there is one', (context) => {
  const world = strangeIn(context);
  world.write(`${current}.bak`, torn);
  assert.ok(listOf(world.refusal(14, 'status').ways).every((way) => !String(way.command).includes('--last-good')));
  world.write(`${current}.old`, left());
  const [, way] = world.refusal(14, 'status').ways;
  assert.deepEqual(way, {
    text: `take over the last good copy of it, ${current}.old`,
    command: 'stint import orchestrator --last-good',
  });
  world.answer('import', 'orchestrator', '--last-good');
  assert.equal(world.answer('status').goal, 'Serve tea');
});

test('where the last good copy was taken over already and is over, going on with it is the way', (context) => {
  const world = strangeIn(context);
  world.write(`${history}/2026-03-01-tea123.json`, left());
  world.answer('import', 'orchestrator', '--last-good');
  const [way] = world.refusal(14, 'status').ways;
  assert.equal(way.command, 'stint history resume 2026-03-01-tea123');
  assert.equal(world.run('history', 'resume', '2026-03-01-tea123').status, 0);
  assert.equal(world.answer('status').goal, 'Serve tea');
  assert.deepEqual(keptIn(world), [base64(torn)]);
});

test('a file that was taken over is in the way of nobody, one that changed since is, and so is one of a session that went on', (context) => {
  const world = createWorld(context);
  const over = { status: 'aborted' };
  world.write(current, left(over));
  world.answer('import', 'orchestrator');
  assert.equal(world.refusal(4, 'status').code, 'not-found');
  world.write(current, left({ ...over, updated: '2026-03-01T09:00:00Z' }));
  assert.match(world.refusal(6, 'status').message, /holds a session that is not taken over: Serve tea, aborted/);
  world.answer('import', 'orchestrator');
  world.refusal(4, 'status');
  world.run('history', 'resume', '1');
  world.run('finish', '--abort');
  world.write(current, left({ updated: '2026-03-01T10:00:00Z' }));
  const { message, ways } = world.refusal(6, 'status');
  assert.equal(message, `${current} holds another version of orchestration:2026-03-01-tea123, which has gone on here.`);
  assert.deepEqual(
    listOf(ways).map((way) => way.command),
    ['stint history resume 2026-03-01-tea123', 'stint history', fresh],
  );
  assert.equal(world.run('history', 'resume', '2026-03-01-tea123').status, 0);
  assert.equal(world.answer('status').goal, 'Serve tea');
});

test('what lies there concerns nobody who means another kind, names a session, or has one open', (context) => {
  const world = strangeIn(context);
  world.refusal(4, 'advance', 'analysis');
  world.refusal(4, 'status', 'review:none');
  world.answer('begin', 'review', '--name', 'r');
  assert.equal(world.answer('status').session, 'review:r');
  world.refusal(14, 'agent', 'list');
});

test('a hostile goal in it is one line without a control character', (context) => {
  const world = strangeIn(context, left({ goal: `\u001B[31mred\u202E\nstint: all is well${'x'.repeat(1_000_000)}` }));
  const { stderr } = world.run('status');
  assert.match(stderr.split('\n')[0] ?? '', /holds a session that is not taken over: /);
  assert.doesNotMatch(stderr, /[\u001B\u202E]|^stint: all/m);
  assert.ok(stderr.length < 1000);
});

test('a file that is too large is not read, and told', (context) => {
  const world = strangeIn(context, '');
  truncateSync(world.path(current), 64 * 1024 * 1024);
  assert.equal(world.refusal(14, 'status').message, `${current} cannot be read. It is larger than 16 MiB.`);
});

test('what others put there after a session of ours has left the file is no change of its mirror', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'orchestration', '--goal', 'Serve coffee', '--name', 'k');
  world.answer('finish', '--abort');
  world.write(current, torn);
  assert.equal(world.answer('doctor').healthy, true);
  world.answer('rebuild');
  world.answer('list');
  assert.equal(readFileSync(world.path(current), 'utf8'), torn);
  assert.match(world.refusal(14, 'status').message, /is not taken over/);
});

test('for a person each way has a line', (context) => {
  const world = strangeIn(context);
  assert.equal(
    refusedText(world, 14, 'status'),
    `stint: ${current} ${told['cut off']?.[1]}
  expected: a file that is taken over, or set aside on purpose
  legal: stint import orchestrator --salvage, stint history, ${fresh}
  try: stint import orchestrator --salvage
`,
  );
});

// On a terminal.

const line = `${process.execPath} ${command}`;
const question = /Which one\? \[1-\d, or nothing\] /;

/** Runs a line on a terminal, and types what is said when the question stands there. */
const choosing = async (world: TestWorld, args: string, ...typed: readonly (readonly [string, string])[]) =>
  onTerminal(world, `${line} ${args}`, typed);

test('a person is asked which way to go, by number, and the way is gone', async (context) => {
  const world = strangeIn(context);
  world.write(`${current}.old`, left());
  const salvaged = createWorld(context, { from: world });
  const outcome = await choosing(salvaged, 'resume', ['Which one?', '1\r']);
  if (outcome === undefined) return context.skip('there is no script(1)');
  assert.equal(outcome.status, 0, outcome.printed);
  for (const way of [
    '  1  take over what is left of it (stint import orchestrator --salvage)',
    `  2  take over the last good copy of it, ${current}.old (stint import orchestrator --last-good)`,
    '  3  look at earlier sessions (stint history)',
    `  4  start fresh; the file is kept beside the new one (${fresh})`,
  ])
    assert.ok(outcome.printed.includes(way), outcome.printed);
  assert.match(outcome.printed, question);
  assert.equal(salvaged.answer('agent', 'list').agents.length, 1);

  const restored = createWorld(context, { from: world });
  assert.equal((await choosing(restored, 'status', ['Which one?', '2\r']))?.status, 0);
  assert.deepEqual(restored.answer('report').pending_tasks, [{ id: 1, text: 'Lay the table' }]);

  assert.equal((await choosing(world, 'begin orchestration --goal x', ['Which one?', '3\r']))?.status, 0);
  world.refusal(14, 'status');
});

test('whoever starts fresh is asked for the goal where none was given, and the bad file is kept', async (context) => {
  const world = strangeIn(context);
  const given = createWorld(context, { from: world });
  const outcome = await choosing(given, "begin orchestration --goal 'Serve coffee'", ['Which one?', '3\r']);
  if (outcome === undefined) return context.skip('there is no script(1)');
  assert.equal(outcome.status, 0, outcome.printed);
  assert.equal(given.answer('status').goal, 'Serve coffee');
  assert.deepEqual(keptIn(given), [base64(torn)]);

  const asked = await choosing(world, 'resume', ['Which one?', '3\r'], ['goal (What it is to come to.): ', 'Bake\r']);
  assert.equal(asked?.status, 0, asked?.printed);
  assert.equal(world.answer('status').goal, 'Bake');
});

test('whoever chooses nothing has the refusal, and Ctrl-C ends with 130; nothing is changed', async (context) => {
  const world = strangeIn(context);
  const before = treeOf(world.project, (path) => path === '.git');
  const outcome = await choosing(world, 'resume', ['Which one?', '\r']);
  if (outcome === undefined) return context.skip('there is no script(1)');
  assert.equal(outcome.status, 14, outcome.printed);
  assert.equal((await choosing(world, 'resume', ['Which one?', '3\r'], ['goal (', '\r']))?.status, 14);
  assert.equal((await choosing(world, 'resume', ['Which one?', '\u0003']))?.status, 130);
  assert.deepEqual(
    treeOf(world.project, (path) => path === '.git'),
    before,
  );
});

// The store.

test(
  'of a damaged store an orchestration comes back with all that was done, and its file is not believed instead',
  { skip: fileOnly },
  (context) => {
    const { world, key } = oursIn(context);
    world.write('beans.md', 'ground\n');
    world.answer('agent', 'complete', 'grind-1', '--summary', 'Ground', '--file', 'beans.md');
    const [events, report, file] = [
      eventsOf(world, key),
      world.answer('report'),
      readFileSync(world.path(current), 'utf8'),
    ];
    const path = world.path('.stint/stint.db');
    const bytes = readFileSync(path);
    writeFileSync(path, Buffer.concat([Buffer.from('not a database, '.repeat(4)), bytes.subarray(64)]));
    const status = world.run('status', '--json');
    assert.deepEqual([status.status, status.json.session], [0, key]);
    assert.match(status.stderr, /warning/);
    for (const args of [['begin', 'orchestration', '--goal', 'x'], ['new', 'x'], ['resume'], ['todo', 'add', 'x']])
      assert.equal(world.refusal(14, ...args).hint, 'stint doctor --fix');
    assert.equal(world.run('doctor', '--fix').status, 0);
    assert.deepEqual(eventsOf(world, key).slice(0, events.length), events);
    assert.deepEqual(world.answer('report'), report);
    assert.equal(readFileSync(world.path(current), 'utf8'), file);
    assert.equal(world.answer('resume').session, key);
    assert.equal(world.answer('doctor').healthy, true);
  },
);

test(
  'of a store that is gone without a copy the orchestrations come back from their files, with what was at work in doubt',
  { skip: fileOnly },
  (context) => {
    const { world, key } = oursIn(context);
    const name = key.slice('orchestration:'.length);
    world.write('kettle.md', 'hot\n');
    world.answer('agent', 'start', 'boil-1', '--type', 'code', '--task', 'Boil', '--vendor-session', 'v-1');
    world.answer('agent', 'complete', 'boil-1', '--summary', 'Hot', '--file', 'kettle.md');
    world.answer('note', 'decision', 'Beans', '--rationale', 'fresh');
    world.answer('focus', 'the cups');
    const before = JSON.parse(readFileSync(world.path(current), 'utf8'));
    rmSync(world.path('.stint'), { recursive: true });
    assert.equal(world.refusal(14, 'status').hint, 'stint doctor --fix');
    assert.deepEqual(world.answer('doctor', '--fix').importable, [current]);
    assert.match(
      say(world, 'doctor'),
      /session\.json {2}is of an orchestration that is not in the store: stint import orchestrator\n(?:.*\n)*next: stint import orchestrator\n$/,
    );
    const { message, hint } = world.refusal(6, 'resume');
    assert.match(message, /holds a session that is not taken over: Serve coffee, in progress/);
    assert.equal(hint, 'stint import orchestrator');
    const { sessions } = world.answer('import', 'orchestrator');
    assert.deepEqual(
      listOf(sessions).map((one) => [one.session, one.result, one.in_doubt, one.problems]),
      [[key, 'imported', ['grind-1'], []]],
    );
    const boiled = listOf(world.answer('agent', 'list').agents)[1];
    assert.deepEqual([boiled.id, boiled.files, boiled.vendor_session], ['boil-1', ['kettle.md'], 'v-1']);
    assert.equal(world.answer('status').focus, 'the cups');
    assert.equal(world.answer('doctor').importable, undefined);
    // And once more, when its file says that something is in doubt.
    assert.equal(world.run('save').status, 0);
    rmSync(world.path('.stint'), { recursive: true });
    assert.equal(world.run('doctor', '--fix').status, 0);
    world.answer('import', 'orchestrator');
    assert.equal(world.run('resume', '--rerun', 'grind-1').status, 0);
    const after = JSON.parse(readFileSync(world.path(current), 'utf8'));
    assert.deepEqual(after.agents[0], {
      id: 'grind-1',
      type: 'code',
      task: 'Grind',
      status: 'pending',
      started: before.agents[0].started,
    });
    assert.deepEqual({ ...after, agents: [], updated: '' }, { ...before, agents: [], updated: '' });
    world.answer('finish', '--abort');
    assert.equal(JSON.parse(readFileSync(world.path(history, `${name}.json`), 'utf8')).focus, 'the cups');
  },
);

// The history.

test('bad files in the history keep none of the others from being listed, the newest first, and it is said of each what is wrong', (context) => {
  const { world, key } = oursIn(context);
  const name = key.slice('orchestration:'.length);
  world.answer('finish', '--abort', '--reason', 'no beans');
  const put = (file: string, content: string | Uint8Array) => world.write(`${history}/${file}.json`, content);
  // The ends of names put the sessions of a day in any order.
  put('2026-03-01-zzzzzz', left({ session_id: '2026-03-01-zzzzzz', created: '2026-03-01T08:00:00Z', goal: 'First' }));
  put(
    '2026-03-01-aaaaaa',
    left({ session_id: '2026-03-01-aaaaaa', created: '2026-03-01T18:00:00Z', goal: 'Second', status: 'completed' }),
  );
  put('2026-03-02-torn00', torn);
  put('2026-03-03-empty0', '');
  put('2026-03-04-newer0', left({ schema_version: '3.1' }));
  put('2026-03-05-clash0', conflict);
  put('2026-03-06-other0', '{"permissions": {}}');
  put('2026-03-07-binary', Buffer.from([0x7b, 0xff]));
  put('large', ' '.repeat(1024 * 1024 + 1));
  const before = treeOf(world.path('.claude'));
  const { sessions, total, files, files_total: filesTotal } = world.answer('history');
  assert.deepEqual(
    [listOf(sessions).map((one) => [one.number, one.session_id, one.status]), total, filesTotal],
    [[[1, name, 'aborted']], 1, 9],
  );
  assert.deepEqual(
    listOf(files).map((file) => [
      String(file.path).slice(history.length + 1, -'.json'.length),
      file.goal,
      file.status,
      file.problem,
    ]),
    [
      ['2026-03-01-aaaaaa', 'Second', 'complete', null],
      ['2026-03-02-torn00', 'Serve tea', 'in_progress', told['cut off']?.[1].split('lost: ')[1]],
      ['2026-03-01-zzzzzz', 'First', 'in_progress', null],
      ['large', null, null, 'It is larger than 1 MiB.'],
      ['2026-03-07-binary', null, null, 'It is not UTF-8 (line 1).'],
      [
        '2026-03-06-other0',
        null,
        null,
        'It is the settings of an agent program. They say what may be done, and nothing of what was.',
      ],
      ['2026-03-05-clash0', null, null, 'It has a git conflict at line 7.'],
      [
        '2026-03-04-newer0',
        null,
        null,
        'It was written by a newer version: its schema is "3.1", and 1 is what is understood here.',
      ],
      ['2026-03-03-empty0', null, null, 'It is empty.'],
    ],
  );
  assert.match(
    say(world, 'history'),
    new RegExp(
      `^1  2026-03-17  ${name}  aborted  Serve coffee\nnot taken over: .*-aaaaaa\\.json \\(2026-03-01, Second, complete\\)\n`,
    ),
  );
  assert.deepEqual(treeOf(world.path('.claude')), before);
  // Those that are taken over are not listed twice, whatever their files are called.
  put('copy-of-it', readFileSync(world.path(history, `${name}.json`)));
  assert.equal(world.answer('history').files_total, 9);
  world.answer('import', 'orchestrator', '--salvage');
  assert.deepEqual(
    sorted(listOf(world.answer('history').files).map((file) => String(file.problem).split(' ').slice(0, 4).join(' '))),
    ['It has a git', 'It is empty.', 'It is larger than', 'It is not UTF-8', 'It is the settings', 'It was written by'],
  );
});

test('of thousands of files a bounded number is looked into, those of the newest days, and how many there are is told', (context) => {
  const world = createWorld(context);
  for (let count = 0; count < 120; count += 1) {
    const id = `2026-01-${String((count % 28) + 1).padStart(2, '0')}-n${String(count).padStart(5, '0')}`;
    world.write(`${history}/${id}.json`, left({ session_id: id }));
  }
  const { files, files_total: total } = world.answer('history');
  assert.deepEqual([listOf(files).length, total], [100, 120]);
  assert.ok(listOf(files).some((file) => String(file.path).includes('2026-01-28')));
  assert.match(say(world, 'history'), /\nnot taken over: 20 more files\nnext: stint import orchestrator\n$/);
});

test(
  'every file of the fixtures has a line in the history',
  { skip: withoutShared('fixtures', 'synthetic/synthetic-craft-dialects') },
  (context) => {
    const folder = join(shared, 'fixtures/synthetic/synthetic-craft-dialects');
    const world = createWorld(context);
    for (const file of readdirSync(folder)) world.write(`${history}/${file}`, readFileSync(join(folder, file)));
    assert.equal(listOf(world.answer('history').files).length, readdirSync(folder).length);
  },
);
