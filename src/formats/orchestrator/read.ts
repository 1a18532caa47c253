import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { member, pathTo, readId, shown, wellFormedAt } from '../../lib/lenient.ts';
import { nameFrom, sessionNameProblem } from '../../lib/name.ts';
import { rescueJson, type Fault, type Side } from '../../lib/rescue-json.ts';
import { sha256 } from '../../lib/sha256.ts';
import type { Clock } from '../../lib/written-time.ts';
import {
  agentStatuses,
  modes,
  schemaVersion,
  sessionStatuses,
  type AgentDocument,
  type AgentStatus,
  type DecisionDocument,
  type ErrorDocument,
  type Mode,
  type OrchestratorDocument,
  type ProjectDocument,
  type SessionStatus,
  type UnknownKeys,
  type UsageDocument,
  type WorkDocument,
} from './document.ts';
import { isSession, isSummary, neighbourOf, otherJson } from './neighbours.ts';
import { agentKeys, decisionKeys, errorKeys, projectKeys, usageKeys, workKeys } from './print.ts';
import { isOver, standingOf } from './standing.ts';
import {
  fieldsOf,
  inWords,
  itemsOf,
  numberOf,
  plainText,
  startReader,
  textOf,
  textsOf,
  timeOf,
  untaken,
  type Item,
  type Reader,
} from './values.ts';

/** Reads the files of an orchestrator of agents, whatever became of them. Nothing here throws. */

/** Largest file that is read, in bytes. */
export const largestOrchestratorFile = 16 * 1024 * 1024;

/** What must be known beside the text of a file. */
export interface FileFacts {
  /** The path of the file; its folder says whether it is one of the history. */
  readonly path: string;
  readonly clock: Clock;
  /** Which side counts, where a file holds several: `ours`, `theirs`, `base` of a git conflict, else `first`, `second`. */
  readonly choice?: string | undefined;
  /** Whether it was written here, and perhaps changed since: whatever key is not of the format is then one of the unknown. */
  readonly isOurs?: boolean | undefined;
}

/** What a file is found to be. */
export type Found =
  | { readonly what: 'session'; readonly session: FoundSession }
  /** Of a version that is not understood here: it is neither taken over nor written. */
  | { readonly what: 'newer'; readonly version: string; readonly id: string | null; readonly problem: string }
  /** It holds several that differ, of which none is chosen. */
  | {
      readonly what: 'undecided';
      readonly problem: string;
      readonly line: number;
      readonly sides: readonly FoundSide[];
      readonly hint: string;
    }
  | { readonly what: 'neighbour'; readonly is: string; readonly why: string }
  | ({ readonly what: 'damaged' } & Damage);

/** What keeps a file from being read, as a sentence, and where. */
export interface Damage {
  readonly problem: string;
  readonly line?: number;
  readonly column?: number;
  /** What helps, as a sentence. */
  readonly hint?: string;
}

/** One of several sessions, or versions of one, that a file holds. */
export interface FoundSide extends Pick<Side, 'name' | 'label' | 'line'> {
  readonly found: Found;
}

/** In which of its forms a file was written. */
export type Dialect = 'schema 1.0' | 'without version' | 'guide' | 'cross-device' | 'hook summary';

/** A session as its file tells of it. */
export interface FoundSession {
  readonly dialect: Dialect;
  /** As far as it can be said, in the words of schema 1.0. */
  readonly document: OrchestratorDocument;
  readonly unknown: UnknownKeys;
  /** What was taken as something else, by its JSON path in the file. */
  readonly raw: Readonly<Record<string, Json>>;
  readonly isInHistory: boolean;
  /** Where the file is not JSON, and what was made of it. */
  readonly faults: readonly Fault[];
  /** What is or may be lost, as sentences; empty where everything is there. */
  readonly lost: readonly string[];
  /** What could not be taken as it was, as sentences that begin with a JSON path. */
  readonly problems: readonly string[];
}

