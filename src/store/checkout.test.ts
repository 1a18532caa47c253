import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { findCheckout, listCheckouts, pathFromUri, plainPath, type Checkout } from './checkout.ts';
import { ensurePlace } from './new-place.ts';
import { readPlace } from './place.ts';

const cases = join(import.meta.dirname, '../../../shared/cases');
const withCase = (name: string): { readonly skip: string | false } => ({
  skip: existsSync(join(cases, name)) ? false : `${name} is not here`,
});

const tempFolder = (context: TestContext): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stint-checkout-')));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Git without the settings of whoever runs the tests. */
const git = (folder: string, ...args: readonly string[]): string => {
  const settings = [
    'user.name=ana',
    'user.email=ana@example.invalid',
    'init.defaultBranch=trunk',
    'protocol.file.allow=always',
  ];
  return execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
};

const repository = (folder: string): string => {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet');
  git(folder, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  return folder;
};

const checkoutAt = (folder: string): Checkout => {
  const checkout = findCheckout(folder);
  assert.ok(checkout.ok, JSON.stringify(checkout));
  return checkout.value;
};

const problemAt = (folder: string): { readonly path: string; readonly problem: string } => {
  const checkout = findCheckout(folder);
  assert.ok(!checkout.ok, JSON.stringify(checkout));
  return { path: checkout.error.path, problem: checkout.error.problem };
};

const placeAt = (folder: string, freshId: string): string => {
  const place = ensurePlace(checkoutAt(folder).placeFolder, freshId);
  assert.ok(place.ok, JSON.stringify(place));
  return place.value;
};

const rootsOf = (checkout: Checkout): readonly string[] => listCheckouts(checkout).map(({ root }) => root);

test('the main worktree keeps its store beside .git, and every folder in it finds the same checkout', (context) => {
  const root = repository(join(tempFolder(context), 'proj'));
  const expected = {
    root,
    storeFolder: join(root, '.stint'),
    placeFolder: join(root, '.stint'),
    branch: 'trunk',
    head: null,
    worktree: 'main',
    commonDir: join(root, '.git'),
  };
  mkdirSync(join(root, 'a', 'b'), { recursive: true });
  for (const folder of ['.', 'a', 'a/b', '.git', '.git/refs/heads']) {
    assert.deepEqual(checkoutAt(join(root, folder)), expected, folder);
  }
  assert.deepEqual(readdirSync(root).toSorted(), ['.git', 'a'], 'looking creates nothing');
});

test('the branch is known before the first commit, and a detached HEAD has its commit instead', (context) => {
  const root = join(tempFolder(context), 'proj');
  mkdirSync(root);
  git(root, 'init', '--quiet', '--initial-branch', 'feature/über-x');
  assert.deepEqual([checkoutAt(root).branch, checkoutAt(root).head], ['feature/über-x', null]);
  git(root, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  git(root, 'checkout', '--quiet', '--detach');
  assert.deepEqual([checkoutAt(root).branch, checkoutAt(root).head], [null, git(root, 'rev-parse', 'HEAD')]);
});

test('a HEAD that makes no sense gives no branch and hides nothing', (context) => {
  const root = repository(join(tempFolder(context), 'proj'));
  for (const head of [
    '',
    '\0'.repeat(41),
    'ref: refs/heads/.invalid\n',
    'ref: refs/remotes/x\n',
    'ref: refs/heads/a\nb\n',
    'deadbeef\n',
  ]) {
    writeFileSync(join(root, '.git', 'HEAD'), head);
    const { branch, storeFolder, ...rest } = checkoutAt(root);
    assert.deepEqual([branch, rest.head, storeFolder], [null, null, join(root, '.stint')], JSON.stringify(head));
  }
});

test('C12: two worktrees share the store, and each has its own place, name and branch', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  const linked = join(base, 'w2');
  mkdirSync(join(linked, 'deep'));
  const expected = {
    root: linked,
    storeFolder: join(root, '.stint'),
    placeFolder: join(linked, '.stint'),
    branch: 'w2',
    head: null,
    worktree: 'w2',
    commonDir: join(root, '.git'),
  };
  assert.deepEqual(checkoutAt(linked), expected);
  assert.deepEqual(checkoutAt(join(linked, 'deep')), expected);
  assert.equal(placeAt(root, 'P1'), 'P1');
  assert.equal(placeAt(linked, 'P2'), 'P2');
  assert.equal(git(root, 'status', '--porcelain'), '');
  assert.equal(git(linked, 'status', '--porcelain'), '');
});

test('worktrees are listed from everywhere, the main one first, with their places and branches', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  git(root, 'worktree', 'add', '--quiet', '--detach', '../a w');
  placeAt(root, 'P1');
  placeAt(join(base, 'w2'), 'P2');
  const expected = [
    { root, worktree: 'main', branch: 'trunk', placeId: 'P1' },
    { root: join(base, 'a w'), worktree: 'a-w', branch: null, placeId: null },
    { root: join(base, 'w2'), worktree: 'w2', branch: 'w2', placeId: 'P2' },
  ];
  for (const { root: folder } of expected) assert.deepEqual(listCheckouts(checkoutAt(folder)), expected, folder);
});

