import { isCheckpoint } from '../../formats/run-state/nodes.ts';
import {
  largestRunFile,
  readRunFile,
  readSnapshotFile,
  type Damage,
  type FoundRun,
} from '../../formats/run-state/read-run.ts';
import {
  fileOf,
  planRunFile,
  planRunFiles,
  runFolders,
  type RunFile,
  type RunFilePlan,
  type Twin,
} from '../../formats/run-state/run-files.ts';
import type { Template } from '../../formats/run-state/template.ts';
import type { Unread } from '../../kernel/ports.ts';
import type { Ignored } from '../../kernel/take-over-order.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { ProjectFiles, World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { sessionNameProblem } from '../../lib/name.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { sha256 } from '../../lib/sha256.ts';
import { oneLine, stripControls, truncate } from '../../lib/text.ts';
import type { Clock } from '../../lib/written-time.ts';
import type { Node } from './events.ts';
import { nodeOfTemplate } from './template-nodes.ts';

/** The runs of another program, as they are found in its files. Nothing is written, and no path in a file is followed. */

/** What was found where somebody pointed. */
export interface FoundRuns {
  /** The folder or the file, as it is shown. */
  readonly source: string;
  readonly runs: readonly RunToTake[];
  /** What is no run, or none that can be read, by its path: what it is and why it is left alone, or what is wrong with it. */
  readonly ignored: readonly Ignored[];
}

/** A run that can be taken over. */
export interface RunToTake {
  readonly path: string;
  readonly found: FoundRun;
  /** SHA-256 of the text of its file. */
  readonly digest: string;
  readonly nodes: readonly Node[];
  /** The template that its nodes were completed from. */
  readonly template: { readonly json: JsonObject; readonly digest: string } | undefined;
  readonly problems: readonly string[];
  /** What is worth knowing and no problem. */
  readonly notes: readonly string[];
  /** The other files of its folder, relative to that. */
  readonly files: readonly string[];
}

/** Most files of a folder that are named. */
const mostFiles = 100;

/** Finds the runs of a checkout, of a folder, or in a file. */
export const findRuns = async (world: World, given: string | undefined): Promise<Result<FoundRuns, Refusal>> => {
  const { files, places } = world;
  const project = await world.project();
  const { root } = places.here;
  const path = given === undefined ? root : project.resolve(given);
  const folders = given === undefined ? runFolders(path).slice(0, 1) : runFolders(path);
  const folder = folders.find((one) => project.isFolder(one));
  const show = (one: string): string => (one.startsWith(`${root}/`) ? one.slice(root.length + 1) : one);
  if (folder === undefined) {
    const isThere = given !== undefined && files.exists(path);
    if (!isThere) return err(refuseNothing(show(folders[0] ?? path), given));
    return ok(
      await readFound(world, planRunFile(path), { source: show(path), show, project: root }, () =>
        project.readNamed(given, largestRunFile),
      ),
    );
  }
  const tree = project.tree(folder);
  const plan = planRunFiles(folder, files.list(folder), tree);
  if (plan.files.length === 0 && plan.ignored.length === 0) return err(refuseNothing(show(folder), given));
  const below = (one: string): string => one.slice(folder.length + 1);
  const from = {
    source: show(folder),
    show,
    project: folder.replace(/\/\.workflow(?:\/.*)?$/, ''),
    filesIn: (own: string) => filesBelow(tree, below(own)),
  };
  return ok(await readFound(world, plan, from, (one) => project.text(folder, below(one), largestRunFile)));
};

const refuseNothing = (shown: string, given: string | undefined): Refusal =>
  refuse(
    'not-found',
    `There is no workflow run: ${shown} ${given === undefined ? 'is not there' : 'holds none, or is not there'}.`,
    {
      expected: 'a checkout with .workflow/sessions, a folder of sessions, or a session-state.json',
      hint: 'stint import workflow-run PATH',
    },
  );

/** The files of a session's folder but the one that says how it stands. */
const filesBelow = (tree: ReturnType<ProjectFiles['tree']>, folder: string): readonly string[] => {
  const [top = '', ...rest] = folder.split('/');
  const prefix = rest.map((part) => `${part}/`).join('');
  return (tree.find(({ id }) => id === top)?.files ?? [])
    .filter((file) => file.startsWith(prefix) && file !== `${prefix}session-state.json`)
    .slice(0, mostFiles)
    .map((file) => file.slice(prefix.length));
};

/** How the paths of a find are shown, and what lies around it. */
interface Ground {
  readonly source: string;
  readonly show: (path: string) => string;
  /** The root of the project that the runs are of, to which paths in them are relative. */
  readonly project: string;
  readonly filesIn?: (folder: string) => readonly string[];
}

type Read = (path: string) => Result<string | { readonly text: string }, Unread>;

