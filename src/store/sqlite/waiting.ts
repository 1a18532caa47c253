/** How long a writer waits for its turn, in milliseconds, before the store counts as busy. */
export const patience = 10_000;

/** How long one statement waits inside SQLite before the wait is taken up here, with jitter. */
export const statementTimeout = 500;

/** Waits without doing anything. */
export const sleep = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