/** Reads what may be the file of an orchestrator. What it is, is decided by what it holds, not by its name. */
export const readOrchestratorFile = (text: string, facts: FileFacts): Found => {
  // More characters than that are more bytes still.
  if (text.length > largestOrchestratorFile)
    return { what: 'damaged', problem: 'It is larger than 16 MiB, and was not read.' };
  const rescued = rescueJson(text, { choice: facts.choice, isDocument });
  switch (rescued.what) {
    case 'nothing': {
      const { what: _, ...damage } = rescued;
      return { what: 'damaged', ...damage, hint: restoring };
    }
    case 'several':
      return {
        what: 'undecided',
        problem: rescued.problem,
        line: rescued.sides[0]?.line ?? 1,
        sides: rescued.sides.map(({ name, label, line, value, faults }) => ({
          name,
          label,
          line,
          found: value === undefined ? damagedBy(faults) : readValue(value, faults, facts),
        })),
        hint: `Say which one counts: ${rescued.sides.map(({ name }) => name).join(' or ')}.`,
      };
    case 'document':
      return readValue(rescued.value, rescued.faults, facts);
  }
};

const isDocument = (value: Json): boolean =>
  isJsonObject(value) && ['session_id', 'agents', 'goal'].some((key) => Object.hasOwn(value, key));

/** What to do about a file of which too little is left. */
const restoring = 'If it is that of a session, restore it from a copy, or look into the history beside it.';

const damagedBy = (faults: readonly Fault[], rest?: Json): Found => {
  const { problem, line, column } = faults.find(({ isLoss }) => isLoss) ?? faults[0] ?? { problem: 'It is not JSON.' };
  const id = isJsonObject(rest) ? readId(member(rest, 'session_id')) : undefined;
  return {
    what: 'damaged',
    problem: id?.ok === true ? `${problem} What can be read of it is of the session ${id.value}.` : problem,
    ...(line === undefined || column === undefined ? {} : { line, column }),
    hint: restoring,
  };
};

const readValue = (value: Json, faults: readonly Fault[], facts: FileFacts): Found => {
  const known = neighbourOf(value);
  if (known !== undefined) return { what: 'neighbour', is: known.is, why: known.why };
  if (!isSession(value)) {
    if (faults.some(({ isLoss }) => isLoss)) return damagedBy(faults, value);
    return { what: 'neighbour', is: otherJson.is, why: otherJson.why };
  }
  const version = versionOf(member(value, 'schema_version'));
  if (version.what === 'newer') {
    const id = member(value, 'session_id');
    return {
      what: 'newer',
      version: version.text,
      id: typeof id === 'string' ? id.toWellFormed() : null,
      problem: `It was written by a newer version: its schema is ${shown(version.text)}, and 1 is what is understood here.`,
    };
  }
  return { what: 'session', session: readSession(value, version, faults, facts) };
};

/** A version as its file says it. */
type Version =
  | { readonly what: 'none' }
  | { readonly what: 'ours' | 'newer'; readonly text: string }
  | { readonly what: 'strange' };

/** Versions that begin with the same number are the same but for keys that are not known here. */
const versionOf = (value: Json | undefined): Version => {
  if (value === undefined || value === null) return { what: 'none' };
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  const [, major, rest = ''] = /^v?(\d{1,9})((?:\.\d{1,9}){0,3}(?:[-+][\w.+-]{1,40})?)$/.exec(text) ?? [];
  if (major === undefined) return { what: 'strange' };
  if (Number(major) > 1) return { what: 'newer', text };
  // What is the same version is written as the original reads it.
  const isSame = Number(major) < 1 || /^(?:\.0+)*$/.test(rest);
  return { what: 'ours', text: isSame ? schemaVersion : `1${rest}` };
};

const fileKeys = [
  'schema_version',
  'session_id',
  'created',
  'updated',
  'project',
  'goal',
  'mode',
  'status',
  'agents',
  'completed_work',
  'pending_tasks',
  'decisions_made',
  'context_usage',
  'errors',
];