const readFound = async (world: World, plan: RunFilePlan, ground: Ground, read: Read): Promise<FoundRuns> => {
  const { show } = ground;
  const clock: Clock = { now: world.caller.now, offsetAt: world.host.offsetAt };
  const readText = (path: string): Result<string, Damage> => {
    const text = read(path);
    if (!text.ok) return err({ problem: `It ${text.error.problem}.` });
    return ok(typeof text.value === 'string' ? text.value : text.value.text);
  };
  const filesById = new Map<string, ReadFile[]>();
  const ignored: Ignored[] = [];
  const damagedByFolder = new Map<string, string>();
  for (const file of plan.files) {
    const path = show(file.path);
    const text = readText(file.path);
    const found = text.ok
      ? readRunFile(text.value, { path, folder: show(file.folder) }, clock)
      : ({ what: 'damaged', ...text.error } as const);
    if (found.what === 'neighbour') ignored.push({ path, is: found.is, why: found.why });
    if (found.what === 'damaged') {
      ignored.push({ path, code: 'damaged', ...damageOf(found) });
      const [folder = '', name] = path.split('/').slice(-2);
      if (name === 'session-state.json') damagedByFolder.set(folder, path);
    }
    if (found.what !== 'run' || !text.ok) continue;
    const { session_id: id, updated_at: updatedAt } = found.run.document;
    const illegal = sessionNameProblem(id);
    if (illegal !== undefined) ignored.push({ path, code: 'invalid-input', problem: illegal });
    else {
      const one = { path: file.path, file, found: found.run, updatedAt, digest: sha256(text.value) };
      filesById.set(id, [...(filesById.get(id) ?? []), one]);
    }
  }
  const runs: RunToTake[] = [];
  for (const [id, twins] of filesById) {
    // What lies elsewhere may be an older copy, and what was done since would be done again.
    const isInOwn = twins.some(({ path }) => path.endsWith(`/${id}/session-state.json`));
    const damaged = isInOwn ? undefined : damagedByFolder.get(id);
    const taken = damaged === undefined ? fileOf(id, twins) : undefined;
    const why =
      taken !== undefined
        ? `It is taken from ${show(taken.path)}.`
        : damaged === undefined
          ? `Nobody knows which one counts, and none was taken: ${twins.map((one) => show(one.path)).join(', ')}. ${nameIt}`
          : `It may be older than ${damaged}, which cannot be read, and was not taken. ${nameIt}`;
    ignored.push(
      ...twins
        .filter((one) => one !== taken)
        .map((one): Ignored => ({
          path: show(one.path),
          ...(taken === undefined ? { code: 'invariant-unmet' } : {}),
          is: `another file of the run ${id}`,
          why,
        })),
    );
    if (taken === undefined) continue;
    const { file, found, digest } = taken;
    const defined = await nodesOf(world, ground, found);
    runs.push({
      path: show(file.path),
      found,
      digest,
      nodes: defined.nodes,
      template: defined.template,
      problems: [
        ...found.problems,
        ...snapshotProblems(file, found, readText, show, clock),
        ...(await missingPaths(world, found)),
        ...defined.problems,
      ],
      notes: defined.notes,
      files: ground.filesIn?.(file.folder) ?? [],
    });
  }
  ignored.push(...plan.ignored.map(({ path, reason }) => ({ path: show(path), why: reason })));
  return { source: ground.source, runs, ignored };
};

/** A file of a run, before it is known whether it is the one that counts. */
interface ReadFile extends Twin {
  readonly file: RunFile;
  readonly found: FoundRun;
}

const nameIt = 'Name the one to take: stint import workflow-run PATH.';

const damageOf = ({ problem, line, column, hint }: Damage): JsonObject => ({
  problem,
  ...(hint === undefined ? {} : { hint }),
  ...(line === undefined || column === undefined ? {} : { line, column }),
});

/** What speaks against the snapshots beside a file: that they are missing, or belong to nothing. */
const snapshotProblems = (
  { snapshots }: RunFile,
  { document }: FoundRun,
  read: (path: string) => Result<string, Damage>,
  show: (path: string) => string,
  clock: Clock,
): readonly string[] => {
  const problems: string[] = [];
  const there = new Map<string, string>();
  for (const path of snapshots) {
    const text = read(path);
    const place = { path: show(path), folder: show(path.slice(0, path.lastIndexOf('/'))) };
    const snapshot = text.ok ? readSnapshotFile(text.value, place, clock) : text;
    if (!snapshot.ok) {
      problems.push(`${place.path}: ${snapshot.error.problem}`);
      continue;
    }
    const { session_id: session, checkpoint_id: checkpoint } = snapshot.value.document;
    const node = Object.hasOwn(document.node_states, checkpoint) ? document.node_states[checkpoint] : undefined;
    if (session !== document.session_id) problems.push(`${place.path} is of another run, ${session}.`);
    else if (node === undefined || !isCheckpoint(node))
      problems.push(`${place.path} is of ${checkpoint}, which is no checkpoint of the run.`);
    else {
      there.set(checkpoint, place.path);
      if (node.status !== 'completed')
        problems.push(
          `${place.path} belongs to a checkpoint that the run has not passed: ${checkpoint} is ${node.status}.`,
        );
      problems.push(...snapshot.value.problems.map((problem) => `${place.path}: ${problem}`));
    }
  }
  const missing = Object.entries(document.node_states).flatMap(([id, node]) =>
    isCheckpoint(node) && node.status === 'completed' && node.snapshot_path !== null && !there.has(id) ? [id] : [],
  );
  if (missing.length > 0)
    problems.push(
      `The ${missing.length === 1 ? 'snapshot' : 'snapshots'} of ${listed(missing)} ${missing.length === 1 ? 'is' : 'are'} not in the folder checkpoints beside the file.`,
    );
  return problems;
};