test('a linked worktree that git calls main is not taken for the main one', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../main');
  placeAt(root, 'P1');
  placeAt(join(base, 'main'), 'P2');
  const expected = [
    { root, worktree: 'main', branch: 'trunk', placeId: 'P1' },
    { root: join(base, 'main'), worktree: 'main', branch: 'main', placeId: 'P2' },
  ];
  assert.deepEqual(listCheckouts(checkoutAt(root)), expected);
  assert.deepEqual(listCheckouts(checkoutAt(join(base, 'main'))), expected);
});

test('worktrees that are gone, or whose folder became something else, are not listed', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  for (const name of ['gone', 'reused', 'broken', 'kept']) git(root, 'worktree', 'add', '--quiet', `../${name}`);
  rmSync(join(base, 'gone'), { recursive: true });
  rmSync(join(base, 'reused'), { recursive: true });
  repository(join(base, 'reused'));
  rmSync(join(root, '.git', 'worktrees', 'broken', 'gitdir'));
  mkdirSync(join(root, '.git', 'worktrees', 'empty'));
  writeFileSync(join(root, '.git', 'worktrees', 'file'), '');
  assert.deepEqual(rootsOf(checkoutAt(root)), [root, join(base, 'kept')]);
});

test('one worktree that cannot be read does not hide the others', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  for (const name of ['a', 'b']) git(root, 'worktree', 'add', '--quiet', `../${name}`);
  placeAt(join(base, 'b'), 'P2');
  rmSync(join(base, 'a', '.git'));
  symlinkSync('.git', join(base, 'a', '.git'));
  writeFileSync(join(base, 'b', '.stint', 'place'), 'P2\nP3\n');
  assert.deepEqual(listCheckouts(checkoutAt(root)), [
    { root, worktree: 'main', branch: 'trunk', placeId: null },
    { root: join(base, 'b'), worktree: 'b', branch: 'b', placeId: null },
  ]);
});

test('a linked worktree that was moved by hand is listed from where it is', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  placeAt(join(base, 'w2'), 'P2');
  renameSync(join(base, 'w2'), join(base, 'w3'));
  const moved = checkoutAt(join(base, 'w3'));
  assert.deepEqual([moved.root, moved.storeFolder, moved.worktree], [join(base, 'w3'), join(root, '.stint'), 'w2']);
  assert.deepEqual(
    listCheckouts(moved).map(({ root: folder, placeId }) => [folder, placeId]),
    [
      [root, null],
      [join(base, 'w3'), 'P2'],
    ],
  );
});

test('relative links between a worktree and its repository are followed', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  const admin = join(root, '.git', 'worktrees', 'w2');
  writeFileSync(join(base, 'w2', '.git'), 'gitdir: ../r/.git/worktrees/w2\r\n');
  writeFileSync(join(admin, 'gitdir'), '../../../../w2/.git\r\n');
  writeFileSync(join(admin, 'commondir'), '../..\r\n');
  assert.equal(checkoutAt(join(base, 'w2')).storeFolder, join(root, '.stint'));
  for (const folder of [root, join(base, 'w2')]) {
    assert.deepEqual(rootsOf(checkoutAt(folder)), [root, join(base, 'w2')], folder);
  }
});

