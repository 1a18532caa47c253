import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OutsideCommits, OutsideLook, OutsideQuestion } from '../kernel/outside.ts';
import { errnoCode } from '../lib/atomic-file.ts';
import { gitIn, readStatus, type Git, type Variables } from './git.ts';

/** How far back git is asked, how much is named, and how many files are looked at. */
const most = { reflog: 2000, commits: 5, paths: 10, dated: 200 };

/** What git says of a checkout, and of what was done in it since some time. */
export const lookOutside = async (env: Variables, question: OutsideQuestion): Promise<OutsideLook> => {
  const { root, folder, since, validatedAt, recordedHead } = question;
  const git = gitIn(root, env);
  const [status, reflog] = await Promise.all([
    // What git prints about a file that only the session itself writes is no change outside.
    git(
      'status',
      '--porcelain=v2',
      '--branch',
      '-z',
      '--',
      '.',
      ...(folder === '' ? [] : [`:(exclude,literal)${folder}`]),
    ),
    since === null && validatedAt === null
      ? undefined
      : git('log', '-g', `--max-count=${most.reflog}`, '--date=unix', '--format=%gd%x00%H', 'HEAD', '--'),
  ]);
  if (status.kind === 'no-git') return { known: false, because: 'git is not installed here' };
  if (status.kind === 'failed')
    return {
      known: false,
      because: status.said.includes('not a git repository')
        ? 'there is no git repository'
        : `git says: ${status.said.split('\n')[0] ?? ''}`,
    };
  const entries = reflog?.kind === 'printed' ? entriesOf(reflog.text) : [];
  const seen = status.kind === 'printed' ? readStatus(status.text) : undefined;
  const head = seen === undefined ? (entries[0]?.id ?? null) : seen.head;
  const from = since === null ? null : (headAt(entries, since) ?? idIn(recordedHead));
  const changed = seen === undefined ? undefined : wereChanged(root, seen.paths, validatedAt);
  return {
    known: true,
    head,
    commits: from === null || head === null ? null : await commitsBetween(git, from, head),
    dirty: seen === undefined ? null : { total: seen.paths.length, paths: seen.paths.slice(0, most.paths) },
    changedSinceValidation: changedSince(entries, head, changed, validatedAt),
  };
};

/** What was checked out from some time on, the newest first. */
interface ReflogEntry {
  /** Seconds. */
  readonly at: number;
  readonly id: string;
}

const entriesOf = (text: string): readonly ReflogEntry[] =>
  text.split('\n').flatMap((line) => {
    const [, at, id] = /@\{(\d+)\}\0([0-9a-f]{40,64})$/.exec(line) ?? [];
    return at === undefined || id === undefined ? [] : [{ at: Number(at), id }];
  });

/** What an event says is text from outside, and no option of git. */
const idIn = (said: string | null): string | null => (/^[0-9a-f]{40,64}$/.test(said ?? '') ? said : null);

/** What was checked out at a time; null where the log of git does not reach back so far. */
const headAt = (entries: readonly ReflogEntry[], time: string): string | null =>
  entries.find(({ at }) => at * 1000 <= Date.parse(time))?.id ?? null;

const commitsBetween = async (git: Git, from: string, head: string): Promise<OutsideCommits | null> => {
  if (from === head) return { from, count: 0, gone: 0, newest: [] };
  const [counted, newest] = await Promise.all([
    git('rev-list', '--left-right', '--count', `${from}...${head}`, '--'),
    git('log', `--max-count=${most.commits}`, '--format=%h%x00%an%x00%cI%x00%s', `${from}..${head}`, '--'),
  ]);
  if (counted.kind !== 'printed' || newest.kind !== 'printed') return null;
  const [gone = 0, count = 0] = counted.text.trim().split(/\s+/).map(Number);
  return {
    from,
    count,
    gone,
    newest: newest.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [id = '', author = '', at = '', subject = ''] = line.split('\0');
        return { id, author, at: utc(at), subject };
      }),
  };
};

const utc = (at: string): string => {
  const time = Date.parse(at);
  return Number.isNaN(time) ? '' : new Date(time).toISOString();
};

/** Whether one of the files was changed after a time; null where nobody asks. */
const wereChanged = (root: string, paths: readonly string[], after: string | null): boolean | null =>
  after === null ? null : paths.slice(0, most.dated).some((path) => changedAt(join(root, path)) > Date.parse(after));

/** When a file was changed, in milliseconds; of one that is gone, its folder. */
const changedAt = (path: string): number => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false }) ?? lstatSync(dirname(path), { throwIfNoEntry: false });
    return found?.mtimeMs ?? 0;
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return 0;
  }
};

const changedSince = (
  entries: readonly ReflogEntry[],
  head: string | null,
  changed: boolean | null | undefined,
  validatedAt: string | null,
): boolean | null => {
  if (validatedAt === null) return null;
  const then = headAt(entries, validatedAt);
  if (changed === true || (then !== null && then !== head)) return true;
  return changed === undefined || then === null ? null : false;
};
