/** Each reason why work is not ready names the command that clears it, or what somebody has to do: run as it is told, it does. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { handover } from '../src/formats/handoff/document.ts';
import { archivedPair, sample } from '../src/formats/handoff/samples.ts';
import {
  askIn,
  current,
  handedOver,
  leaseFile,
  paired,
  root,
  stateOf,
  textOf,
  transfer,
  transferOf,
} from './support/documents.ts';
import { command, createWorld, listOf, type Printed, type Tidying, type TestWorld } from './support/world.ts';

/** A world whose clock runs, since files have their times of it. */
const now = (world: TestWorld): TestWorld => world.with({ env: { STINT_NOW: undefined } });

/** A pair that another program has left just now. */
const left = (context: Tidying, said: Readonly<Record<string, string>> = {}): TestWorld =>
  now(paired(context, { 'Last updated': new Date().toISOString(), ...said }));

/** A task with its pair. */
const own = (context: Tidying): TestWorld => now(handedOver(context));

const replace = (world: TestWorld, path: string, before: string, after: string): void => {
  const text = textOf(world, path);
  assert.ok(text.includes(before), `${path} has ${before}`);
  world.write(path, text.replace(before, after));
};

const conflict = '<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n';
const past = new Date(Date.now() - 3_600_000);

/** A file that is named, as old as it is said. */
const file = (world: TestWorld, path: string, time = past): void => utimesSync(world.write(path, 'x'), time, time);

