import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { guessJson, readJson, type Place as JsonPlace } from '../../lib/json-text.ts';
import { member, pathTo, readId, shown, startReading, timeAt, wellFormedAt, type Reading } from '../../lib/lenient.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { Clock } from '../../lib/written-time.ts';
import { runStatuses, type RunDocument, type RunStatus, type SnapshotDocument } from './document.ts';
import { neighbourOf, type Neighbour } from './neighbours.ts';
import { isCheckpoint, pendingNode, readNodes, readPlan, statusMeant, type FoundNodes } from './nodes.ts';
import { positionOf, standingOf, statusOfNodes } from './standing.ts';
import { isElision, optionalTextAt, pathAt, textAt, textByKeyAt, unknownOf } from './values.ts';

/** Reads the files of a workflow run, whatever became of them. Nothing here throws, and no path in a file is followed. */

/** Largest file that is read, in bytes. */
export const largestRunFile = 16 * 1024 * 1024;

/** What a file is found to be. */
export type Found =
  | { readonly what: 'run'; readonly run: FoundRun }
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

/** A run as its file tells of it. */
export interface FoundRun {
  /** As far as it can be said: every key of the format with a value of its type. */
  readonly document: RunDocument;
  /** Keys that are not of the format, of the file and of single nodes; they survive an export. */
  readonly unknown: JsonObject;
  readonly unknownOfNodes: Readonly<Record<string, JsonObject>>;
  /** The same of batches, by the number that they have in `document`. */
  readonly unknownOfBatches: Readonly<Record<string, JsonObject>>;
  /** Whether it lies where the original puts sessions that it archives. */
  readonly isInArchive: boolean;
  /** What of it could not be taken as it was, as sentences that begin with a JSON path. */
  readonly problems: readonly string[];
}

/** Where a file lies. */
export interface Place {
  /** Its path, as whoever asked would write it. */
  readonly path: string;
  /** The path of its folder. */
  readonly folder: string;
}

/** A snapshot as its file tells of it; one text of the original leaves out the last two keys. */
export interface FoundSnapshot {
  readonly document: Omit<SnapshotDocument, 'context_snapshot' | 'next_node'> &
    Partial<Pick<SnapshotDocument, 'context_snapshot' | 'next_node'>>;
  readonly unknown: JsonObject;
  readonly unknownOfNodes: Readonly<Record<string, JsonObject>>;
  readonly problems: readonly string[];
}

/** Reads what may be a `session-state.json`. What it is, is decided by what it holds, not by its name. */
export const readRunFile = (text: string, place: Place, clock: Clock): Found => {
  const reading = startReading(clock);
  const parsed = parse(text, reading);
  if (!parsed.ok)
    return { what: 'damaged', ...parsed.error, ...(parsed.error.line === undefined ? {} : { hint: restoring }) };
  const { value } = parsed;
  if (!isJsonObject(value)) return neighbour(neighbourOf(value) ?? otherJson);
  const plan = member(value, 'execution_plan');
  const states = member(value, 'node_states');
  const id = member(value, 'session_id');
  if (plan === undefined || states === undefined) {
    const known = neighbourOf(value);
    if (known !== undefined) return neighbour(known);
    return isRunId(id) ? { what: 'damaged', problem: lacking(plan, states), hint: restoring } : neighbour(otherJson);
  }
  const name = readId(id);
  if (!name.ok) return { what: 'damaged', problem: unsafeId('session_id', id, name.error) };
  const lacked = lackedKeys(value);
  if (!isRunId(id) && lacked.length > 0) return neighbour(otherRun(lacked));
  if (!Array.isArray(plan) || !isJsonObject(states))
    return { what: 'damaged', problem: lacking(plan, states), hint: restoring };
  return { what: 'run', run: readRun({ id: name.value, value, plan, states }, place, reading) };
};

/** Reads what may be a file of `checkpoints/`. */
export const readSnapshotFile = (text: string, place: Place, clock: Clock): Result<FoundSnapshot, Damage> => {
  const reading = startReading(clock);
  const parsed = parse(text, reading);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!isJsonObject(value)) return err({ problem: 'It is no snapshot: it holds no object.' });
  const states = member(value, 'node_states_snapshot');
  if (!isJsonObject(states)) return err({ problem: 'It is no snapshot: it has no node_states_snapshot.' });
  const session = readId(member(value, 'session_id'));
  if (!session.ok) return err({ problem: unsafeId('session_id', member(value, 'session_id'), session.error) });
  const checkpoint = readId(member(value, 'checkpoint_id'));
  if (!checkpoint.ok)
    return err({ problem: unsafeId('checkpoint_id', member(value, 'checkpoint_id'), checkpoint.error) });
  return ok(readSnapshot({ session: session.value, checkpoint: checkpoint.value, value, states }, place, reading));
};

