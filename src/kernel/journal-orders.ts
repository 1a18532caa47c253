import type { JsonObject } from '../lib/canonical-json.ts';
import { withoutUndefined } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { shellWord, truncateStart } from '../lib/text.ts';
import { orderOne, type Order } from './dispatch.ts';
import { durationOf } from './fields.ts';
import { entryOf, namesFile, type Entry, type EntryType } from './journal.ts';
import { findSuccessor } from './journal-query.ts';
import { decideEntry, isHeld, refuseSuperseded, refuseUnknownEntry } from './journal-rules.ts';
import { pathAtHome } from './missing-files.ts';
import type { Digested, SessionRow } from './ports.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Clean, NamedFile, World } from './verb.ts';

/** What is said of an entry. */
export interface Said {
  readonly type: EntryType;
  readonly text?: string | undefined;
  readonly rationale?: string | undefined;
  readonly alternative?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly exit_code?: number | undefined;
  readonly output_file?: string | undefined;
  readonly run?: readonly string[] | undefined;
  readonly timeout?: string | undefined;
  readonly supersedes?: number | undefined;
}

/** Writes an entry with all that is found out about it: what its file is, what it supersedes, how its program ends. */
export const orderEntry = async (
  world: World,
  row: SessionRow,
  said: Said,
  clean: Clean,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { type, run, supersedes } = said;
  const superseded = supersedes === undefined ? ok(undefined) : await findEntry(world, row, supersedes, type);
  if (!superseded.ok) return superseded;
  const file = await fileOf(world, row, said, clean);
  if (!file.ok) return file;
  const printed = said.output_file === undefined ? ok({}) : await outputOf(world, said.output_file, clean);
  if (!printed.ok) return printed;
  const words = withoutUndefined({
    text: said.text ?? (await clean(run === undefined ? (said.path ?? '') : run.map(shellWord).join(' '))),
    rationale: said.rationale,
    alternatives: said.alternative === undefined ? undefined : [...said.alternative],
  });
  const found = withoutUndefined({ exit_code: said.exit_code, supersedes, ...file.value, ...printed.value });
  /** It is answered with what was found out about it, not with its words. */
  const noted = (more: JsonObject): Order<JsonObject> => ({
    journalOnly: true,
    ...orderOne(
      row.key,
      (session) => decideEntry(session, type, { ...words, ...found, ...more }, superseded.value),
      ({ common: { key, name, seq, updatedAt: at } }) => ({
        session: key,
        session_id: name,
        seq,
        at,
        type,
        ...found,
        ...more,
      }),
    ),
  });
  const order = noted({});
  if (run === undefined) return ok(order);
  return ok({
    ...order,
    work: async () => {
      const ended = await world.runProgram(run, said.timeout === undefined ? undefined : durationOf(said.timeout));
      if (!ended.ok) return ended;
      const { exitCode, timedOut, endedAt } = ended.value;
      const output = await keptOf(ended.value.output, clean);
      const how = { exit_code: exitCode, output, was_run: true, ...(timedOut ? { timed_out: true } : {}) };
      return ok({ order: noted(how), at: endedAt });
    },
  });
};

/** The entry that is to be superseded: it is there, and nothing has taken its place. An event never changes. */
const findEntry = async (
  { store }: World,
  { key, seq }: SessionRow,
  id: number,
  type: EntryType,
): Promise<Result<Entry, Refusal>> => {
  const event = id > seq ? undefined : await store.event(key, id);
  const journal = (await store.read(key))?.common.journal;
  if (event?.type !== 'Noted') return err(refuseUnknownEntry({ key, journal }, id, type));
  const entry = entryOf(event);
  const successor = isHeld(journal, entry) === undefined ? await findSuccessor(store, key, id) : undefined;
  return successor === undefined ? ok(entry) : err(refuseSuperseded({ key, journal }, id, successor, type));
};

/** What the file of an entry is called, where it must be there. */
const fileNames: Partial<Record<EntryType, string>> = { artifact: 'The artifact', validation: 'The evidence' };

/** The file that an entry is about, as it is now. */
const fileOf = async (
  world: World,
  row: SessionRow,
  { type, path: given, text }: Said,
  clean: Clean,
): Promise<Result<JsonObject, Refusal>> => {
  const path = given ?? (namesFile(type) ? text : undefined);
  if (path === undefined) return ok({});
  const named = (await world.project()).named(path);
  const digested = named.read();
  const mustBeThere = fileNames[type] !== undefined;
  const problem = problemOf(named, digested, mustBeThere);
  if (problem !== undefined)
    return err(
      refuse('invariant-unmet', `${fileNames[type] ?? 'The file'} ${named.full} ${problem}.`, {
        expected: `a file of this checkout${mustBeThere ? ' that is there and not empty' : ''}, named from where you are`,
        ...(given === undefined ? { hint: `stint note ${type} TEXT --path FILE` } : {}),
      }),
    );
  const { sha256, size } = digested.ok ? digested.value : {};
  return ok({
    path: await clean(pathAtHome(world.places, row, named.path ?? '')),
    file: sha256 === undefined || size === undefined ? null : { sha256, size },
  });
};

/** Why a file is not taken; one that is not there only where it must be. */
const problemOf = (
  { path }: NamedFile,
  digested: ReturnType<NamedFile['read']>,
  mustBeThere: boolean,
): string | undefined => {
  if (path === undefined) return 'leads out of the checkout';
  if (!digested.ok) return mustBeThere || !digested.error.isMissing ? digested.error.problem : undefined;
  return mustBeThere && digested.value.size === 0 ? 'is empty' : undefined;
};

/** What a program has printed, from a file that lies anywhere. */
const outputOf = async (world: World, path: string, clean: Clean): Promise<Result<JsonObject, Refusal>> => {
  const named = (await world.project()).named(path);
  const digested = named.read();
  if (digested.ok) return ok({ output: await keptOf(digested.value, clean) });
  const { problem, isMissing } = digested.error;
  return err(
    refuse(isMissing ? 'not-found' : 'invalid-input', `The output ${named.full} ${problem}.`, {
      expected: 'a file that can be read',
    }),
  );
};

/** Most characters that are kept of how an output ended. */
const mostOfTail = 2000;

const keptOf = async ({ sha256, size, tail, lead }: Digested, clean: Clean): Promise<JsonObject> => {
  const clear = await clean(tail);
  // A secret that begins before the lead has its end in it, and is not seen: however much of what follows was taken out.
  return { sha256, size, tail: truncateStart(clear, Math.min(mostOfTail, clear.length - lead)) };
};