/** A lease as another program has written it. */
const leased = (world: TestWorld, said: object = {}): void => {
  const times = { acquired_at: past.toISOString(), expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  const documents = { handover: transfer.slice(root.length + 1), session_state: 'session-state/CURRENT.md' };
  world.write(
    leaseFile,
    JSON.stringify({ version: 1, holder: 'zoe', purpose: 'edit', ...times, ...documents, ...said }),
  );
};

const archived = (
  world: TestWorld,
  said: Readonly<Record<string, string>> = {},
): readonly (readonly [string, string])[] =>
  Object.entries(archivedPair('20260310_0900', said)).map(([path, text]) => [
    world.write(`${root}/${path}`, text),
    path,
  ]);

/** What is wrong, by the code of its reason, a name behind it where there are several of a kind. */
const cases: Readonly<
  Record<string, readonly [begin: (context: Tidying) => TestWorld, spoil: (world: TestWorld) => unknown]>
> = {
  'pair-missing': [(context) => now(createWorld(context)), () => {}],
  'documents-stale, gone': [own, (world) => rmSync(world.path(current))],
  'documents-stale, all gone': [own, (world) => rmSync(world.path(root), { recursive: true })],
  'documents-stale, emptied': [own, (world) => world.write(transfer, '')],
  'documents-stale, older': [
    own,
    (world) => {
      const before = textOf(world, current);
      world.answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'On');
      world.write(current, before);
    },
  ],
  'documents-stale, gone on elsewhere': [
    own,
    (world) => {
      world.git('worktree', 'add', '-q', '../other', '-b', 'other');
      const other = world.with({ cwd: join(world.root, 'other') });
      other.answer('resume', '--session', 'task:2026-03-17-main');
      other.answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'On');
    },
  ],
  'edit-not-taken': [own, (world) => replace(world, current, '1. None', '1. Of mine')],
  'edit-not-taken, two things': [
    own,
    (world) => {
      replace(world, current, '## Current step\nNone', '## Current step\nHere');
      replace(world, transfer, '## Current step\nNone', '## Current step\nThere');
    },
  ],
  'done-with-steps': [
    (context) => left(context, { Status: 'done', 'Next owner': 'None', 'Remaining steps': '1. Go' }),
    () => {},
  ],
  'done-with-blockers': [
    (context) => left(context, { Status: 'done', 'Next owner': 'None', Blockers: '- no token' }),
    () => {},
  ],
  'blocked-by-nothing': [(context) => left(context, { Status: 'blocked' }), () => {}],
  'blocker-without-needs': [(context) => left(context, { Status: 'blocked', Blockers: '- no token' }), () => {}],
  'blocker-without-needs, of a session': [own, (world) => world.answer('block', 'no token')],
  'file-not-there': [(context) => left(context, { 'Files touched': '- gone.ts' }), () => {}],
  'file-not-there, noted': [
    own,
    (world) => {
      file(world, 'gone.ts');
      world.answer('note', 'file', 'gone.ts');
      rmSync(world.path('gone.ts'));
    },
  ],
  'file-not-there, in backticks': [
    own,
    (world) => {
      file(world, 'there.ts');
      const named = ['`there.ts` and `gone.ts`', '`other.ts`: the parser'];
      world.answer('handoff', 'update', '--updated-by', 'ana', ...named.flatMap((one) => ['--file-touched', one]));
    },
  ],
  'first-file-not-there': [
    own,
    (world) => world.answer('handoff', 'update', '--updated-by', 'ana', '--first-file', 'gone.ts'),
  ],
  'validation-perhaps-old': [
    (context) =>
      left(context, {
        'Last updated': past.toISOString(),
        'Files touched': '- a.ts',
        'Validation snapshot': '- Passed: all',
      }),
    (world) => file(world, 'a.ts', new Date(Date.now() - 60_000)),
  ],
  'validation-old': [
    own,
    (world) => {
      file(world, 'a.ts');
      world.answer('note', 'file', 'a.ts');
      world.answer('note', 'validation', '--run', '--', 'true');
      file(world, 'a.ts', new Date());
    },
  ],
  'validation-failed': [
    own,
    (world) => {
      world.answer('note', 'validation', 'npm test', '--exit-code', '1');
      world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'ready-for-review');
    },
  ],
  'validation-missing': [left, (world) => world.write('stint.json', '{"handoff":{"require":["validation"]}}')],
  'validation-missing, of a session': [
    own,
    (world) => world.write('stint.json', '{"handoff":{"require":["validation"]}}'),
  ],
  'clock-ahead': [(context) => left(context, { 'Last updated': '2999-01-01T00:00:00Z' }), () => {}],
  secret: [own, (world) => replace(world, current, '## Task\nShip it', '## Task\nShip it\nTOPSECRET=abc123')],
  'tree-dirty': [own, (world) => world.write('stint.json', '{"handoff":{"require":["clean-tree"]}}')],
  'lease-held': [own, (world) => world.answer('handoff', 'lease', 'claim', '--holder', 'zoe', '--purpose', 'edit')],
  'lease-held, of another program': [left, leased],
  'lease-stale': [left, (world) => leased(world, { expires_at: new Date(Date.now() - 60_000).toISOString() })],
  'lease-invalid': [left, (world) => world.write(leaseFile, '[]')],
  'audit-warning, half of a pair': [left, (world) => rmSync(archived(world)[1]?.[0] ?? '')],
  'ptr-dangling, of what is on record': [
    own,
    (world) => {
      world.answer('handoff', 'archive', '--timestamp', '20260310_0900');
      rmSync(world.path(stateOf('20260310_0900')));
    },
  ],
  'pair-time, of what is on record': [
    own,
    (world) => {
      world.answer('handoff', 'archive', '--timestamp', '20260310_0900');
      const older = textOf(world, stateOf('20260310_0900'));
      world.answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'On');
      world.answer('handoff', 'archive', '--timestamp', '20260310_0900', '--force');
      world.write(stateOf('20260310_0900'), older);
    },
  ],
  'audit-warning, a stamp': [left, (world) => world.write(transferOf('99999999_9999'), sample(handover))],
  'audit-warning, a lease': [
    left,
    (world) => {
      archived(world);
      leased(world, { handover: 'handovers/20260310_0900_handover.md' });
    },
  ],
  'doc-conflict': [own, (world) => replace(world, current, '## Blockers\n', `## Blockers\n${conflict}`)],
  'doc-conflict, of the handover': [
    own,
    (world) => replace(world, transfer, '## What was done\n', `## What was done\n${conflict}`),
  ],
  'doc-conflict, of another program': [
    left,
    (world) => replace(world, current, '## Blockers\n', `## Blockers\n${conflict}`),
  ],
  'doc-root-heading': [own, (world) => replace(world, current, '# Session State', '# State')],
  'doc-section-twice': [own, (world) => replace(world, current, '## Blockers\n', '## Blockers\n- x\n\n## Blockers\n')],
  'doc-section-missing': [own, (world) => replace(world, current, '## Blockers\n- None\n\n', '')],
  'doc-section-missing, of another program': [left, (world) => replace(world, current, '## Blockers\nNone\n\n', '')],
  'doc-section-order': [
    own,
    (world) => {
      replace(world, current, '## Blockers\n- None\n\n', '');
      replace(world, current, '## Files touched\n', '## Blockers\n- None\n\n## Files touched\n');
    },
  ],
  'doc-section-empty': [own, (world) => replace(world, transfer, '## Patterns used\n- None\n', '## Patterns used\n')],
  'doc-placeholder': [left, (world) => replace(world, current, '## Current step\nNone', '## Current step\n<what>')],
  'doc-status': [own, (world) => replace(world, current, '## Status\nin-progress', '## Status\nnearly')],
  'doc-status, of another program': [
    left,
    (world) => replace(world, current, '## Status\nin-progress', '## Status\nnearly'),
  ],
  'doc-time': [left, (world) => replace(world, current, '## Last updated\n', '## Last updated\nyesterday ')],
  'doc-updated-by': [left, (world) => replace(world, current, '## Updated by\nana', '## Updated by\nNone')],
  'doc-owner-missing': [left, (world) => replace(world, current, '## Next owner\nben', '## Next owner\nNone')],
  'doc-owner-done': [(context) => left(context, { Status: 'done', 'Next owner': 'ben' }), () => {}],
  'ptr-missing': [left, (world) => replace(world, transfer, '../session-state/CURRENT.md', 'None')],
  'ptr-outside': [left, (world) => replace(world, transfer, '../session-state/CURRENT.md', '../../../../x.md')],
  'ptr-status-mismatch': [left, (world) => replace(world, current, '## Status\nin-progress', '## Status\nblocked')],
  'pair-owner': [left, (world) => replace(world, current, '## Next owner\nben', '## Next owner\nzoe')],
  'ptr-dangling': [left, (world) => replace(world, current, '0915_handover', '0916_handover')],
  'file-unreadable': [own, (world) => world.write(current, Buffer.from(textOf(world, current), 'utf16le'))],
  'file-unreadable, the handover': [
    own,
    (world) => world.write(transfer, Buffer.from(`\uFEFF${textOf(world, transfer)}`, 'utf16le')),
  ],
  'file-in-the-way': [
    own,
    (world) => {
      rmSync(world.path(current));
      mkdirSync(world.path(current));
    },
  ],
  'doc-status, archived': [
    left,
    (world) =>
      writeFileSync(
        archived(world)[0]?.[0] ?? '',
        sample(handover, { Status: 'x', 'Session-state pointer': '../session-state/20260310_0900_session-state.md' }),
      ),
  ],
  'ptr-missing, archived': [left, (world) => archived(world, { 'Session-state pointer': 'None' })],
};