test('a bare repository keeps the store inside, for itself and for its worktrees', (context) => {
  const base = tempFolder(context);
  const bare = join(base, 'proj.git');
  git(base, 'clone', '--quiet', '--bare', repository(join(base, 'source')), bare);
  git(bare, 'worktree', 'add', '--quiet', '../feature');
  const expected = {
    root: bare,
    storeFolder: join(bare, 'stint'),
    placeFolder: join(bare, 'stint'),
    branch: 'trunk',
    head: null,
    worktree: 'main',
    commonDir: bare,
  };
  for (const folder of ['.', 'refs/heads']) assert.deepEqual(checkoutAt(join(bare, folder)), expected, folder);
  assert.deepEqual(checkoutAt(join(base, 'feature')), {
    ...expected,
    root: join(base, 'feature'),
    placeFolder: join(base, 'feature', '.stint'),
    branch: 'feature',
    worktree: 'feature',
  });
  placeAt(bare, 'P1');
  for (const folder of [bare, join(base, 'feature')]) {
    assert.deepEqual(
      listCheckouts(checkoutAt(folder)).map(({ root, placeId }) => [root, placeId]),
      [
        [bare, 'P1'],
        [join(base, 'feature'), null],
      ],
    );
  }
});

test('a bare repository called .git, or hidden behind a .git file, is bare for all of its worktrees', (context) => {
  const base = tempFolder(context);
  const source = repository(join(base, 'source'));
  for (const [project, folder] of [
    ['p1', '.git'],
    ['p2', '.bare'],
  ] as const) {
    const bare = join(base, project, folder);
    git(base, 'clone', '--quiet', '--bare', source, bare);
    if (folder !== '.git') writeFileSync(join(base, project, '.git'), `gitdir: ./${folder}\n`);
    git(join(base, project), 'worktree', 'add', '--quiet', 'w');
    for (const start of [project, `${project}/${folder}`, `${project}/w`]) {
      assert.equal(checkoutAt(join(base, start)).storeFolder, join(bare, 'stint'), start);
    }
    assert.equal(checkoutAt(join(base, project)).root, join(base, project));
    assert.equal(checkoutAt(join(base, project)).placeFolder, join(bare, 'stint'));
    assert.equal(rootsOf(checkoutAt(join(base, project))).length, 2);
  }
});

test('a separate git dir holds the store, for the main worktree and for linked ones', (context) => {
  const base = tempFolder(context);
  const root = join(base, 'proj');
  mkdirSync(root);
  git(root, 'init', '--quiet', '--separate-git-dir', join(base, 'elsewhere'));
  git(root, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  git(root, 'worktree', 'add', '--quiet', '../w2');
  const store = join(base, 'elsewhere', 'stint');
  assert.deepEqual(checkoutAt(root), {
    root,
    storeFolder: store,
    placeFolder: join(root, '.stint'),
    branch: 'trunk',
    head: null,
    worktree: 'main',
    commonDir: join(base, 'elsewhere'),
  });
  assert.equal(checkoutAt(join(base, 'w2')).storeFolder, store);
  assert.equal(checkoutAt(join(base, 'elsewhere')).storeFolder, store);
  assert.equal(checkoutAt(join(base, 'elsewhere')).placeFolder, store);
  assert.deepEqual(rootsOf(checkoutAt(root)), [root, join(base, 'w2')]);
  assert.deepEqual(rootsOf(checkoutAt(join(base, 'w2'))), [join(base, 'w2')]);
});

test('a submodule has its own store, in its own git dir', (context) => {
  const base = tempFolder(context);
  const library = repository(join(base, 'library'));
  const outer = repository(join(base, 'outer'));
  git(outer, 'submodule', '--quiet', 'add', library, 'libs/my sub');
  const sub = join(outer, 'libs', 'my sub');
  const gitDir = join(outer, '.git', 'modules', 'libs', 'my sub');
  const expected = {
    root: sub,
    storeFolder: join(gitDir, 'stint'),
    placeFolder: join(sub, '.stint'),
    branch: 'trunk',
    head: null,
    worktree: 'main',
    commonDir: gitDir,
  };
  assert.deepEqual(checkoutAt(sub), expected);
  assert.deepEqual(checkoutAt(gitDir), expected, 'started inside the git dir');
  assert.equal(checkoutAt(join(outer, 'libs')).root, outer);
  git(sub, 'worktree', 'add', '--quiet', join(base, 'w2'));
  assert.deepEqual(rootsOf(checkoutAt(join(base, 'w2'))), [sub, join(base, 'w2')]);
});

test('core.worktree decides where the checkout is, unless it names what is not there', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  mkdirSync(join(base, 'other;place '));
  git(root, 'config', 'core.worktree', '../../other;place ');
  for (const folder of [root, join(root, '.git')]) {
    assert.equal(checkoutAt(folder).root, join(base, 'other;place '), folder);
  }
  for (const folder of [root, join(base, 'w2')]) {
    assert.equal(checkoutAt(folder).storeFolder, join(root, '.git', 'stint'), folder);
  }
  assert.equal(checkoutAt(join(base, 'w2')).root, join(base, 'w2'));
  for (const worktree of ['/gone/before/the/move', '..', root]) {
    git(base, 'config', '--file', join(root, '.git', 'config'), 'core.worktree', worktree);
    for (const folder of [root, join(base, 'w2')]) {
      assert.equal(checkoutAt(folder).storeFolder, join(root, '.stint'), `${worktree} ${folder}`);
    }
    assert.equal(checkoutAt(root).root, root);
  }
});

