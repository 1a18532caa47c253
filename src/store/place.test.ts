import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ensurePlace } from './new-place.ts';
import { prepareFolder } from './own-folder.ts';
import { readPlace } from './place.ts';

const pointers = join(import.meta.dirname, '../../../shared/cases/D05-pointer-file-grows');
const withPointers = { skip: existsSync(pointers) ? false : 'D05-pointer-file-grows is not here' };

const urlOf = (file: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, file)).href);
const moduleUrl = urlOf('new-place.ts');

const tempFolder = (context: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-place-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const placeWith = (context: TestContext, content: string | Uint8Array): string => {
  const folder = join(tempFolder(context), '.stint');
  mkdirSync(folder);
  writeFileSync(join(folder, 'place'), content);
  return folder;
};

test('a place without a file, or with an empty one, has no id', (context) => {
  const folder = tempFolder(context);
  assert.deepEqual(readPlace(join(folder, 'nowhere')), { ok: true, value: null });
  assert.deepEqual(readPlace(folder), { ok: true, value: null });
  for (const nothing of ['', '\n', ' \r\n\r\n', '\uFEFF', '\0'.repeat(27)]) {
    assert.deepEqual(readPlace(placeWith(context, nothing)), { ok: true, value: null }, JSON.stringify(nothing));
  }
});

test('D05: line ends, byte order mark, blanks and repetitions do not change the id', (context) => {
  const contents = ['P1', 'P1\n', 'P1\r\n', '\uFEFFP1\r\n', '  P1 \t\r\n\r\n', 'P1\rP1\r', 'P1\n'.repeat(1000)];
  for (const content of contents) {
    assert.deepEqual(readPlace(placeWith(context, content)), { ok: true, value: 'P1' }, JSON.stringify(content));
  }
});

test(
  'D05: the pointer files of the case are read as their one id, or refused when they name two',
  withPointers,
  (context) => {
    const expected: Readonly<Record<string, string | null>> = {
      'current-dup.txt': 'WFR-add-login-20260317-143022',
      'current-crlf.txt': 'WFR-add-login-20260317-143022',
      'current-two.txt': null,
    };
    for (const [name, id] of Object.entries(expected)) {
      const folder = placeWith(context, '');
      copyFileSync(join(pointers, name), join(folder, 'place'));
      const place = readPlace(folder);
      if (id === null) {
        const error = { path: join(folder, 'place'), problem: 'names 2 different places', code: null };
        assert.deepEqual(place, { ok: false, error });
        assert.deepEqual(ensurePlace(folder, 'fresh'), { ok: false, error });
      } else {
        assert.deepEqual(place, { ok: true, value: id });
      }
    }
  },
);

test('D05: ten more starts do not make the file grow or touch it', withPointers, (context) => {
  const folder = placeWith(context, readFileSync(join(pointers, 'current-dup.txt')));
  const before = statSync(join(folder, 'place'), { bigint: true });
  for (let start = 0; start < 10; start += 1) {
    assert.deepEqual(ensurePlace(folder, `fresh${start}`), { ok: true, value: 'WFR-add-login-20260317-143022' });
  }
  const after = statSync(join(folder, 'place'), { bigint: true });
  assert.deepEqual([after.ino, after.size, after.mtimeNs], [before.ino, before.size, before.mtimeNs]);
  assert.deepEqual(readdirSync(folder), ['place']);
});

test('what is no id is a problem and is not overwritten', (context) => {
  for (const content of [
    '../../etc',
    'two words',
    '-x',
    'x'.repeat(129),
    Buffer.from('P1\n', 'utf16le'),
    Uint8Array.of(0xe9),
  ]) {
    const folder = placeWith(context, content);
    const place = readPlace(folder);
    assert.ok(!place.ok, String(content));
    assert.equal(place.error.path, join(folder, 'place'));
    assert.deepEqual(ensurePlace(folder, 'fresh'), place);
    assert.deepEqual(readFileSync(join(folder, 'place')), Buffer.from(content));
  }
});

test('a place file that is there but cannot be read is a problem, not an empty place', (context) => {
  for (const [code, make] of [
    ['EISDIR', (path: string) => mkdirSync(path)],
    ['ELOOP', (path: string) => symlinkSync('place', path)],
  ] as const) {
    const folder = tempFolder(context);
    make(join(folder, 'place'));
    const place = readPlace(folder);
    assert.ok(!place.ok);
    assert.deepEqual([place.error.path, place.error.code], [join(folder, 'place'), code]);
    assert.deepEqual(ensurePlace(folder, 'fresh'), place);
  }
});

test('a fresh id that could not be read back is a defect', (context) => {
  const folder = join(tempFolder(context), '.stint');
  for (const id of ['', 'a b', '../x']) assert.throws(() => ensurePlace(folder, id), /not a place id/);
  assert.equal(existsSync(folder), false);
});

test('a new place is a private folder that git ignores, with the id in a private file and nothing else', (context) => {
  const folder = join(tempFolder(context), '.stint');
  assert.deepEqual(ensurePlace(folder, 'P1'), { ok: true, value: 'P1' });
  assert.deepEqual(ensurePlace(folder, 'P2'), { ok: true, value: 'P1' });
  assert.deepEqual(readPlace(folder), { ok: true, value: 'P1' });
  assert.deepEqual(readdirSync(folder).toSorted(), ['.gitignore', 'place']);
  assert.equal(readFileSync(join(folder, 'place'), 'utf8'), 'P1\n');
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*\n');
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(folder, 'place')).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, '.gitignore')).mode & 0o777, 0o600);
});