const readSession = (
  given: JsonObject,
  version: Version,
  faults: readonly Fault[],
  { path, clock, isOurs = false }: FileFacts,
): FoundSession => {
  const reader = startReader(clock, isOurs);
  const wellFormed = wellFormedAt(given, '$', reader);
  const value = isJsonObject(wellFormed) ? wellFormed : given;
  const file = fieldsOf(value, '$', fileKeys, reader);
  const dialect = dialectOf(value);
  const isInHistory = folderOf(path) === 'orchestrator-history';
  /** What was said in place of what was taken, which the file goes on to say. */
  const imported = new Map<string, Json>();

  const versionText = version.what === 'ours' ? version.text : schemaVersion;
  const said = member(value, 'schema_version');
  if (version.what === 'strange') {
    reader.change(
      '$.schema_version',
      said ?? null,
      `is ${shown(said)}, which is no version: ${schemaVersion} was taken`,
    );
    imported.set('imported_schema_version', said ?? null);
  } else if (version.what === 'ours' && said !== version.text)
    reader.change('$.schema_version', said ?? null, `is ${shown(said)}, which is ${version.text}`);

  const agents = readAgents(itemsOf(file, 'agents'), usesFractions(value, dialect), reader);
  const work = readWork(itemsOf(file, 'completed_work'), reader);
  const tasks = readTasks(itemsOf(file, 'pending_tasks', 'next_actions', 'pending'), reader);
  const decisions = readDecisions(itemsOf(file, 'decisions_made', 'decisions'), reader);
  const errors = readErrors(itemsOf(file, 'errors'), reader);
  const usage = readUsage(member(value, 'context_usage'), reader);
  const project = readProject(member(value, 'project'), reader);
  const goal = textOf(file, 'goal');
  if (goal === null) reader.tell('$.goal', 'is missing');
  const status = readStatus(value, imported, reader);
  const mode = readMode(value, imported, reader);

  const created = timeOf(file, 'created', 'started', 'started_at', 'created_at');
  const updated = timeOf(
    file,
    'updated',
    'updated_at',
    'last_updated',
    ...(dialect === 'hook summary' ? ['timestamp'] : []),
  );
  const worked = [
    ...agents.list.flatMap(({ started, completed }) => [started, completed ?? null]),
    ...decisions.list.map(({ timestamp }) => timestamp),
    ...errors.list.map(({ at }) => at ?? null),
    usage.document.last_compression,
  ]
    .filter((time) => time !== null)
    .toSorted(byMoment);
  const first = [...worked, ...(updated === null ? [] : [updated])].toSorted(byMoment)[0];
  const begun = created ?? first ?? dayOf(member(value, 'session_id')) ?? null;
  const createdAt = begun ?? clock.now;
  const updatedAt = updated ?? worked.findLast((time) => byMoment(time, createdAt) >= 0) ?? createdAt;
  if (created === null)
    reader.tell('$.created', `is not known: ${createdAt}, the earliest time that is told, stands for it`);
  if (updated === null)
    reader.tell('$.updated', `is not known: ${updatedAt}, the last time that is told, stands for it`);
  else if (byMoment(updated, createdAt) < 0) reader.tell('$.updated', `lies before its beginning: ${updated} was kept`);

  const document: OrchestratorDocument = {
    schema_version: versionText,
    session_id: readSessionId(value, { path, isInHistory, begun, goal: goal ?? '' }, imported, reader),
    created: createdAt,
    updated: updatedAt,
    project: project.document,
    goal: goal ?? '',
    mode,
    status,
    agents: agents.list,
    completed_work: work.list,
    pending_tasks: tasks.list,
    decisions_made: decisions.list,
    context_usage: usage.document,
    errors: errors.list,
  };
  tellContradictions({ document, isInHistory }, value, reader);
  return {
    dialect,
    document,
    unknown: {
      file: { ...untaken(file), ...(isOurs ? {} : Object.fromEntries(imported)) },
      project: project.unknown,
      context_usage: usage.unknown,
      agents: agents.unknown,
      completed_work: work.unknown,
      pending_tasks: tasks.unknown,
      decisions_made: decisions.unknown,
      errors: errors.unknown,
    },
    raw: reader.raw(),
    isInHistory,
    faults,
    lost: lostOf(value, faults),
    problems: reader.problems(),
  };
};