test('core.bare is found where sparse checkouts move it', (context) => {
  const base = tempFolder(context);
  const bare = join(base, 'p', '.git');
  git(base, 'clone', '--quiet', '--bare', repository(join(base, 'source')), bare);
  git(join(base, 'p'), 'worktree', 'add', '--quiet', 'w');
  git(join(base, 'p', 'w'), 'sparse-checkout', 'set', 'src');
  assert.match(readFileSync(join(bare, 'config.worktree'), 'utf8'), /bare = true/);
  assert.doesNotMatch(readFileSync(join(bare, 'config'), 'utf8'), /bare = true/);
  for (const folder of ['p', 'p/w'])
    assert.equal(checkoutAt(join(base, folder)).storeFolder, join(bare, 'stint'), folder);
});

test('core.bare is read as git reads it', (context) => {
  const root = repository(join(tempFolder(context), 'r'));
  const config = join(root, '.git', 'config');
  const texts = [
    '[core]\n\tbare = true\n',
    '[CORE]\r\n  Bare=YES # not a checkout\r\n',
    '[core] bare\n',
    '[core]\nbare = false\n[user]\nname = x\n[core]\nbare = "1" ; last one wins\n',
    '[core]\nbare = false\n',
    '[core "bare"]\nbare = true\n',
    '[bare]\ncore = true\n[remote "a]b"]\nbare = true\n',
    '[core]\n# bare = true\n;bare = true\nbare = \n',
    '[core]\nbare = truely\n',
    'x'.repeat(70_000),
    `[alias]\n\tx = ${'y'.repeat(70_000)}\n[core]\n\tbare = true\n`,
  ];
  for (const text of texts) {
    writeFileSync(config, text);
    // Its own answer where it has one; it refuses what is no boolean.
    const answer = spawnSync('git', ['config', '--file', config, '--type=bool', 'core.bare'], { encoding: 'utf8' });
    const bare = answer.stdout === 'true\n';
    assert.equal(checkoutAt(root).storeFolder, join(root, bare ? '.git/stint' : '.stint'), text.slice(0, 80));
  }
  rmSync(config);
  assert.equal(checkoutAt(root).storeFolder, join(root, '.stint'));
});

test('a .git that is a link leads to the repository', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'proj'));
  renameSync(join(root, '.git'), join(base, 'kept.git'));
  symlinkSync('../kept.git', join(root, '.git'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  assert.deepEqual([checkoutAt(root).root, checkoutAt(root).commonDir], [root, join(base, 'kept.git')]);
  for (const folder of [root, join(base, 'w2')]) {
    assert.equal(checkoutAt(folder).storeFolder, join(base, 'kept.git', 'stint'), folder);
  }
});

test('the repository comes before a .stint folder, and an empty .git folder is none', (context) => {
  const root = repository(join(tempFolder(context), 'proj'));
  mkdirSync(join(root, 'a', 'b', '.stint'), { recursive: true });
  mkdirSync(join(root, 'a', '.git'));
  assert.equal(checkoutAt(join(root, 'a', 'b')).root, root);
  const inner = repository(join(root, 'a', 'inner'));
  assert.equal(checkoutAt(inner).root, inner);
});