const unsafeId = (key: string, id: Json | undefined, problem: string): string =>
  `$.${key} is ${shown(id)}, which is no safe name: ${problem}`;

const isRunId = (id: Json | undefined): id is string => typeof id === 'string' && id.startsWith('WFR-');

const neighbour = ({ is, why }: Neighbour): Found => ({ what: 'neighbour', is, why });

const otherJson: Neighbour = {
  is: 'JSON of another kind',
  why: 'It has neither an execution_plan with node_states nor the id of a run.',
};

const otherRun = (lacked: readonly string[]): Neighbour => ({
  is: 'a run of another tool',
  why: `It has a plan and states of nodes; its id does not begin with WFR-, and it lacks ${lacked.join(', ')}.`,
});

/** The keys of the format that a file lacks; the last one is left out by those who know no end yet. */
const lackedKeys = (value: JsonObject): readonly string[] =>
  [...runKeys].filter((key) => key !== 'completed_at' && !Object.hasOwn(value, key));

/** What to do about a file that was torn or overwritten: what was done is not guessed. */
const restoring = 'If it is that of a run, restore it from a copy, or begin the run anew.';

const lacking = (plan: Json | undefined, states: Json | undefined): string => {
  const lacks = [
    ...(Array.isArray(plan) ? [] : ['an execution_plan that is a list']),
    ...(isJsonObject(states) ? [] : ['node_states that are an object']),
  ];
  return `It has the id of a run and lacks ${lacks.join(' and ')}: what was done cannot be told from what was not.`;
};

/** The value of a text, well-formed, or what keeps it from being JSON and where. */
const parse = (text: string, reading: Reading): Result<Json, Damage> => {
  // More characters than that are more bytes still.
  if (text.length > largestRunFile) return err({ problem: 'It is larger than 16 MiB, and was not read.' });
  const start: JsonPlace = { line: 1, column: 1 };
  const body = text.replace(/^\uFEFF/, '');
  if (body.trim() === '')
    return err({ problem: body === '' ? 'It is empty.' : 'It holds nothing but blanks.', ...start });
  if (/^(?:\uFFFD\uFFFD|.?\0.?\0|.\0)/su.test(body) && !/^\0+$/.test(body))
    return err({ problem: 'It is not UTF-8: it looks like UTF-16.', ...start });
  const read = readJson(body);
  if ('fault' in read) {
    const guess = read.place === undefined ? '' : ` ${guessOf(body)}`;
    return err({ problem: `${damageAt(body, read.fault, read.place)}${guess}`.trimEnd(), ...read.place });
  }
  if (read.repeated !== undefined) {
    const { line, column } = read.repeated;
    reading.tell('$', `holds a key twice in one object, at line ${line}, column ${column}: the last one counts`);
  }
  if (body.includes('\uFFFD'))
    reading.tell('$', 'holds characters that were lost before: it may not be UTF-8 throughout');
  return ok(wellFormedAt(read.value, '$', reading));
};

/** What a file that is not JSON looks like, in the words of whoever has to mend it. */
const damageAt = (text: string, fault: string, place: JsonPlace | undefined): string => {
  if (place === undefined) return `It ${fault}.`;
  const lines = text.split('\n');
  const offset = lines.slice(0, place.line - 1).reduce((sum, line) => sum + line.length + 1, place.column - 1);
  if (text.startsWith('```')) return 'It is wrapped in a fence of Markdown.';
  if (/^(?:<{7}|={7}|>{7})/.test(lines[place.line - 1] ?? '')) return 'It holds the marks of a merge conflict.';
  if (text[offset] === '\0') return 'It holds NUL bytes, as a write leaves them that a crash cut off.';
  if (isCutOff(text.slice(offset))) return 'It ends in the middle, as a write that was cut off.';
  if ('value' in readJson(text.slice(0, offset))) return 'It goes on behind the end of its document.';
  return 'It is not JSON.';
};

/** Whether what is left of a text is blanks, a word or number that may have been longer, or a string that is not closed. */
const isCutOff = (rest: string): boolean => {
  if (rest.trim() === '' || (rest.length <= 40 && /^[\w.+-]+\s*$/.test(rest))) return true;
  const inside = rest.startsWith('"') ? rest.slice(1).replaceAll(/\\[^]/g, '') : '"';
  return !inside.includes('"') && !inside.trimEnd().includes('\n');
};

