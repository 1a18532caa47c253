/**
 * The defects that hand-off documents have elsewhere: each kind of them cannot happen here, and a test says so. The numbers
 * are those of our notes: of a weakness (W), or of an input that broke something (N).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { checkDocument, handover, readDocument, sessionState, valueOf } from '../src/formats/handoff/document.ts';
import { archivedPair, sample } from '../src/formats/handoff/samples.ts';
import { readSections } from '../src/formats/handoff/sections.ts';
import { allVerbs } from '../src/surfaces/verbs.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { asker, askIn, current, done, root, textOf, transfer, type Ask, type Came } from './support/documents.ts';
import { runLimited, runLines } from './support/damage.ts';
import {
  createWorld,
  fileOnly,
  listOf,
  noon,
  repository,
  sorted,
  type Printed,
  type TestWorld,
} from './support/world.ts';

const here = 'handoff-defects.test.ts';
const archive = 'handoff-archive.test.ts';
const lease = 'handoff-lease.test.ts';
const readiness = '../src/formats/handoff/ready.test.ts';
const workspace = '../src/formats/handoff/workspace.test.ts';

/** The tests that show it, by their names; those of this file begin with the number. */
const defects: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  W7: [
    [here, 'W7: a pointer leads to the other document below the root or to nothing, whatever it names'],
    [here, 'W7: a pipe in the place of any file holds no verb up'],
    ['handoff.test.ts', 'looks at nothing outside of the documentation, and shows nothing of what it finds'],
    [archive, 'looks at nothing outside of the documents, wherever a link leads'],
  ],
  W8: [[lease, 'is neither written nor taken away through a link']],
  W9: [
    [here, 'W9: nothing that a caller names leads a file out of the folders of the documents'],
    [archive, 'is refused under a stamp that is no minute of the calendar, and nothing is written anywhere'],
  ],
  W10: [
    [here, 'W10: a secret gets into no document and no log, and what is none stays'],
    [
      '../src/lib/redact.test.ts',
      'a value behind the name of a secret goes, in environments, JSON, YAML, code, URLs and options',
    ],
    ['../src/lib/redact.test.ts', 'ordinary text with the words of secrets stays'],
    ['handoff-reading.test.ts', 'tells where a secret stands, and repeats it nowhere'],
  ],
  W11: [['handoff-reading.test.ts', 'is of one root, wherever it is asked']],
  W12: [
    [archive, 'and a new one, time after time, leave documents that are clean'],
    [archive, 'says what it has replaced: that lies under the stamp of its handover, which says so'],
    [here, 'W12: whatever takes the place of a pair, the documents are sound, and the next verb agrees'],
  ],
  W13: [[lease, 'is told in text too why nothing was done']],
  W14: [[here, 'W14: an update leaves every byte alone that no flag names']],
  W15: [
    [here, 'W15: a file that is broken, of whatever sort, disables no verb, and is named'],
    [here, 'W15: a section that is missing stops no verb but by its name, and comes back with repair alone'],
    ['handoff-reading.test.ts', 'has every part although one is broken, and tells each fault once'],
  ],
  W16: [
    [lease, 'is got by one of sixteen that claim it at once, and the others are told who has it'],
    [lease, 'keeps others from the documents, whatever they write in them'],
  ],
  W17: [
    [here, 'W17: a write that fails in the middle leaves every document whole, and works when there is room'],
    [
      'handoff-files.test.ts',
      'a file that is written again and again is whole whenever it is read, and a pair that is read through stint is never mixed',
    ],
    [
      'handoff-files.test.ts',
      'an update that is killed before any of its changes on disk has happened or not, and what was written by hand is not lost',
    ],
  ],
  W18: [
    [
      here,
      'W18: whatever text is said, it is read back, or refused before anything is written; corrected, the same works',
    ],
    [here, 'W18: what is refused for anything else has written nothing either'],
  ],
  W19: [[here, 'W19: whether the tree is clean is what git says of this tree, whatever its files are called']],
  W20: [
    [here, 'W20: what is begun is a record of its own, and nothing of another one is written over'],
    [lease, 'begins another task beside one that is done, under a handover of its own'],
  ],
  W21: [[here, 'W21: reconcile and repair change nothing that is sound, and nothing twice']],
  W22: [
    [readiness, 'blocked with what it needs is ready, blocked by who knows what is not'],
    [readiness, 'a done with anything left, in either document, is not done'],
    [readiness, 'a time that has not come blocks, one of long ago is told'],
  ],
  N5: [[workspace, 'the file of a lease is read whatever it holds']],
  N7: [[lease, 'is refused where it would last for ever or no time, or where a name would be more than a line']],
  N11: [
    [workspace, 'the pair that was worked on last is found in this order, and a stamp that is no time is no stamp'],
    [
      '../src/formats/handoff/history.test.ts',
      'the newest stamp comes first, one that is no time counts as none, and those without one come last',
    ],
  ],
  N12: [[archive, 'has a stamp of its own, however many are made at once']],
  N16: [
    [
      '../src/formats/handoff/sections.test.ts',
      'a section opens at a line that begins with two hashes and a blank, and not inside of a fenced block',
    ],
    [
      workspace,
      'a document that has what it needs is sound, with other line ends, a byte order mark, and sections nobody asks for',
    ],
  ],
  N18: [[here, 'N18: a document that is a link is written inside of the documents or not at all']],
  N24: [['handoff-reading.test.ts', 'is refused where there is nothing, and so is a limit below nothing']],
  N61: [[here, 'N61: a file in the place of a folder is told by every verb, and stays']],
  N62: [[archive, 'has the next free minute as its stamp, in UTC wherever it is made']],
  N67: [[here, 'W7: a pointer leads to the other document below the root or to nothing, whatever it names']],
  N95: [
    [here, 'N95: a name is a line of text for every verb'],
    [lease, 'is refused where it would last for ever or no time, or where a name would be more than a line'],
  ],
  N96: [
    ['handoff.test.ts', 'does not depend on other files beside them, and one that is broken does not hide the others'],
  ],
};

test('every kind of defect has a test that is named here', () => {
  const rows = [5, 7, 11, 12, 16, 18, 24, 61, 62, 67, 95, 96].map((number) => `N${number}`);
  const expected = [...Array.from({ length: 16 }, (_, index) => `W${index + 7}`), ...rows];
  assert.deepEqual(sorted(Object.keys(defects)), sorted(expected));
  for (const [id, tests] of Object.entries(defects)) {
    assert.ok(tests.length > 0, id);
    for (const [file, name] of tests) {
      const source = readFileSync(join(repository, 'test', file), 'utf8');
      assert.ok(source.includes(`'${name}',`), `${id}: ${name} in ${file}`);
    }
  }
});

