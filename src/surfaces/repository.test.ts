import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Repository } from '../kernel/outside.ts';
import { sha256 } from '../lib/sha256.ts';
import { lookAtRepository } from './repository.ts';

const env = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.invalid',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.invalid',
};

/** A repository with some files in its first commit. */
const repositoryIn = (context: { readonly after: (action: () => void) => void }) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'repository-')));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, env, encoding: 'utf8' });
  const write = (path: string, content: string | Uint8Array): void => writeFileSync(join(root, path), content);
  git('init', '-q', '--template=', '-b', 'main');
  write('a.txt', 'one\n');
  write('b.txt', 'one\ntwo\n');
  git('add', '.');
  git('commit', '-qm', 'first');
  const look = async (more: Readonly<Record<string, string>> = {}): Promise<Repository> => {
    const seen = await lookAtRepository({ ...env, ...more }, root);
    assert.ok(seen.available);
    return seen;
  };
  return { root, git, write, look };
};

test('a clean checkout has no fingerprints, whatever the settings of git print', async (context) => {
  const { git, look } = repositoryIn(context);
  git('config', 'status.branch', 'true');
  const seen = await look();
  assert.deepEqual(seen.fingerprints, { dirty: undefined, status: undefined, patchSummary: undefined });
  assert.deepEqual(seen.originalFingerprints, seen.fingerprints);
  assert.deepEqual(seen.dirtyPaths, []);
  assert.equal(seen.branch, 'main');
  assert.equal(seen.commit, git('rev-parse', 'HEAD').trim());
});

test('paths are whole: the first one, those of other alphabets, and what was renamed', async (context) => {
  const { git, write, look } = repositoryIn(context);
  write('a.txt', 'one\nmore\n');
  git('mv', 'b.txt', 'ünïcode.txt');
  write('new file.txt', 'x');
  const { dirtyPaths, changes } = await look();
  assert.deepEqual([...dirtyPaths].toSorted(), ['a.txt', 'new file.txt', 'ünïcode.txt']);
  assert.deepEqual(changes, [
    { path: 'a.txt', added: 1, deleted: 0 },
    { path: 'ünïcode.txt', added: 0, deleted: 0 },
  ]);
});

test('a file that git does not know counts with its content', async (context) => {
  const { write, look } = repositoryIn(context);
  write('new.txt', 'one');
  const before = (await look()).fingerprints;
  write('new.txt', 'two');
  const after = (await look()).fingerprints;
  assert.notEqual(before.dirty, after.dirty);
  assert.equal(before.status, after.status);
});

test('what is no UTF-8 is told, and told from other bytes', async (context) => {
  const { write, look } = repositoryIn(context);
  write('a.txt', Buffer.from([0xe9, 0x0a]));
  const before = await look();
  write('a.txt', Buffer.from([0xe8, 0x0a]));
  const after = await look();
  assert.notEqual(before.fingerprints.dirty, after.fingerprints.dirty);
  assert.match(before.patch, /^\+\ufffd$/m);
});

test('the fingerprints of the original are those of what git prints', async (context) => {
  const { git, write, look } = repositoryIn(context);
  write('a.txt', 'two\n');
  write('new.txt', 'x');
  const [status, diff, numbers] = [
    git('status', '--short').trim(),
    git('diff', '--no-ext-diff', '--no-color', 'HEAD', '--').trim(),
    git('diff', '--numstat', '--no-ext-diff', '--no-color', 'HEAD', '--').trim(),
  ];
  assert.deepEqual((await look()).originalFingerprints, {
    dirty: sha256(`STATUS\n${status}\nDIFF\n${diff}`),
    status: sha256(status),
    patchSummary: sha256(numbers),
  });
});

test('variables and programs of others do not change what is looked at', async (context) => {
  const { root, git, write, look } = repositoryIn(context);
  const other = repositoryIn(context);
  other.write('a.txt', 'changed\n');
  const seen = await look({ GIT_DIR: join(other.root, '.git'), GIT_WORK_TREE: other.root, GIT_EXTERNAL_DIFF: 'false' });
  assert.deepEqual(seen.dirtyPaths, []);
  write('a.txt', 'two\n');
  git('config', 'diff.external', join(root, 'nowhere'));
  git('config', 'diff.noprefix', 'true');
  assert.match((await look()).patch, /^--- a\/a\.txt$/m);
});

test('without a repository nothing is said, and one that is none is told with what git says', async (context) => {
  const { root } = repositoryIn(context);
  const folder = join(root, 'inner');
  mkdirSync(folder);
  assert.deepEqual(await lookAtRepository(env, folder), { available: false, because: undefined });
  // An empty folder of that name is no repository, and the one around it is another.
  mkdirSync(join(folder, '.git'));
  const seen = await lookAtRepository(env, folder);
  assert.ok(!seen.available);
  assert.match(seen.because ?? '', /not a git repository/);
  assert.deepEqual(await lookAtRepository({ PATH: '/nowhere' }, root), {
    available: false,
    because: 'git is not installed here',
  });
});
