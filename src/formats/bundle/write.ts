import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nextStamp } from '../handoff/workspace.ts';

/** Where a bundle is written: whole, in one step, and where git does not see it unless the caller says otherwise. */

/** Where the file of a bundle is to lie. */
export interface BundlePlace {
  /** Its whole path. */
  readonly path: string;
  /** A folder that is still to be made, and kept from git. */
  readonly own: { readonly folder: string; readonly name: string } | undefined;
  /** Whether what lies there is replaced. */
  readonly replaces: boolean;
}

/** The folder of bundles, below the documents or, of a session without any, beside the place of its checkout. */
const folderName = 'handoff-bundles';

/** The place that is named, else the next free one. What lies there is only replaced where that is said. */
export const placeForBundle = async (
  world: World,
  root: string | undefined,
  { output, force }: { readonly output: string | undefined; readonly force: boolean },
): Promise<Result<BundlePlace, Refusal>> => {
  const project = await world.project();
  if (output !== undefined) {
    const path = project.resolve(output);
    if (project.isFolder(path))
      return err(refuse('usage', `${path} is a folder, and a bundle is a file.`, { expected: 'the name of a file' }));
    if (!force && project.changedAt(path) !== undefined) return err(refuseOverwriting(path));
    return ok({ path, own: undefined, replaces: force });
  }
  return ok(freePlace(world, root ?? `${world.places.here.root}/.stint`));
};

/** The next free place in a folder of bundles. */
const freePlace = ({ files, caller }: World, folder: string): BundlePlace => {
  const taken = files.list(`${folder}/${folderName}`).flatMap((name) => /^\d{8}_\d{4}(?=_)/.exec(name) ?? []);
  const name = `${folderName}/${nextStamp(caller.now, taken)}_handoff-bundle.json`;
  return { path: `${folder}/${name}`, own: { folder, name }, replaces: false };
};

const refuseOverwriting = (path: string): Refusal =>
  refuse('conflict', `Refusing to overwrite ${path}.`, {
    expected: 'another path, or --force',
    candidates: [path],
    hint: `stint bundle inspect --bundle ${path}`,
  });

/**
 * Writes it, and answers where: of those who write at the same moment each has a place of its own. A folder of our own keeps
 * what is in it from git, unless somebody has settled that otherwise.
 */
export const writeBundle = async (
  world: World,
  place: BundlePlace,
  text: string,
): Promise<Result<{ readonly path: string; readonly warnings: readonly string[] }, Refusal>> => {
  const { path, own, replaces } = place;
  const project = await world.project();
  const warnings: string[] = [];
  if (own !== undefined) {
    const ignore = `${folderName}/.gitignore`;
    const known = project.text(own.folder, ignore, 64 * 1024);
    const problem =
      project.makeFolder(own.folder, folderName) ??
      (!known.ok && known.error.isMissing ? project.write(own.folder, ignore, '*\n') : undefined);
    if (problem !== undefined) return err(refuseWriting(`${own.folder}/${folderName}`, problem));
    if (known.ok ? !/^\*$/m.test(known.value) : !known.error.isMissing)
      warnings.push(`GIT: ${own.folder}/${ignore} does not keep bundles from git`);
  }
  const at = path.lastIndexOf('/');
  // A folder of our own that is a link may lead anywhere.
  const { folder, name } = own ?? { folder: path.slice(0, at) || '/', name: path.slice(at + 1) };
  if (!project.isPlain(folder, name)) return err(refuseWriting(path, 'is no file itself, or its folder is not there'));
  const problem = replaces ? project.write(folder, name, text) : project.create(folder, name, text);
  if (problem === null) {
    const next = own === undefined ? place : freePlace(world, own.folder);
    // Of a folder that cannot be read it is not known what is free there.
    return next.path === path ? err(refuseOverwriting(path)) : writeBundle(world, next, text);
  }
  return problem === undefined ? ok({ path, warnings }) : err(refuseWriting(path, problem));
};

const refuseWriting = (path: string, problem: string): Refusal =>
  refuse('invariant-unmet', `${path} ${problem}.`, { expected: 'a file that may be written' });
