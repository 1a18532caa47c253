import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { errnoCode } from '../../lib/atomic-file.ts';

/**
 * A small file beside the store that says which events it must hold: a line for each session and commit since the log was
 * begun. Processes leave without closing, so that the log holds what the file does not; where its end is gone, nothing in
 * it shows that. The line is written after the commit and not synced, so that it may be late and is never ahead.
 */
const tipOf = (path: string): string => `${path}-tip`;

/** From so many bytes on it is begun anew: older lines are about events that are in the file by then. */
const longestTip = 128 * 1024;

/** An event that was answered. */
interface Tip {
  readonly session: string;
  readonly seq: number;
}

/** Remembers the newest events of a commit. */
export const keepTip = (path: string, newest: ReadonlyMap<string, number>, isFresh: boolean): void => {
  const file = tipOf(path);
  const lines = [...newest].map(([session, seq]) => `${session} ${seq}\n`).join('');
  const size = isFresh ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  try {
    writeFileSync(file, lines, { mode: 0o600, flag: isFresh || size > longestTip ? 'w' : 'a' });
  } catch (error) {
    // It costs the notice of a loss, not the commit that it is about.
    if (errnoCode(error) === null) throw error;
  }
};

/** What was remembered, in order; nothing where it cannot be read. What is no line of ours is left out. */
export const readTip = (path: string): readonly Tip[] => {
  let text: string;
  try {
    text = readFileSync(tipOf(path), 'utf8');
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [, session, seq] = /^(\S{1,300}) ([1-9]\d{0,14})$/.exec(line) ?? [];
    return session === undefined ? [] : [{ session, seq: Number(seq) }];
  });
};
