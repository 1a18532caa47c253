import type { World } from '../../kernel/verb.ts';
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