/** The files that a run names and that are not in this checkout, told once. */
const missingPaths = async ({ project, places }: World, { document }: FoundRun): Promise<readonly string[]> => {
  const files = await project();
  const named = new Set(
    Object.values(document.node_states).flatMap((node) =>
      isCheckpoint(node) ? [] : [...(node.output_path === null ? [] : [node.output_path]), ...node.artifacts],
    ),
  );
  const missing = [...named].filter((path) => !files.holds(places.here.root, path));
  return missing.length === 0
    ? []
    : [
        `${missing.length === 1 ? '1 file that its nodes name is' : `${missing.length} files that its nodes name are`} not in this checkout: ${listed(missing.map(shown))}.`,
      ];
};

const shown = (text: string): string => truncate(oneLine(stripControls(text)), 100);

const listed = (texts: readonly string[]): string =>
  texts.length > 5 ? `${texts.slice(0, 5).join(', ')} and ${texts.length - 5} others` : texts.join(', ');

/** The nodes of a run as its template has them; without one that fits, as far as their states tell what they are. */
const nodesOf = async (
  world: World,
  ground: Ground,
  run: FoundRun,
): Promise<Pick<RunToTake, 'nodes' | 'template' | 'problems' | 'notes'>> => {
  const { template_path: path } = run.document;
  const planned = run.document.execution_plan.flatMap(({ nodes }) => nodes);
  const template = path === '' ? err('is not named') : await templateAt(world, ground, path);
  const misfit = template.ok ? misfitOf(template.value.template, run, planned) : template.error;
  if (!template.ok || misfit !== undefined)
    return {
      nodes: planned.map((id) => unknownNode(run, id)),
      template: undefined,
      problems:
        planned.length === 0
          ? []
          : [`Nobody knows what its nodes do: the template${path === '' ? '' : ` ${shown(path)}`} ${misfit}.`],
      notes: [],
    };
  const { digest, template: read } = template.value;
  const byId = new Map(read.nodes.map((node) => [node.id, nodeOfTemplate(node)]));
  return {
    nodes: planned.flatMap((id) => byId.get(id) ?? []),
    template: { json: read.json, digest },
    problems: [],
    notes: [`What its nodes do is taken from the template ${shown(path)} as it is now.`],
  };
};

/** The template of a run, from the project that it is of, else from this one; or what keeps it from being read. */
const templateAt = async (
  { files, places, project }: World,
  ground: Ground,
  path: string,
): Promise<Result<{ readonly template: Template; readonly digest: string }, string>> => {
  const { text: textOf } = await project();
  const own = textOf(ground.project, path, largestRunFile);
  const root = own.ok ? ground.project : places.here.root;
  const text = own.ok ? own : textOf(root, path, largestRunFile);
  if (!text.ok) return err(text.error.isMissing ? 'is not there' : text.error.problem);
  const { faultLine, readTemplate } = await import('../../formats/run-state/template.ts');
  const read = readTemplate(text.value, path);
  if (read.ok) return ok({ template: read.value.template, digest: files.digest(root, path)?.sha256 ?? '' });
  const [fault] = read.error;
  return err(`is not valid${fault === undefined ? '' : ` (${faultLine(shown(path), fault).replace(/\.$/, '')})`}`);
};

/** Why a template is not that of a run. */
const misfitOf = ({ nodes }: Template, { document }: FoundRun, planned: readonly string[]): string | undefined => {
  const isCheckpointById = new Map(nodes.map(({ id, type }) => [id, type === 'checkpoint']));
  const strange = planned.filter((id) => !isCheckpointById.has(id));
  if (strange.length > 0) return `has no ${listed(strange)}`;
  const inPlan = new Set(planned);
  const others = [...isCheckpointById.keys()].filter((id) => !inPlan.has(id));
  if (others.length > 0) return `has ${listed(others)} too`;
  const unlike = planned.filter((id) => {
    const state = document.node_states[id];
    return state !== undefined && isCheckpoint(state) !== isCheckpointById.get(id);
  });
  return unlike.length > 0 ? `says of ${listed(unlike)} another kind of node` : undefined;
};

const unknownNode = ({ document }: FoundRun, id: string): Node => {
  const state = document.node_states[id];
  const common = { id, name: '', executor: null, args: '', on_fail: 'abort', details: {} } as const;
  return state !== undefined && isCheckpoint(state)
    ? { ...common, type: 'checkpoint', idempotent: true, auto_continue: state.auto_continue ?? false }
    : { ...common, type: 'unknown', idempotent: false, auto_continue: false };
};
