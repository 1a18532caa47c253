/**
 * Builds `dist/`: the command as CommonJS, which starts faster than modules do, in one small file for the everyday verbs
 * and others that are loaded when they are needed; and the library as plain modules with their types.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

const root = dirname(import.meta.dirname);
const dist = join(root, 'dist');
/** Built beside and then moved into place, so that whoever runs the program meanwhile finds the old or the new one. */
const fresh = join(root, `dist-${process.pid}`);

const types = spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', fresh], { cwd: root, stdio: 'inherit' });
if (types.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(types.status ?? 1);
}

/** Characters other than ASCII are escaped: code without them is kept and read at half the size. */
const escapeCharacters = (code: string): string =>
  code.replaceAll(/[^\u0000-\u007f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Puts the functions of a file in parentheses, which tells the engine to compile them at once. Node keeps only what was
 * compiled in the very first run, and every later verb would compile again what that one did not need: 0.08 of a bare
 * Node's start.
 */
const parenthesizeFunctions = (code: string): string => {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const statement of parseAst(code).body) {
    if (statement.type !== 'VariableDeclaration') continue;
    for (const { init } of statement.declarations) {
      if (init?.type !== 'ArrowFunctionExpression' && init?.type !== 'FunctionExpression') continue;
      starts.push(init.start);
      ends.push(init.end);
    }
  }
  const marks = [...starts.map((at) => ({ at, text: '(' })), ...ends.map((at) => ({ at, text: ')' }))];
  return marks
    .toSorted((a, b) => b.at - a.at)
    .reduce((marked, { at, text }) => marked.slice(0, at) + text + marked.slice(at), code);
};

const startFast = {
  name: 'start-fast',
  generateBundle: (
    _: unknown,
    chunks: Readonly<Record<string, { type: string; code?: string; isEntry?: boolean }>>,
  ): void => {
    for (const chunk of Object.values(chunks)) {
      if (chunk.code === undefined || chunk.isEntry === true) continue;
      chunk.code = parenthesizeFunctions(escapeCharacters(chunk.code));
    }
  },
};

const bundle = await rolldown({
  input: { stint: join(root, 'src/bin.ts') },
  platform: 'node',
  plugins: [startFast],
  resolve: { mainFields: ['module', 'main'] },
});
const { output } = await bundle.write({
  dir: fresh,
  format: 'cjs',
  minify: true,
  banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
  entryFileNames: '[name].cjs',
  chunkFileNames: 'command/[name].cjs',
});
chmodSync(join(fresh, 'stint.cjs'), 0o755);
const old = `${fresh}-old`;
if (existsSync(dist)) renameSync(dist, old);
renameSync(fresh, dist);
rmSync(old, { recursive: true, force: true });
for (const chunk of output) {
  if (chunk.type === 'chunk')
    process.stdout.write(`dist/${chunk.fileName}: ${Math.ceil(chunk.code.length / 1024)} KiB\n`);
}