test('an empty file gets an id', (context) => {
  const folder = placeWith(context, '\r\n');
  assert.deepEqual(ensurePlace(folder, 'P1'), { ok: true, value: 'P1' });
  assert.equal(readFileSync(join(folder, 'place'), 'utf8'), 'P1\n');
});

test('a proposal that a killed process left is taken up', (context) => {
  const folder = placeWith(context, '');
  writeFileSync(join(folder, 'place.new'), 'P1\n');
  assert.deepEqual(ensurePlace(folder, 'P2'), { ok: true, value: 'P1' });
  assert.deepEqual(readPlace(folder), { ok: true, value: 'P1' });
  assert.equal(existsSync(join(folder, 'place.new')), false);
});

test('whoever proposes after the others have agreed takes what they agreed on', (context) => {
  const folder = placeWith(context, '');
  const original: (...args: never[]) => unknown = fs.readFileSync;
  let reads = 0;
  context.mock.method(fs, 'readFileSync', (...args: never[]) => {
    reads += 1;
    // The first looks whether there is a place at all; between the next two the others finish, and one more comes late.
    if (reads === 3) {
      writeFileSync(join(folder, 'place'), 'P1\n');
      writeFileSync(join(folder, 'place.new'), 'P3\n');
    }
    return original(...args);
  });
  syncBuiltinESMExports();
  try {
    assert.deepEqual(ensurePlace(folder, 'P2'), { ok: true, value: 'P1' });
  } finally {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  }
  assert.equal(readFileSync(join(folder, 'place'), 'utf8'), 'P1\n');
});

test('a proposal that stays unfinished is named instead of waited for without end', (context) => {
  const folder = placeWith(context, '');
  writeFileSync(join(folder, 'place.new'), '');
  const error = { path: join(folder, 'place.new'), problem: 'was left unfinished: remove it', code: null };
  assert.deepEqual(ensurePlace(folder, 'P2'), { ok: false, error });
});

/**
 * Eight processes ask for the place of the same twenty folders, each round at the same agreed time. `start` is what the
 * folders hold before; `prelude` is what each process runs first. Returns the ids that each process was told.
 */
const race = async (
  context: TestContext,
  start: 'missing' | 'empty',
  prelude = '',
): Promise<{ readonly folders: readonly string[]; readonly idsByProcess: readonly (readonly string[])[] }> => {
  const base = tempFolder(context);
  const folders = Array.from({ length: 20 }, (_, round) => join(base, String(round), '.stint'));
  for (const folder of folders) {
    if (start === 'missing') {
      mkdirSync(join(folder, '..'));
    } else {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'place'), '');
    }
  }
  const program = `
    ${prelude}
    const { ensurePlace } = await import(${moduleUrl});
    console.log('ready');
    const begin = Number((await process.stdin[Symbol.asyncIterator]().next()).value);
    const ids = ${JSON.stringify(folders)}.map((folder, round) => {
      while (Date.now() < begin + round * 40);
      const id = ensurePlace(folder, 'P' + process.pid + '-' + round);
      return id.ok ? id.value : JSON.stringify(id.error);
    });
    console.log(ids.join('|'));
    process.exit();
  `;
  const children = Array.from({ length: 8 }, () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8');
    let output = '';
    const ready = new Promise<void>((settle) => {
      child.stdout.on('data', (text: string) => {
        output += text;
        if (output.includes('ready\n')) settle();
      });
    });
    const ids = new Promise<readonly string[]>((settle) => {
      child.once('close', () => {
        const [, last = ''] = output.split('\n');
        settle(last.split('|'));
      });
    });
    return { child, ready, ids };
  });
  await Promise.all(children.map(({ ready }) => ready));
  const begin = Date.now() + 50;
  for (const { child } of children) child.stdin.write(`${begin}\n`);
  return { folders, idsByProcess: await Promise.all(children.map(({ ids }) => ids)) };
};

const withoutLinks = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.linkSync = () => { throw Object.assign(new Error('EPERM'), { code: 'EPERM' }); };
  syncBuiltinESMExports();