const folderOf = (path: string): string => path.split(/[/\\]/).at(-2) ?? '';

const dialectOf = (value: JsonObject): Dialect => {
  const has = (key: string): boolean => Object.hasOwn(value, key);
  if (isSummary(value)) return 'hook summary';
  if (has('schema_version')) return has('created') || !has('started_at') ? 'schema 1.0' : 'guide';
  return has('teleportation') || has('created_at') ? 'cross-device' : 'without version';
};

/** What is or may be lost: what its faults say, and which parts a file that is cut off does not have. */
const lostOf = (value: JsonObject, faults: readonly Fault[]): readonly string[] => {
  const losses = faults.filter(({ isLoss }) => isLoss);
  const told = losses.map(({ problem, line, column }) => `${problem.slice(0, -1)}, at line ${line}, column ${column}.`);
  const end = losses.find(({ problem }) => problem.startsWith('It ends in the middle'));
  const missing = fileKeys.filter((key) => !Object.hasOwn(value, key));
  return end === undefined || missing.length === 0
    ? told
    : [...told, `What it said of ${missing.join(', ')} may have stood behind line ${end.line}.`];
};

/** Compares two times of a document. */
export const byMoment = (some: string, other: string): number => Date.parse(some) - Date.parse(other);

/** The day in an id of the original's form. */
const dayOf = (id: Json | undefined): string | undefined => {
  const day = typeof id === 'string' ? /^\d{4}-\d\d-\d\d(?=-)/.exec(id)?.[0] : undefined;
  return day === undefined || Number.isNaN(Date.parse(day)) ? undefined : `${day}T00:00:00Z`;
};

/** What an id is made of, where a file has none that is one. */
interface IdFacts {
  readonly path: string;
  readonly isInHistory: boolean;
  readonly begun: string | null;
  readonly goal: string;
}

/** The id of a session, made a name that is a safe file everywhere; what it was made of is kept. */
const readSessionId = (value: JsonObject, facts: IdFacts, imported: Map<string, Json>, reader: Reader): string => {
  const raw = member(value, 'session_id') ?? null;
  const id = readId(typeof raw === 'number' ? String(raw) : raw);
  const problem = id.ok ? sessionNameProblem(id.value) : id.error;
  if (id.ok && problem === undefined) {
    if (raw !== id.value) reader.change('$.session_id', raw, `is no text: it was taken as ${id.value}`);
    return id.value;
  }
  const isUnset = raw === null || raw === '' || (typeof raw === 'string' && /^(?:undefined|null|nan)$/i.test(raw));
  const name = isUnset ? unsetId(facts) : `${nameFrom(inWords(raw))}-${sha256(inWords(raw)).slice(0, 6)}`;
  if (raw === null) reader.tell('$.session_id', `is missing: ${name} was made for it`);
  else {
    reader.change('$.session_id', raw, `is ${shown(raw)}, which is no safe name, and became ${name}`);
    imported.set('imported_session_id', raw);
  }
  return name;
};

/** A file of the history is called as its session. Else what does not change while the session goes on makes the id. */
const unsetId = ({ path, isInHistory, begun, goal }: IdFacts): string => {
  const file = (path.split(/[/\\]/).at(-1) ?? '').replace(/\.json$/i, '');
  if (isInHistory && sessionNameProblem(file) === undefined) return file;
  return `${begun?.slice(0, 10) ?? 'session'}-${sha256(`${begun ?? ''} ${goal}`).slice(0, 6)}`;
};

/** A word as it is compared: in any case, with any sign between its parts. */
const wordOf = (value: Json | undefined): string =>
  typeof value === 'string' && value.length < 60
    ? value
        .trim()
        .toLowerCase()
        .replaceAll(/[\s-]+/g, '_')
    : '';

const sessionWords: ReadonlyMap<string, SessionStatus> = new Map<string, SessionStatus>([
  ['completed', 'complete'],
  ['done', 'complete'],
  ['success', 'complete'],
  ['finished', 'complete'],
  ['running', 'in_progress'],
  ['active', 'in_progress'],
  ['starting', 'in_progress'],
  ['abandoned', 'aborted'],
  ['canceled', 'aborted'],
  ['cancelled', 'aborted'],
]);

