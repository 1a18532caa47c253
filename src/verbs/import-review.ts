import * as v from 'valibot';
import { keyOf } from '../kernel/address.ts';
import { objectsAt, table, textAt, textsAt } from '../kernel/answer.ts';
import type { Order } from '../kernel/dispatch.ts';
import { loadedIn } from '../kernel/dispatch.ts';
import type { DecidedEvent } from '../kernel/event.ts';
import { optionalText } from '../kernel/fields.ts';
import { decideImport } from '../kernel/history.ts';
import { holderOf, leaseFacts, refuseOthers, type Holder } from '../kernel/lease.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { isOpened, type Session } from '../kernel/session.ts';
import { cleanJson, defineVerb, type World } from '../kernel/verb.ts';
import { planFolders, type FolderPlan } from '../formats/ocr/folders.ts';
import { shownText } from '../formats/ocr/row-values.ts';
import { readHistory, type OcrHistory } from '../formats/ocr/history.ts';
import { importOfFolder, importOfRow, newerItems, type OcrImport } from '../formats/ocr/import.ts';
import { metaFileOf, readMeta } from '../formats/ocr/meta.ts';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { sessionNameProblem } from '../lib/name.ts';
import { err, ok, type Result } from '../lib/result.ts';

export const importReview = defineVerb({
  name: 'import review',
  summary: 'Take over the sessions of an Open Code Review folder.',
  details: `Reads an existing .ocr folder: its database, of any version, through a private copy, and the folders of its sessions. Sessions come over with their events, times and processes, open ones open. A round is complete only where the database has the event of its completion: a file alone completes nothing, and a session that only files tell of comes over closed. What could not be taken as it was stands in problems.

--dry-run shows what would be taken. Doing it again takes what is new; a session that has gone on here since is left alone. The original is never changed.`,
  examples: ['stint import review --dry-run', 'stint import review ../old-checkout/.ocr --json'],
  aliases: [{ name: 'state sync' }],
  input: () =>
    v.strictObject({
      path: optionalText('The .ocr folder, or the folder that holds it. Default: .ocr of this checkout.'),
    }),
  positionals: ['path'],
  creates: true,
  does: {
    writes: async (world, input) => {
      const tree = await readTree(world, input.path);
      if (!tree.ok) return tree;
      const known = new Map((await world.store.processes({})).map(({ id, session }) => [id, session]));
      return ok(orderOf(world, await cleaned(withOwnProcesses(tree.value, known), world.caller.redact)));
    },
  },
  text: (answer) => {
    const sessions = objectsAt(answer, 'sessions');
    const rows = sessions.map((one) => [
      textAt(one, 'result'),
      textAt(one, 'session'),
      textAt(one, 'position'),
      textAt(one, 'status'),
    ]);
    return [
      sessions.length === 0 ? `nothing to import in ${textAt(answer, 'source')}` : table(rows),
      ...sessions.flatMap((one) => textsAt(one, 'problems').map((text) => `${textAt(one, 'session')}: ${text}`)),
      ...objectsAt(answer, 'ignored').map((one) => `ignored: ${textAt(one, 'id')}: ${textAt(one, 'reason')}`),
      ...textsAt(answer, 'problems').map((text) => `note: ${text}`),
    ].join('\n');
  },
});

/** What was found in a folder of the original. */
interface Tree {
  readonly source: string;
  /** The schema of its database; null where there is none. */
  readonly schema: number | null;
  readonly history: OcrHistory;
  readonly folders: FolderPlan;
  readonly imports: readonly OcrImport[];
}

/** Where there is no database. */
const noTables: Readonly<Record<string, readonly JsonObject[]>> = {};

const tableNames = ['schema_version', 'sessions', 'orchestration_events', 'command_executions', 'agent_sessions'];

/** Largest file of a round that is read, in bytes. */
const largestMeta = 16 * 1024 * 1024;