const by = { updated_by: 'ana' };
const named = { ...by, next_owner: 'ben' };

/** Every verb about documents, as it goes on with the pair that is there. */
const reading: Readonly<Record<string, JsonObject>> = {
  'handoff root': {},
  'handoff locate': {},
  'handoff validate': {},
  'handoff validate-state': { path: current },
  'handoff validate-handover': { path: transfer },
  'handoff summarize': {},
  'handoff history': {},
  'handoff audit': {},
  'handoff report': {},
  'handoff ready': {},
};
const writing: Readonly<Record<string, JsonObject>> = {
  'handoff update': { ...by, current_step: 'Write' },
  'handoff reconcile': by,
  'handoff archive': {},
  'handoff repair': by,
  'handoff restore': { ...by, timestamp: '20260310_0900', force: true },
  'handoff new-handover': { ...named, task_summary: 'Other' },
  'handoff new-state': { ...named, task: 'Other', force: true },
  'handoff new': { ...named, task: 'Other', force: true },
  'handoff begin': { holder: 'ana', purpose: 'Write' },
  'handoff end': { holder: 'ana', purpose: 'Write' },
  'handoff lease': { action: 'claim', holder: 'ana', purpose: 'Write' },
};

test('these are all verbs about documents', () => {
  const all = allVerbs.map(({ name }) => name).filter((name) => name.startsWith('handoff '));
  assert.deepEqual(sorted([...Object.keys(reading), ...Object.keys(writing)]), sorted(all));
});

/** A pair that another program has left, and one that it has archived. */
const leftBehind = (
  said: {
    readonly state?: Readonly<Record<string, string>>;
    readonly transfer?: Readonly<Record<string, string>>;
  } = {},
): Readonly<Record<string, string>> => ({
  [current]: sample(sessionState, said.state),
  [transfer]: sample(handover, said.transfer),
  ...Object.fromEntries(Object.entries(archivedPair('20260310_0900')).map(([path, text]) => [`${root}/${path}`, text])),
});

/** What lies in a world, but for the store: what files say, and that there are folders, links and others. */
const filesOf = (world: TestWorld): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(world.root, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = relative(world.root, path);
      if (name.includes('.stint') || name.startsWith('home')) return [];
      return [[name, entry.isFile() ? readFileSync(path, 'utf8') : entry.isSymbolicLink() ? 'a link' : 'no file']];
    }),
  );

/** The bytes of the store, as one text. */
const storeBytes = (world: TestWorld): string =>
  existsSync(world.path('.stint'))
    ? readdirSync(world.path('.stint'))
        .filter((name) => statSync(world.path('.stint', name)).isFile())
        .map((name) => readFileSync(world.path('.stint', name), 'latin1'))
        .join('')
    : '';

/** What is wrong with the pair as it lies there, each half by itself. */
const faultsOf = (world: TestWorld): readonly string[] =>
  [
    ...checkDocument(sessionState, textOf(world, current)),
    ...readdirSync(world.path(root, 'handovers')).flatMap((name) =>
      checkDocument(handover, textOf(world, `${root}/handovers/${name}`)),
    ),
  ].map(({ text }) => text);

const secret = 'TOPSECRET=abc123';

/** What a pointer may name that is not the other document. */
const pointers: Readonly<Record<string, (world: TestWorld) => string>> = {
  'a file outside': () => '../../../../outside.md',
  'a whole path outside': (world) => join(world.root, 'outside.md'),
  'a file of the machine': () => '/etc/passwd',
  'a file of the project': () => '../../../README.md',
  'a folder': () => '../handovers',
  'a link that leads out': () => '../handovers/link.md',
  'a folder that is such a link': () => '../away/outside.md',
  'a link to itself': () => '../handovers/loop.md',
  'a file that is none of the two': () => '../notes.txt',
  'the file of the lease': () => '../session-state/ACTIVE_LEASE.json',
  'a path with backslashes': () => '..\\..\\..\\..\\outside.md',
  'a path with a NUL': () => '../handovers/x\0.md',
  'a name that is too long': () => `../handovers/${'x'.repeat(300)}.md`,
  'a URL': () => 'file:///etc/passwd',
};

const plant = (world: TestWorld): void => {
  writeFileSync(join(world.root, 'outside.md'), `# Handover\n${secret}\n`);
  world.write('README.md', secret);
  world.write(`${root}/notes.txt`, secret);
  world.write(`${root}/session-state/ACTIVE_LEASE.json`, secret);
  symlinkSync(join(world.root, 'outside.md'), world.path(root, 'handovers/link.md'));
  symlinkSync('loop.md', world.path(root, 'handovers/loop.md'));
  symlinkSync(world.root, world.path(root, 'away'));
};

test('W7: a pointer leads to the other document below the root or to nothing, whatever it names', async (context) => {
  for (const [what, pointerIn] of Object.entries(pointers))
    for (const half of /outside|folder|NUL|none/.test(what) ? (['state', 'transfer'] as const) : (['state'] as const)) {
      const { world, ask } = await asker(context, leftBehind());
      plant(world);
      const section = half === 'state' ? sessionState.pointer : handover.pointer;
      const path = half === 'state' ? current : transfer;
      const broken = sample(half === 'state' ? sessionState : handover, { [section]: pointerIn(world) });
      const before = filesOf(world);
      // Few follow what a handover names.
      const isFollowed = ([verb]: readonly [string, JsonObject]): boolean =>
        half === 'state' || /validate|locate|summarize|update|reconcile|repair/.test(verb);
      for (const [verb, input] of [...Object.entries(reading), ...Object.entries(writing)].filter(isFollowed)) {
        const name = `${verb}, where ${half} names ${what}`;
        world.write(path, broken);
        const { said, code } = await ask(verb, input);
        assert.ok(!said.includes(secret), name);
        assert.ok(!said.includes('root:x:0'), name);
        assert.notEqual(code, 'damaged', name);
        if (verb === 'handoff validate') assert.equal(code, 'invalid-input', name);
      }
      if (half === 'state')
        await ask('handoff new-state', { ...named, task: 'X', force: true, handover_pointer: pointerIn(world) });
      assert.ok(!storeBytes(world).includes(secret), `nothing of ${what} gets into the log`);
      const after = filesOf(world);
      for (const file of Object.keys(before).filter((one) => !one.includes(`${root}/`) || before[one] === secret))
        if (!file.endsWith('ACTIVE_LEASE.json')) assert.equal(after[file], before[file], `${file}: ${what}`);
      for (const file of Object.keys(after).filter((one) => !(one in before)))
        assert.match(file, /docs\/tests\/(?:handovers|session-state)\/|\.gitignore$/, what);
    }
});