const agentWords: ReadonlyMap<string, AgentStatus> = new Map<string, AgentStatus>([
  ['completed', 'complete'],
  ['done', 'complete'],
  ['success', 'complete'],
  ['finished', 'complete'],
  ['running', 'in_progress'],
  ['active', 'in_progress'],
  ['starting', 'in_progress'],
  ['error', 'failed'],
  ['failure', 'failed'],
  ['queued', 'pending'],
  ['waiting', 'pending'],
  ['todo', 'pending'],
  ['not_started', 'pending'],
  ['abandoned', 'cancelled'],
  ['aborted', 'cancelled'],
  ['canceled', 'cancelled'],
  ['skipped', 'cancelled'],
]);

/** A word of a closed list, itself or in another spelling; undefined where it is none. */
const meant = <Word extends string>(
  value: Json | undefined,
  path: string,
  own: readonly Word[],
  others: ReadonlyMap<string, Word>,
  reader: Reader,
): Word | undefined => {
  const word = wordOf(value);
  const found = own.find((one) => one === word) ?? others.get(word);
  if (found !== undefined && found !== value)
    reader.change(path, value ?? null, `is ${shown(value)}, which means ${found}`);
  return found;
};

/** What says nothing that is understood is paused: nobody goes on with it unasked, and nothing of it looks finished. */
const readStatus = (value: JsonObject, imported: Map<string, Json>, reader: Reader): SessionStatus => {
  const raw = member(value, 'status');
  const status = meant(raw, '$.status', sessionStatuses, sessionWords, reader);
  if (status !== undefined) return status;
  if (raw === undefined || raw === null) reader.tell('$.status', 'is missing: the session was taken as paused');
  else {
    reader.change('$.status', raw, `is ${shown(raw)}, which is no status: the session was taken as paused`);
    imported.set('imported_status', raw);
  }
  return 'paused';
};

const readMode = (value: JsonObject, imported: Map<string, Json>, reader: Reader): Mode => {
  const raw = member(value, 'mode');
  if (raw === undefined || raw === null) return 'default';
  const mode = meant(raw, '$.mode', modes, new Map(), reader);
  if (mode !== undefined) return mode;
  reader.change('$.mode', raw, `is ${shown(raw)}, which is no mode: the session was taken as in the default one`);
  imported.set('imported_mode', raw);
  return 'default';
};

/** The parts of a list, with the keys of each that are not of the format. */
interface Parts<Part> {
  readonly list: readonly Part[];
  readonly unknown: Readonly<Record<string, JsonObject>>;
}

/** Entries that are known by their places. */
const partsOf = <Part>(
  items: readonly Item[],
  read: (item: Item) => { readonly part: Part; readonly unknown: JsonObject },
): Parts<Part> => {
  const parts = items.map(read);
  return {
    list: parts.map(({ part }) => part),
    unknown: unknownBy(parts.map(({ unknown }, index) => [`${index}`, unknown])),
  };
};

const unknownBy = (entries: readonly (readonly [string, JsonObject])[]): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(entries.filter(([, unknown]) => Object.keys(unknown).length > 0));

/** The progress of an agent is a share of 1 in some forms, and percent in others. */
const usesFractions = (value: JsonObject, dialect: Dialect): boolean => {
  if (dialect === 'guide' || dialect === 'cross-device') return true;
  const agents = member(value, 'agents');
  const list = Array.isArray(agents) ? agents : isJsonObject(agents) ? Object.values(agents) : [];
  return list.some((agent: Json) => isJsonObject(agent) && isFraction(member(agent, 'progress')));
};

const isFraction = (value: Json | undefined): boolean => typeof value === 'number' && value > 0 && value < 1;

