import { print } from '../cli/output.ts';

/** What a person or the system says to a program that is being watched. */
export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGTSTP' | 'SIGCONT';

/** A terminal, and the clock beside it. What begins something answers how to end it. */
export interface Terminal {
  readonly columns: () => number;
  readonly rows: () => number;
  /** Answers whether there is anybody who sees it. */
  readonly write: (text: string) => boolean;
  readonly onResize: (listener: () => void) => () => void;
  readonly onSignal: (listener: (signal: Signal) => void) => () => void;
  readonly every: (milliseconds: number, tick: () => void) => () => void;
  /** Stops the process until it is told to go on. */
  readonly suspend: () => void;
}

const signals: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGTSTP', 'SIGCONT'];

/** The terminal that standard output is; undefined where it is none. */
export const openTerminal = (): Terminal | undefined => {
  const { stdout } = process;
  if (!stdout.isTTY) return undefined;
  return {
    // A terminal that does not know its size says 0.
    columns: () => stdout.columns || 80,
    rows: () => stdout.rows || 24,
    write: (text) => print(1, text),
    onResize: (listener) => {
      stdout.on('resize', listener);
      return () => void stdout.off('resize', listener);
    },
    onSignal: (listener) => {
      const hear = (signal: NodeJS.Signals): void => {
        const known = signals.find((one) => one === signal);
        if (known !== undefined) listener(known);
      };
      for (const signal of signals) process.on(signal, hear);
      return () => {
        for (const signal of signals) process.off(signal, hear);
      };
    },
    every: (milliseconds, tick) => {
      const timer = setInterval(tick, milliseconds);
      return () => clearInterval(timer);
    },
    suspend: () => void process.kill(process.pid, 'SIGSTOP'),
  };
};