`;

for (const [name, start, prelude] of [
  ['a fresh folder', 'missing', ''],
  ['a folder whose place file is empty', 'empty', ''],
  ['a fresh folder on a file system without hard links', 'missing', withoutLinks],
] as const) {
  test(`eight processes that race in ${name} get the same id`, async (context) => {
    const { folders, idsByProcess } = await race(context, start, prelude);
    assert.equal(idsByProcess.length, 8);
    for (const [round, folder] of folders.entries()) {
      const ids = new Set(idsByProcess.map((told) => told[round]));
      assert.equal(ids.size, 1, `round ${round}: ${[...ids].join(' ')}`);
      const [id = ''] = ids;
      assert.match(id, /^P\d+-\d+$/);
      assert.equal(readFileSync(join(folder, 'place'), 'utf8'), `${id}\n`);
    }
  });
}

test('preparing a folder again changes nothing, and costs one look', (context) => {
  const folder = join(tempFolder(context), 'a', '.stint');
  assert.deepEqual(prepareFolder(folder), { ok: true, value: undefined });
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  const before = statSync(join(folder, '.gitignore'), { bigint: true });
  chmodSync(folder, 0o500);
  assert.deepEqual(prepareFolder(folder), { ok: true, value: undefined });
  assert.equal(statSync(join(folder, '.gitignore'), { bigint: true }).ctimeNs, before.ctimeNs);
  chmodSync(folder, 0o700);
  writeFileSync(join(folder, '.gitignore'), '# mine\n');
  assert.deepEqual(prepareFolder(folder), { ok: true, value: undefined });
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '# mine\n');
});

test('a folder that does not ignore itself yet, or lost its rule in a crash, gets it', (context) => {
  const folder = tempFolder(context);
  assert.equal(prepareFolder(folder).ok, true);
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*\n');
  writeFileSync(join(folder, '.gitignore'), '');
  assert.equal(prepareFolder(folder).ok, true);
  assert.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*\n');
});

test('a folder that cannot be made is a problem with its code', (context) => {
  const base = tempFolder(context);
  writeFileSync(join(base, 'file'), '');
  symlinkSync('nowhere', join(base, 'broken'));
  symlinkSync('loop', join(base, 'loop'));
  const codeOf = (name: string): string | null => {
    const prepared = prepareFolder(join(base, name));
    assert.ok(!prepared.ok, name);
    assert.equal(prepared.error.path, join(base, name));
    assert.deepEqual(ensurePlace(join(base, name), 'P1').ok, false);
    return prepared.error.code;
  };
  assert.equal(codeOf('file/.stint'), 'ENOTDIR');
  assert.equal(codeOf('file'), 'EEXIST');
  assert.match(String(codeOf('broken')), /^(?:EEXIST|ENOENT|ENOTDIR)$/);
  assert.equal(codeOf('loop'), 'ELOOP');
  symlinkSync('nowhere/x', join(base, '.gitignore'));
  assert.deepEqual(prepareFolder(base), {
    ok: false,
    error: { path: join(base, '.gitignore'), problem: 'does not exist', code: 'ENOENT' },
  });
});

const outputOf = (program: string, user: { readonly uid?: number; readonly gid?: number } = {}): string => {
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], { ...user, encoding: 'utf8' });
  return child.stdout === '' ? child.stderr : child.stdout;
};

/** For the superuser, who is above permissions, somebody who is not. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const nobodyReads = outputOf(`await import(${moduleUrl}); console.log('yes')`, nobody) === 'yes\n';

test(
  'missing permission is a problem that names the folder, and a place that may only be read is read',
  { skip: nobodyReads ? false : 'an unprivileged user cannot read the sources' },
  (context) => {
    const answersFor = (folder: string): unknown => {
      const path = JSON.stringify(folder);
      const program = `
        import { ensurePlace } from ${moduleUrl};
        import { prepareFolder } from ${urlOf('own-folder.ts')};
        console.log(JSON.stringify([prepareFolder(${path}), ensurePlace(${path}, 'P1')]));
      `;
      return JSON.parse(outputOf(program, nobody));
    };
    const refused = join(tempFolder(context), '.stint');
    const readable = join(tempFolder(context), '.stint');
    assert.equal(ensurePlace(readable, 'P9').ok, true);
    chmodSync(join(readable, 'place'), 0o444);
    chmodSync(join(readable, '..'), 0o755);
    try {
      chmodSync(join(refused, '..'), 0o555);
      chmodSync(readable, 0o555);
      const error = { path: refused, problem: 'is not accessible: permission denied', code: 'EACCES' };
      assert.deepEqual(answersFor(refused), [
        { ok: false, error },
        { ok: false, error },
      ]);
      assert.deepEqual(answersFor(readable), [{ ok: true }, { ok: true, value: 'P9' }]);
    } finally {
      chmodSync(join(refused, '..'), 0o755);
      chmodSync(readable, 0o755);
    }
  },
);

test('a read-only file system is a problem with its code', (context) => {
  const folder = join(tempFolder(context), '.stint');
  const program = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.mkdirSync = () => { throw Object.assign(new Error('EROFS'), { code: 'EROFS' }); };
    syncBuiltinESMExports();
    const { ensurePlace } = await import(${moduleUrl});
    console.log(JSON.stringify(ensurePlace(${JSON.stringify(folder)}, 'P1')));
  `;
  assert.deepEqual(JSON.parse(outputOf(program)), {
    ok: false,
    error: { path: folder, problem: 'cannot be written: the file system is read-only', code: 'EROFS' },
  });
});