test('without a repository the nearest folder with .stint is the root, else the current one', (context) => {
  const base = tempFolder(context);
  const deep = join(base, 'a', 'b', 'c');
  mkdirSync(deep, { recursive: true });
  const expected = (root: string): Checkout => ({
    root,
    storeFolder: join(root, '.stint'),
    placeFolder: join(root, '.stint'),
    branch: null,
    head: null,
    worktree: 'main',
    commonDir: null,
  });
  assert.deepEqual(checkoutAt(deep), expected(deep));
  writeFileSync(join(base, 'a', 'b', '.stint'), 'a file is no store');
  mkdirSync(join(base, '.stint'));
  assert.deepEqual(checkoutAt(deep), expected(base));
  mkdirSync(join(base, 'a', '.stint'));
  assert.deepEqual(checkoutAt(deep), expected(join(base, 'a')));
  assert.deepEqual(checkoutAt(join(base, 'a', '.stint')), expected(join(base, 'a')));
  placeAt(deep, 'P1');
  assert.deepEqual(listCheckouts(checkoutAt(deep)), [
    { root: join(base, 'a'), worktree: 'main', branch: null, placeId: 'P1' },
  ]);
});

test(
  'E01: no two folders share a store because their paths look alike',
  withCase('E01-path-key-collision'),
  (context) => {
    const pairs = readFileSync(join(cases, 'E01-path-key-collision', 'pairs.txt'), 'utf8')
      .trim()
      .split('\n');
    assert.ok(pairs.length >= 5);
    for (const prepare of [(folder: string) => mkdirSync(folder, { recursive: true }), repository]) {
      for (const [index, pair] of pairs.entries()) {
        const base = tempFolder(context);
        const [left = '', right = ''] = pair.split('\t').map((path) => join(base, path));
        assert.notEqual(left, right);
        for (const folder of [left, right]) prepare(folder);
        assert.equal(placeAt(left, `L${index}`), `L${index}`);
        writeFileSync(join(checkoutAt(left).storeFolder, 'stint.db'), 'left');
        assert.equal(existsSync(join(checkoutAt(right).storeFolder, 'stint.db')), false, pair);
        assert.equal(placeAt(right, `R${index}`), `R${index}`, pair);
        assert.deepEqual([checkoutAt(left).root, checkoutAt(right).root], [left, right]);
      }
    }
  },
);

test('E03: a project that was renamed keeps its place and its store, and the old path stays away', (context) => {
  for (const prepare of [(folder: string) => mkdirSync(folder), repository]) {
    const base = tempFolder(context);
    const before = join(base, 'p1');
    const after = join(base, 'p2');
    prepare(before);
    assert.equal(placeAt(before, 'P1'), 'P1');
    writeFileSync(join(checkoutAt(before).storeFolder, 'stint.db'), 'three events');
    renameSync(before, after);
    assert.equal(placeAt(after, 'P2'), 'P1');
    assert.equal(readFileSync(join(checkoutAt(after).storeFolder, 'stint.db'), 'utf8'), 'three events');
    assert.equal(checkoutAt(after).root, after);
    assert.equal(existsSync(before), false);
  }
});

test('E03: worktrees of a repository that moved are named as lost, and found again after git repaired them', (context) => {
  const base = tempFolder(context);
  repository(join(base, 'p1'));
  git(join(base, 'p1'), 'worktree', 'add', '--quiet', '../w2');
  placeAt(join(base, 'w2'), 'P2');
  renameSync(join(base, 'p1'), join(base, 'p2'));
  assert.deepEqual(problemAt(join(base, 'w2')), {
    path: join(base, 'w2', '.git'),
    problem: `names a git folder that does not exist: ${join(base, 'p1', '.git', 'worktrees', 'w2')}`,
  });
  git(join(base, 'p2'), 'worktree', 'repair');
  assert.equal(placeAt(join(base, 'w2'), 'P3'), 'P2');
  assert.equal(checkoutAt(join(base, 'w2')).storeFolder, join(base, 'p2', '.stint'));
});

test('E04: a link to the project and its real path give the same answer', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'real'));
  mkdirSync(join(root, 'a'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  mkdirSync(join(base, 'plain', '.stint'), { recursive: true });
  for (const [link, real] of [
    ['link', 'real'],
    ['deep', 'real/a'],
    ['w', 'w2'],
    ['p', 'plain'],
  ] as const) {
    symlinkSync(real, join(base, link));
    assert.deepEqual(checkoutAt(join(base, link)), checkoutAt(join(base, real)), link);
  }
  assert.equal(placeAt(join(base, 'link'), 'P1'), placeAt(root, 'P2'));
});

test('E04: a store folder that is a link, with two worktrees, is one store, and all are listed', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  mkdirSync(join(base, 'store'));
  symlinkSync('../store', join(root, '.stint'));
  placeAt(root, 'P1');
  placeAt(join(base, 'w2'), 'P2');
  assert.equal(readFileSync(join(base, 'store', 'place'), 'utf8'), 'P1\n');
  for (const folder of [root, join(base, 'w2')]) {
    assert.equal(checkoutAt(folder).storeFolder, join(root, '.stint'));
    assert.deepEqual(
      listCheckouts(checkoutAt(folder)).map(({ placeId }) => placeId),
      ['P1', 'P2'],
    );
  }
});

