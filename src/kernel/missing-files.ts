import type { Files, Places, SessionRow } from './ports.ts';
import { refuse, type Refusal } from './refusal.ts';

/** Files of a checkout that are said to be there and are not, or are empty; each as a line. */
export const missingFiles = (paths: readonly string[], files: Files, root: string): readonly string[] =>
  paths.flatMap((path) => {
    const relative = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
    const found = files.digest(root, relative);
    const shown = JSON.stringify(path.slice(0, 200));
    if (found === undefined) return [`${shown} is not there, or leads out of the checkout`];
    return found.size === 0 ? [`${shown} is empty`] : [];
  });

/** Refuses what names files of the caller's checkout that are not there, or are empty; undefined where all are. */
export const refuseMissing = (
  { files, places }: { readonly files: Files; readonly places: Places },
  paths: readonly string[],
): Refusal | undefined => {
  const missing = missingFiles(paths, files, places.here.root);
  return missing.length === 0
    ? undefined
    : refuse('invariant-unmet', `What is said to be there is not: ${missing[0]}.`, {
        expected: 'files of this checkout that are there and not empty',
        faults: missing,
      });
};

/** A path of the caller's checkout, as the session's own finds it. */
export const pathAtHome = (places: Places, row: SessionRow, path: string): string => {
  const { root, isElsewhere } = places.homeOf(row);
  const isHere = isElsewhere === true || root === places.here.root || path.startsWith('/');
  return isHere ? path : `${places.here.root}/${path}`;
};
