import type { Files } from '../../kernel/ports.ts';

/** Where the files of an orchestrator lie in a checkout. */

/** A file that may be that of a session. */
export interface SessionFile {
  readonly path: string;
  /** Whether it is looked at because of where it lies, and not because somebody has named it. */
  readonly isListed: boolean;
}

/** The names in the folders of an orchestrator, as a checkout has them. */
export interface Listing {
  /** Of `.claude`. */
  readonly own: readonly string[];
  /** Of `.claude/orchestrator-history`. */
  readonly history: readonly string[];
  /** Of `.craft/cache`. */
  readonly cache: readonly string[];
}

const currentName = 'orchestrator-session.json';
export const historyName = 'orchestrator-history';
const summaryName = 'last-orchestration.json';

/** The files to look at in a checkout, the current one first. */
export const planSessionFiles = (root: string, { own, history, cache }: Listing): readonly SessionFile[] =>
  [
    ...own.filter((name) => name === currentName).map((name) => `.claude/${name}`),
    ...history.filter((name) => name.endsWith('.json')).map((name) => `.claude/${historyName}/${name}`),
    ...cache.filter((name) => name === summaryName).map((name) => `.craft/cache/${name}`),
  ].map((path) => ({ path: `${root}/${path}`, isListed: true }));

/** The files to look at in a checkout as it is. */
export const sessionFilesIn = (root: string, files: Files): readonly SessionFile[] =>
  planSessionFiles(root, {
    // What lies there is told of, also where it is no file.
    own: files.exists(`${root}/.claude/${currentName}`) ? [currentName] : [],
    history: files.list(`${root}/.claude/${historyName}`),
    cache: files.list(`${root}/.craft/cache`),
  });