test('E04: a .stint that is a broken or looping link, or no folder, is named and nothing is made beside it', (context) => {
  const base = tempFolder(context);
  const problems: readonly (readonly [string, (path: string) => void])[] = [
    ['is a symbolic link to nothing', (path) => symlinkSync('nowhere', path)],
    ['is a symbolic link to nothing', (path) => symlinkSync(`${import.meta.filename}/x`, path)],
    ['is a loop of symbolic links', (path) => symlinkSync('.stint', path)],
    ['is not a folder', (path) => writeFileSync(path, '')],
    ['is not a folder', (path) => symlinkSync(import.meta.filename, path)],
  ];
  for (const [index, [problem, make]] of problems.entries()) {
    const root = repository(join(base, String(index), 'r'));
    git(root, 'worktree', 'add', '--quiet', '../w2');
    const plain = join(base, String(index), 'plain');
    mkdirSync(join(plain, 'a'), { recursive: true });
    for (const folder of [root, plain]) make(join(folder, '.stint'));
    for (const folder of [root, join(base, String(index), 'w2')]) {
      assert.deepEqual(problemAt(folder), { path: join(root, '.stint'), problem });
    }
    assert.deepEqual(problemAt(plain), { path: join(plain, '.stint'), problem });
    // A file in a folder above is somebody else's.
    if (!lstatSync(join(plain, '.stint')).isFile()) {
      assert.deepEqual(problemAt(join(plain, 'a')), { path: join(plain, '.stint'), problem });
    }
    rmSync(join(root, '.stint'));
    make(join(base, String(index), 'w2', '.stint'));
    assert.deepEqual(problemAt(join(base, String(index), 'w2')).problem, problem);
    assert.equal(checkoutAt(root).root, root);
  }
});

test('E04: a starting folder that is a broken or looping link, is gone, or is no folder is named', (context) => {
  const base = tempFolder(context);
  symlinkSync('loop', join(base, 'loop'));
  symlinkSync('nowhere', join(base, 'broken'));
  writeFileSync(join(base, 'file'), '');
  const named: Readonly<Record<string, string>> = {
    loop: 'is a loop of symbolic links',
    broken: 'does not exist',
    gone: 'does not exist',
    file: 'is not a folder',
    'file/x': 'is not a folder',
    'nul\0': 'is not a path: it contains a NUL character',
  };
  for (const [name, problem] of Object.entries(named)) {
    assert.deepEqual(problemAt(join(base, name)), { path: join(base, name), problem }, name);
  }
});

test('a process whose folder was removed under it gets a named problem', (context) => {
  const folder = join(tempFolder(context), 'cwd');
  mkdirSync(folder);
  const program = `
    const { rmdirSync } = await import('node:fs');
    const { findCheckout } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'checkout.ts')).href)});
    rmdirSync(${JSON.stringify(folder)});
    console.log(JSON.stringify(findCheckout('.')));
  `;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' });
  assert.equal(
    child.stdout,
    '{"ok":false,"error":{"path":".","problem":"does not exist","code":"ENOENT"}}\n',
    child.stderr,
  );
});

test('a .git file that leads nowhere is named, also inside another repository', (context) => {
  const outer = repository(join(tempFolder(context), 'outer'));
  const inner = join(outer, 'inner');
  mkdirSync(join(inner, 'empty'), { recursive: true });
  mkdirSync(join(inner, 'deep'));
  const dotGit = join(inner, '.git');
  const noGitFile = 'is not a git file: it does not say gitdir';
  const named: readonly (readonly [string, string])[] = [
    ['', noGitFile],
    ['gitdir: ', noGitFile],
    ['gitdir: \r\n', noGitFile],
    ['gitdir: a\0b\n', noGitFile],
    ['\0'.repeat(40), noGitFile],
    ['ref: refs/heads/x\n', noGitFile],
    ['gitdir: ../nowhere\n', 'names a git folder that does not exist: ../nowhere'],
    ['gitdir: empty\n', 'names a folder that is not a git folder: empty'],
    ['gitdir: .git\n', 'names a folder that is not a git folder: .git'],
    [`gitdir: ${'\n'.repeat(2_000_000)}x`, noGitFile],
  ];
  for (const [content, problem] of named) {
    writeFileSync(dotGit, content);
    for (const folder of [inner, join(inner, 'deep')]) {
      assert.deepEqual(problemAt(folder), { path: dotGit, problem }, JSON.stringify(content.slice(0, 40)));
    }
  }
});

