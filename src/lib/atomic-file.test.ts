import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  chmodSync,
  existsSync,
  lstatSync,
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
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import {
  createFileAtomic,
  decodeUtf8,
  fileProblem,
  readTextFile,
  removeStaleTemps,
  writeFileAtomic,
} from './atomic-file.ts';

const cases = join(import.meta.dirname, '../../../shared/cases');
const withCase = (name: string): { readonly skip: string | false } => ({
  skip: existsSync(join(cases, name)) ? false : `${name} is not here`,
});

const moduleUrl = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'atomic-file.ts')).href);

const tempFolder = (context: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-atomic-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

type Operation = 'openSync' | 'writeFileSync' | 'fsyncSync' | 'renameSync' | 'linkSync';

/** Lets the functions of node:fs be watched or fail for the rest of the test, also for those who imported them by name. */
const onCall = (context: TestContext, operation: Operation, before: (...args: readonly unknown[]) => void): void => {
  const original: (...args: never[]) => unknown = fs[operation];
  context.mock.method(fs, operation, (...args: never[]) => {
    before(...args);
    return original(...args);
  });
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
};

const failure = (code: string): Error => Object.assign(new Error(code), { code });

const failing = (code: string) => (): void => {
  throw failure(code);
};

test('a new file has its content, its mode less the umask, and its parent folders', (context) => {
  const path = join(tempFolder(context), 'a', 'b', 'state.json');
  const umask = process.umask(0o027);
  context.after(() => process.umask(umask));
  writeFileAtomic(path, '{"a":"é"}\n');
  assert.equal(readFileSync(path, 'utf8'), '{"a":"é"}\n');
  assert.equal(statSync(path).mode & 0o777, 0o640);
  const bytes = Uint8Array.of(0, 255, 10).subarray(1);
  writeFileAtomic(join(path, '..', 'secret'), bytes, { mode: 0o600 });
  assert.deepEqual(new Uint8Array(readFileSync(join(path, '..', 'secret'))), bytes);
  assert.equal(statSync(join(path, '..', 'secret')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(path, '..')).toSorted(), ['secret', 'state.json']);
});

test('an existing file keeps its mode, whatever the umask and the caller say', (context) => {
  const path = join(tempFolder(context), 'CURRENT.md');
  for (const mode of [0o600, 0o666, 0o755]) {
    writeFileSync(path, 'old');
    chmodSync(path, mode);
    writeFileAtomic(path, 'new', { mode: 0o644 });
    assert.equal(readFileSync(path, 'utf8'), 'new');
    assert.equal(statSync(path).mode & 0o777, mode);
  }
});

test('a link is replaced, and what it pointed to stays as it was', (context) => {
  const folder = tempFolder(context);
  writeFileSync(join(folder, 'outside'), 'outside', { mode: 0o777 });
  symlinkSync('outside', join(folder, 'link'));
  writeFileAtomic(join(folder, 'link'), 'ours', { mode: 0o600 });
  assert.equal(readFileSync(join(folder, 'outside'), 'utf8'), 'outside');
  assert.equal(lstatSync(join(folder, 'link')).isFile(), true);
  assert.equal(lstatSync(join(folder, 'link')).mode & 0o777, 0o600);
});

test('the file is synced before it gets its name, and its folder afterwards', (context) => {
  const folder = tempFolder(context);
  const calls: string[] = [];
  for (const operation of ['fsyncSync', 'renameSync'] as const) {
    onCall(context, operation, (descriptor) => {
      const isFolder = typeof descriptor === 'number' && fs.fstatSync(descriptor).isDirectory();
      calls.push(isFolder ? `${operation} of the folder` : operation);
    });
  }
  writeFileAtomic(join(folder, 'a'), 'text');
  assert.deepEqual(calls, ['fsyncSync', 'renameSync', 'fsyncSync of the folder']);
});

for (const [operation, code] of [
  ['writeFileSync', 'ENOSPC'],
  ['fsyncSync', 'EIO'],
  ['renameSync', 'EPERM'],
] as const) {
  test(`when ${operation} fails with ${code}, the old file is untouched and nothing is left`, (context) => {
    const folder = tempFolder(context);
    const path = join(folder, 'state.json');
    writeFileSync(path, 'old');
    onCall(context, operation, failing(code));
    assert.throws(() => writeFileAtomic(path, 'new'), { code });
    context.mock.restoreAll();
    syncBuiltinESMExports();
    assert.deepEqual(readdirSync(folder), ['state.json']);
    assert.equal(readFileSync(path, 'utf8'), 'old');
  });
}

test('a write that the system cuts short leaves the old file and no litter', (context) => {
  const folder = tempFolder(context);
  const path = join(folder, 'state.json');
  writeFileSync(path, 'old');
  const program = `
    import { writeFileAtomic } from ${moduleUrl};
    try { writeFileAtomic(${JSON.stringify(path)}, 'x'.repeat(1_000_000)); } catch (error) { console.log(error.code); }
  `;
  const limited = `trap '' XFSZ; ulimit -f 64; exec "$0" --input-type=module -e "$1"`;
  const child = spawnSync('bash', ['-c', limited, process.execPath, program], { encoding: 'utf8' });
  assert.equal(child.stdout, 'EFBIG\n', child.stderr);
  assert.deepEqual(readdirSync(folder), ['state.json']);
  assert.equal(readFileSync(path, 'utf8'), 'old');
});

test('a folder in the way, or a parent that is a broken link or a file, is an error without litter', (context) => {
  const folder = tempFolder(context);
  mkdirSync(join(folder, 'taken'));
  symlinkSync('nowhere', join(folder, 'broken'));
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => writeFileAtomic(join(folder, 'taken'), 'x'), { code: /EISDIR|EEXIST|ENOTEMPTY|EPERM/ });
  assert.throws(() => writeFileAtomic(join(folder, 'broken', 'x'), 'x'), { code: /ENOENT|EEXIST|ENOTDIR/ });
  assert.throws(() => writeFileAtomic(join(folder, 'file', 'x'), 'x'), { code: 'ENOTDIR' });
  assert.deepEqual(readdirSync(folder).toSorted(), ['broken', 'file', 'taken']);
});

