import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import { digestOfDocument } from './clean.ts';
import type { Ground } from './live.ts';
import { mostBytes } from './look.ts';
import { wasVersion } from './seen.ts';
import { currentPath, locateLive } from './workspace.ts';

/** Documents that tell of a session which is worked on in another checkout. */

/**
 * The session that the documents of this checkout tell of, where they are not its own, or not any more: it has gone on in
 * another checkout, or version control has brought them from there.
 */
export const toldSession = async (world: World, { look, root }: Ground): Promise<OpenedSession | undefined> => {
  const { id } = world.places.here;
  const record = id === null ? undefined : await world.store.mirrorAt(id, `${root}/${currentPath}`);
  const { handover } = locateLive(look) ?? {};
  for (const path of [currentPath, ...(handover === undefined ? [] : [handover])]) {
    const text = (await world.project()).whole(look.root, path, mostBytes);
    const key = text.ok ? await world.store.versionOf(`${root}/${path}`, digestOfDocument(text.value)) : undefined;
    const session = key === undefined ? undefined : await world.store.load(key);
    if (session !== undefined) return session;
  }
  return record === undefined ? undefined : world.store.load(record.session);
};

/** The digests of what lies in the place of documents that come here and is neither of them nor known: what others wrote. */
export const unknownBeside = async (
  world: World,
  { look, root }: Ground,
  key: string,
  paths: readonly string[],
): Promise<readonly string[]> => {
  const { id } = world.places.here;
  const project = await world.project();
  const unknown: string[] = [];
  for (const path of paths) {
    const text = project.whole(look.root, path, mostBytes);
    if (!text.ok) continue;
    const digest = digestOfDocument(text.value);
    const full = `${root}/${path}`;
    if (id !== null && (await wasVersion(world, id, full, digest))) continue;
    const before = id === null ? undefined : await world.store.mirrorAt(id, full);
    const of = before?.session ?? (await toldSession(world, { look, root }))?.key;
    if (of !== key) unknown.push(digest);
  }
  return unknown;
};
