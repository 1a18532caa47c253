import { readFileSync } from 'node:fs';

/**
 * What this machine is called. The system's own file is read where there is one: loading `node:os` costs a hundredth of a
 * bare Node's start.
 */
export const machineName = (): string => (known ??= nameOf());

let known: string | undefined;

const nameOf = (): string => {
  try {
    const name = readFileSync('/proc/sys/kernel/hostname', 'utf8').trim();
    if (name !== '') return name;
  } catch {
    // No such file on this system.
  }
  return process.getBuiltinModule('node:os').hostname();
};
