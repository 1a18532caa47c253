import { dirname, join } from 'node:path';
import { whenLoaded } from '../kernel/kinds.ts';
import { StoreFailure, type Damage } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { World } from '../kernel/verb.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { keepCopy } from '../store/copies.ts';
import { prepareFolder } from '../store/own-folder.ts';
import { refuseFolder } from '../store/places.ts';
import { describeRemains, isDamagedStore, openRemains as openRemainsStore, repairStore } from '../store/repair.ts';
import { gatherRemains } from '../store/remains.ts';
import { wayOut } from '../store/hints.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { keepStoreId } from '../store/store-files.ts';
import { isFull, survey, type Location, type Workplace } from './world.ts';

/** Looking after the store itself: what is left of a damaged one, its repair, and its copies. Loaded when it is needed. */

/** Opens what is left of a store that is damaged, to be read. */
export const openRemains = async (location: Location, refusal: Refusal): Promise<Result<Workplace, Refusal>> => {
  const surveyed = survey(location);
  if (!surveyed.ok) return surveyed;
  if (surveyed.value.isOnServer) return err(refusal);
  return remainsOf(surveyed.value, refusal);
};

/** The same, where the place is known. */
export const remainsOf = async (
  place: Omit<Workplace, 'store' | 'damage'>,
  refusal: Refusal,
): Promise<Result<Workplace, Refusal>> => {
  try {
    return await whenLoaded(() => {
      const remains = gatherRemains(place.files, place.kinds);
      const store = openRemainsStore(remains, place.kinds, place.files.path, refusal, place.now());
      return ok({ ...place, store, damage: describeRemains(remains, refusal) });
    });
  } catch (error) {
    if (error instanceof StoreFailure) return err(error.refusal);
    throw error;
  }
};

/** What a reader of the remains is told. */
export const warningOf = ({ refusal, sessions, lost }: Damage): string => {
  const flawed = sessions.filter(({ flaw }) => flaw !== null).length;
  const parts = [
    `${sessions.length} ${sessions.length === 1 ? 'session' : 'sessions'}`,
    ...(flawed === 0 ? [] : [`${flawed} of them not whole`]),
    ...(lost.length === 0 ? [] : [`${lost.length} lost`]),
  ];
  const way = isFull(refusal) ? '' : `; to bring it back: ${wayOut(refusal)}`;
  return `${refusal.message} This is what can be read of it (${parts.join(', ')})${way}`;
};

/** What is not found in the remains of a store may be what was lost of it. */
export const unlessLost = (refusal: Refusal, damage: Damage): Refusal =>
  refusal.code !== 'not-found'
    ? refusal
    : {
        ...damage.refusal,
        message: `${damage.refusal.message} In what can be read of it: ${refusal.message}`,
        ...(refusal.candidates === undefined ? {} : { candidates: refusal.candidates }),
      };

/** Keeps a copy of the store, where the user has a place for it and the last one is old enough. */
export const keepCopyOf = async ({ store, files: { copies, idFile }, now }: Workplace): Promise<string | undefined> => {
  if (copies === undefined) return undefined;
  const { id } = store.identity;
  if (idFile !== undefined) keepStoreId(idFile, id);
  return keepCopy(store, join(copies, id), now());
};

/** Makes a damaged store anew. */
export const repair = async (workplace: Workplace): ReturnType<World['care']['repair']> => {
  const { files: storeFiles, kinds, now, isOnServer, store: server } = workplace;
  if (isOnServer)
    throw new StoreFailure(
      refuse('damaged', `The store ${server.name} is damaged.`, {
        expected: 'a server that is looked after by its administrator',
        hint: 'restore it from a backup',
      }),
    );
  // The folder may be gone with the store.
  const prepared = storeFiles.idFile === undefined ? ok(undefined) : prepareFolder(dirname(storeFiles.path));
  if (!prepared.ok) throw new StoreFailure(refuseFolder(prepared.error));
  const repaired = await whenLoaded(() =>
    repairStore(storeFiles, kinds, now(), () => isDamagedStore(storeFiles, kinds)),
  );
  const store = openSqliteStore(storeFiles.path, kinds, { create: true, anyFileSystem: true });
  if (storeFiles.idFile !== undefined) keepStoreId(storeFiles.idFile, store.identity.id);
  if (repaired === undefined) return { store, done: undefined };
  const refusal = workplace.damage?.refusal ?? refuse('damaged', `The store ${storeFiles.path} is damaged.`);
  return { store, done: { damage: describeRemains(repaired.remains, refusal), kept: repaired.kept } };
};
