import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { OutsideQuestion, OutsideSeen } from '../kernel/outside.ts';
import { lookOutside } from './outside.ts';

const noon = '2026-03-17T12:00:00.000Z';
const one = '2026-03-17T13:00:00.000Z';
const two = '2026-03-17T14:00:00.000Z';

/** A repository of its own, and git in it at some time. */
const repositoryIn = (context: { readonly after: (action: () => void) => void }) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'outside-')));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const env = {
    PATH: process.env['PATH'],
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Ana'],
        [`GIT_${who}_EMAIL`, 'ana@example.invalid'],
      ]),
    ),
  };
  const git = (at: string, ...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd: root,
      env: { ...env, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at },
      encoding: 'utf8',
    });
  const commit = (at: string, subject: string): string => {
    git(at, 'commit', '-q', '--allow-empty', '-m', subject);
    return git(at, 'rev-parse', 'HEAD').trim();
  };
  const write = (path: string, at: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), at);
    utimesSync(join(root, path), new Date(at), new Date(at));
  };
  const look = async (question: Partial<OutsideQuestion> = {}, variables: Readonly<Record<string, string>> = {}) =>
    lookOutside(
      { ...env, ...variables },
      {
        root,
        folder: '',
        since: noon,
        validatedAt: null,
        recordedHead: null,
        ...question,
      },
    );
  const see = async (...given: Parameters<typeof look>): Promise<OutsideSeen> => {
    const found = await look(...given);
    assert.ok(found.known, JSON.stringify(found));
    return found;
  };
  git(noon, 'init', '-q', '--template=', '-b', 'main');
  return { root, git, commit, write, look, see };
};

test('what was committed since a time is counted from what was checked out then, with the newest subjects', async (context) => {
  const { commit, see } = repositoryIn(context);
  const first = commit(noon, 'first');
  assert.deepEqual((await see()).commits, { from: first, count: 0, gone: 0, newest: [] });
  for (let number = 1; number <= 7; number += 1) commit(one, `change ${number}`);
  const last = commit(two, '`; rm -rf /` \u202e');
  const { head, commits, dirty } = await see();
  assert.equal(head, last);
  assert.deepEqual([commits?.from, commits?.count, commits?.gone, commits?.newest.length], [first, 8, 0, 5]);
  assert.deepEqual(commits?.newest[0], {
    id: last.slice(0, 7),
    author: 'Ana',
    at: two,
    subject: '`; rm -rf /` \u202e',
  });
  assert.deepEqual(dirty, { total: 0, paths: [] });
});

test('commits of then that are no longer part of what is checked out are counted', async (context) => {
  const { git, commit, see } = repositoryIn(context);
  commit(noon, 'first');
  commit(noon, 'second');
  git(one, 'reset', '-q', '--hard', 'HEAD~1');
  commit(one, 'another second');
  const { commits } = await see();
  assert.deepEqual([commits?.count, commits?.gone], [1, 1]);
});

test('where the log of git does not reach back, the commit that was recorded counts, and without it nothing is known', async (context) => {
  const { commit, see } = repositoryIn(context);
  const first = commit(one, 'first');
  commit(two, 'second');
  assert.equal((await see()).commits, null);
  assert.equal((await see({ recordedHead: first })).commits?.count, 1);
  assert.equal((await see({ recordedHead: 'f'.repeat(40) })).commits, null, 'a commit that is not there any more');
});

test('files that are not committed are named, those of the session itself and of stint are not', async (context) => {
  const { root, git, commit, write, see } = repositoryIn(context);
  write('with a blank.txt', noon);
  write('old.txt', noon);
  git(noon, 'add', '.');
  commit(noon, 'first');
  write('with a blank.txt', one);
  renameSync(join(root, 'old.txt'), join(root, 'new.txt'));
  git(noon, 'add', 'old.txt', 'new.txt');
  write('tests/größe.txt', one);
  write('.ocr/sessions/a/context.md', one);
  const { dirty } = await see({ folder: '.ocr/sessions/a' });
  assert.deepEqual(dirty, { total: 3, paths: ['new.txt', 'with a blank.txt', 'tests/'] });
  for (let number = 0; number < 40; number += 1) write(`many-${number}.txt`, one);
  const many = (await see({ folder: '.ocr/sessions/a' })).dirty;
  assert.deepEqual([many?.total, many?.paths.length], [43, 10]);
});

test('a validation is outdated by a commit, by a file that was changed after it, and by nothing else', async (context) => {
  const { commit, write, see } = repositoryIn(context);
  commit(noon, 'first');
  write('a.txt', noon);
  assert.equal((await see()).changedSinceValidation, null, 'nothing was validated');
  assert.equal((await see({ validatedAt: one })).changedSinceValidation, false);
  write('a.txt', two);
  assert.equal((await see({ validatedAt: one })).changedSinceValidation, true);
  write('a.txt', noon);
  commit(two, 'second');
  assert.equal((await see({ validatedAt: one })).changedSinceValidation, true);
  assert.equal((await see({ validatedAt: '2026-03-17T10:00:00.000Z' })).changedSinceValidation, true);
});

test('before the first commit nothing is checked out, and what is there is not committed', async (context) => {
  const { write, see } = repositoryIn(context);
  write('a.txt', noon);
  assert.deepEqual(await see(), {
    known: true,
    head: null,
    commits: null,
    dirty: { total: 1, paths: ['a.txt'] },
    changedSinceValidation: null,
  });
});

test('without a repository, without git and beside a repository that is broken it is said why nothing is known', async (context) => {
  const { root, commit, look } = repositoryIn(context);
  commit(noon, 'first');
  assert.deepEqual(await look({}, { PATH: '/nowhere' }), { known: false, because: 'git is not installed here' });
  writeFileSync(join(root, '.git/config'), '[core');
  const broken = await look();
  assert.match(broken.known ? '' : broken.because, /^git says: fatal: bad config/);
  rmSync(join(root, '.git'), { recursive: true });
  assert.deepEqual(await look(), { known: false, because: 'there is no git repository' });
});

test('what a hook of git sets does not lead to another repository, and git changes nothing', async (context) => {
  const { commit, see } = repositoryIn(context);
  const other = repositoryIn(context);
  other.commit(noon, 'other');
  const first = commit(noon, 'first');
  assert.equal((await see({}, { GIT_DIR: join(other.root, '.git'), GIT_WORK_TREE: other.root })).head, first);
});

test('no program that the repository names is started', async (context) => {
  const { root, git, commit, see } = repositoryIn(context);
  commit(noon, 'first');
  const program = join(root, '.git/program');
  writeFileSync(program, `#!/bin/sh\ntouch '${root}/.git/started'\n`, { mode: 0o755 });
  git(noon, 'config', 'core.fsmonitor', program);
  git(noon, 'config', 'log.showSignature', 'true');
  git(noon, 'config', 'gpg.program', program);
  git(noon, 'config', 'core.pager', program);
  await see({ since: '2026-03-17T11:00:00.000Z', recordedHead: 'HEAD' });
  assert.throws(() => execFileSync('ls', [join(root, '.git/started')], { stdio: 'ignore' }));
});
