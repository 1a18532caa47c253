import { keyOf } from '../../kernel/address.ts';
import { isAsImported } from '../../kernel/common.ts';
import { kernelEvent } from '../../kernel/event.ts';
import type { ChangedFile, FileWorld } from '../../kernel/kind.ts';
import { decideArchive } from '../../kernel/lifecycle-rules.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import { cleanJson } from '../../kernel/verb.ts';
import type { UnknownKeys } from '../../formats/orchestrator/document.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { ok } from '../../lib/result.ts';
import { stateOf } from './command.ts';
import { currentFile, home, kindName } from './documents.ts';
import { addedKeys } from './foreign-keys.ts';
import { openReader } from './found-sessions.ts';

/**
 * What another program has made of the file of an orchestration. What it adds to the format is put on record, and stays in the
 * file. One that was over when it was taken over, and whose file another session takes the place of, goes to the history.
 */
export const changed = async (world: FileWorld, root: string, path: string): Promise<ChangedFile> => {
  const read = await openReader(world, root, { isOurs: true });
  const { found, digest } = read({ path: `${root}/${path}`, isListed: true });
  if (found.what === 'newer')
    return {
      digest,
      is: `was written by a newer version: its schema is ${JSON.stringify(found.version)}, and 1 is what is understood here`,
      more: 'a newer stint takes it over: upgrade stint',
    };
  if (found.what !== 'session' || found.session.lost.length > 0) return { digest };
  const { document } = found.session;
  const key = keyOf(kindName, document.session_id);
  const plain: Json = JSON.parse(JSON.stringify(found.session.unknown));
  const { value } = await cleanJson(plain, world.caller.redact);
  // Texts are replaced by texts: what it is made of stays.
  const unknown = value as unknown as UnknownKeys;
  const before = await world.store.load(key);
  const isMadeWayFor = ({ common }: OpenedSession): boolean =>
    path === currentFile &&
    world.places.homeOf(common).root === root &&
    common.status === 'closed' &&
    common.archivedAt === null &&
    isAsImported(common);
  return {
    digest,
    isOriginal: before !== undefined && stateOf(before).origin?.digest === digest,
    record: {
      key,
      decide: (session) => {
        const keys = addedKeys(stateOf(session), session.common, { document, unknown });
        const added = Object.keys(keys).length === 0 ? [] : [kernelEvent('KeysAdded', { keys })];
        const archived = isMadeWayFor(session) ? decideArchive(session, home, false) : ok([]);
        return archived.ok ? ok([...archived.value, ...added]) : archived;
      },
      more:
        before !== undefined && isMadeWayFor(before)
          ? `${key} lies in the history now`
          : 'the keys that it adds stay in ours',
    },
  };
};