test('a folder that exists and still takes no new file is an error, not an endless attempt', (context) => {
  const folder = tempFolder(context);
  let attempts = 0;
  onCall(context, 'openSync', () => {
    attempts += 1;
    throw failure(attempts < 100 ? 'ENOENT' : 'ETIMEDOUT');
  });
  assert.throws(() => writeFileAtomic(join(folder, 'a'), 'text'), { code: 'ENOENT' });
});

test('a platform that cannot sync folders is no failure, a disk that fails is one', (context) => {
  const path = join(tempFolder(context), 'a');
  let code = 'EINVAL';
  onCall(context, 'fsyncSync', (descriptor) => {
    if (typeof descriptor === 'number' && fs.fstatSync(descriptor).isDirectory()) throw failure(code);
  });
  writeFileAtomic(path, 'text');
  assert.equal(readFileSync(path, 'utf8'), 'text');
  code = 'EIO';
  assert.throws(() => writeFileAtomic(path, 'text'), { code: 'EIO' });
});

test('a temporary name that is taken is not touched', (context) => {
  const folder = tempFolder(context);
  const temps: string[] = [];
  let taken: string | null = null;
  onCall(context, 'openSync', (path, flags) => {
    if (flags !== 'wx') return;
    temps.push(basename(String(path)));
    if (taken !== null) return;
    taken = String(path);
    writeFileSync(taken, 'of another process');
  });
  writeFileAtomic(join(folder, 'a'), 'ours');
  assert.equal(temps.length, 2);
  for (const temp of temps) assert.match(temp, /^\.a\.stint-\d+-\d+\.tmp$/);
  assert.equal(readFileSync(String(taken), 'utf8'), 'of another process');
  assert.equal(readFileSync(join(folder, 'a'), 'utf8'), 'ours');
});

test('a name as long as the file system allows can be written', (context) => {
  const folder = tempFolder(context);
  for (const name of ['x'.repeat(255), '長'.repeat(85), '🚀'.repeat(63)]) {
    writeFileAtomic(join(folder, name), name);
    assert.equal(readFileSync(join(folder, name), 'utf8'), name);
  }
});

test('a reader never sees a part of a file that is being replaced', async (context) => {
  const folder = tempFolder(context);
  const path = join(folder, 'a');
  const program = `
    import { writeFileAtomic } from ${moduleUrl};
    for (let round = 0; round < 150; round += 1) writeFileAtomic(${JSON.stringify(path)}, String(round % 10).repeat(100_000));
  `;
  writeFileSync(path, '9'.repeat(100_000));
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  const exited = once(child, 'exit');
  const seen = new Set<string>();
  while (child.exitCode === null) {
    const text = readFileSync(path, 'utf8');
    assert.equal(text, text.charAt(0).repeat(100_000));
    seen.add(text.charAt(0));
    await nextTurn();
  }
  assert.deepEqual(await exited, [0, null]);
  assert.ok(seen.size > 1, 'the reader and the writer never met');
});