test('W7: a pipe in the place of any file holds no verb up', (context) => {
  const lines = [...Object.entries(reading), ...Object.entries(writing)].map(([verb, input]) => [
    ...verb.split(' '),
    ...Object.entries(input).flatMap(([name, value]) =>
      name === 'path' || name === 'action'
        ? [String(value)]
        : [`--${name.replaceAll('_', '-')}`, ...(value === true ? [] : [String(value)])],
    ),
    '--json',
  ]);
  const inPlace = ['session-state/CURRENT.md', 'session-state/ACTIVE_LEASE.json', 'handovers/pipe.md'];
  for (const place of [...inPlace, 'session-state/20260310_0900_session-state.md']) {
    const world = createWorld(context);
    for (const [path, text] of Object.entries(leftBehind({ state: { 'Handover pointer': '../handovers/pipe.md' } })))
      world.write(path, text);
    rmSync(world.path(root, place), { force: true });
    assert.equal(spawnSync('mkfifo', [world.path(root, place)]).status, 0);
    for (const [at, { status, stderr }] of runLines(world, lines, { deadline: 240_000 }).entries())
      assert.notEqual(status, 1, `${lines[at]?.join(' ')}: ${stderr}`);
    assert.ok(statSync(world.path(root, place)).isFIFO(), 'it stays');
  }
});

test('W9: nothing that a caller names leads a file out of the folders of the documents', async (context) => {
  const { world, ask } = await asker(context, leftBehind());
  plant(world);
  await done(ask, 'handoff update', { ...by, current_step: 'Write' });
  const before = filesOf(world);
  const out = [
    '../outside.md',
    join(world.root, 'outside.md'),
    'README.md',
    `${root}/notes.md`,
    `${root}/away/outside.md`,
    `${root}/handovers/../../../README.md`,
    `${root}/handovers/deep/x.md`,
    `${root}/handovers/x.txt`,
    `${root}/session-state/ACTIVE_LEASE.json`,
    `${root}/handovers/link.md`,
    `${root}/handovers/`,
    `${root}/handovers/x\0.md`,
    `${root}/handovers/${'x'.repeat(300)}.md`,
    `${root}/handovers/.md`,
  ];
  const stamps = [
    '../../../evil/x',
    '20260230_0900',
    '99999999_9999',
    '20260317_2460',
    '',
    '20260317_0900\0',
    '٢٠٢٦٠٣١٧_٠٩٠٠',
  ];
  const flags: readonly (readonly [verb: string, flag: string, values: readonly string[], more: JsonObject])[] = [
    ['handoff new', 'handover_output', out, { ...named, task: 'X', force: true }],
    ['handoff new', 'session_output', out, { ...named, task: 'X', force: true }],
    ['handoff new-state', 'output', out, { ...named, task: 'X', force: true }],
    ['handoff new-handover', 'output', out, { ...named, task_summary: 'X', force: true }],
    ['handoff archive', 'handover_output', out, { force: true }],
    ['handoff archive', 'session_output', out, { force: true }],
    ['handoff archive', 'timestamp', stamps, { force: true }],
    ['handoff restore', 'timestamp', stamps, { ...by, force: true }],
    ['handoff restore', 'restore_timestamp', stamps, { ...by, timestamp: '20260310_0900', force: true }],
    ['handoff restore', 'handover_output', out, { ...by, timestamp: '20260310_0900', force: true }],
    ['handoff restore', 'session_output', out, { ...by, timestamp: '20260310_0900', force: true }],
    ['handoff new', 'root', ['..', world.root, '/', `${root}/away`], { ...named, task: 'X' }],
    ['handoff update', 'session_state', [...out, '/etc/passwd'], { ...by, current_step: 'X' }],
    ['handoff reconcile', 'handover', [...out, '/etc/passwd'], by],
  ];
  for (const [verb, flag, values, more] of flags)
    for (const value of values) {
      const { isDone, said } = await ask(verb, { ...more, [flag]: value });
      assert.ok(!isDone, `${verb} ${flag}=${value}: ${said}`);
      assert.ok(!said.includes(secret), `${verb} ${flag}=${value}`);
    }
  assert.deepEqual(filesOf(world), before);
});

test('W10: a secret gets into no document and no log, and what is none stays', async (context) => {
  const { world, ask } = await asker(context);
  const hidden = [
    'hunter2xyz',
    'second-word',
    's3cr3tvalue',
    'abc123def456ghi7',
    'ghp_0123456789abcdefghij0123456789abcdef',
  ];
  const [first, , third, fourth, fifth] = hidden;
  const texts = [
    `curl -u "password: '${first} second-word'"`,
    `{"password": "${first}"}`,
    `psql postgres://app:${third}@db.example/app`,
    `deploy --token ${fourth}`,
    `export GITHUB_TOKEN=${fifth}`,
  ];
  const plain = ['Basic auth flow', 'the bearer of bad news', 'Tokenizer: wordpiece', `${'a-'.repeat(20_000)}a`];
  await done(ask, 'handoff new', { ...named, task: 'Ship it', command_to_resume: [...texts, ...plain] });
  for (const text of texts) await done(ask, 'handoff update', { ...by, decision: text, next_command: text });
  await done(ask, 'handoff update', { ...by, current_step: texts.join(' '), what_was_done: [...texts, ...plain] });
  const all = [...Object.values(filesOf(world)), storeBytes(world)].join('\n');
  for (const value of hidden) assert.ok(!all.includes(value), value);
  const { resume, what_was_done: was } = await done(ask, 'handoff summarize');
  assert.deepEqual(listOf(resume.commands).slice(-plain.length), plain);
  assert.deepEqual(listOf(was).slice(-plain.length), plain);
});

