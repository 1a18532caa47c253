/**
 * What is written about the program is run, looked up or made by the program. CONTRIBUTING.md ("Documents are run") says
 * how blocks are marked; with UPDATE_DOCS=1 what is printed is written into the pages instead of compared.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { before, test } from 'node:test';
import { openStint } from '../src/index.ts';
import { refusals } from '../src/kernel/refusal.ts';
import type { Liveness, ProcessOutcome } from '../src/kernel/process.ts';
import type { Activity } from '../src/kernel/query.ts';
import type { Verb } from '../src/kernel/verb.ts';
import type { Completeness, NextAction } from '../src/kernel/view.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import { allVerbs } from '../src/surfaces/verbs.ts';
import { withoutSsh } from './support/ssh.ts';
import { command, createWorld, repository, type Tidying } from './support/world.ts';

const update = process.env['UPDATE_DOCS'] === '1';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

/** Every page, by its path from the root of the repository. */
const pages = [...globSync('*.md', { cwd: repository }), ...globSync('docs/**/*.md', { cwd: repository })].toSorted();

before(() => {
  if (existsSync(command)) return;
  const built = spawnSync('npm', ['run', '--silent', 'build'], { cwd: repository, encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
});

// Blocks.

/** A fenced block. */
interface Block {
  readonly language: string;
  /** What the comment in front of it says: `<!-- file findings.json -->`. */
  readonly mark: string;
  readonly lines: readonly string[];
  /** The number of its first line, from 0. */
  readonly at: number;
}

const blocksOf = (text: string): readonly Block[] => {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  let mark = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const fence = /^```(\w*)$/.exec(line);
    if (fence === null) {
      if (line !== '') mark = /^<!-- (.*) -->$/.exec(line)?.[1] ?? '';
      continue;
    }
    const end = lines.indexOf('```', at + 1);
    assert.ok(end > at, `line ${at + 1}: the block does not end`);
    blocks.push({ language: fence[1] ?? '', mark, lines: lines.slice(at + 1, end), at: at + 1 });
    mark = '';
    at = end;
  }
  return blocks;
};

/** A command of a page, and what the page says that it prints. */
interface Shown {
  readonly command: string;
  readonly printed: string;
  /** Lines of the page, from 0: where the command begins, where what it prints begins and ends. */
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

const shownIn = ({ lines, at }: Block): readonly Shown[] => {
  const shown: Shown[] = [];
  for (let line = 0; line < lines.length;) {
    const begin = line;
    assert.ok(lines[line]?.startsWith('$ ') === true, `line ${at + line + 1}: a console block begins with a command`);
    const words = [(lines[line] ?? '').slice(2)];
    for (line += 1; lines[line]?.startsWith('> ') === true; line += 1) words.push((lines[line] ?? '').slice(2));
    const from = line;
    while (line < lines.length && lines[line]?.startsWith('$ ') !== true) line += 1;
    const printed = lines.slice(from, line).map((text) => `${text}\n`);
    shown.push({
      command: words.join('\n'),
      printed: printed.join(''),
      at: at + begin,
      from: at + from,
      to: at + line,
    });
  }
  return shown;
};

/**
 * Runs the commands of a page one after the other in one shell, and answers what each printed, on both streams, with its
 * exit code. The clock goes on by a minute with each command.
 */
const runPage = (tidying: Tidying, steps: readonly (Shown | { readonly file: string; readonly content: string })[]) => {
  const world = createWorld(tidying);
  const programs = join(world.root, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'stint'), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`);
  chmodSync(join(programs, 'stint'), 0o755);
  symlinkSync(process.execPath, join(programs, 'node'));
  const script = ['exec 2>&1', 'export STINT_NOW', 'shown=0'];
  let minutes = 0;
  for (const step of steps) {
    if ('file' in step) {
      script.push(`cat > '${step.file}' <<'END_OF_FILE'`, step.content, 'END_OF_FILE');
      continue;
    }
    const now = new Date(Date.UTC(2026, 2, 17, 9, minutes)).toISOString();
    const report = String.raw`shown=$?; printf '\036%s\036' $shown`;
    script.push(`STINT_NOW=${now}`, '(exit $shown)', step.command, report);
    minutes += 1;
  }
  const path = join(world.root, 'page.sh');
  writeFileSync(path, `${script.join('\n')}\n`);
  const { STINT_NOW: _, ...env } = world.env;
  const shell = spawnSync('sh', [path], {
    cwd: world.project,
    env: { ...env, PATH: `${programs}:${world.env['PATH']}` },
    encoding: 'utf8',
    timeout: 120_000,
  });
  const parts = shell.stdout.replaceAll(world.root, '/home/ana').split('\u001e');
  assert.equal(parts.length, 2 * minutes + 1, `the shell stopped early: ${shell.stdout}${shell.stderr}`);
  return Array.from({ length: minutes }, (_step, index) => ({
    printed: parts[2 * index] ?? '',
    exit: Number(parts[2 * index + 1]),
  }));
};

for (const page of pages) {
  const blocks = blocksOf(read(page));
  if (!blocks.some(({ language }) => language === 'console')) continue;
  const needsSsh = blocks.some(({ lines }) => lines.some((line) => line.includes('ssh-keygen')));
  test(`${page} prints what it shows`, { skip: needsSsh && withoutSsh }, (t) => {
    const steps = blocks.flatMap((block): readonly (Shown | { readonly file: string; readonly content: string })[] => {
      const file = /^file (\S+)$/.exec(block.mark)?.[1];
      if (file !== undefined) return [{ file, content: block.lines.join('\n') }];
      return block.language === 'console' ? shownIn(block) : [];
    });
    const shown = steps.filter((step) => 'command' in step);
    const outcomes = runPage(t, steps);
    const lines = read(page).split('\n');
    for (const [index, { command: line, printed, at, from, to }] of [...shown.entries()].toReversed()) {
      const { printed: found = '', exit = 0 } = outcomes[index] ?? {};
      const where = `${page}:${at + 1}: ${line}`;
      assert.ok(found === '' || found.endsWith('\n'), `${where}: what is printed ends with a line`);
      assert.ok(
        exit === 0 || shown[index + 1]?.command.startsWith('echo $?') === true,
        `${where}: exit ${exit} is not shown\n${found}`,
      );
      if (update) lines.splice(from, to - from, ...found.split('\n').slice(0, -1));
      else assert.equal(found, printed, where);
    }
    if (update) writeFileSync(join(repository, page), lines.join('\n'));
  });
}

test('what a page quotes from a file stands in that file', () => {
  for (const page of pages) {
    for (const { language, mark, lines, at } of blocksOf(read(page))) {
      const source = /^from (\S+)$/.exec(mark)?.[1];
      assert.ok(language !== 'ts' || source !== undefined, `${page}:${at}: a ts block says which file it is from`);
      if (source === undefined) continue;
      const flat = (text: string): string => text.replaceAll(/^\s+|\s+$/gm, '');
      assert.ok(flat(read(source)).includes(flat(lines.join('\n'))), `${page}:${at}: ${source} does not hold this`);
    }
  }
});

test('the library does what the README shows', async (t) => {
  const project = mkdtempSync(join(tmpdir(), 'stint-docs-'));
  t.after(() => rmSync(project, { recursive: true, force: true }));

  const stint = openStint({ cwd: project, actor: 'ci' });
  if (!stint.ok) throw new Error(stint.error.message);
  const answer = await stint.value.run('begin', { kind: 'review' });
  const next = answer.ok ? answer.value['next_action'] : answer.error.refusal;
  await stint.value.close();

  assert.match(JSON.stringify(next), /^\{"kind":"advance",.*"command":"stint advance change-context --session review:/);
});

// What is named must be there.

test('every link leads to a file and a heading that are there', () => {
  for (const page of pages) {
    for (const [, target = ''] of withoutBlocks(read(page)).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', heading] = target.split('#');
      const file = path === '' ? page : relative(repository, join(repository, dirname(page), path));
      assert.ok(existsSync(join(repository, file)), `${page}: there is no ${target}`);
      if (heading !== undefined) assert.ok(headingsOf(file).includes(heading), `${page}: there is no ${target}`);
    }
  }
});

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const page of reached) {
    for (const [, path = ''] of read(page).matchAll(/\]\(([^)#\s:]+\.md)(?:#[^)]*)?\)/g))
      reached.add(relative(repository, join(repository, dirname(page), path)));
  }
  assert.deepEqual(
    pages.filter((page) => !reached.has(page) && page !== 'CLAUDE.md'),
    [],
  );
});

test('every file of the repository that a page names is there', () => {
  const own = /^(?:\.ci|bench|dist|docs|scripts|src|test)\/[\w./*-]*$|^[\w.-]+\.(?:md|json|jsonc)$/;
  for (const page of pages.filter((path) => !path.startsWith('docs/reference/'))) {
    for (const [, name = ''] of withoutBlocks(read(page)).matchAll(/`([^`\n]+)`/g)) {
      if (!own.test(name) || ofProjects.has(name)) continue;
      assert.ok(globSync(name, { cwd: repository }).length > 0, `${page}: there is no ${name}`);
    }
  }
});

