'use strict';
// Loaded into a verb's process ahead of it (node --require): kills it, as kill -9 does, at the step that STINT_TEST_STEP
// names. A step is a call that changes something on disk; each one is two places to die, before the call and after it.
// Without a step it counts them and writes the number to the file descriptor 3.
const fs = require('node:fs');
const { DatabaseSync, StatementSync } = require('node:sqlite');

const target = Number(process.env.STINT_TEST_STEP ?? 0);
let step = 0;

const pass = () => {
  step += 1;
  if (step !== target) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal comes at the latest when control returns to the system; nothing may be done before.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
};

const wrap = (holder, name, isStep = () => true) => {
  const original = holder[name];
  holder[name] = function (...values) {
    if (!isStep(...values)) return original.apply(this, values);
    pass();
    const result = original.apply(this, values);
    pass();
    return result;
  };
};

for (const name of [
  'mkdirSync',
  'writeSync',
  'writeFileSync',
  'fsyncSync',
  'linkSync',
  'renameSync',
  'rmSync',
  'unlinkSync',
  'copyFileSync',
  'chmodSync',
])
  wrap(fs, name);
wrap(fs, 'openSync', (_, flags) => typeof flags === 'string' && flags !== 'r');
wrap(DatabaseSync.prototype, 'exec');
wrap(StatementSync.prototype, 'run');

process.on('exit', () => {
  if (target === 0) fs.writeFileSync(3, String(step));
});
