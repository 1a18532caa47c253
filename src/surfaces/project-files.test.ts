import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ProjectFiles } from '../kernel/verb.ts';
import { createProjectFiles } from './project-files.ts';

/** A project with a folder in it and a file beside it, asked from that folder. */
const projectOf = (context: TestContext): { readonly root: string; readonly files: ProjectFiles } => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'files-')));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'project');
  mkdirSync(join(root, 'sub'), { recursive: true });
  writeFileSync(join(folder, 'secret'), 'secret');
  writeFileSync(join(root, 'a.json'), '\uFEFFä');
  return { root, files: createProjectFiles(root, join(root, 'sub')) };
};

const problemOf = (files: ProjectFiles, path: string, limit = 100): string => {
  const text = files.read(path, limit);
  return text.ok ? text.value : `${text.error.isMissing ? 'missing: ' : ''}${text.error.problem}`;
};

test('a file of the project is read from its root, and none that lies elsewhere', (context) => {
  const { root, files } = projectOf(context);
  symlinkSync('../secret', join(root, 'link'));
  symlinkSync('..', join(root, 'up'));
  symlinkSync('a.json', join(root, 'inside'));
  symlinkSync('nothing', join(root, 'dangling'));
  assert.equal(problemOf(files, 'a.json'), 'ä');
  assert.equal(problemOf(files, 'inside'), 'ä');
  for (const path of ['../secret', 'link', 'dangling', 'up/secret', join(root, 'a.json'), 'sub/../../secret', 'x\0'])
    assert.equal(problemOf(files, path), 'is not read: it leads out of the project, or nowhere', path);
  assert.deepEqual(files.list('up'), []);
  assert.deepEqual(files.list('..'), []);
});

test('what cannot be read is told with the reason', (context) => {
  const { root, files } = projectOf(context);
  writeFileSync(join(root, 'big'), 'x'.repeat(101));
  writeFileSync(join(root, 'latin'), Buffer.from([0x61, 0xe4]));
  writeFileSync(join(root, 'wide'), Buffer.from('\uFEFF{}', 'utf16le'));
  assert.equal(problemOf(files, 'none'), 'missing: does not exist');
  assert.equal(problemOf(files, 'sub'), 'is a folder, not a file');
  assert.equal(problemOf(files, 'big'), 'is larger than 0 MiB');
  assert.equal(problemOf(files, 'latin'), 'is not UTF-8 (line 1)');
  assert.equal(problemOf(files, 'wide'), 'is UTF-16, not UTF-8');
});

test('a file that somebody names is read from where he is, and called by its path in the project where it has one', (context) => {
  const { root, files } = projectOf(context);
  const named = (path: string): string => {
    const found = files.readNamed(path, 100);
    return found.ok ? found.value.path : found.error.problem;
  };
  assert.equal(named('../a.json'), 'a.json');
  assert.equal(named(join(root, 'a.json')), 'a.json');
  assert.equal(named('../../secret'), join(root, '../secret'));
  assert.equal(named('./a.json'), 'does not exist');
  // A link that leads out is not called a file of the project.
  symlinkSync('../../secret', join(root, 'sub/link'));
  assert.equal(named('./link'), join(root, 'sub/link'));
});

test('many files below a folder are read as one is, and no link leads any of them out', (context) => {
  const { root, files } = projectOf(context);
  const folder = join(root, 'sub');
  mkdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'in/a.md'), 'ä');
  symlinkSync('../../../secret', join(folder, 'in/out.md'));
  symlinkSync('a.md', join(folder, 'in/link.md'));
  symlinkSync('../..', join(folder, 'up'));
  const read = files.texts(folder);
  const paths = [
    'in/a.md',
    'in/link.md',
    'in/out.md',
    'in/none.md',
    'in/../in/a.md',
    'up/secret',
    'in',
    '../a.json',
    'a\0/b',
    '',
  ];
  for (const path of paths) assert.deepEqual(read(path, 100), files.text(folder, path, 100), path);
  assert.deepEqual(
    [read('in/a.md', 100), read('in/link.md', 100).ok, read('in/out.md', 100).ok, read('up/secret', 100).ok],
    [{ ok: true, value: 'ä' }, true, false, false],
  );
});

test('when a file was changed is told, and of one that is not there nothing', (context) => {
  const { root, files } = projectOf(context);
  utimesSync(join(root, 'a.json'), 1000, 1000);
  assert.equal(files.changedAt(join(root, 'a.json')), 1_000_000);
  for (const path of [join(root, 'none'), join(root, 'a.json/x'), 'x\0', 'x'.repeat(5000)])
    assert.equal(files.changedAt(path), undefined);
});

test('a file is created where nothing lies, with its folders, and never over anything or outside', (context) => {
  const { root, files } = projectOf(context);
  assert.equal(files.create(root, 'new/one.txt', 'a'), undefined);
  assert.equal(files.create(root, 'new/one.txt', 'b'), null);
  assert.equal(readFileSync(join(root, 'new/one.txt'), 'utf8'), 'a');
  symlinkSync('nowhere', join(root, 'dangling'));
  assert.equal(files.create(root, 'dangling', 'b'), null);
  assert.equal(files.create(root, 'new', 'b'), null);
  for (const path of ['../out.txt', 'new/one.txt/x'])
    assert.equal(typeof files.create(root, path, 'b'), 'string', path);
});
