import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync, type PathLike } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { confine } from './confine.ts';

/** A folder with a root, a folder beside it, and links between them. */
let world = '';
let root = '';

before(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'confine-')));
  root = join(world, 'root');
  mkdirSync(join(root, 'docs/deep'), { recursive: true });
  mkdirSync(join(world, 'root-beside'));
  writeFileSync(join(root, 'docs/a.md'), 'a');
  writeFileSync(join(world, 'canary'), 'alive');
  symlinkSync(world, join(root, 'out'));
  symlinkSync('../canary', join(root, 'out-file'));
  symlinkSync('docs', join(root, 'inner'));
  symlinkSync('loop-b', join(root, 'loop-a'));
  symlinkSync('loop-a', join(root, 'loop-b'));
  symlinkSync('../not-there', join(root, 'dangling-out'));
  symlinkSync('not-there', join(root, 'dangling-in'));
  symlinkSync('.', join(root, 'self'));
  symlinkSync('root', join(world, 'root-link'));
});

after(() => rmSync(world, { recursive: true }));

test('a path inside is answered with its real absolute path', () => {
  assert.equal(confine(root, 'docs/a.md'), join(root, 'docs/a.md'));
  assert.equal(confine(root, './docs/../docs//a.md'), join(root, 'docs/a.md'));
  assert.equal(confine(root, '..docs'), join(root, '..docs'), 'a name may begin with two dots');
  assert.equal(confine(root, 'docs/…/ü.md'), join(root, 'docs/…/ü.md'));
});

test('what does not exist yet is answered too', () => {
  assert.equal(confine(root, 'new/folder/b.md'), join(root, 'new/folder/b.md'));
  assert.equal(confine(join(world, 'later'), 'b.md'), join(world, 'later/b.md'));
});

test('a link that stays inside is followed', () => {
  assert.equal(confine(root, 'inner/a.md'), join(root, 'docs/a.md'));
  assert.equal(confine(root, 'inner/new.md'), join(root, 'docs/new.md'));
  assert.equal(confine(join(world, 'root-link'), 'docs/a.md'), join(root, 'docs/a.md'), 'the root may be a link');
});

test('a link that leads out is refused', () => {
  for (const path of ['out', 'out/canary', 'out/new', 'out-file', 'out/root-beside/x', 'inner/../out/canary']) {
    assert.equal(confine(root, path), undefined, path);
  }
  assert.equal(confine(root, 'out/root/docs/a.md'), join(root, 'docs/a.md'), 'unless it comes back');
});

test('a circle of links and a link that leads nowhere are refused', () => {
  for (const path of ['loop-a', 'loop-a/x', 'dangling-out', 'dangling-out/x', 'dangling-in', 'dangling-in/x/y']) {
    assert.equal(confine(root, path), undefined, path);
  }
});

test('the root itself is not inside the root', () => {
  for (const path of ['', '.', './', 'docs/..', 'self']) assert.equal(confine(root, path), undefined, path);
});

test('a folder whose name begins like the root is outside', () => {
  assert.equal(confine(root, '../root-beside'), undefined);
  assert.equal(confine(root, '../root-beside/x'), undefined);
});

test('what climbs or is absolute on any system is refused', () => {
  const paths = [
    '..',
    '../canary',
    'docs/../../canary',
    '/etc/passwd',
    root,
    `${root}/docs/a.md`,
    '..\\canary',
    'docs\\..\\..\\canary',
    'docs/..\\..\\canary',
    '\\canary',
    '\\\\srv\\share\\x',
    '//srv/share/x',
    '\\\\?\\C:\\x',
    '//?/C:/x',
    'C:\\x',
    'c:x',
    'C:/x',
    'a\0b',
    'docs/a.md\0.txt',
  ];
  for (const path of paths) assert.equal(confine(root, path), undefined, path);
});

test('a file is no folder', () => {
  assert.equal(confine(root, 'docs/a.md/x'), undefined);
});

test('a name longer than the system allows is refused, not thrown', () => {
  assert.equal(confine(root, 'a'.repeat(5000)), undefined);
  assert.equal(confine(root, 'a/'.repeat(5000)), undefined);
});

test('whatever is answered is inside, and asking again with it gives the same', () => {
  const part = fc.constantFrom(
    '..',
    '.',
    '',
    'docs',
    'deep',
    'a.md',
    'out',
    'inner',
    'self',
    'root',
    'new',
    'loop-a',
    '..\\',
    '~',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const real = confine(root, parts.join('/'));
      if (real === undefined) return;
      assert.ok(real.startsWith(`${root}/`), real);
      assert.equal(confine(root, relative(root, real)), real);
    }),
    { numRuns: 1000 },
  );
});

test('a path that another process makes between two looks is not taken for one that leads out', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-confine-'));
  const realpath = realpathSync.native;
  context.after(() => {
    realpathSync.native = realpath;
    rmSync(folder, { recursive: true, force: true });
  });
  const racing = (path: PathLike): string => {
    try {
      return realpath(path);
    } catch (error) {
      if (path === join(realpath(folder), 'a')) mkdirSync(path);
      throw error;
    }
  };
  realpathSync.native = racing as typeof realpath;
  assert.equal(confine(folder, 'a/b'), join(realpath(folder), 'a/b'));
});