const readAgents = (items: readonly Item[], fractions: boolean, reader: Reader): Parts<AgentDocument> => {
  const ids = new Set<string>();
  const unknown: (readonly [string, JsonObject])[] = [];
  const list = items.map((item, index) => {
    const agent = readAgent(item, index, { ids, fractions }, reader);
    ids.add(agent.part.id);
    unknown.push([agent.part.id, agent.unknown]);
    return agent.part;
  });
  return { list, unknown: unknownBy(unknown) };
};

const readAgent = (
  { value, path, key }: Item,
  index: number,
  { ids, fractions }: { readonly ids: ReadonlySet<string>; readonly fractions: boolean },
  reader: Reader,
): { readonly part: AgentDocument; readonly unknown: JsonObject } => {
  const object = isJsonObject(value) ? value : agentOf(value, path, key, reader);
  const fields = fieldsOf(object, path, agentKeys, reader);
  const imported = new Map<string, Json>();
  const type = textOf(fields, 'type', 'subagent_type', 'role', 'agent');
  const id = readAgentId(object, { path, key, index, type, ids }, imported, reader);
  const started = timeOf(fields, 'started', 'started_at', 'start_time');
  const completed = timeOf(fields, 'completed', 'completed_at', 'end_time', 'ended_at');
  const progress = readProgress(object, path, fractions, reader);
  const isBegun = started !== null || completed !== null || (progress ?? 0) > 0;
  const status = readAgentStatus(object, path, isBegun, imported, reader);
  const task = textOf(fields, 'task', 'description', 'prompt');
  const result = textOf(fields, 'result_summary', 'result', 'output', 'summary');
  const tokens = numberOf(fields, 'context_tokens', 'tokens_used', 'tokens');
  const error = textOf(fields, 'error', 'error_message');
  return {
    part: {
      id,
      type: type ?? '',
      task: task ?? '',
      status,
      started,
      ...(completed === null ? {} : { completed }),
      ...(progress === null ? {} : { progress }),
      ...(result === null ? {} : { result_summary: result }),
      ...(tokens === null ? {} : { context_tokens: tokens }),
      ...(error === null ? {} : { error }),
    },
    unknown: { ...untaken(fields), ...(reader.isOurs ? {} : Object.fromEntries(imported)) },
  };
};

/** An agent that is no object: a word for its status where it has a key of its own, else what it does. */
const agentOf = (value: Json, path: string, key: string | undefined, reader: Reader): JsonObject => {
  const isStatus =
    key !== undefined && (agentStatuses.some((one) => one === wordOf(value)) || agentWords.has(wordOf(value)));
  reader.change(path, value, `is no object: ${shown(value)} was taken as its ${isStatus ? 'status' : 'task'}`);
  return isStatus ? { status: value } : { task: inWords(value) };
};

const readAgentId = (
  object: JsonObject,
  about: {
    readonly path: string;
    readonly key: string | undefined;
    readonly index: number;
    readonly type: string | null;
    readonly ids: ReadonlySet<string>;
  },
  imported: Map<string, Json>,
  reader: Reader,
): string => {
  const { key, index, type, ids } = about;
  const path = pathTo(about.path, 'id');
  const raw = member(object, 'id') ?? key ?? null;
  const id = readId(typeof raw === 'number' ? String(raw) : raw);
  const made = id.ok
    ? id.value
    : raw === null || raw === ''
      ? `${nameFrom(type === null || type === '' ? 'agent' : type).toLowerCase()}-${index + 1}`
      : `${nameFrom(inWords(raw))}-${sha256(inWords(raw)).slice(0, 6)}`;
  let unique = made;
  for (let number = 2; ids.has(unique); number += 1) unique = `${made}-${number}`;
  if (raw === null) reader.tell(path, `is missing: ${unique} was made for it`);
  else if (unique !== raw) {
    const why = id.ok ? (ids.has(made) ? 'that of another agent' : 'no text') : 'no safe name';
    reader.change(path, raw, `is ${shown(raw)}, which is ${why}, and became ${unique}`);
    if (id.ok ? typeof raw === 'string' : true) imported.set('imported_id', raw);
  }
  return unique;
};

