import type { FoundSession } from '../../formats/orchestrator/read.ts';
import { keyOf } from '../../kernel/address.ts';
import { isAsImported, type Common } from '../../kernel/common.ts';
import type { LeftFile } from '../../kernel/kind.ts';
import type { Way } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { plainLine, truncate } from '../../lib/text.ts';
import { stateOf } from './command.ts';
import { currentFile, kindName } from './documents.ts';
import { lastGoodOf, openReader, type ReadFile } from './found-sessions.ts';

/** What lies in the place of the current orchestration and was not written here, and what can be done about it. */
export const look = async (world: World, digest: string | undefined): Promise<LeftFile | undefined> => {
  const { root } = world.places.here;
  const read = await openReader(world, root);
  const file = read({ path: `${root}/${currentFile}`, isListed: true });
  const { found } = file;
  const good = lastGoodOf(file, read);
  const others = [...(good === undefined ? [] : await waysTo(world, good)), earlier];
  switch (found.what) {
    case 'session': {
      const { session } = found;
      const taken = await world.store.load(keyOf(kindName, session.document.session_id));
      if (taken !== undefined && stateOf(taken).origin?.digest === digest) return undefined;
      const isBehind = taken === undefined ? undefined : whyBehind(session, taken.common);
      if (taken !== undefined && isBehind !== undefined)
        return {
          code: session.lost.length > 0 ? 'damaged' : 'invariant-unmet',
          problem: `holds another version of ${taken.key}, ${isBehind}.`,
          ways: [...(taken.common.status === 'closed' ? [goOn(taken.common.name)] : []), earlier],
        };
      if (session.lost.length > 0)
        return {
          code: 'damaged',
          problem: `holds a session that is not taken over, and something of it is lost: ${session.lost[0]}`,
          ways: [importing('take over what is left of it', '--salvage'), ...others],
        };
      return {
        code: 'invariant-unmet',
        problem: `holds a session that is not taken over: ${inShort(session)}.`,
        // The summary of a hook is taken where somebody names it.
        ways: [importing('take it over', ...(session.dialect === 'hook summary' ? [file.typed] : [])), ...others],
      };
    }
    case 'undecided':
      return {
        code: 'invariant-unmet',
        problem: `holds several versions of a session, none of which is taken over. ${found.problem}`,
        ways: [
          ...found.sides
            .filter((side) => side.found.what === 'session' && side.found.session.lost.length === 0)
            .map(({ name }) => importing(`take over the version called ${name}`, `--choose=${name}`)),
          ...others,
        ],
      };
    case 'newer':
      return { code: 'newer-version', problem: `is left as it is. ${found.problem}`, ways: [earlier] };
    case 'damaged':
      return { code: 'damaged', problem: `cannot be read. ${found.problem}`, ways: others };
    case 'neighbour':
      return {
        code: 'invariant-unmet',
        problem: `is no session that can be taken over: it is ${found.is}. ${found.why}`,
        ways: others,
      };
  }
};

/** Why an import leaves a file alone: it does not say more than is known here. */
const whyBehind = ({ document, lost }: FoundSession, common: Common): string | undefined => {
  if (!isAsImported(common)) return 'which has gone on here';
  if (lost.length > 0) return 'which was taken over before something of it was lost';
  const isOlder = common.imported?.lost === undefined && Date.parse(document.updated) < (common.imported?.taken ?? 0);
  return isOlder ? 'which is older than what was taken over' : undefined;
};

const importing = (text: string, ...words: readonly string[]): Way => ({
  text,
  words: ['import', 'orchestrator', ...words],
});

/** To the last good copy: it is taken over, or, where it was, gone on with. */
const waysTo = async (world: World, { shown, found, digest }: ReadFile): Promise<readonly Way[]> => {
  const id = found.what === 'session' ? found.session.document.session_id : '';
  const taken = await world.store.load(keyOf(kindName, id));
  if (taken === undefined || stateOf(taken).origin?.digest !== digest)
    return [importing(`take over the last good copy of it, ${shown}`, '--last-good')];
  return taken.common.status === 'closed' ? [goOn(id)] : [];
};

const goOn = (name: string): Way => ({
  text: `go on with ${name} as it stands here; the file is kept beside it`,
  words: ['history', 'resume', name],
});

const earlier: Way = { text: 'look at earlier sessions', words: ['history'] };

/** What a session is about, and how it stands. */
const inShort = ({ document: { goal, status, updated } }: FoundSession): string =>
  `${truncate(plainLine(goal), 100) || 'without a goal'}, ${status.replaceAll('_', ' ')}, updated ${updated}`;
