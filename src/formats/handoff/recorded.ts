import type { World } from '../../kernel/verb.ts';
import { digestOfDocument } from './clean.ts';
import { textIn, type Half } from './print.ts';

/**
 * The text of a half of a pair as it was put on record when it was archived here; undefined where it was not. `path` is that
 * from the root of the documents, which is `root` from that of the checkout.
 */
export const recordedHalf = async (
  { store, places }: Pick<World, 'store' | 'places'>,
  root: string,
  half: Half,
  path: string,
): Promise<string | undefined> => {
  const { id } = places.here;
  const record = id === null ? undefined : await store.mirrorAt(id, `${root}/${path}`);
  const event = record === undefined ? undefined : await store.event(record.session, record.source);
  return event?.type === 'PairArchived' ? textIn(event, half)?.text : undefined;
};

/** A file below the root of documents, and what lies there; undefined where nothing does. */
export interface Lying {
  readonly half: Half;
  readonly path: string;
  readonly text: string | undefined;
}

/**
 * What is to lie in the places of two halves that were archived together, by their paths: what was put on record of one that
 * is gone, or that is another version of it, which version control has brought, alone perhaps. What somebody else wrote is no
 * version and stays.
 */
export const recordedInstead = async (
  world: Pick<World, 'store' | 'places'>,
  root: string,
  lying: readonly Lying[],
): Promise<ReadonlyMap<string, string>> => {
  const versions = await Promise.all(
    lying.map(async ({ path, text }) =>
      text === undefined ? undefined : world.store.versionOf(`${root}/${path}`, digestOfDocument(text)),
    ),
  );
  // Of what was archived in another checkout there is no record here: the other half says whose it is.
  const key = versions.find((version) => version !== undefined);
  const instead = new Map<string, string>();
  for (const [at, { half, path, text }] of lying.entries()) {
    if (text !== undefined && versions[at] === undefined) continue;
    const recorded =
      (await recordedHalf(world, root, half, path)) ??
      (key === undefined ? undefined : await recordedOf(world, key, root, half, path));
    if (recorded === undefined) continue;
    if (text === undefined || digestOfDocument(recorded) !== digestOfDocument(text)) instead.set(path, recorded);
  }
  return instead;
};

/** The same of a session, whichever checkout it was archived in; undefined for what it works with. */
const recordedOf = async (
  { store }: Pick<World, 'store'>,
  key: string,
  root: string,
  half: Half,
  path: string,
): Promise<string | undefined> => {
  const { documents } = (await store.load(key))?.common ?? {};
  if (documents?.root === root && documents.handover === path) return undefined;
  const archived = await store.events(key, { types: ['PairArchived'] });
  const event = archived.findLast(
    ({ data }) =>
      data['root'] === root &&
      (half === 'handover' ? [data['handover'], data['superseded']] : [data['session_state']]).includes(path),
  );
  return event && textIn(event, half)?.text;
};
