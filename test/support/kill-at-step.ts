/**
 * Loaded into a verb's process ahead of it (`node --import`): kills it, as kill -9 does, at the step that
 * STINT_TEST_STEP names. A step is a moment just before something on disk is changed; the one after the last is the
 * moment before the process leaves. Without the variable the process lives, and the number of its steps is written to
 * file descriptor 3.
 */
import fs from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';

const target = Number(process.env['STINT_TEST_STEP'] ?? 0);
let step = 0;

const pass = (): void => {
  step += 1;
  if (step !== target) return;
  process.kill(process.pid, 'SIGKILL');
  // Nothing may be done before the signal arrives.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
};

/** Makes a call a step, where its arguments say that it changes something. */
const watch = (holder: object, name: string, isStep: (...values: readonly unknown[]) => boolean = () => true): void => {
  const original: unknown = Reflect.get(holder, name);
  if (typeof original !== 'function') throw new TypeError(`there is no ${name}`);
  Reflect.set(holder, name, function watched(this: unknown, ...values: readonly unknown[]): unknown {
    if (isStep(...values)) pass();
    return Reflect.apply(original, this, values);
  });
};

const changing = [
  'chmodSync',
  'copyFileSync',
  'fsyncSync',
  'linkSync',
  'mkdirSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'truncateSync',
  'unlinkSync',
  'writeFileSync',
  'writeSync',
];
for (const name of changing) watch(fs, name);
watch(fs, 'openSync', (_, flags) => typeof flags === 'string' && flags !== 'r');
watch(DatabaseSync.prototype, 'exec');
watch(StatementSync.prototype, 'run');

process.on('exit', () => {
  const steps = step + 1;
  pass();
  if (target === 0) fs.writeFileSync(3, String(steps));
});