test('W12: whatever takes the place of a pair, the documents are sound, and the next verb agrees', async (context) => {
  const { world } = await asker(
    context,
    leftBehind({ state: { Task: 'Theirs' }, transfer: { 'Task summary': 'Theirs' } }),
  );
  const steps: readonly (readonly [verb: string, input: JsonObject])[] = [
    ['handoff new', { ...named, task: 'First', force: true }],
    ['handoff new-handover', { ...named, task_summary: 'First', status: 'in-progress' }],
    ['handoff update', { ...by, status: 'blocked', blocker: ['no token'], needs: 'a token' }],
    ['handoff new-state', { ...named, task: 'Second', force: true }],
    ['handoff new-handover', { ...named, task_summary: 'Second' }],
    ['begin', { kind: 'task', goal: 'Third', name: 'third' }],
    ['resume', {}],
    ['handoff restore', { ...by, timestamp: '20260310_0900', force: true }],
    ['handoff new', { ...named, task: 'Fourth', force: true }],
  ];
  const sessions: Printed[] = [];
  for (const [at, [verb, input]] of steps.entries()) {
    const ask = await askIn(context, world, new Date(Date.parse(noon) + at * 60_000).toISOString());
    // Somebody writes in what is there.
    if (existsSync(world.path(current)))
      writeFileSync(world.path(current), textOf(world, current).replace(/(## Current step\n).*/, `$1By hand ${at}`));
    const name = `${at}: ${verb}`;
    const answer = await done(ask, verb, verb === 'resume' ? { session: String(sessions[0]) } : input);
    sessions.push(answer.session);
    assert.equal(answer.warnings, undefined, name);
    const audit = await ask('handoff audit');
    assert.deepEqual(listOf(audit.answer.errors), [], name);
    const { code, answer: ready } = await ask('handoff ready');
    assert.ok(code === '' || code === 'invariant-unmet', name);
    for (const reason of listOf(ready.reasons))
      assert.doesNotMatch(reason.code, /^(?:pair-(?!missing)|doc-|ptr-|edit-)/, `${name}: ${reason.text}`);
  }
  const kept = Object.entries(filesOf(world)).filter(
    ([path, text]) => path.includes('session-state/') && text.includes('Theirs'),
  );
  assert.equal(kept.length, 1, 'what was there before is archived');
});

/** A document with everything in it that a writer may lose. */
const rich = (text: string, bodies: Readonly<Record<string, string>>): string => {
  const said = Object.entries(bodies).reduce(
    (document, [name, body]) =>
      document.replace(new RegExp(`(\n## ${name}\n)[^#]*?(?=\n\n## )`), (_, heading: string) => heading + body),
    text,
  );
  return `${said.replace(/\n\n/, '\n\nOf nobody, before the first section.\n\n')}\n## Notes\n\`\`\`sh\n## no section\n\`\`\`\n\n\n\ttwo  \n\u2028## none\n`;
};

test('W14: an update leaves every byte alone that no flag names', async (context) => {
  const blockers = '- The first one\n- The second one\n  goes on here\n- Needed to unblock: a token';
  const state = rich(sample(sessionState, { Status: 'blocked' }), {
    'Remaining steps': '1. Check it\n   twice\n2) Merge it\n- tell\n* the\n+ others',
    Blockers: blockers,
    'Decisions and assumptions': '- Decision: One\n  of two lines\n- Assumption: it holds\n- just so',
    'Files touched': '- `a.ts` and `b.ts`\n- [c](c.ts)',
    'Commands to resume': '```sh\nnpm test\n```',
    'Validation snapshot': '- Passed:\n  `npm test`\n- Failed:\n  None\n- Skipped:\n  None',
  });
  const transferred = rich(sample(handover, { Status: 'blocked' }), {
    'Remaining work': '1) Check it\n  twice\n2) Merge it\n- tell\n- the\n- others',
    'Blockers and decisions':
      '- Blockers:\n  The first one\n- Decisions:\n  Another one\n  of two lines\n- Assumptions:\n  None',
    'Resume instructions':
      '- First file to open: `a.ts`\n- Next command to run: `npm test`\n- Prerequisites:\n  one\n  two',
    'Patterns used': '| a | b |\n|---|---|\n| 1 | 2 |',
  });
  for (const form of [
    (text: string) => text,
    (text: string) => text.replaceAll('\n', '\r\n'),
    (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`,
    (text: string) => text.trimEnd(),
    (text: string) => text.replaceAll('## Current step\n', '##   Current step  \n\n'),
  ]) {
    const { world, ask } = await asker(context, { [current]: form(state), [transfer]: form(transferred) });
    const written = new Map([current, transfer].map((path) => [path, textOf(world, path)]));
    const assertKept = (names: readonly string[], what: string): void => {
      for (const [path, before] of written) {
        const [was, now] = [readSections(before), readSections(textOf(world, path))];
        assert.equal(now.head, was.head, `${what}: ${path}`);
        for (const [at, section] of was.sections.entries()) {
          const { heading, body, name } = now.sections[at] ?? { heading: '', body: '', name: '' };
          assert.equal(heading, section.heading, `${what}: ${path}`);
          if (!['Last updated', 'Updated by', ...names].includes(name))
            assert.equal(body, section.body, `${what}: ${path}, ${name}`);
        }
        assert.equal(now.sections.length, was.sections.length, `${what}: ${path}`);
      }
    };
    await done(ask, 'handoff update', by);
    assertKept([], 'nothing was named');
    await done(ask, 'handoff update', { ...by, next_owner: 'cem' });
    assertKept(['Next owner'], 'the next owner was named');
    await done(ask, 'handoff update', { ...by, current_step: 'Write' });
    assertKept(['Next owner', 'Current step'], 'the step was named');
    await done(ask, 'note', { text: 'a remark' });
    await done(ask, 'handoff reconcile', by);
    assertKept(['Next owner', 'Current step'], 'it was reconciled');
  }
});

/** Files beside the documents that are broken, each of another sort; named: whether they are to be told. */
const broken: Readonly<
  Record<
    string,
    { readonly text?: string | Uint8Array; readonly isNamed: boolean; readonly make?: (path: string) => void }
  >
> = {
  'handovers/junk.md': { text: '# Handover\n', isNamed: true },
  'handovers/20260301_0900_handover.md': { text: '# Handover\n\n## Status\nfinished\n', isNamed: true },
  'handovers/20260302_0900_handover.md': { text: '', isNamed: true },
  'handovers/20260303_0900_handover.md': { text: Buffer.from([0x23, 0xff, 0xfe, 0x00, 0x80]), isNamed: true },
  'handovers/20260304_0900_handover.md': { text: Buffer.from('\uFEFF# Handover\n', 'utf16le'), isNamed: true },
  'handovers/20260305_0900_handover.md': { text: 'x\0\0\0\n', isNamed: true },
  'handovers/20260306_0900_handover.md': { text: sample(sessionState), isNamed: true },
  'handovers/99999999_9999_handover.md': { text: sample(handover), isNamed: true },
  'handovers/conflict.md': { text: `<<<<<<< HEAD\n${sample(handover)}=======\nb\n>>>>>>> x\n`, isNamed: true },
  'handovers/README.md': { text: 'read me\n', isNamed: false },
  'handovers/.swp.md': { text: '# Handover\n', isNamed: false },
  'handovers/folder.md': { isNamed: false, make: (path) => mkdirSync(path) },
  'handovers/20260307_0900_handover.md': { isNamed: false, make: (path) => symlinkSync('gone.md', path) },
  'handovers/20260308_0900_handover.md': {
    isNamed: false,
    make: (path) => symlinkSync('20260308_0900_handover.md', path),
  },
  'session-state/junk.md': { text: '# Session State\n', isNamed: true },
  'session-state/20260301_0900_session-state.md': { text: '# Session State\n\n## Task\n```\n', isNamed: true },
  'session-state/20260303_0900_session-state.md': { text: Buffer.from([0xff, 0xfe, 0x00]), isNamed: true },
  'session-state/.swp.md': { text: 'x', isNamed: false },
  'session-state/notes.txt': { text: 'x', isNamed: false },
  'session-state/ACTIVE_LEASE.json': { text: '[]', isNamed: true },
};

test('W15: a file that is broken, of whatever sort, disables no verb, and is named', async (context) => {
  const place = (world: TestWorld, names: readonly string[]): void => {
    for (const name of names) {
      const { text, make } = broken[name] ?? {};
      if (make === undefined) world.write(`${root}/${name}`, text ?? '');
      else make(world.path(root, name));
    }
  };
  const { world: whole, ask: askWhole } = await asker(context, leftBehind());
  const without: Record<string, Came> = {};
  for (const [verb, input] of Object.entries(reading)) without[verb] = await askWhole(verb, input);
  const plain = (text: string | undefined, world: TestWorld): string | undefined =>
    text?.replaceAll(world.root, 'ROOT');
  for (const names of [...Object.keys(broken).map((name) => [name]), Object.keys(broken)]) {
    const { world, ask } = await asker(context, leftBehind());
    place(world, names);
    const what = names.join(', ');
    for (const verb of ['locate', 'validate', 'validate-state', 'validate-handover', 'root']) {
      const { said } = await ask(`handoff ${verb}`, reading[`handoff ${verb}`]);
      assert.equal(plain(said, world), plain(without[`handoff ${verb}`]?.said, whole), `${verb} beside ${what}`);
    }
    assert.equal((await done(ask, 'handoff summarize')).task, 'None');
    const { history } = await done(ask, 'handoff history');
    assert.ok(
      listOf(history).some(({ stamp }) => stamp === '20260310_0900'),
      `history beside ${what}`,
    );
    const audit = await ask('handoff audit');
    const report = await ask('handoff report');
    const ready = await ask('handoff ready');
    assert.equal(report.answer.summary.status, 'in-progress', `report beside ${what}`);
    assert.deepEqual(report.answer.audit.errors, audit.answer.errors, `report beside ${what}`);
    assert.ok('verdict' in ready.answer, `ready beside ${what}`);
    for (const name of names) {
      const isTold = [...listOf(audit.answer.errors), ...listOf(audit.answer.warnings)].some((line) =>
        String(line).startsWith(`${name}:`),
      );
      assert.equal(isTold, broken[name]?.isNamed, `${name} in ${audit.said}`);
    }
  }
  const { world, ask } = await asker(context, leftBehind());
  const all = Object.keys(broken).filter((name) => !name.endsWith('.json'));
  place(world, all);
  const before = filesOf(world);
  for (const verb of ['update', 'reconcile', 'archive', 'new-handover', 'begin', 'end'])
    assert.equal(
      (await ask(`handoff ${verb}`, writing[`handoff ${verb}`])).code,
      verb === 'end' ? 'invariant-unmet' : '',
      verb,
    );
  const repaired = await ask('handoff repair', by);
  assert.equal(repaired.code, 'invalid-input');
  for (const name of ['restore', 'new-state', 'new', 'lease'])
    await done(ask, `handoff ${name}`, writing[`handoff ${name}`]);
  for (const name of all)
    assert.equal(filesOf(world)[`project/${root}/${name}`], before[`project/${root}/${name}`], `${name} stays`);
});

test('W15: a section that is missing stops no verb but by its name, and comes back with repair alone', async (context) => {
  for (const [kind, path] of [
    [sessionState, current],
    [handover, transfer],
  ] as const)
    for (const name of kind.sections) {
      const { world, ask } = await asker(context, leftBehind());
      const text = sample(kind);
      const from = text.indexOf(`## ${name}\n`);
      const end = text.indexOf('\n## ', from);
      world.write(path, text.slice(0, from) + (end === -1 ? '' : text.slice(end + 1)));
      const what = `${name} of the ${kind.called}`;
      await done(ask, 'handoff summarize');
      const before = filesOf(world);
      const archived = await ask('handoff archive');
      assert.equal(archived.code, 'invalid-input', what);
      assert.ok(archived.said.includes(`the section ${name} is missing`), `${what}: ${archived.said}`);
      assert.deepEqual(filesOf(world), before, `no half of an archive: ${what}`);
      await done(ask, 'handoff update', { ...by, current_step: 'Write' });
      await done(ask, 'handoff reconcile', by);
      assert.ok(!textOf(world, path).includes(`## ${name}\n`), `nothing is made up by the way: ${what}`);
      assert.equal((await done(ask, 'handoff repair', by)).result, 'clean', what);
    }
});

test(
  'W17: a write that fails in the middle leaves every document whole, and works when there is room',
  { skip: fileOnly },
  (context) => {
    const world = createWorld(context);
    const long = 'a long line of notes\n'.repeat(40_000);
    world.answer('handoff', 'new', '--task', 'Ship it', '--updated-by', 'ana', '--next-owner', 'ben');
    const [path = ''] = readdirSync(world.path(root, 'handovers')).map((name) => `${root}/handovers/${name}`);
    for (const one of [current, path]) writeFileSync(world.path(one), `${textOf(world, one)}\n## Notes\n${long}`);
    world.answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'Before');
    const before = filesOf(world);
    const lines = [
      ['note', 'of one line'],
      ['handoff', 'update', '--updated-by', 'ana', '--current-step', 'After'],
      ['handoff', 'archive'],
      ['handoff', 'new-handover', '--task-summary', 'Ship it', '--updated-by', 'ana', '--next-owner', 'ben'],
      ['handoff', 'new', '--task', 'Other', '--updated-by', 'ana', '--next-owner', 'ben', '--force'],
      ['handoff', 'archive', '--handover', path, '--session-output', `${root}/session-state/x.md`],
    ];
    let warned = 0;
    // A document does not fit; with few blocks the store does not either.
    for (const blocks of [700, 40]) {
      for (const args of lines) {
        const { status, stderr } = runLimited(world, blocks, ...args);
        const what = `${args.join(' ')} with ${blocks} blocks: ${stderr}`;
        const isWarned = /warning: .* (?:could not be|was not) written/.test(stderr);
        assert.ok(status === 0 ? isWarned : status !== 1 && status !== null, what);
        warned += isWarned ? 1 : 0;
        for (const [file, text] of Object.entries(before))
          assert.equal(filesOf(world)[file], text, `${file} after ${what}`);
      }
      assert.deepEqual(sorted(Object.keys(filesOf(world))), sorted(Object.keys(before)), 'nothing is left behind');
    }
    assert.ok(warned > 0, 'a document alone did not fit');
    world.run('handoff', 'update', '--updated-by', 'ana', '--current-step', 'There is room');
    assert.equal(valueOf(readDocument(sessionState, textOf(world, current)), 'Current step'), 'There is room');
    assert.deepEqual(listOf(world.answer('handoff', 'audit').errors), []);
  },
);

/** What somebody says who means no harm, or some. */
const hostile: Readonly<Record<string, string>> = {
  'a section': 'x\n\n## Status\ndone',
  'a section with other line ends': 'x\r\n\r\n## Status\r\ndone',
  'a section behind old line ends': 'x\r## Status\rdone',
  'a section behind U+2028': 'x\u2028## Status\u2028done',
  'a heading': '## Status',
  'the root heading': '# Handover',
  'an open block of code': '~~~ sh',
  'a block of code': 'a\n```\nb',
  'a conflict': '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x',
  'a side of a conflict': '>>>>>>> x',
  'a rule': '---',
  'a list': '- a\n- b',
  numbers: '1. a\n2) b',
  'a label': '- Decisions:',
  'a need': '- Needed to unblock: me',
  'a comment': '<!-- x',
  'a NUL': 'a\0b',
  code: '`a` and `b`',
  'blank lines': 'a\n\n\nb',
  tabs: '\tx\n\ty',
  'a placeholder': 'TODO',
  'another placeholder': '<fill me in>',
  'a long text': `${'words '.repeat(50_000)}end`,
};

/** Fields, and what a summary calls them. */
const groups: readonly Readonly<Record<string, (summary: Printed) => Printed>>[] = [
  {
    task: (summary) => summary.task,
    current_step: (summary) => summary.current_step,
    last_completed_step: (summary) => summary.last_completed_step,
    next_command: (summary) => summary.resume.next_command,
  },
  {
    remaining_step: (summary) => listOf(summary.remaining_steps).join(' '),
    what_was_done: (summary) => listOf(summary.what_was_done).join(' '),
    file_touched: (summary) => listOf(summary.files_touched).join(' '),
    command_to_resume: (summary) => listOf(summary.resume.commands).join(' '),
    prerequisite: (summary) => listOf(summary.resume.prerequisites).join(' '),
  },
  { blocker: (summary) => listOf(summary.blockers).join(' ') },
];

/** A text as it is read back: in a line, without what has no place in a document; of a value that is marked, the value. */
const readBack = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replace(/^<(.*)>$/, '$1')
    .trim();

test('W18: whatever text is said, it is read back, or refused before anything is written; corrected, the same works', async (context) => {
  const { world, ask } = await asker(context);
  await done(ask, 'handoff new', { ...named, task: 'Ship it' });
  for (const [at, [what, text]] of Object.entries(hostile).entries()) {
    const made = { task: text, current_step: text, next_command: text, remaining_step: [text], what_was_done: [text] };
    const fresh = await asker(context);
    const output = `${root}/session-state/x-${at}.md`;
    for (const [inPlace, tried, state, others] of [
      [fresh.world, fresh.ask, current, {}],
      [world, ask, output, { session_output: output, handover_output: `${root}/handovers/x-${at}.md` }],
    ] as const) {
      const before = filesOf(inPlace);
      const { isDone, code, said } = await tried('handoff new', { ...named, ...made, ...others });
      const name = `${what} in ${state}: ${said.slice(0, 300)}`;
      if (!isDone) {
        assert.equal(code, 'invalid-input', name);
        assert.deepEqual(filesOf(inPlace), before, name);
        if (inPlace !== world) assert.deepEqual(listOf((await done(tried, 'list', { all: true })).sessions), [], name);
        await done(tried, 'handoff new', { ...named, task: 'Go', ...others });
      }
      const written = textOf(inPlace, state);
      assert.deepEqual(checkDocument(sessionState, written), [], name);
      assert.equal(valueOf(readDocument(sessionState, written), 'Task'), isDone ? readBack(text) : 'Go', name);
    }
    for (const fields of groups) {
      const before = filesOf(world);
      const saying = (said: string): JsonObject => ({
        ...by,
        ...('blocker' in fields ? { status: 'blocked' } : {}),
        ...Object.fromEntries(Object.keys(fields).map((field) => [field, 'task' in fields ? said : [said]])),
      });
      const { isDone, code, said } = await ask('handoff update', saying(text));
      const name = `${Object.keys(fields).join(', ')} with ${what}: ${said.slice(0, 300)}`;
      assert.deepEqual(faultsOf(world), [], name);
      if (!isDone) {
        assert.equal(code, 'invalid-input', name);
        assert.deepEqual(filesOf(world), before, name);
        await done(ask, 'handoff update', saying('Go'));
      }
      const summary = await done(ask, 'handoff summarize');
      for (const [field, readIn] of Object.entries(fields))
        assert.equal(readBack(readIn(summary)), isDone ? readBack(text) : 'Go', `${field} of ${name}`);
    }
    await ask('handoff update', { ...by, decision: text, assumption: text, needs: text, blocker: ['b'] });
    assert.deepEqual(faultsOf(world), [], what);
    await done(ask, 'handoff validate');
  }
});

test('W18: what is refused for anything else has written nothing either', async (context) => {
  const times = [
    'yesterday',
    '2026-02-30T09:00:00Z',
    '2026-03-12 09:00:00Z',
    '2026-03-12T09:00:00',
    '2026-03-12t09:00:00z',
    '2026-13-01T00:00:00Z',
    '2026-03-12T24:30:00Z',
    '',
    '1773757825000',
    '2026-W11-4T09:00:00Z',
  ];
  const made = { ...named, task: 'Ship it' };
  const wrong: readonly (readonly [verb: string, input: JsonObject, more: JsonObject])[] = [
    ...times.flatMap((last_updated) =>
      [
        ['handoff new', made],
        ['handoff new-state', made],
        ['handoff new-handover', { ...named, task_summary: 'Ship it' }],
        ['handoff begin', { holder: 'ana', purpose: 'Go', task: 'Ship it' }],
      ].map(([verb, input]) => [String(verb), input as JsonObject, { last_updated }] as const),
    ),
    ['handoff new', made, { status: 'finished' }],
    ['handoff new', made, { status: 'Done' }],
    ['handoff new', made, { next_owner: '' }],
    ['handoff new', made, { task: '  ' }],
    ['handoff new', made, { handover_output: `${root}/session-state/CURRENT.md` }],
    ['handoff new', made, { status: 'in-progress', blocker: ['no token'] }],
    ['handoff new', made, { status: 'done', remaining_step: ['Test it'] }],
    ['handoff begin', { holder: 'ana', purpose: 'Go', task: 'Ship it' }, { ttl_minutes: 99_999_999_999 }],
  ];
  for (const [verb, input, more] of wrong) {
    const { world, ask } = await asker(context);
    const before = filesOf(world);
    const { isDone, said } = await ask(verb, { ...input, ...more });
    assert.ok(!isDone, `${verb} ${JSON.stringify(more)}: ${said}`);
    assert.deepEqual(filesOf(world), before, `${verb} ${JSON.stringify(more)}`);
    await done(ask, verb, input);
  }
  const { world, ask } = await asker(context);
  await done(ask, 'handoff new', made);
  const before = filesOf(world);
  for (const last_updated of times)
    for (const [verb, input] of Object.entries(writing).filter(([name]) =>
      /update|reconcile|repair|restore|begin|end/.test(name),
    ))
      assert.ok(!(await ask(verb, { ...input, last_updated })).isDone, `${verb} at ${last_updated}`);
  assert.deepEqual(filesOf(world), before);
});

test('W19: whether the tree is clean is what git says of this tree, whatever its files are called', (context) => {
  const world = createWorld(context);
  for (const [path, text] of Object.entries(leftBehind())) world.write(path, text);
  for (const name of ['a.txt', 'src/b.ts', 'naïve café.md']) world.write(name, 'one\n');
  world.write('latin1.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  world.git('add', '-A');
  world.git('commit', '-qm', 'all');
  const other = createWorld(context);
  const elsewhere = {
    env: {
      GIT_DIR: other.path('.git'),
      GIT_WORK_TREE: other.project,
      GIT_INDEX_FILE: 'x',
      GIT_CONFIG_COUNT: undefined,
    },
  };
  const seen = (from: TestWorld = world): Printed =>
    listOf(from.answer('handoff', 'ready').reasons).find(({ code }) => code === 'tree-dirty')?.text;
  for (const setting of ['status.branch', 'status.short', 'core.quotePath', 'status.relativePaths'])
    world.git('config', setting, 'true');
  assert.equal(seen(), undefined, 'what was committed is clean');
  assert.equal(seen(world.with(elsewhere)), undefined, 'whatever a hook has set');
  world.write('a.txt', 'two\n');
  assert.equal(seen(), '1 file is changed and not committed: a.txt');
  assert.equal(seen(world.with(elsewhere)), '1 file is changed and not committed: a.txt');
  world.git('checkout', '-q', '--', 'a.txt');
  world.git('mv', 'a.txt', 'renamed café.txt');
  assert.equal(seen(), '1 file is changed and not committed: renamed café.txt');
  world.git('mv', 'renamed café.txt', 'a.txt');
  world.write('latin1.txt', Buffer.from([0xe8, 0x0a]));
  world.write('  spaces -> arrows.txt', 'x');
  assert.match(seen(), /^2 files are changed and not committed: (?=.*latin1\.txt)(?=.*spaces -> arrows\.txt)/);
});

test('W20: what is begun is a record of its own, and nothing of another one is written over', async (context) => {
  const { world, ask } = await asker(context);
  world.write(`${root}/handovers/20260317_1200_handover.md`, 'precious\n');
  world.write(`${root}/session-state/20260317_1200_session-state.md`, 'precious too\n');
  const first = await done(ask, 'handoff new', { ...named, task: 'First', current_step: 'Mine' });
  await done(ask, 'handoff update', { ...by, status: 'ready-for-review' });
  await done(ask, 'handoff update', { ...by, status: 'done' });
  const before = filesOf(world);
  for (const [verb, input] of [
    ['handoff new', { ...named, task: 'Second' }],
    ['handoff new-state', { ...named, task: 'Second' }],
  ] as const)
    assert.equal((await ask(verb, input)).code, 'conflict', verb);
  assert.deepEqual(filesOf(world), before);
  const second = await done(ask, 'handoff new', { ...named, task: 'Second', force: true });
  const third = await done(ask, 'handoff new', { ...named, task: 'Third', force: true });
  const { session: fourth, handover: at } = await done(ask, 'handoff begin', {
    holder: 'cem',
    purpose: 'Go',
    task: 'Third',
  });
  assert.deepEqual([fourth, at], [third.session, third.handover], 'what is open goes on');
  assert.equal(new Set([first.session, second.session, third.session]).size, 3);
  assert.equal(new Set([first.handover, second.handover, third.handover]).size, 3);
  const { status, documents } = await done(ask, 'handoff summarize');
  assert.deepEqual(
    [status, documents.handover],
    ['in-progress', third.handover],
    'a new record does not begin as done',
  );
  assert.equal(textOf(world, `${root}/handovers/20260317_1200_handover.md`), 'precious\n');
  assert.equal(textOf(world, `${root}/session-state/20260317_1200_session-state.md`), 'precious too\n');
  const states = Object.entries(filesOf(world)).filter(([path]) => path.includes('session-state/'));
  assert.ok(
    states.some(([, text]) => text.includes('## Task\nFirst\n\n## Status\ndone\n')),
    'the first is archived as it was',
  );
  assert.ok(
    states.some(([, text]) => text.includes('## Task\nSecond\n')),
    'and so is the second',
  );
});

test('W21: reconcile and repair change nothing that is sound, and nothing twice', async (context) => {
  const at = async (world: TestWorld, minutes: number): Promise<Ask> =>
    askIn(context, world, new Date(Date.parse(noon) + minutes * 60_000).toISOString());
  const said = {
    state: { Task: 'Ship it', 'Remaining steps': '1. Test it' },
    transfer: { 'Task summary': 'Ship it', 'Remaining work': '1. Test it' },
  };
  // A pair that is sound, whoever has written it, is left alone.
  const { world: sound, ask: first } = await asker(context, leftBehind(said));
  const untouched = filesOf(sound);
  assert.equal((await done(first, 'handoff repair', { updated_by: 'cem' })).active_pair.changed, false);
  assert.deepEqual(filesOf(sound), untouched);
  // A note of an old blocker beside another status is somebody's word: repair does not make it the status.
  const noted = { ...said.state, Status: 'ready-for-review', Blockers: '- once: no token' };
  const { world: review, ask: askReview } = await asker(
    context,
    leftBehind({ state: noted, transfer: { ...said.transfer, Status: 'ready-for-review' } }),
  );
  const asLeft = filesOf(review);
  await done(askReview, 'handoff repair', { updated_by: 'cem' });
  assert.deepEqual(filesOf(review), asLeft);
  // What somebody made of the session state counts, and once it is one account that stays.
  const { world, ask } = await asker(
    context,
    leftBehind({ state: { ...said.state, Status: 'blocked' }, transfer: { ...said.transfer, Status: 'blocked' } }),
  );
  world.write(current, textOf(world, current).replace('## Status\nblocked', '## Status\nin-progress'));
  assert.equal((await done(ask, 'handoff reconcile', by)).status, 'in-progress');
  const once = filesOf(world);
  for (const [minutes, verb] of [
    [1, 'handoff repair'],
    [2, 'handoff repair'],
  ] as const) {
    const answer = await done(await at(world, minutes), verb, { updated_by: 'cem' });
    assert.equal(answer.active_pair.changed, false);
    assert.deepEqual(filesOf(world), once, `${verb} after ${minutes} minutes`);
  }
  const content = (text: string): string => text.replaceAll(/(## (?:Last updated|Updated by)\n).*/g, '$1');
  const contents = (files: Readonly<Record<string, string>>): readonly (readonly [string, string])[] =>
    Object.entries(files).map(([path, text]) => [path, content(text)] as const);
  await done(await at(world, 3), 'handoff reconcile', { updated_by: 'cem' });
  assert.deepEqual(contents(filesOf(world)), contents(once), 'reconcile says the same again');
  // What is broken is put right once.
  world.write(current, textOf(world, current).replace('## Next owner\nben', '## Next owner\ndora'));
  world.write(`${root}/session-state/20260310_0900_session-state.md`, sample(sessionState));
  const repaired = await done(await at(world, 4), 'handoff repair', { updated_by: 'cem' });
  assert.deepEqual(repaired.repairs.snapshot_pairs_repaired, ['20260310_0900']);
  const right = filesOf(world);
  const again = await done(await at(world, 5), 'handoff repair', { updated_by: 'dora' });
  assert.deepEqual(again.repairs.snapshot_pairs_repaired, []);
  assert.deepEqual(filesOf(world), right);
});

test('N18: a document that is a link is written inside of the documents or not at all', async (context) => {
  const targets: Readonly<Record<string, (world: TestWorld) => string>> = {
    'a file outside': (world) => join(world.root, 'outside.md'),
    'a file of the project': () => '../../../README.md',
    'a file that is not there': (world) => join(world.root, 'none.md'),
    'a file of the project that is not there': () => '../../../none.md',
  };
  for (const [what, targetIn] of Object.entries(targets))
    for (const path of [current, transfer, `${root}/session-state/ACTIVE_LEASE.json`])
      for (const isOurs of path === current || !what.includes('not there') ? [false, true] : []) {
        const { world, ask } = await asker(context, isOurs ? {} : leftBehind());
        if (isOurs) await done(ask, 'handoff new', { ...named, task: 'Ship it', handover_output: transfer });
        // What the link leads to is a version that was made here, where one was.
        const text = existsSync(world.path(path)) ? textOf(world, path) : sample(sessionState);
        writeFileSync(join(world.root, 'outside.md'), text);
        world.write('README.md', text);
        rmSync(world.path(path), { force: true });
        symlinkSync(targetIn(world), world.path(path));
        const before = filesOf(world);
        for (const [verb, input] of Object.entries(writing)) await ask(verb, input);
        const after = filesOf(world);
        for (const [file, said] of Object.entries(after)) {
          if (/docs\/tests\/(?:handovers|session-state)\//.test(file)) continue;
          assert.equal(said, before[file], `${file}, where ${path} is a link to ${what}${isOurs ? ', of ours' : ''}`);
        }
        assert.equal(existsSync(join(world.root, 'none.md')), false);
      }
  // The same for a folder that somebody has put elsewhere.
  for (const folder of ['handovers', 'session-state'])
    for (const elsewhere of ['elsewhere', '../elsewhere']) {
      const { world, ask } = await asker(context);
      await done(ask, 'handoff new', { ...named, task: 'Ship it', handover_output: transfer });
      renameSync(world.path(root, folder), world.path(elsewhere));
      symlinkSync(world.path(elsewhere), world.path(root, folder));
      const before = filesOf(world);
      for (const [verb, input] of Object.entries(writing)) await ask(verb, input);
      const after = filesOf(world);
      for (const file of new Set([...Object.keys(before), ...Object.keys(after)]))
        if (file.includes('elsewhere/')) assert.equal(after[file], before[file], `${file} for ${folder}`);
    }
});

test('N61: a file in the place of a folder is told by every verb, and stays', async (context) => {
  // These write one half, and do not need the folder of the other.
  const alone: Readonly<Record<string, string>> = {
    'handoff new-handover': `${root}/session-state`,
    'handoff new-state': `${root}/handovers`,
  };
  for (const place of ['docs', root, `${root}/session-state`, `${root}/handovers`]) {
    const { world, ask } = await asker(context, { [place]: 'a file' });
    const before = filesOf(world);
    for (const [verb, input] of [...Object.entries(reading), ...Object.entries(writing)]) {
      const { isDone, said, answer } = await ask(verb, input);
      const isTold =
        !isDone ||
        listOf(answer.warnings ?? []).length > 0 ||
        /root|locate|audit|repair/.test(verb) ||
        alone[verb] === place;
      assert.ok(isTold, `${verb}, where ${place} is a file: ${said}`);
    }
    assert.equal(textOf(world, place), 'a file');
    for (const file of Object.keys(before))
      assert.equal(filesOf(world)[file], before[file], `${file}, where ${place} is a file`);
  }
});

test('N95: a name is a line of text for every verb', async (context) => {
  const { world, ask } = await asker(context, leftBehind());
  await done(ask, 'handoff update', by);
  const before = filesOf(world);
  const fields = ['updated_by', 'next_owner', 'holder'] as const;
  for (const value of ['evil\nState: none', 'a\0b', 'a\u001b[2J', 'a\u2028b', 'a\u0085b', '', '   ', 'x'.repeat(300)])
    for (const [verb, input] of Object.entries(writing))
      for (const field of fields.filter((one) => one in input)) {
        const { isDone, said } = await ask(verb, { ...input, [field]: value });
        assert.ok(!isDone, `${verb} ${field}=${JSON.stringify(value)}: ${said.slice(0, 300)}`);
      }
  assert.deepEqual(filesOf(world), before);
});