/** An agent whose status says nothing is never done: it is in doubt where it was begun. */
const readAgentStatus = (
  object: JsonObject,
  at: string,
  isBegun: boolean,
  imported: Map<string, Json>,
  reader: Reader,
): AgentStatus => {
  const path = pathTo(at, 'status');
  const raw = member(object, 'status');
  const found = meant(raw, path, agentStatuses, agentWords, reader);
  if (found !== undefined) return found;
  const status = isBegun ? 'in_progress' : 'pending';
  if (raw === undefined || raw === null) reader.tell(path, `is missing: it was taken as ${status}`);
  else {
    reader.change(path, raw, `is ${shown(raw)}, which is no status: it was taken as ${status}`);
    imported.set('imported_status', raw);
  }
  return status;
};

/** Percent, whole and at most 100; null where nothing that can be read is said. */
const readProgress = (object: JsonObject, at: string, fractions: boolean, reader: Reader): number | null => {
  const raw = member(object, 'progress');
  const number = numberOf(fieldsOf(object, at, [], reader), 'progress');
  if (raw === undefined || number === null) return null;
  const isShare = isFraction(number) || (raw === 1 && fractions);
  const percent = Math.round(Math.min(isShare ? number * 100 : number, 100));
  if (percent !== number) {
    const why = isShare ? 'a share of 1' : 'no whole number up to 100';
    reader.change(pathTo(at, 'progress'), raw, `is ${shown(raw)}, ${why}: it was taken as ${percent} percent`);
  }
  return percent;
};

const readWork = (items: readonly Item[], reader: Reader): Parts<WorkDocument> =>
  partsOf(items, ({ value, path, key }) => {
    if (!isJsonObject(value)) {
      const text = plainText(value, path, reader);
      // It stands in the list of what is done; whoever shows that sets the mark anew.
      const plain = text.replace(/^\s*(?:✅|☑|✔)\uFE0F?\s*/, '');
      if (plain !== text) reader.change(path, value, 'begins with a mark, which was left out');
      return { part: { task: key ?? plain, outcome: key === undefined ? '' : plain, files: [] }, unknown: {} };
    }
    const fields = fieldsOf(value, path, workKeys, reader);
    const task = textOf(fields, 'task', 'title', 'name', 'description', 'subtask') ?? key;
    const outcome = textOf(fields, 'outcome', 'output', 'result', 'result_summary', 'summary');
    const files = textsOf(fields, 'files', 'artifacts', 'files_modified');
    return { part: { task: task ?? inWords(value), outcome: outcome ?? '', files }, unknown: untaken(fields) };
  });

const readTasks = (items: readonly Item[], reader: Reader): Parts<string> =>
  partsOf(items, ({ value, path, key }) => {
    if (!isJsonObject(value)) {
      const text = plainText(value, path, reader);
      return { part: key === undefined || text === key ? text : `${key}: ${text}`, unknown: {} };
    }
    const fields = fieldsOf(value, path, ['task'], reader);
    const task = textOf(fields, 'task', 'title', 'name', 'text', 'description') ?? key;
    return task === undefined
      ? { part: plainText(value, path, reader), unknown: {} }
      : { part: task, unknown: untaken(fields) };
  });

const readDecisions = (items: readonly Item[], reader: Reader): Parts<DecisionDocument> =>
  partsOf(items, ({ value, path, key }) => {
    if (!isJsonObject(value)) {
      const text = plainText(value, path, reader);
      return {
        part: { decision: key ?? text, rationale: key === undefined ? '' : text, timestamp: null },
        unknown: {},
      };
    }
    const fields = fieldsOf(value, path, decisionKeys, reader);
    const decision = textOf(fields, 'decision', 'choice', 'title', 'name', 'what') ?? key;
    const rationale = textOf(fields, 'rationale', 'reason', 'why');
    const timestamp = timeOf(fields, 'timestamp', 'at', 'time', 'date', 'decided_at');
    return {
      part: { decision: decision ?? inWords(value), rationale: rationale ?? '', timestamp },
      unknown: untaken(fields),
    };
  });