/** Files that lie in the projects in which stint is used, or used to lie there. */
const ofProjects: ReadonlySet<string> = new Set([
  'docs/tests',
  'CURRENT.md',
  'ACTIVE_LEASE.json',
  'session-state.json',
  'context.md',
  'discourse.md',
  'discovered-standards.md',
  'final.md',
  'findings.json',
  'handoff-bundle-ci-policy.json',
  'handoff-bundle-redaction-policy.json',
  'handoff-bundle-trust-policy.json',
  'map-meta.json',
  'round-meta.json',
  'state.json',
  'stint.json',
]);

test('every script and flag that a page names is there', () => {
  const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(read('package.json'));
  for (const page of pages) {
    for (const [, name = ''] of read(page).matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g))
      assert.ok(Object.hasOwn(scripts, name), `${page}: there is no npm run ${name}`);
    for (const [, words = ''] of read(page).matchAll(/\bstint ([a-z][a-z-]+(?: [^`\n|&;>)]*)?)/g)) {
      const [first = '', second = '', ...others] = words.split(' ');
      const called = (name: string): Verb | undefined =>
        allVerbs.find((verb) => verb.name === name || verb.aliases.some((alias) => alias.name === name));
      const known = called(`${first} ${second}`) ?? called(first);
      if (known === undefined) continue;
      const verb = known.name;
      const rest = [first, second, ...others].join(' ');
      const flags = new Set([
        ...Object.keys(known.input.entries).map((key) => key.replaceAll('_', '-')),
        ...known.aliases.flatMap((alias) => Object.keys(alias.flags ?? {})),
        ...flagNames,
      ]);
      for (const [, flag = ''] of rest.matchAll(/ --([a-z][a-z-]*)/g))
        assert.ok(flags.has(flag), `${page}: ${verb} has no --${flag}`);
    }
  }
});

const flagNames: readonly string[] = [...read('docs/reference/verbs.md').matchAll(/^\| `--([a-z-]+)` \|/gm)].map(
  ([, name = '']) => name,
);

// Each page for itself.

test('the README is short, and begins with the two commands of a newcomer', () => {
  const lines = read('README.md').split('\n');
  assert.ok(lines.length < 120, `${lines.length} lines`);
  const first = blocksOf(read('README.md')).slice(0, 2);
  assert.deepEqual(
    first.map(({ lines: block }) => block),
    [['npm ci && npm run demo'], ['npm ci && npm test']],
  );
  assert.ok((first[1]?.at ?? 99) < 20, 'they stand at the top');
});

test('every verb is in the table of the README and in the reference', () => {
  // A row may name several verbs; behind one of two words, those that begin with the same word are named by their second.
  const named = [...read('README.md').matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = '']) => {
    const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const [group = '', second] = (names[0] ?? '').split(' ');
    return names.map((name, index) => (index === 0 || second === undefined ? name : `${group} ${name}`));
  });
  assert.deepEqual(named.toSorted(), allVerbs.map(({ name }) => name).toSorted());
  for (const { name } of allVerbs)
    assert.ok(headingsOf('docs/reference/verbs.md').includes(name.replaceAll(' ', '-')), name);
});

test('the reference pages are what is generated', () => {
  const check = spawnSync(process.execPath, ['scripts/generate.ts', '--check'], { cwd: repository, encoding: 'utf8' });
  assert.equal(check.status, 0, check.stdout + check.stderr);
});

test('the glossary has the words of this version, and none of what is not there', () => {
  const words = [...read('docs/glossary.md').matchAll(/^\| \*\*([^*]+)\*\*/gm)].map(([, word = '']) => word);
  for (const word of glossary) assert.ok(words.includes(word), `${word} is missing`);
  for (const word of notThere) assert.ok(!words.includes(word), `${word} is not there yet`);
  assert.deepEqual(
    words,
    words.toSorted((a, b) => a.localeCompare(b, 'en')),
  );
});

const glossary = [
  'activity',
  'actor',
  'alias',
  'archive',
  'attempt',
  'batch',
  'blocker',
  'bundle',
  'checkout',
  'checkpoint',
  'common state',
  'completeness',
  'copy',
  'damage',
  'document',
  'dry run',
  'entry',
  'event',
  'evidence',
  'flaw',
  'form',
  'holder',
  'import',
  'in doubt',
  'instance',
  'journal',
  'kind',
  'lease',
  'liveness',
  'log',
  'mirror',
  'next action',
  'node',
  'pause',
  'payload',
  'phase',
  'place',
  'process',
  'progress',
  'project',
  'projection',
  'reference',
  'refusal',
  'request',
  'revision',
  'round',
  'run',
  'session',
  'snapshot',
  'state',
  'step',
  'store',
  'supervisor',
  'sweep',
  'template',
  'token',
  'utility',
  'verb',
  'view',
];
const notThere = ['brief'];

test('the changelog has an unreleased section, and only sections of Keep a Changelog', () => {
  const text = read('CHANGELOG.md');
  assert.match(text, /^## \[Unreleased\]$/m);
  const sections = [...text.matchAll(/^### (.*)$/gm)].map(([, name]) => name);
  for (const name of sections)
    assert.ok(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'].includes(String(name)), name);
});

test('CLAUDE.md is one line that points to AGENTS.md', () => {
  assert.match(read('CLAUDE.md'), /^[^\n]*\(AGENTS\.md\)[^\n]*\n$/);
});

test('the guide for scripts names every value to branch on', () => {
  const completeness: Readonly<Record<Completeness, true>> = {
    open_no_artifact: true,
    open_with_artifact: true,
    complete: true,
    closed_without_artifact: true,
  };
  const next: Readonly<Record<NextAction['kind'], true>> = {
    advance: true,
    claim: true,
    complete: true,
    decide: true,
    finish: true,
    reopen: true,
    resume: true,
    settle: true,
    unblock: true,
    wait: true,
    none: true,
  };
  const activity: Readonly<Record<Activity['activity'], true>> = {
    running: true,
    quiet: true,
    interrupted: true,
    none: true,
  };
  const outcome: Readonly<Record<ProcessOutcome, true>> = {
    done: true,
    crashed: true,
    cancelled: true,
    orphaned: true,
  };
  const liveness: Readonly<Record<Liveness, true>> = {
    alive: true,
    quiet: true,
    dead: true,
    unknown: true,
    ended: true,
  };
  const guide = read('docs/guides/many-agents.md');
  for (const value of [completeness, next, activity, outcome, liveness].flatMap((values) => Object.keys(values)))
    assert.ok(guide.includes(`\`${value}\``), value);
});

test('every refusal that is given today is explained to those who come from OCR or write scripts', () => {
  const guide = read('docs/guides/coming-from-ocr.md');
  for (const [name, { exit }] of Object.entries(refusals))
    if (!['untrusted', 'policy'].includes(name)) assert.match(guide, new RegExp(`\\| ${exit} +\\|`), name);
});

test('every kind has a section in the reference', () => {
  for (const { name } of kinds) assert.ok(headingsOf('docs/reference/kinds.md').includes(name), name);
});

const withoutBlocks = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

/** The headings of a page as links name them. */
const headingsOf = (page: string): readonly string[] =>
  [...withoutBlocks(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
