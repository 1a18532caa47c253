import type { Screen, VerbRefusal } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { displayWidth } from '../../lib/text.ts';
import type { OpenStore } from '../world.ts';
import { createKeeper } from '../keep.ts';
import type { Terminal } from './terminal.ts';

/** What a verb answers at one moment. */
export type Look = Result<{ readonly answer: JsonObject; readonly warnings: readonly string[] }, VerbRefusal>;

/** What is watched, and where. */
export interface Watched {
  /** Asks the verb; the store is opened with what is given here. */
  readonly ask: (open: OpenStore) => Promise<Look>;
  readonly screen: Screen;
  readonly terminal: Terminal;
  /**
   * Whether escape sequences may be used. Without them nothing can be painted over: a frame is written below the one before
   * it, and only when something other than the time has changed.
   */
  readonly colour: boolean;
}

/** How often it is looked, in milliseconds. */
const pause = 1000;

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';

/**
 * Shows a verb on a terminal until it is interrupted; answers the exit code. What goes wrong in between is shown, and it goes
 * on, unless it is the call itself, which no waiting mends.
 */
export const watch = async ({ ask, screen, terminal, colour }: Watched): Promise<Result<number, VerbRefusal>> => {
  const keeper = createKeeper();
  const painter: Painter = colour ? createPainter(terminal) : createPrinter(terminal);
  let answer: JsonObject | undefined;
  let remarks: readonly string[] = [];
  let isLooking = false;
  let isOver = false;

  const paint = (): boolean => {
    if (isOver) return true;
    // One line is left for the cursor: a frame that fills the terminal would be scrolled.
    const rows = colour ? { rows: terminal.rows() - 1 } : {};
    const frame = screen.frame(answer, { columns: terminal.columns(), ...rows, colour, remarks });
    return painter.show(frame, [answer === undefined ? '' : screen.still(answer), ...remarks].join('\n'));
  };

  /** Looks once; answers how it ends, where it does. */
  const look = async (): Promise<Result<number, VerbRefusal> | undefined> => {
    const found = await ask(keeper.open);
    if (found.ok) {
      ({ answer } = found.value);
      remarks = found.value.warnings.map((warning) => `warning: ${warning}`);
    } else {
      const { refusal } = found.error;
      if (refusal.code === 'usage') return err(found.error);
      // What could not be read just now is still what it was; what is not there is not shown.
      if (refusal.code === 'not-found' || refusal.code === 'ambiguous') answer = undefined;
      else await keeper.forget();
      remarks = [`stint: ${refusal.message}`];
    }
    // Nobody is left who sees it.
    return paint() ? undefined : ok(0);
  };

  return new Promise((resolve, reject) => {
    const endings: (() => void)[] = [];
    const end = (finish: () => void): void => {
      isOver = true;
      for (const ending of endings.splice(0)) ending();
      painter.leave();
      finish();
    };
    const tick = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      try {
        const ending = await look();
        if (ending !== undefined) end(() => resolve(ending));
      } catch (error) {
        end(() => reject(error instanceof Error ? error : new Error(String(error))));
      } finally {
        isLooking = false;
      }
    };
    endings.push(
      terminal.onSignal((signal) => {
        switch (signal) {
          case 'SIGINT':
            return end(() => resolve(ok(130)));
          case 'SIGTERM':
            return end(() => resolve(ok(143)));
          case 'SIGHUP':
            return end(() => resolve(ok(129)));
          case 'SIGTSTP':
            painter.leave();
            return terminal.suspend();
          case 'SIGCONT':
            painter.begin();
            return void paint();
        }
      }),
      terminal.onResize(() => void paint()),
      terminal.every(pause, () => void tick()),
    );
    painter.begin();
    void tick();
  });
};

/** What puts frames on a terminal. */
interface Painter {
  readonly begin: () => void;
  /** Shows a frame where it differs from the one that is there; `still` is what of it does not change by time alone. */
  readonly show: (frame: string, still: string) => boolean;
  /** Leaves the frame where it is, and the cursor below it. */
  readonly leave: () => void;
}

/** Paints each frame over the one before it, where that one is: what stands above it, and the scrollback, are left alone. */
const createPainter = ({ write, columns, rows }: Terminal): Painter => {
  let shown = '';
  let size = '';
  return {
    begin: () => {
      shown = '';
      size = '';
      write(hideCursor);
    },
    show: (frame) => {
      const wide = columns();
      const newSize = `${wide} ${rows()}`;
      if (frame === shown && size === newSize) return true;
      // A terminal that became narrower has continued the lines of the old frame below themselves.
      const height =
        shown === ''
          ? 0
          : shown.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / wide)), 0);
      shown = frame;
      size = newSize;
      const up = height === 0 ? '' : `\u001b[${height}A`;
      // Each line is emptied before it is written: behind a line that is full the cursor still stands on its last column.
      const lines = frame.split('\n').map((line) => `\u001b[K${line}\n`);
      return write(`${up}\r${lines.join('')}\u001b[J`);
    },
    // The signs of the key that interrupted it go.
    leave: () => void write(`\r\u001b[J${showCursor}`),
  };
};

const widthOf = (line: string): number => displayWidth(line.replaceAll(/\u001b\[\d+m/g, ''));

/** Writes frames one below the other, and only where more than the time has changed. */
const createPrinter = ({ write }: Terminal): Painter => {
  let shown: string | undefined;
  return {
    begin: () => {},
    show: (frame, still) => {
      const isFirst = shown === undefined;
      if (shown === still) return true;
      shown = still;
      return write(`${isFirst ? '' : '\n'}${frame}\n`);
    },
    leave: () => {},
  };
};
