/**
 * Builds `dist/`: the command as CommonJS, which starts faster than modules do, in one small file for the everyday verbs
 * and others that are loaded when they are needed; and the library as plain modules with their types.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const root = dirname(import.meta.dirname);
const dist = join(root, 'dist');
/** Built beside and then moved into place, so that whoever runs the program meanwhile finds the old or the new one. */
const fresh = join(root, `dist-${process.pid}`);

const types = spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', fresh], { cwd: root, stdio: 'inherit' });
if (types.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(types.status ?? 1);
}

/** Code without other than ASCII characters is kept and read at half the size. */
const asciiOnly = {
  name: 'ascii-only',
  generateBundle: (_: unknown, chunks: Readonly<Record<string, { type: string; code?: string }>>): void => {
    for (const chunk of Object.values(chunks)) {
      if (chunk.code === undefined) continue;
      chunk.code = chunk.code.replaceAll(
        /[^\u0000-\u007f]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

const bundle = await rolldown({ input: { stint: join(root, 'src/bin.ts') }, platform: 'node', plugins: [asciiOnly] });
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
