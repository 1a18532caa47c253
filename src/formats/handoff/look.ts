import type { Files } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { DocumentKind } from './document.ts';
import { conflictIn, readSections, rootHeading } from './sections.ts';
import { completePair, rootsInOrder, type Look, type Pair } from './workspace.ts';

/** The documents of a project as a caller names them. */

/** Most bytes of a document that is read. */
export const mostBytes = 16 * 1024 * 1024;

/** Where the documentation is looked for, where somebody says so. */
export interface Whereabouts {
  readonly root?: string | undefined;
  readonly start_dir?: string | undefined;
}

/** The root of the documentation: the one that is named, else the first of the usual folders that is there. */
export const findRoot = async (
  world: Pick<World, 'project'>,
  { root, start_dir: start }: Whereabouts,
): Promise<Result<string, Refusal>> => {
  const project = await world.project();
  const exists = (path: string): boolean => project.changedAt(path) !== undefined;
  const found = root === undefined ? undefined : project.resolve(root);
  const top = found === undefined ? checkoutOf({ files: { exists } }, project.resolve(start ?? '.')) : undefined;
  const folders = found === undefined ? rootsInOrder.map((folder) => `${top}/${folder}`) : [found];
  const [usual = ''] = folders;
  const there = folders.find(exists) ?? usual;
  return exists(there) && !project.isFolder(there)
    ? err(
        refuse('invariant-unmet', `${there} is a file, and the documentation is a folder.`, {
          expected: 'a folder',
          hint: 'move the file away, or name another folder with --root',
        }),
      )
    : ok(there);
};

/** The nearest folder upwards that is a checkout, else the folder itself. */
export const checkoutOf = ({ files }: { readonly files: Pick<Files, 'exists'> }, start: string): string => {
  for (let folder = start; folder !== ''; folder = folder.slice(0, folder.lastIndexOf('/')))
    if (files.exists(`${folder}/.git`)) return folder;
  return start;
};

/** What may be looked at below a root. */
export const lookBelow = async (world: Pick<World, 'files' | 'project'>, root: string): Promise<Look> => {
  const read = (await world.project()).texts(root);
  return {
    root,
    read: (path) => {
      const text = read(path, mostBytes);
      return text.ok || world.files.exists(`${root}/${path}`)
        ? text
        : err({ problem: 'is not there', isMissing: true });
    },
    list: (folder) => world.files.list(`${root}/${folder}`),
  };
};

/** A document that a caller names: the root that it lies below, two folders up, and its path from there. */
export const namedDocument = async (
  world: World,
  name: string,
): Promise<{ readonly look: Look; readonly path: string }> => {
  const full = (await world.project()).resolve(name);
  const folder = full.slice(0, full.lastIndexOf('/'));
  const root = folder.slice(0, folder.lastIndexOf('/'));
  return { look: await lookBelow(world, root), path: full.slice(root.length + 1) };
};

/** Refuses to work on what is no document of a kind, or one in which a merge has left a conflict. */
export const refuseText = (
  { called, root }: Pick<DocumentKind, 'called' | 'root'>,
  path: string,
  text: string,
): Refusal | undefined => {
  if (conflictIn(text) !== undefined)
    return refuse('invalid-input', `A merge has left a conflict in ${path}.`, {
      expected: 'a document without the marks of a conflict',
      hint: 'take one of the sides, or write what is true',
    });
  return rootHeading(readSections(text)) === root
    ? undefined
    : refuse('invalid-input', `${path} is no ${called}.`, {
        expected: `a document that begins with "${root}"`,
        hint: `name the ${called}, or write it`,
      });
};

/** The pair that is meant: the one that is named, of which the other half may be left out, else the one that was worked on last. */
export const meantPair = async (
  world: World,
  {
    handover,
    session_state: state,
  }: { readonly handover?: string | undefined; readonly session_state?: string | undefined },
): Promise<Result<{ readonly look: Look; readonly pair: Pair }, Refusal>> => {
  const one = handover === undefined ? undefined : await namedDocument(world, handover);
  const other = state === undefined ? undefined : await namedDocument(world, state);
  if (one !== undefined && other !== undefined && one.look.root !== other.look.root)
    return err(
      refuse('usage', 'The two documents lie in two documentations.', {
        expected: 'a handover and a session state below one root',
      }),
    );
  let look = (one ?? other)?.look;
  if (look === undefined) {
    const root = await findRoot(world, {});
    if (!root.ok) return root;
    look = await lookBelow(world, root.value);
  }
  const pair = completePair(look, { handover: one?.path, sessionState: other?.path });
  return pair.ok ? ok({ look, pair: pair.value }) : err(refusePair(pair.error));
};

/** That no pair can be told. */
export const refusePair = (problem: string): Refusal =>
  refuse('not-found', `No hand-off pair can be told: ${problem}.`, {
    expected: 'session-state/CURRENT.md that names a handover, or both of them named',
    hint: 'name both with --handover and --session-state',
  });