/** What can still be read of it says what it was. */
const guessOf = (text: string): string => {
  const guess = guessJson(text);
  if (guess === undefined || !isJsonObject(guess)) return '';
  const id = member(guess, 'session_id');
  // An id that stands at the very end may be cut off itself.
  if (isRunId(id) && readId(id).ok && Object.keys(guess).at(-1) !== 'session_id')
    return `What can be read of it is of the run ${id}.`;
  const known = neighbourOf(guess);
  return known === undefined ? '' : `What can be read of it is ${known.is}.`;
};

const runKeys = new Set([
  'session_id',
  'template_id',
  'template_path',
  'template_name',
  'status',
  'context',
  'execution_plan',
  'current_batch',
  'current_node',
  'last_checkpoint',
  'node_states',
  'created_at',
  'updated_at',
  'completed_at',
]);

/** What is known of a file that is one of a run. */
interface RunValue {
  readonly id: string;
  readonly value: JsonObject;
  readonly plan: readonly Json[];
  readonly states: JsonObject;
}

const readRun = ({ id, value, plan, states }: RunValue, place: Place, reading: Reading): FoundRun => {
  if (Object.entries(value).some(([key, item]) => isElision(key, item)))
    reading.tell('$', 'is abbreviated: what it leaves out was taken as empty');
  const folders = place.folder.split(/[/\\]/).filter((part) => part !== '');
  const isInArchive = /^archives?$/i.test(folders.at(-2) ?? '');
  const folder = folders.at(-1);
  if (folder !== undefined && !/^\.+$/.test(folder) && folder !== id)
    reading.tell('$.session_id', `is ${id}, and the folder of the file is called ${shown(folder)}`);

  const planned = readPlan(plan, '$.execution_plan', reading);
  const found = readNodes(states, '$.node_states', reading);
  const nodes = withPlanned(
    planned.batches.flatMap((batch) => batch.nodes),
    found,
    reading,
  );
  const status = runStatusOf(member(value, 'status'), { execution_plan: planned.batches, node_states: nodes }, reading);
  const facts = { status, execution_plan: planned.batches, node_states: nodes };

  const times = timesOf(id, value, nodes, reading);
  const document: RunDocument = {
    session_id: id,
    template_id: textAt(value, 'template_id', '$', reading),
    template_path: pathAt(value, 'template_path', '$', reading) ?? '',
    template_name: textAt(value, 'template_name', '$', reading),
    status,
    context: textByKeyAt(value, 'context', '$', reading),
    execution_plan: planned.batches,
    ...pointersOf(value, facts, reading),
    node_states: nodes,
    ...times,
  };
  const run: FoundRun = {
    document,
    unknown: unknownOf(value, runKeys),
    unknownOfNodes: found.unknown,
    unknownOfBatches: planned.unknown,
    isInArchive,
    problems: [],
  };
  tellContradictions(run, reading);
  return { ...run, problems: reading.problems() };
};

/** The nodes in the order of the plan, those without a state pending; behind them the ones that the plan lacks. */
const withPlanned = (
  planned: readonly string[],
  { nodes }: FoundNodes,
  reading: Reading,
): RunDocument['node_states'] => {
  const inPlan = new Set(planned);
  const stateless = planned.filter((id) => !Object.hasOwn(nodes, id));
  if (stateless.length > 0)
    reading.tell(
      '$.node_states',
      `has no state of ${listed(stateless)}: ${stateless.length === 1 ? 'it was' : 'they were'} taken as pending`,
    );
  const others = Object.entries(nodes).filter(([id]) => !inPlan.has(id));
  for (const [id] of others) reading.tell(pathTo('$.node_states', id), 'is of no batch of the plan, and was kept');
  return Object.fromEntries([
    ...planned.map((id) => [id, (Object.hasOwn(nodes, id) ? nodes[id] : undefined) ?? pendingNode(id)] as const),
    ...others,
  ]);
};

const listed = (ids: readonly string[]): string =>
  ids.length > 10 ? `${ids.slice(0, 10).join(', ')} and ${ids.length - 10} others` : ids.join(', ');

const beOf = (ids: readonly string[]): string => (ids.length === 1 ? 'is' : 'are');

