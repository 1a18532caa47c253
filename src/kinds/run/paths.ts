/** Where the files of a run lie, relative to the checkout's root: those of the original workflow player. */

/** The folder of a run that is not in the archive. */
export const folderOfRun = (name: string): string => `.workflow/sessions/${name}`;

/** The output of a node that was put into no file of its own. */
export const outputPathOf = (name: string, node: string): string => `${folderOfRun(name)}/${outputFile(node)}`;
export const outputFile = (node: string): string => `artifacts/${node}-output.md`;

/** The snapshot of a checkpoint. */
export const snapshotPathOf = (name: string, node: string): string => `${folderOfRun(name)}/${snapshotFile(node)}`;
export const snapshotFile = (node: string): string => `checkpoints/${node}.json`;

/** A path on record, where it is now: what lies in the folder of a run moves with that. */
export const placePath = (path: string | null, name: string, folder: string): string | null => {
  const home = `${folderOfRun(name)}/`;
  return path?.startsWith(home) === true ? `${folder}/${path.slice(home.length)}` : path;
};