test('a .git file that leads to a worktree whose repository is gone is named', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  const commondir = join(root, '.git', 'worktrees', 'w2', 'commondir');
  writeFileSync(commondir, '../../gone\n');
  assert.deepEqual(problemAt(join(base, 'w2')), { path: commondir, problem: 'names a git folder that does not exist' });
});

test('a .git that is a broken link, a loop or a pipe is named, and nothing waits for the pipe', (context) => {
  const base = tempFolder(context);
  for (const name of ['broken', 'cut', 'loop', 'pipe', 'piped']) mkdirSync(join(base, name));
  symlinkSync(`${import.meta.filename}/x`, join(base, 'cut', '.git'));
  symlinkSync('nowhere', join(base, 'broken', '.git'));
  symlinkSync('.git', join(base, 'loop', '.git'));
  execFileSync('mkfifo', [join(base, 'pipe', '.git')]);
  repository(join(base, 'piped'));
  rmSync(join(base, 'piped', '.git', 'HEAD'));
  execFileSync('mkfifo', [join(base, 'piped', '.git', 'HEAD')]);
  assert.equal(problemAt(join(base, 'broken')).problem, 'is a symbolic link to nothing');
  assert.equal(problemAt(join(base, 'cut')).problem, 'is a symbolic link to nothing');
  assert.equal(problemAt(join(base, 'loop')).problem, 'is a loop of symbolic links');
  assert.equal(problemAt(join(base, 'pipe')).problem, 'is neither a folder nor a file');
  assert.equal(checkoutAt(join(base, 'piped')).branch, null);
  rmSync(join(base, 'piped', '.git', 'HEAD'));
  symlinkSync('/dev/zero', join(base, 'piped', '.git', 'HEAD'));
  assert.equal(checkoutAt(join(base, 'piped')).branch, null);
});

