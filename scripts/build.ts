/**
 * Builds `dist/`: the command as one CommonJS file, which starts faster than modules do, and the library as plain modules
 * with their types.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const root = dirname(import.meta.dirname);
const dist = join(root, 'dist');

/** Older Nodes cannot run the program: they get a sentence instead of a stack trace. */
const banner = `#!/usr/bin/env node
'use strict';
{
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 13)) {
    process.stderr.write('stint: this is Node ' + process.versions.node + '; stint needs Node 22.13 or newer.\\n');
    process.exit(6);
  }
}
`;

rmSync(dist, { recursive: true, force: true });
const types = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
if (types.status !== 0) process.exit(types.status ?? 1);

const bundle = await rolldown({ input: join(root, 'src/main.ts'), platform: 'node', treeshake: true });
const { output } = await bundle.generate({ format: 'cjs', minify: true, codeSplitting: false });
const target = join(dist, 'stint.cjs');
writeFileSync(`${target}.tmp`, banner + output[0].code);
renameSync(`${target}.tmp`, target);
chmodSync(target, 0o755);
process.stdout.write(`built dist/ (stint.cjs: ${Math.round(output[0].code.length / 1024)} KiB)\n`);
