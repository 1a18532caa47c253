import { execFile } from 'node:child_process';
import { dirname } from 'node:path';

/** Git as it is asked about a checkout, whoever has made that. */

/** How long it is waited for, in milliseconds, and how much of what it prints is read. */
export interface Patience {
  readonly milliseconds: number;
  readonly bytes: number;
}

const usual: Patience = { milliseconds: 3000, bytes: 8 * 1024 * 1024 };

/** Variables that a hook of git sets, and that would have it look at another repository, or print otherwise. */
const misleading =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|PREFIX|ALTERNATE_\w+|CEILING_DIRECTORIES|EXTERNAL_DIFF|DIFF_OPTS|LITERAL_PATHSPECS)$/;

export type Variables = Readonly<Record<string, string | undefined>>;

/** What became of a call of git. */
export type Printed =
  | { readonly kind: 'printed'; readonly text: string; readonly bytes: Buffer }
  | { readonly kind: 'failed'; readonly said: string }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'no-git' };

export type Git = (...args: readonly string[]) => Promise<Printed>;

/** Asks git without letting it write, wait for anybody, look further up, or start programs that the repository names. */
export const gitIn = (root: string, env: Variables, patience: Patience = usual): Git => {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !misleading.test(name)));
  const settings = ['core.fsmonitor=false', 'log.showSignature=false', 'core.quotePath=false', 'color.ui=false'];
  return async (...args) =>
    new Promise((resolve) => {
      execFile(
        'git',
        ['--no-pager', '--no-optional-locks', '-C', root, ...settings.flatMap((one) => ['-c', one]), ...args],
        {
          env: { ...kept, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_CEILING_DIRECTORIES: dirname(root) },
          timeout: patience.milliseconds,
          killSignal: 'SIGKILL',
          maxBuffer: patience.bytes,
          windowsHide: true,
          encoding: 'buffer',
        },
        (error, stdout, stderr) => {
          if (error === null) resolve({ kind: 'printed', text: stdout.toString(), bytes: stdout });
          else if (error.code === 'ENOENT') resolve({ kind: 'no-git' });
          else if (typeof error.code === 'number') resolve({ kind: 'failed', said: stderr.toString() });
          else resolve({ kind: 'too-long' });
        },
      );
    });
};

/** What `git status --porcelain=v2 -z` says: what is checked out, where it says that, and the paths in its order. */
export const readStatus = (
  text: string,
): {
  readonly head: string | null;
  readonly paths: readonly string[];
  /** Those of them that git does not know. */
  readonly untracked: readonly string[];
} => {
  let head: string | null = null;
  const paths: string[] = [];
  const untracked: string[] = [];
  const parts = text.split('\0');
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    const [, id] = /^# branch\.oid ([0-9a-f]+)$/.exec(part) ?? [];
    if (id !== undefined) head = id;
    // The fields before a path: none for what git does not know, more for what is in conflict.
    const [, path] = /^(?:\? |1 (?:\S+ ){7}|2 (?:\S+ ){8}|u (?:\S+ ){9})(.+)$/s.exec(part) ?? [];
    if (path !== undefined) {
      paths.push(path);
      if (part.startsWith('? ')) untracked.push(path);
    }
    // Behind what was renamed stands what it was called before.
    if (part.startsWith('2 ')) at += 1;
  }
  return { head, paths, untracked };
};