const readTree = async (world: World, given: string | undefined): Promise<Result<Tree, Refusal>> => {
  const { files, places, caller } = world;
  const project = await world.project();
  const folder = [`${given ?? places.here.root}/.ocr`, given].find(
    (path) => path !== undefined && (files.exists(`${path}/data/ocr.db`) || files.exists(`${path}/sessions`)),
  );
  if (folder === undefined) {
    return err(
      refuse(
        'not-found',
        `There is no Open Code Review folder: ${given ?? `${places.here.root}/.ocr`} holds neither data/ocr.db nor sessions/.`,
        {
          expected: 'a folder .ocr, or the folder that holds it',
          hint: 'stint import review PATH',
        },
      ),
    );
  }
  const database = `${folder}/data/ocr.db`;
  const tables = files.exists(database) ? await project.tables(database, tableNames) : ok(noTables);
  if (!tables.ok) return tables;
  const rowsOf = (name: string): readonly JsonObject[] => tables.value[name] ?? [];
  const versions = rowsOf('schema_version').flatMap(({ version }) => (typeof version === 'number' ? [version] : []));
  const schema = files.exists(database) ? Math.max(0, ...versions) : null;
  // Taken for an original without sessions it would make every folder a session that only files tell of.
  if (schema === 0 && rowsOf('sessions').length === 0)
    return err(
      refuse('damaged', `${database} is no database of Open Code Review.`, {
        expected: 'its database, or none',
      }),
    );
  const history = readHistory({
    version: schema,
    sessions: rowsOf('sessions'),
    events: rowsOf('orchestration_events'),
    executions: [...rowsOf('command_executions'), ...rowsOf('agent_sessions')],
  });

  const tree = project.tree(`${folder}/sessions`);
  const filesById = new Map(tree.map(({ id, files: names }) => [id, names]));
  const known = new Set(history.sessions.map(({ kind, id }) => keyOf(kind, id)));
  const ids = new Set(history.sessions.map(({ id }) => id));
  const folders = planFolders(tree);
  return ok({
    source: folder,
    schema,
    history,
    folders,
    imports: [
      ...history.sessions.map((session) =>
        importOfRow(session, filesById.get(session.id) ?? [], (round, summary) => {
          const text = files.read(`${folder}/sessions/${session.id}/${metaFileOf(session.kind, round)}`, largestMeta);
          return text === null ? undefined : readMeta(session.kind, text, summary);
        }),
      ),
      ...folders.sessions.flatMap((one) =>
        one.kinds
          .filter((kind) => !(one.isGuess ? ids.has(one.id) : known.has(keyOf(kind, one.id))))
          .map((kind) => importOfFolder(one, kind, filesById.get(one.id) ?? [], caller.now)),
      ),
    ].filter(({ id }) => sessionNameProblem(id) === undefined),
  });
};

/** The tree without processes that are on record for another session: a process works on one. */
const withOwnProcesses = (tree: Tree, sessionById: Map<string, string>): Tree => ({
  ...tree,
  imports: tree.imports.map((one) => {
    const key = keyOf(one.kind, one.id);
    const problems = new Set<string>();
    const items = one.items.filter((item) => {
      if (item.what !== 'process') return true;
      const id = textAt(item.event.data, 'process');
      const owner = sessionById.get(id) ?? key;
      sessionById.set(id, owner);
      if (owner !== key) problems.add(`The process ${id} is on record for ${owner}: it was left out.`);
      return owner === key;
    });
    return problems.size === 0 ? one : { ...one, items, problems: [...one.problems, ...problems] };
  }),
});

/** What others wrote. */
type Told = Pick<OcrImport, 'items' | 'problems' | 'branch' | 'files'>;

/** The same with how often each rule of the scanner fired. */
interface CleanTree extends Tree {
  readonly imports: readonly (OcrImport & { readonly found: Readonly<Record<string, number>> })[];
}

/** A tree as it may be stored, with the secrets that were found: what others wrote is no safer than what is given. */
const cleaned = async (tree: Tree, redact: boolean): Promise<CleanTree> => {
  const imports: CleanTree['imports'][number][] = [];
  for (const one of tree.imports) {
    const { items, problems, branch, files } = one;
    const told: Json = JSON.parse(JSON.stringify({ items, problems, branch, files }));
    const { value, found } = await cleanJson(told, redact);
    // Texts are replaced by texts: what it is made of stays.
    imports.push({ ...one, ...(value === told ? {} : (value as unknown as Told)), found });
  }
  return { ...tree, imports };
};

