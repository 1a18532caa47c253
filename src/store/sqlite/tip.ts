import { readFileSync, writeFileSync } from 'node:fs';
import { errnoCode } from '../../lib/atomic-file.ts';

/**
 * A small file beside the store that says which events it must hold: a line for each session and commit since the log was
 * begun. Processes leave without closing, so that the log holds what the file does not; where its end is gone, nothing in
 * it shows that. The line is written after the commit and not synced, so that it may be late and is never ahead.
 */
const tipOf = (path: string): string => `${path}-tip`;

/** An event that was answered. */
export interface Tip {
  readonly session: string;
  readonly seq: number;
}

/** Remembers the newest events of a commit. */
export const keepTip = (path: string, newest: ReadonlyMap<string, number>, isFresh: boolean): void => {
  const file = tipOf(path);
  const lines = [...newest].map(([session, seq]) => `${session} ${seq}\n`).join('');
  try {
    writeFileSync(file, lines, { mode: 0o600, flag: isFresh ? 'w' : 'a' });
  } catch (error) {
    // It costs the notice of a loss, not the commit that it is about.
    if (errnoCode(error) === null) throw error;
  }
};

/** What was remembered, in order; nothing where it cannot be read. What is no line of ours is left out. */
export const readTip = (path: string): readonly Tip[] =>
  textOf(path)
    .split('\n')
    .flatMap((line) => tipIn(line) ?? []);

/** The last of them, which every verb asks for. */
export const readNewestTip = (path: string): Tip | undefined => {
  const text = textOf(path);
  const [line = ''] = text.slice(text.lastIndexOf('\n', text.length - 2) + 1).split('\n');
  return tipIn(line);
};

const textOf = (path: string): string => {
  try {
    return readFileSync(tipOf(path), 'utf8');
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return '';
  }
};

const tipIn = (line: string): Tip | undefined => {
  const [, session, seq] = /^(\S{1,300}) ([1-9]\d{0,14})$/.exec(line) ?? [];
  return session === undefined ? undefined : { session, seq: Number(seq) };
};
