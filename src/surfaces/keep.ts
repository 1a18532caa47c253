import { statSync } from 'node:fs';
import type { Store } from '../kernel/ports.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { OpenStore } from './world.ts';

/** A store that stays open between two looks at it: opening costs little, closing costs syncs. */
export interface Keeper {
  /** Gives the store that is open, if it is still the same file; else closes it and opens what is there now. */
  readonly open: OpenStore;
  /** Closes the store, so that the next look begins anew. */
  readonly forget: () => Promise<void>;
}

/** Makes a keeper that has nothing open yet. */
export const createKeeper = (): Keeper => {
  let kept: { readonly store: Store; readonly path: string; readonly stamp: string } | undefined;
  const forget = async (): Promise<void> => {
    const before = kept;
    kept = undefined;
    await before?.store.close();
  };
  return {
    forget,
    open: (path, kinds, options) => {
      // Looked at before it is opened: what is replaced in between is found out the next time.
      const seen = { true: stampOf(path, true), false: stampOf(path, false) };
      if (kept?.path === path && kept.stamp !== '' && kept.stamp === seen[`${kept.store.readOnly !== undefined}`])
        return kept.store;
      void forget();
      const store = openSqliteStore(path, kinds, options);
      kept = { store, path, stamp: seen[`${store.readOnly !== undefined}`] };
      return store;
    },
  };
};

/**
 * What tells a file from another one in its place; empty where there is none. A file that is open keeps its number to
 * itself. A store that may not be written may have been read from a copy, which is as old as the file was then.
 */
const stampOf = (path: string, isReadOnly: boolean): string => {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return '';
  const identity = `${file.dev}:${file.ino}`;
  if (!isReadOnly) return identity;
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return `${identity} ${file.size}@${file.mtimeMs} ${log?.size}@${log?.mtimeMs}`;
};