/** What a person fills in. */
const filledIn: readonly (readonly [word: RegExp, said: string])[] = [
  [/\bWHAT\b/g, "'a token from ops'"],
  [/\bCOMMAND\b/g, 'true'],
  [/\bTASK\b/g, "'Ship it'"],
  [/\bNAME\b/g, 'ben'],
  [/\bFILE\b/g, 'README.md'],
];

/** Runs a command line as it is told; who edits a file writes what was there before it was broken. */
const runLine = (world: TestWorld, line: string): string => {
  const told = filledIn.reduce((text, [word, said]) => text.replaceAll(word, said), line);
  const { stdout, stderr } = spawnSync('sh', ['-c', told], {
    cwd: world.project,
    env: {
      ...world.env,
      PATH: `${join(world.root, 'bin')}:${world.env['PATH']}`,
      EDITOR: join(world.root, 'bin/editor'),
    },
    encoding: 'utf8',
  });
  return `${told}\n${stdout}${stderr}`;
};

const script = (path: string, text: string): void => {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
};

const nameOf = ({ code, text }: Printed): string => `${code}: ${text}`;

/** Somebody who asks why it is not ready, in this process. */
const reasonsOf = async (context: TestContext, world: TestWorld): Promise<() => Promise<readonly Printed[]>> => {
  const ask = await askIn(context, world);
  return async () => listOf((await ask('handoff ready')).answer.reasons).filter(({ severity }) => severity !== 'note');
};

for (const [name, [begin, spoil]] of Object.entries(cases))
  test(`${name} is cleared by its command`, async (context) => {
    const world = begin(context);
    world.write('README.md', 'read me\n');
    world.git('add', '--all', '.');
    world.git('commit', '-q', '-m', 'all');
    const [bin, sound] = [join(world.root, 'bin'), join(world.root, 'sound')];
    for (const folder of [bin, sound]) mkdirSync(folder);
    script(join(bin, 'stint'), `exec '${process.execPath}' '${command}' "$@"`);
    script(join(bin, 'editor'), `cp "${sound}/$(basename "$1")" "$1"`);
    for (const path of [current, transfer])
      if (begin !== cases['pair-missing']?.[0]) writeFileSync(join(sound, basename(path)), textOf(world, path));
    for (const [path, text] of Object.entries(archivedPair('20260310_0900')))
      writeFileSync(join(sound, basename(path)), text);
    spoil(world);
    const [code = ''] = name.split(',');
    const told = new Set<string>();
    const reasonsNow = await reasonsOf(context, world);
    let reasons = await reasonsNow();
    for (let round = 0; ; round += 1) {
      for (const reason of reasons) told.add(String(reason.code));
      const [first] = reasons;
      if (first === undefined) break;
      assert.ok(round < 12, nameOf(first));
      const said = runLine(world, String(first.command));
      reasons = await reasonsNow();
      assert.ok(!reasons.map(nameOf).includes(nameOf(first)), `${nameOf(first)}\n${said}`);
    }
    assert.ok(told.has(code), `${code} is among ${[...told].join(', ')}`);
  });