const orderOf = (world: World, tree: CleanTree): Order<JsonObject> => {
  const byKey = new Map(tree.imports.map((one) => [keyOf(one.kind, one.id), one]));
  const { worktree } = world.places.here;
  const holder = (): Holder => holderOf(world, world.places.here.id ?? '');
  /** The sessions of its name to which a folder may belong instead. */
  const othersOf = ({ isGuess, kind, id }: OcrImport): readonly string[] =>
    isGuess ? [...world.kinds.keys()].filter((other) => other !== kind).map((other) => keyOf(other, id)) : [];
  const decide = (
    sessions: ReadonlyMap<string, Session>,
    key: string,
    from: OcrImport,
  ): Result<readonly DecidedEvent[], Refusal> => {
    const session = loadedIn(sessions, key);
    const { branch, source, taken, problems, files } = from;
    const mark = { source, taken, branch, worktree, problems, files };
    if (!isOpened(session)) {
      if (othersOf(from).some((other) => isOpened(loadedIn(sessions, other)))) return ok([]);
      return decideImport(session, from.items, mark);
    }
    const { imported, revision } = session.common;
    // What has gone on here is the truth now.
    if (imported?.source !== source || revision !== imported.revision) return ok([]);
    const held = world.caller.takeOver
      ? undefined
      : refuseOthers(leaseFacts(session, world.caller, world.host), holder);
    if (held !== undefined) return err(held);
    const decided = decideImport(session, unknownTo(session, newerItems(from, imported.taken)), mark);
    // What was concluded from rows is concluded each time: alone it is nothing new.
    const isNew = !decided.ok || taken > imported.taken || decided.value.some(({ type }) => type !== 'Imported');
    return isNew ? decided : ok([]);
  };
  return {
    fence: 'several',
    keys: [...new Set([...byKey].flatMap(([key, from]) => [key, ...othersOf(from)]))],
    processes: tree.imports.flatMap(({ items }) =>
      items.flatMap((item) => (item.what === 'process' ? [textAt(item.event.data, 'process')] : [])),
    ),
    decide: (sessions) => {
      const events = new Map<string, readonly DecidedEvent[]>();
      for (const [key, from] of byKey) {
        const decided = decide(sessions, key, from);
        // What cannot be folded is left out, and told: it does not keep the others away.
        if (decided.ok) events.set(key, decided.value);
      }
      return ok(events);
    },
    answer: (after, before) => {
      const redacted: Record<string, number> = {};
      const sessions = [...byKey].map(([key, from]) => {
        const earlier = loadedIn(before, key);
        const decided = decide(before, key, from);
        const session = loadedIn(after, key);
        const result = !decided.ok ? 'refused' : decided.value.length > 0 ? 'imported' : resultOf(earlier, from);
        if (result === 'imported')
          for (const [rule, count] of Object.entries(from.found)) redacted[rule] = (redacted[rule] ?? 0) + count;
        return {
          session: key,
          result,
          status: isOpened(session) ? (session.common.outcome ?? session.common.status) : null,
          position: isOpened(session) ? session.folded.view(session.common).position : null,
          problems: [...from.problems, ...(decided.ok ? [] : [decided.error.message])],
        };
      });
      return {
        source: tree.source,
        schema: tree.schema,
        sessions,
        ignored: [
          ...tree.history.sessions
            .filter(({ id }) => sessionNameProblem(id) !== undefined)
            .map(({ id }) => ({ id: shownText(id, 200), reason: sessionNameProblem(id) ?? '' })),
          ...tree.folders.ignored.map(({ id, reason }) => ({ id, reason })),
        ],
        unlinked_executions: tree.history.unlinkedExecutions,
        problems: [...tree.history.problems],
        ...(Object.keys(redacted).length === 0 ? {} : { redacted }),
      };
    },
  };
};

/** Events of processes are taken once, whatever was taken before. */
const unknownTo = (session: Session, items: OcrImport['items']): OcrImport['items'] =>
  items.filter((item) => {
    if (item.what !== 'process') return true;
    const known = session.processes.get(textAt(item.event.data, 'process'));
    return known === undefined || (item.event.type === 'ProcessEnded' && known.endedAt === null);
  });

const resultOf = (session: Session, { source, taken }: OcrImport): string => {
  const { imported, revision } = session.common ?? { imported: null, revision: 0 };
  if (imported?.source !== source) return 'another one of this name is here';
  return taken > imported.taken && revision !== imported.revision ? 'it has gone on here' : 'unchanged';
};