const runStatusOf = (
  value: Json | undefined,
  facts: Parameters<typeof statusOfNodes>[0],
  reading: Reading,
): RunStatus => {
  const found = runStatuses.find((status) => status === value);
  if (found !== undefined) return found;
  const meant = statusMeant(value, runStatuses);
  if (meant !== undefined) {
    reading.tell('$.status', `is ${shown(value)}, which means ${meant}`);
    return meant;
  }
  const status = statusOfNodes(facts);
  const said =
    value === undefined
      ? 'is missing'
      : typeof value === 'string' && value.length < 200 && /^\w+(?:\s*\|\s*\w+)+$/.test(value)
        ? 'is the list of all statuses and not one of them'
        : `is ${shown(value)}, which is no status`;
  reading.tell('$.status', `${said}: by the states of its nodes the run is ${status}`);
  return status;
};

/** The pointers, from the states of the nodes. What the file says is only compared: every third one had drifted. */
const pointersOf = (
  value: JsonObject,
  facts: Parameters<typeof positionOf>[0],
  reading: Reading,
): Pick<RunDocument, 'current_batch' | 'current_node' | 'last_checkpoint'> => {
  const position = positionOf(facts);
  const { current_batch, last_checkpoint, candidates } = position;
  const given = member(value, 'current_node');
  const current_node = candidates.find((id) => id === given) ?? position.current_node;
  const compare = (key: string, own: string | number | null): void => {
    const said = member(value, key);
    if (said === own || (said === undefined && own === null)) return;
    const pointed = typeof said === 'string' ? pointedOf(facts, said) : '';
    reading.tell(
      pathTo('$', key),
      `${said === undefined ? 'is missing' : `is ${shown(said)}${pointed}`}: by the states of the nodes it is ${own ?? 'null'}`,
    );
  };
  compare('current_batch', current_batch);
  compare('current_node', current_node);
  compare('last_checkpoint', last_checkpoint);
  return { current_batch, current_node, last_checkpoint };
};

const pointedOf = ({ node_states: nodes }: Pick<RunDocument, 'node_states'>, id: string): string => {
  const node = Object.hasOwn(nodes, id) ? nodes[id] : undefined;
  return node === undefined ? ', of which there is no state' : `, which is ${node.status}`;
};

/** When it was created, when it changed last, when it ended. The first two must be there, and are concluded if they are not. */
const timesOf = (
  id: string,
  value: JsonObject,
  nodes: RunDocument['node_states'],
  reading: Reading,
): Pick<RunDocument, 'created_at' | 'updated_at' | 'completed_at'> => {
  const created = timeAt(value, 'created_at', '$', reading);
  const updated = timeAt(value, 'updated_at', '$', reading);
  const completed_at = timeAt(value, 'completed_at', '$', reading);
  const worked = Object.values(nodes).flatMap((node) =>
    (isCheckpoint(node) ? [node.saved_at] : [node.started_at, node.completed_at]).filter((time) => time !== null),
  );
  const known = [...worked, ...[created, updated, completed_at].filter((time) => time !== null)].toSorted(byMoment);
  const ofId = idTime(id, reading);
  const created_at = created ?? known[0] ?? ofId ?? reading.clock.now;
  const newest = worked.toSorted(byMoment).at(-1);
  const updated_at = updated ?? newest ?? created_at;
  if (created === null)
    reading.tell('$.created_at', `is not known: the earliest time that is told, ${created_at}, stands for it`);
  if (updated === null)
    reading.tell('$.updated_at', `is not known: the last time of its nodes, ${updated_at}, stands for it`);
  else if (byMoment(updated, created_at) < 0 || (newest !== undefined && byMoment(updated, newest) < 0))
    reading.tell('$.updated_at', `lies before what the file tells of: ${updated} was kept`);
  return { created_at, updated_at, completed_at };
};

const byMoment = (some: string, other: string): number => Date.parse(some) - Date.parse(other);

/** The moment in the id of a run, `WFR-<slug>-<date>-<time>`. */
const idTime = (id: string, { clock }: Reading): string | null => {
  const [, year, month, day, hour, minute, second] = /-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/.exec(id) ?? [];
  if (year === undefined) return null;
  const probe = startReading(clock);
  return timeAt({ id: `${year}-${month}-${day}T${hour}:${minute}:${second}` }, 'id', '$', probe);
};