/** For the superuser, who is above permissions, somebody who is not. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const answerOf = (folder: string): unknown => {
  const program = `
    import { findCheckout } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'checkout.ts')).href)};
    console.log(JSON.stringify(findCheckout(${JSON.stringify(folder)})));
  `;
  const options = { ...nobody, encoding: 'utf8' } as const;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], options);
  return stdout === '' ? null : JSON.parse(stdout);
};

test(
  'files of git that may not be read are named, and no other store is taken instead',
  { skip: answerOf('/') === null ? 'an unprivileged user cannot read the sources' : false },
  (context) => {
    const base = tempFolder(context);
    chmodSync(base, 0o755);
    const root = repository(join(base, 'r'));
    git(root, 'worktree', 'add', '--quiet', '../w2');
    for (const [folder, file] of [
      [root, join(root, '.git', 'HEAD')],
      [root, join(root, '.git', 'config')],
      [join(base, 'w2'), join(base, 'w2', '.git')],
      [join(base, 'w2'), join(root, '.git', 'config')],
    ] as const) {
      chmodSync(file, 0o000);
      const error = { path: file, problem: 'is not accessible: permission denied', code: 'EACCES' };
      assert.deepEqual(answerOf(folder), { ok: false, error });
      chmodSync(file, 0o644);
    }
  },
);

test('a copy of a worktree, which still names the entry of the original, is listed beside it', (context) => {
  const base = tempFolder(context);
  const root = repository(join(base, 'r'));
  git(root, 'worktree', 'add', '--quiet', '../w2');
  cpSync(join(base, 'w2'), join(base, 'copy'), { recursive: true });
  assert.deepEqual(rootsOf(checkoutAt(join(base, 'copy'))), [root, join(base, 'w2'), join(base, 'copy')]);
});

test('E07: the verbatim form of a Windows path is plain, and plain paths stay as they are', () => {
  const plainByPath: Readonly<Record<string, string>> = {
    '\\\\?\\C:\\x': 'C:\\x',
    '\\\\?\\c:\\x\\Y': 'C:\\x\\Y',
    '\\\\?\\C:': 'C:',
    '\\\\?\\UNC\\srv\\share': '\\\\srv\\share',
    '\\\\?\\unc\\srv\\share\\c:\\x': '\\\\srv\\share\\c:\\x',
    '\\\\?\\Volume{1-2}\\x': '\\\\?\\Volume{1-2}\\x',
    '\\\\.\\pipe\\x': '\\\\.\\pipe\\x',
    '\\\\srv\\share': '\\\\srv\\share',
    'c:\\x': 'C:\\x',
    'c:/x': 'C:/x',
    'c:': 'C:',
    'c:notes.md': 'c:notes.md',
    'C:\\x\\\\?\\d:\\y': 'C:\\x\\\\?\\d:\\y',
    '/home/ana/c:/x': '/home/ana/c:/x',
    '/': '/',
    '': '',
  };
  for (const [path, plain] of Object.entries(plainByPath)) {
    assert.equal(plainPath(path), plain);
    assert.equal(plainPath(plain), plain);
  }
});

test('E07: both forms of the artifact in the case are the same path', withCase('E07-verbatim-prefix'), () => {
  const text = readFileSync(join(cases, 'E07-verbatim-prefix', 'session-state.json'), 'utf8');
  const paths = [...text.matchAll(/"([^"]*plan\.md)"/g)].map(([, path = '']) =>
    plainPath(path.replaceAll('\\\\', '\\')),
  );
  assert.deepEqual(paths, ['C:\\Users\\dev\\p\\out\\plan.md', 'C:\\Users\\dev\\p\\out\\plan.md']);
});

test('E08: a file URI is decoded once, and a path is not touched', () => {
  const pathByText: Readonly<Record<string, string>> = {
    'file:///home/dev/My%20App': '/home/dev/My App',
    'file:///c%3A/Users/dev/p': 'c:/Users/dev/p',
    'file:///C:/Users': 'C:/Users',
    'file:///C:': 'C:',
    'file:///c:x/y': '/c:x/y',
    'FILE://LocalHost/home/dev': '/home/dev',
    'file:/home/dev': '/home/dev',
    'file://server/share/a%20b': '//server/share/a b',
    'file:///home/dev/a%2520b': '/home/dev/a%20b',
    'file:///home/%E4%BF%AE%e5%a4%8d': '/home/修复',
    'file:///home/100%/%zz/%ff%20': '/home/100%/%zz/%ff%20',
    'file:///home/dev/C#/what?': '/home/dev/C#/what?',
    'file:///home/two\nlines': '/home/two\nlines',
    'file:relative': 'file:relative',
    'file://': 'file://',
    '/home/dev/a%20b': '/home/dev/a%20b',
    'a%20b': 'a%20b',
    '/home/dev/it\'s "here"': '/home/dev/it\'s "here"',
    '/home/dev/$(touch pwned)': '/home/dev/$(touch pwned)',
    'C:\\Users\\dev': 'C:\\Users\\dev',
    'vscode-remote://ssh/home/dev': 'vscode-remote://ssh/home/dev',
    '': '',
  };
  for (const [text, path] of Object.entries(pathByText)) assert.equal(pathFromUri(text), path);
});

test('E08: each root of the case leads to its own folder', withCase('E08-space-and-percent'), (context) => {
  const base = tempFolder(context);
  const roots: unknown = JSON.parse(readFileSync(join(cases, 'E08-space-and-percent', 'roots.json'), 'utf8'));
  const folders = [
    '/home/dev/My App',
    '/Users/dev/p',
    '/home/dev/a%20b',
    '/home/dev/it\'s "here"',
    '/home/dev/$(touch pwned)',
  ];
  assert.ok(Array.isArray(roots) && roots.length === folders.length);
  for (const [index, folder] of folders.entries()) {
    const real = join(base, folder);
    mkdirSync(real, { recursive: true });
    // The editor's text, with the temporary folder as the root of everything. A drive is no folder here.
    const root: unknown = roots[index];
    const text = String(root)
      .replace('/c%3A', '')
      .replace(/^(?:file:\/\/)?/, (scheme) => `${scheme}${base}`);
    assert.equal(checkoutAt(pathFromUri(text)).root, real, text);
    assert.equal(placeAt(real, `P${index}`), `P${index}`);
    assert.deepEqual(readPlace(join(pathFromUri(text), '.stint')), { ok: true, value: `P${index}` });
  }
  assert.deepEqual(readdirSync(dirname(join(base, '/home/dev/x'))).toSorted(), [
    '$(touch pwned)',
    'My App',
    'a%20b',
    'it\'s "here"',
  ]);
});