test('a file is created once, and what is there already stays', (context) => {
  const folder = tempFolder(context);
  const path = join(folder, 'deep', 'id');
  assert.equal(createFileAtomic(path, 'first', { mode: 0o600 }), true);
  assert.equal(createFileAtomic(path, 'second'), false);
  assert.equal(readFileSync(path, 'utf8'), 'first');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  symlinkSync('nowhere', join(folder, 'deep', 'link'));
  assert.equal(createFileAtomic(join(folder, 'deep', 'link'), 'third'), false);
  assert.deepEqual(readdirSync(join(folder, 'deep')).toSorted(), ['id', 'link']);
});

test('without hard links a file is still created once, and not at all when that fails', (context) => {
  const folder = tempFolder(context);
  onCall(context, 'linkSync', failing('EPERM'));
  assert.equal(createFileAtomic(join(folder, 'id'), 'first'), true);
  assert.equal(createFileAtomic(join(folder, 'id'), 'second'), false);
  assert.equal(readFileSync(join(folder, 'id'), 'utf8'), 'first');
  let writes = 0;
  onCall(context, 'writeFileSync', () => {
    writes += 1;
    if (writes === 2) throw failure('ENOSPC');
  });
  assert.throws(() => createFileAtomic(join(folder, 'other'), 'text'), { code: 'ENOSPC' });
  assert.deepEqual(readdirSync(folder), ['id']);
});

test('a failure to link that is no lack of links is an error without litter', (context) => {
  const folder = tempFolder(context);
  onCall(context, 'linkSync', failing('EIO'));
  assert.throws(() => createFileAtomic(join(folder, 'id'), 'first'), { code: 'EIO' });
  assert.deepEqual(readdirSync(folder), []);
});

test('only the temporary files of processes that are gone are removed', (context) => {
  const folder = tempFolder(context);
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  const put = (name: string): void => writeFileSync(join(folder, name), '');
  const kept = ['CURRENT.md', '.a.tmp', `a.stint-${gone}-1.tmp`, `.a.stint-${gone}-1.tmp.bak`, '.a.stint-x.tmp'];
  for (const name of [...kept, `.a.stint-${process.pid}-1.tmp`]) put(name);
  put(`.a.stint-${gone}-1.tmp`);
  put(`.two words.md.stint-${gone}-12.tmp`);
  mkdirSync(join(folder, `.folder.stint-${gone}-1.tmp`));
  symlinkSync('CURRENT.md', join(folder, `.link.stint-${gone}-1.tmp`));
  removeStaleTemps(folder);
  assert.deepEqual(
    readdirSync(folder).toSorted(),
    [...kept, `.a.stint-${process.pid}-1.tmp`, `.folder.stint-${gone}-1.tmp`, `.link.stint-${gone}-1.tmp`].toSorted(),
  );
  removeStaleTemps(join(folder, 'nowhere'));
});