/** What in the file speaks against something else in it. All of it is taken as it is, and told. */
const tellContradictions = (run: FoundRun, reading: Reading): void => {
  const { document, isInArchive } = run;
  const { status, node_states: nodes, completed_at } = document;
  const position = positionOf(document);
  const standing = standingOf(run);
  const { open, ahead } = position;
  if (ahead.length > 0)
    reading.tell(
      '$.node_states',
      `shows ${listed(ahead)} begun, although ${listed(position.candidates)} before ${beOf(position.candidates)} not done`,
    );
  if (status === 'completed' && open.length > 0)
    reading.tell(
      '$.status',
      `is completed, although ${listed(open)} ${beOf(open)} not done: it was taken as ${standing.outcome ?? 'running'}`,
    );
  if (status === 'running' && open.length === 0 && document.execution_plan.length > 0)
    reading.tell('$.status', 'is running, although every node is done');
  if (status === 'paused' && position.waitsAt === null)
    reading.tell('$.status', 'is paused, although the run is at no checkpoint');
  if (status === 'archived')
    reading.tell(
      '$.status',
      `is archived, which does not say how it ended: it was taken as ${String(standing.outcome)}`,
    );
  else if (isInArchive && (status === 'running' || status === 'paused'))
    reading.tell(
      '$.status',
      `is ${status}, although the file lies in the archive: it was taken as ${String(standing.outcome)}`,
    );
  else if (isInArchive) reading.tell('$.status', `is ${status}, although the file lies in the archive`);
  if (standing.status === 'active' && status !== 'completed' && completed_at !== null)
    reading.tell('$.completed_at', `is ${completed_at}, although the run is ${status}`);
  for (const [id, node] of Object.entries(nodes)) {
    const at = pathTo('$.node_states', id);
    if (isCheckpoint(node) && node.status === 'completed' && node.snapshot_path === null)
      reading.tell(at, 'is a completed checkpoint that names no snapshot');
    if (standing.archived) tellStalePaths(document.session_id, node, at, reading);
  }
};

/** The original moves the folder of a session into its archive, and leaves the paths in it as they were. */
const tellStalePaths = (id: string, node: RunDocument['node_states'][string], path: string, reading: Reading): void => {
  const paths = isCheckpoint(node) ? [node.snapshot_path] : [node.output_path, ...node.artifacts];
  const stale = paths.some(
    (text) =>
      text !== null && new Set(text.replaceAll('\\', '/').split('/')).has(id) && !/[/\\]archives?[/\\]/i.test(text),
  );
  if (stale) reading.tell(path, 'points to where the run lay before it was archived, and was kept');
};

const snapshotKeys = new Set([
  'session_id',
  'checkpoint_id',
  'checkpoint_name',
  'saved_at',
  'context_snapshot',
  'node_states_snapshot',
  'last_completed_node',
  'next_node',
]);

const readSnapshot = (
  {
    session,
    checkpoint,
    value,
    states,
  }: { readonly session: string; readonly checkpoint: string; readonly value: JsonObject; readonly states: JsonObject },
  place: Place,
  reading: Reading,
): FoundSnapshot => {
  const file = place.path.split(/[/\\]/).at(-1) ?? '';
  if (file !== '' && file !== `${checkpoint}.json`)
    reading.tell('$.checkpoint_id', `is ${checkpoint}, and the file is called ${shown(file)}`);
  const found = readNodes(states, '$.node_states_snapshot', reading);
  const name = optionalTextAt(value, 'checkpoint_name', '$', reading);
  if (name === null) reading.tell('$.checkpoint_name', 'is missing: its id stands for it');
  const saved = timeAt(value, 'saved_at', '$', reading);
  const newest = Object.values(found.nodes)
    .flatMap((node) => (isCheckpoint(node) ? [node.saved_at] : [node.started_at, node.completed_at]))
    .filter((time) => time !== null)
    .toSorted(byMoment)
    .at(-1);
  if (saved === null)
    reading.tell(
      '$.saved_at',
      `is not known: the last time of its nodes, ${newest ?? reading.clock.now}, stands for it`,
    );
  const document: FoundSnapshot['document'] = {
    session_id: session,
    checkpoint_id: checkpoint,
    checkpoint_name: name ?? checkpoint,
    saved_at: saved ?? newest ?? reading.clock.now,
    node_states_snapshot: found.nodes,
    last_completed_node: optionalTextAt(value, 'last_completed_node', '$', reading),
    ...(Object.hasOwn(value, 'context_snapshot')
      ? { context_snapshot: textByKeyAt(value, 'context_snapshot', '$', reading) }
      : {}),
    ...(Object.hasOwn(value, 'next_node') ? { next_node: optionalTextAt(value, 'next_node', '$', reading) } : {}),
  };
  return {
    document,
    unknown: unknownOf(value, snapshotKeys),
    unknownOfNodes: found.unknown,
    problems: reading.problems(),
  };
};
