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

/**
 * The text that was put on record where `text` is an older version of it, or one of another checkout: version control has
 * brought it, of one half alone perhaps. Undefined where it is no version at all, or the one that was put on record.
 */
export const recordedInstead = async (
  world: Pick<World, 'store' | 'places'>,
  root: string,
  half: Half,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<string | undefined> => {
  const digest = digestOfDocument(text);
  const key = await world.store.versionOf(`${root}/${path}`, digest);
  if (key === undefined) return undefined;
  const recorded = (await recordedHalf(world, root, half, path)) ?? (await recordedOf(world, key, root, half, path));
  return recorded === undefined || digestOfDocument(recorded) === digest ? undefined : recorded;
};

/** The same of a session that was archived in another checkout, as long as it is not what it works with. */
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