const readErrors = (items: readonly Item[], reader: Reader): Parts<ErrorDocument> =>
  partsOf(items, ({ value, path, key }) => {
    if (!isJsonObject(value)) {
      const message = plainText(value, path, reader);
      return { part: { ...(key === undefined ? {} : { agent: key }), message }, unknown: {} };
    }
    const fields = fieldsOf(value, path, errorKeys, reader);
    const agent = textOf(fields, 'agent', 'agent_id') ?? key;
    const message = textOf(fields, 'message', 'error', 'text', 'description');
    const at = timeOf(fields, 'at', 'timestamp', 'time');
    return {
      part: {
        ...(agent === undefined ? {} : { agent }),
        message: message ?? inWords(value),
        ...(at === null ? {} : { at }),
      },
      unknown: untaken(fields),
    };
  });

const readUsage = (
  value: Json | undefined,
  reader: Reader,
): { readonly document: UsageDocument; readonly unknown: JsonObject } => {
  const path = '$.context_usage';
  if (value !== undefined && value !== null && !isJsonObject(value))
    reader.change(path, value, `is no object: ${shown(value)} was left out`);
  const fields = fieldsOf(isJsonObject(value) ? value : {}, path, usageKeys, reader);
  const percentage = numberOf(fields, 'percentage', 'percent');
  if (percentage !== null && percentage > 100)
    reader.change(
      pathTo(path, 'percentage'),
      percentage,
      `is ${percentage}, more than all: it was taken as 100 percent`,
    );
  return {
    document: {
      estimated_tokens: numberOf(fields, 'estimated_tokens', 'tokens_used', 'tokens'),
      percentage: percentage === null ? null : Math.min(percentage, 100),
      last_compression: timeOf(fields, 'last_compression', 'last_compressed'),
    },
    unknown: untaken(fields),
  };
};

const readProject = (
  value: Json | undefined,
  reader: Reader,
): { readonly document: ProjectDocument; readonly unknown: JsonObject } => {
  const path = '$.project';
  const object = isJsonObject(value) ? value : projectOf(value, path, reader);
  const fields = fieldsOf(object, path, projectKeys, reader);
  return {
    document: {
      name: textOf(fields, 'name'),
      path: textOf(fields, 'path', 'root'),
      git_branch: textOf(fields, 'git_branch', 'branch'),
    },
    unknown: untaken(fields),
  };
};

/** A project that is said in one text: its path, whose last part is its name, or that. */
const projectOf = (value: Json | undefined, path: string, reader: Reader): JsonObject => {
  if (value === undefined || value === null) return {};
  const text = inWords(value);
  reader.change(path, value, `is no object: ${shown(value)} was taken as its ${/[/\\]/.test(text) ? 'path' : 'name'}`);
  if (!/[/\\]/.test(text)) return { name: text };
  return { name: text.split(/[/\\]/).findLast((part) => part !== '') ?? text, path: text };
};

/** What in the file speaks against something else in it. All of it is taken as it is, and told. */
const tellContradictions = (
  session: Pick<FoundSession, 'document' | 'isInHistory'>,
  value: JsonObject,
  reader: Reader,
): void => {
  const { document, isInHistory } = session;
  const { status, agents } = document;
  const open = agents.filter((agent) => !isOver(agent.status)).map(({ id }) => id);
  const { outcome } = standingOf(session);
  if (status === 'complete' && open.length > 0)
    reader.tell(
      '$.status',
      `is complete, although ${listed(open)} ${open.length === 1 ? 'is' : 'are'} not: ${outcome === null ? 'it goes on' : `it was taken as ${outcome}`}`,
    );
  else if (isInHistory && status !== 'complete' && status !== 'aborted')
    reader.tell(
      '$.status',
      `is ${status}, although the file lies in the history: it was taken as ${outcome ?? status}`,
    );
  const total = member(value, 'total_agents');
  if (typeof total === 'number' && total !== agents.length)
    reader.tell('$.total_agents', `is ${total}, and of ${agents.length} something is said`);
};

const listed = (ids: readonly string[]): string =>
  ids.length > 10 ? `${ids.slice(0, 10).join(', ')} and ${ids.length - 10} others` : ids.join(', ');
