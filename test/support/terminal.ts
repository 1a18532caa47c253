/** Command lines on a terminal of their own, as a person types them. */
import { spawn } from 'node:child_process';
import type { TestWorld } from './world.ts';

/** Runs a shell's line on a terminal and types each text when the one before it was printed; undefined where there is no script(1). */
export const onTerminal = async (
  world: TestWorld,
  line: string,
  typed: readonly (readonly [after: string, keys: string])[],
) => {
  const script = spawn('script', ['-qfec', line, '/dev/null'], {
    cwd: world.project,
    env: { ...world.env, TERM: 'xterm' },
  });
  const left = [...typed];
  let printed = '';
  let seen = 0;
  const ended = new Promise<number | null>((resolve, reject) => {
    script.on('error', reject);
    script.on('close', resolve);
    script.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const [next] = left;
      const at = next === undefined ? -1 : printed.indexOf(next[0], seen);
      if (next === undefined || at < 0) return;
      seen = at + next[0].length;
      left.shift();
      script.stdin.write(next[1]);
    });
  });
  const status = await ended.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  return status === undefined ? undefined : { status, printed: printed.replaceAll(/\u001b\[[?\d;]*[a-zA-Z]/g, '') };
};