test('a temporary file that a killed writer left is one that is removed', (context) => {
  const folder = tempFolder(context);
  const program = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.renameSync = () => process.kill(process.pid, 'SIGKILL');
    syncBuiltinESMExports();
    const { writeFileAtomic } = await import(${moduleUrl});
    writeFileAtomic(${JSON.stringify(join(folder, 'state.json'))}, 'text');
  `;
  assert.equal(spawnSync(process.execPath, ['--input-type=module', '-e', program]).signal, 'SIGKILL');
  assert.equal(readdirSync(folder).length, 1);
  removeStaleTemps(folder);
  assert.deepEqual(readdirSync(folder), []);
});

test(
  'J03: a file reads the same with LF, CRLF, mixed line ends and a byte order mark',
  withCase('J03-crlf-and-bom'),
  () => {
    const folder = join(cases, 'J03-crlf-and-bom');
    const linesOf = (name: string): readonly string[] => {
      const text = readTextFile(join(folder, name));
      assert.ok(text.ok, name);
      return text.value.split(/\r?\n/);
    };
    const expected = linesOf('CURRENT-lf.md');
    assert.equal(expected[0], '# Session State');
    for (const name of ['CURRENT-crlf.md', 'CURRENT-bom-crlf.md', 'CURRENT-mixed.md']) {
      assert.deepEqual(linesOf(name), expected, name);
    }
    const json = readTextFile(join(folder, 'state-bom.json'));
    assert.ok(json.ok);
    const parsed: unknown = JSON.parse(json.value);
    assert.ok(typeof parsed === 'object' && parsed !== null && 'session_id' in parsed);
  },
);

test('J03: UTF-16 is named', withCase('J03-crlf-and-bom'), () => {
  const path = join(cases, 'J03-crlf-and-bom', 'CURRENT-utf16.md');
  assert.deepEqual(readTextFile(path), {
    ok: false,
    error: { path, problem: 'is UTF-16, not UTF-8', code: null },
  });
});

test('J04: a file in GBK is named as not UTF-8, with its line', withCase('J04-locale-encoding'), () => {
  const path = join(cases, 'J04-locale-encoding', 'state-gbk.json');
  assert.deepEqual(readTextFile(path), {
    ok: false,
    error: { path, problem: 'is not UTF-8 (line 8)', code: null },
  });
});

test('J04: text survives any locale', withCase('J04-locale-encoding'), (context) => {
  const source = join(cases, 'J04-locale-encoding', 'goal-utf8.txt');
  for (const locale of [{ LC_ALL: 'C' }, { LANG: 'zh_CN.GBK' }]) {
    const copy = join(tempFolder(context), 'goal.txt');
    const program = `
      import { readTextFile, writeFileAtomic } from ${moduleUrl};
      writeFileAtomic(${JSON.stringify(copy)}, readTextFile(${JSON.stringify(source)}).value);
    `;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      env: locale,
      encoding: 'utf8',
    });
    assert.equal(child.status, 0, child.stderr);
    assert.deepEqual(readFileSync(copy), readFileSync(source));
  }
});

test('UTF-16 is recognised by its mark or by its first two characters, and NULs alone are not UTF-16', () => {
  const littleEndian = Buffer.from('{"a":1}', 'utf16le');
  const bigEndian = Buffer.from(littleEndian).swap16();
  const mark = Buffer.from('\uFEFF', 'utf16le');
  const named = { ok: false, error: 'is UTF-16, not UTF-8' };
  for (const bytes of [littleEndian, bigEndian, Buffer.concat([mark, Buffer.from('修', 'utf16le')]), mark.swap16()]) {
    assert.deepEqual(decodeUtf8(bytes), named);
  }
  assert.deepEqual(decodeUtf8(new Uint8Array(4)), { ok: true, value: '\0\0\0\0' });
  assert.deepEqual(decodeUtf8(Buffer.from('a\0b')), { ok: true, value: 'a\0b' });
});

test('exactly what a strict decoder accepts is text, and it is the same text', () => {
  const strict = new TextDecoder('utf-8', { fatal: true });
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      fc.constantFrom('efbbbf', 'eda080', 'c080', 'f4908080', 'e282', 'ff', '0a').map((hex) => Buffer.from(hex, 'hex')),
    ),
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      // The leading letters keep it from looking like UTF-16.
      const bytes = Buffer.concat([Buffer.from('ab'), ...parts]);
      const text = decodeUtf8(bytes);
      if (text.ok) assert.equal(text.value, strict.decode(bytes));
      else assert.throws(() => strict.decode(bytes));
    }),
  );
});

test('one byte order mark is removed, and a view is read from its own start to its own end', () => {
  const bytes = Buffer.from('xx\uFEFFtext\uFEFF\r\nxx');
  assert.deepEqual(decodeUtf8(bytes.subarray(2, -2)), { ok: true, value: 'text\uFEFF\r\n' });
});

test('a file that cannot be read is a problem with its code', (context) => {
  const folder = tempFolder(context);
  symlinkSync('loop', join(folder, 'loop'));
  writeFileSync(join(folder, 'file'), '');
  const problemOf = (name: string): unknown => {
    const text = readTextFile(join(folder, name));
    assert.ok(!text.ok, name);
    assert.equal(text.error.path, join(folder, name));
    return [text.error.code, text.error.problem];
  };
  assert.deepEqual(problemOf('missing'), ['ENOENT', 'does not exist']);
  assert.deepEqual(problemOf('loop'), ['ELOOP', 'is a loop of symbolic links']);
  assert.deepEqual(problemOf('file/x'), ['ENOTDIR', 'cannot be reached: a file stands where a folder is needed']);
  assert.deepEqual(problemOf('.'), ['EISDIR', 'is a folder, not a file']);
  assert.deepEqual(problemOf('nul\0'), ['ERR_INVALID_ARG_VALUE', 'is not a path: it contains a NUL character']);
});

test('an error of the system that has no sentence of its own is still named, and a defect is thrown', () => {
  assert.deepEqual(fileProblem('/p', failure('EIO')), { path: '/p', problem: 'cannot be used (EIO)', code: 'EIO' });
  assert.throws(() => fileProblem('/p', new TypeError('a defect')), /a defect/);
});
