/**
 * The program of a node of the run that builds a small project. It is told what to do on standard input, by a driver that has
 * put its pid on record before: where none tells it, it leaves without having done anything. What it has done is a line of a
 * journal of effects, and for some nodes a result that whoever comes takes.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** What a driver tells the program of a node. */
export interface Order {
  readonly node: string;
  readonly attempt: number;
  readonly token: number;
  /** Where it leaves its result; null where its driver reports that. */
  readonly resultPath: string | null;
  /** Where its effect is written down. */
  readonly effects: string;
  /** The moment at which it dies, as if somebody had killed it. */
  readonly dies: string | undefined;
}

/** A line of the journal of effects. */
export interface Effect {
  /** Which execution it was. */
  readonly id: string;
  readonly node: string;
  readonly attempt: number;
  readonly what: 'begun' | 'done' | 'failed';
}

/** What a task has made of it: what it says, and the files that it has made. */
interface Made {
  readonly output: string;
  readonly artifacts: readonly string[];
}

const modules = (): readonly string[] => readdirSync('src').toSorted();

/** The code without its remarks, as a package of its own. */
const build = (): Made => {
  mkdirSync('dist/package', { recursive: true });
  const { name, version }: Record<string, string> = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync('dist/package/package.json', JSON.stringify({ name, version, type: 'module', main: 'index.js' }));
  for (const file of modules()) {
    const lines = readFileSync(`src/${file}`, 'utf8').split('\n');
    writeFileSync(`dist/package/${file}`, lines.filter((line) => !line.startsWith('//')).join('\n'));
  }
  return { output: `${modules().length} modules are built`, artifacts: ['dist/package/index.js'] };
};

/** Finds lines with blanks at their ends, and takes them away for the next time. */
const lint = (): Made => {
  const wrong = modules().filter((file) => / $/m.test(readFileSync(`src/${file}`, 'utf8')));
  for (const file of wrong) writeFileSync(`src/${file}`, readFileSync(`src/${file}`, 'utf8').replaceAll(/ +$/gm, ''));
  if (wrong.length > 0) throw new Error(`blanks at the ends of lines in ${wrong.join(', ')}`);
  return { output: 'no fault is found', artifacts: [] };
};

const test = (): Made => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--test', 'test/shapes.test.js'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the tests do not pass: ${stdout}${stderr}`);
  return { output: /tests (?<count>\d+)/.exec(stdout)?.[0] ?? '', artifacts: [] };
};

const sums = (): Made => {
  const lines = readdirSync('dist/package')
    .toSorted()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(`dist/package/${file}`))
          .digest('hex')}  ${file}\n`,
    );
  writeFileSync('dist/sums.txt', lines.join(''));
  return { output: `${lines.length} sums`, artifacts: ['dist/sums.txt'] };
};

/** An archive as tar writes it (POSIX.1-1988, ustar). */
const pack = (): Made => {
  const blocks = readdirSync('dist/package')
    .toSorted()
    .flatMap((file) => {
      const content = readFileSync(`dist/package/${file}`);
      const header = Buffer.alloc(512);
      const field = (text: string, at: number): number => header.write(text, at, 'latin1');
      field(`package/${file}`, 0);
      field('0000644\0', 100);
      field(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
      field('00000000000\0', 136);
      field('        0', 148);
      field('ustar\u{0}00', 257);
      const sum = header.reduce((total, byte) => total + byte, 0);
      field(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
      return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
    });
  writeFileSync('dist/package.tgz', gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])));
  return { output: 'it is packed', artifacts: ['dist/package.tgz'] };
};

/** Unpacks the archive, compares the sums, and uses what was in it. */
const verify = (): Made => {
  const archive = gunzipSync(readFileSync('dist/package.tgz'));
  const folder = 'dist/unpacked';
  rmSync(folder, { recursive: true, force: true });
  let lines = '';
  for (let at = 0; archive[at] !== 0;) {
    const text = (from: number, length: number): string =>
      archive.toString('latin1', at + from, at + from + length).replace(/\0.*$/s, '');
    const [name, size] = [text(0, 100), Number.parseInt(text(124, 12), 8)];
    const content = archive.subarray(at + 512, at + 512 + size);
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
    lines += `${createHash('sha256').update(content).digest('hex')}  ${name.slice('package/'.length)}\n`;
    at += 512 + Math.ceil(size / 512) * 512;
  }
  if (lines !== readFileSync('dist/sums.txt', 'utf8')) throw new Error('the archive is not what was built');
  const used = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', `import { area } from './${folder}/package/index.js'; console.log(area([3, 4]));`],
    { encoding: 'utf8' },
  );
  if (used.stdout !== '12\n') throw new Error(`what was packed does not work: ${used.stdout}${used.stderr}`);
  return { output: 'what was packed works', artifacts: [] };
};

const tasks: Readonly<Record<string, () => Made>> = { build, lint, test, sums, pack, verify };

const main = (name: string): void => {
  const said = readFileSync(0, 'utf8');
  if (said === '') return;
  const order: Order = JSON.parse(said);
  const { node, attempt, token, resultPath, effects } = order;
  const id = `${node}/${attempt}/${process.pid}`;
  const note = (what: Effect['what']): void =>
    appendFileSync(effects, `${JSON.stringify({ id, node, attempt, what })}\n`);
  const pass = (moment: string): void => {
    if (order.dies === moment) process.kill(process.pid, 'SIGKILL');
  };
  const leave = (result: object): void => {
    if (resultPath === null) return;
    // Whoever comes meanwhile finds it whole or not at all.
    mkdirSync(dirname(resultPath), { recursive: true });
    writeFileSync(`${resultPath}.part`, JSON.stringify({ token, ...result }));
    renameSync(`${resultPath}.part`, resultPath);
  };
  note('begun');
  pass('begun');
  try {
    const made = tasks[name]?.();
    if (made === undefined) throw new Error(`there is no task ${name}`);
    note('done');
    pass('done');
    leave({ exit_code: 0, ...made });
    pass('left');
    process.stdout.write(made.output);
  } catch (error) {
    note('failed');
    process.exitCode = 1;
    const message = error instanceof Error ? error.message : String(error);
    leave({ exit_code: 1, error: message });
    process.stderr.write(message);
  }
};

if (import.meta.main) main(process.argv[2] ?? '');
