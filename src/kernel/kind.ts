import * as v from 'valibot';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { faultsOf } from '../lib/faults.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { isAsImported, type Common } from './common.ts';
import type { DecidedEvent, kernelEvents, StoredEvent } from './event.ts';
import type { KindBrief } from './kind-brief.ts';
import type { Claim } from './lease.ts';
import { refuse, type Refusal, type RefusalCode, type Way } from './refusal.ts';
import type { PrintDocuments } from './documents.ts';
import type { OpenedSession } from './session.ts';
import type { World } from './verb.ts';
import { noProgress, type KindView, type Progress } from './view.ts';

/** What a decision may look at beside the state: pure facts, gathered before. */
export interface Situation {
  /** What the kernel knows of the session; undefined before it is opened. */
  readonly common: Common | undefined;
  /** The newest samples, where the kind has some. */
  readonly samples: Samples;
}

/** A file that is derived from a session, in the format and place of the original system. */
export interface Mirror {
  /** `/` between parts: as a kind gives it relative to the session's own folder, as it is asked for to the checkout's root. */
  readonly path: string;
  /** The seq of the event that it is made from: another seq means another content. */
  readonly source: number;
  /** The content, made from that event, and from the others that it names. */
  readonly render: (event: StoredEvent, ...others: readonly StoredEvent[]) => string;
  /** The numbers of other events that it is made from. */
  readonly others?: readonly number[];
  /** The id of the checkout that it lies in, where that is not the session's own. */
  readonly place?: string;
  /** Set for a file that people edit, whose digest is that of its text without secrets. */
  readonly document?: DocumentMark;
  /** SHA-256 of the file that another program had left in its place, and that the session was taken over from. */
  readonly original?: string;
  /** SHA-256 of a file of another program that it takes the place of: what that said stands in an event. */
  readonly replaces?: string | null;
  /** Whether the file is to be gone from there: the session has left it. What somebody else wrote into it is kept beside. */
  readonly isGone?: true;
  /** With `isGone`: the session was never in that file itself. It is left alone unless it is its original, and no session's. */
  readonly isOriginalAlone?: true;
}

/** What is known of a file that people edit. */
export interface DocumentMark {
  /** What a version of it is known by: the digest of its text without secrets. */
  readonly digestOf: (text: string) => string;
  /** The digests of what was taken in of it: it may be written over. */
  readonly taken: readonly string[];
  /** The digests of what is replaced all the same, and kept beside. */
  readonly replaces?: readonly string[];
  /** Whether it is written once: what becomes of it then is theirs who keep it. */
  readonly isFixed: boolean;
}

/** A file of another program that stands in the place of the current one, and is not taken over. */
export interface LeftFile {
  readonly code: RefusalCode;
  /** What it holds, as the end of a sentence that begins with its path, and what may follow. */
  readonly problem: string;
  /** What can be done about it, the usual way first. */
  readonly ways: readonly Way[];
}

/** What a kind needs to look into a file. */
export type FileWorld = Pick<World, 'store' | 'places' | 'files' | 'project' | 'caller' | 'host'> &
  Partial<Pick<World, 'documents'>>;

/** What another program has made of the file of a session. */
export interface ChangedFile {
  /** SHA-256 of what was looked at; empty where it could not be read. */
  readonly digest: string;
  /** Whether a session here was taken over from it, as it is. */
  readonly isOriginal?: boolean;
  /** What it is, behind its name; undefined: that somebody else has changed it. */
  readonly is?: string;
  /** What else is to be said. */
  readonly more?: string;
  /** What is put on record of the session that it is of, and what is to be said then. */
  readonly record?: {
    readonly key: string;
    readonly decide: (session: OpenedSession) => Result<readonly DecidedEvent[], Refusal>;
    readonly more: string;
  };
}

/** A file in which one session of a kind lies at a time, for all to see which one is worked on. */
export interface CurrentFile {
  /** Relative to the checkout's root, `/` between parts. Its folder is that of all sessions of the kind, and never moved. */
  readonly path: string;
  /** The folder in it in which results are left. */
  readonly results: string;
  /** Lines for that folder's `.gitignore`, where it has none. */
  readonly ignores: readonly string[];
  /** What a session is called that nobody has named; `random` is a text of letters and digits that nobody else has. */
  readonly nameFor: (now: string, random: string) => string;
  /** What another program has left in that file; undefined where it is what a session here was taken over from. */
  readonly look: (world: World, digest: string | undefined) => Promise<LeftFile | undefined>;
  /** What another program has made of a file of such a session, before it is set aside; `path` is relative to that root. */
  readonly changed: (world: FileWorld, root: string, path: string) => Promise<ChangedFile>;
  /** The command that puts the open session away and begins another. */
  readonly successor: string;
}

/** An event that this program cannot fold: written by a newer one, or damaged. */
export interface Unreadable {
  readonly seq: number;
  readonly type: string;
  readonly v: number;
  readonly reason: 'newer' | 'invalid';
}

/** What a kind's author writes; see `kinds/review` for an example. All of it is pure. */
export interface KindDefinition<
  State,
  Command extends { readonly type: string },
  Event extends { readonly type: string },
> {
  readonly name: string;
  readonly summary: string;
  /** Loaded with the program; others when a session of that kind is first met. Read off the sources by `npm run gen`. */
  readonly everyday?: true;
  /** Raised whenever the shape of the state changes: older snapshots are then replayed. */
  readonly stateVersion: number;
  /** What may be asked. `begin` opens, `continue` goes on after a close; both must be there. */
  readonly commands: v.GenericSchema<unknown, Command>;
  /** The types of its commands; what is left out is read off the examples. */
  readonly commandTypes?: readonly Command['type'][];
  /** What can have happened, as `{type, ...data}`; an event of the kernel, for example a close, may be decided too. */
  readonly events: v.GenericSchema<unknown, Event>;
  /** The newest version of each event's shape. */
  readonly eventVersions: Readonly<Record<Exclude<Event['type'], keyof typeof kernelEvents>, number>>;
  /** The names of the positions that commands name: where one name stands for several sessions, they tell which is meant. */
  readonly positions?: readonly string[];
  /** Set where a checkout has one open session of the kind at a time. */
  readonly current?: CurrentFile;
  /** How the work may be done, where there are several ways, the usual one first: `begin` is told with `mode`, and `where` of the view says which. */
  readonly modes?: readonly string[];
  /** Commands that a paused session takes beside those about steps that are under way: they begin nothing. */
  readonly whilePaused?: readonly string[];
  /** Whether nobody begins one without saying what it is to come to. */
  readonly needsGoal?: true;
  /** Whether one that is completed is over for good: `begin` starts another beside it, and going on with it takes a reason. */
  readonly endsForGood?: true;
  /** What a project may say of it in `stint.json`; what comes of it is told to `begin`, as `declared`. */
  readonly declaration?: v.GenericSchema<unknown, JsonObject>;
  /** Whether its mirrors show what stands in the journal, and are made anew with it. */
  readonly mirrorsJournal?: true;
  /** What samples say of it: fields of `status` that take the place of those of the view. */
  readonly sampled?: (state: State, common: Common, samples: Samples) => JsonObject;
  readonly initial: State;
  readonly evolve: (state: State, event: Event, stored: StoredEvent) => State;
  /** The rules: events, none where the command changes nothing, or a refusal. An event may carry `happened`, as a `DecidedEvent` does. */
  readonly decide: (state: State, command: Command, situation: Situation) => Result<readonly Event[], Refusal>;
  readonly view: (state: State, common: Common) => KindView;
  /** How far the work is; without it no steps are told of. */
  readonly progress?: (state: State, common: Common, samples: Samples) => Progress;
  /** The session's own folder, relative to the checkout's root. */
  readonly folder: (name: string) => string;
  /** Its mirrors, in the order in which they are written. `folder` is where the session's own folder is now. */
  readonly mirrors: (state: State, common: Common, folder: string) => readonly Mirror[];
  /** What can be handed out; a kind may have no such steps. It then takes the commands of `steps.ts`. */
  readonly steps?: StepSource<State>;
  /** The files that it was made from: whoever goes on with it is told of those that have changed. */
  readonly sources?: (state: State) => readonly SourceFile[];
  /** What whoever goes on with it is to know; what is left out is made of view, progress and steps. */
  readonly brief?: (state: State, common: Common, samples: Samples) => Partial<KindBrief>;
  /** What it says of itself in the documents of a hand-off, and takes back from them; others are told by their view. */
  readonly handoff?: HandoffSide<State>;
  /** At least one command of every type; the contract suite explores what they can reach. */
  readonly examples: readonly Command[];
  /** Samples that they are decided beside, for a kind that has some. */
  readonly exampleSamples?: Samples;
}

/** What a kind whose documents may be edited says in them, and makes of what somebody wrote there. */
export interface HandoffSide<State> {
  /** One of the five words of the documents. */
  readonly status: (state: State, common: Common) => string;
  /** Who is to act next, where somebody said so. */
  readonly owner: (state: State, common: Common) => string | null;
  /** The commands with which the session becomes what was written, in their order. */
  readonly takes: (state: State, common: Common, edit: HandoffEdit) => readonly { readonly type: string }[];
}

/** What was written into the documents of a hand-off; what is left out was not touched. */
export interface HandoffEdit {
  readonly status?: string;
  readonly owner?: string;
  readonly lastCompleted?: string;
  readonly current?: string;
  /** The steps that are left, as they stood there and as they stand there now. */
  readonly remaining?: { readonly was: readonly string[]; readonly now: readonly string[] };
  /** Why a status is taken that is no transition. */
  readonly override?: string;
}

/** The newest samples of a session, by their names: values that come too often for events. */
export type Samples = ReadonlyMap<string, JsonObject>;

/** A step that may be handed out. */
export interface ReadyStep {
  readonly id: string;
  /** What sort of work it is, in the kind's own words. */
  readonly type: string;
  /** What is to be done, for a person. */
  readonly name: string;
  readonly args: Json;
  /** What else is to be known of it, in the kind's own words. */
  readonly details?: JsonObject;
  /** The number of the attempt that handing it out would be, from 1. */
  readonly attempt: number;
}

/** An attempt of a step that runs. */
export interface RunningStep {
  readonly id: string;
  readonly attempt: number;
  readonly claim: Claim;
  /** Whether whoever works on it was told to stop for now. */
  readonly isPaused?: boolean;
}

/** Which of the ready steps are meant: at most so many, those behind one of them, or one alone; and when they are to be handed out. */
export interface StepPage {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly only?: string | undefined;
  /** Without it those count too that are handed out only later. */
  readonly now?: string | undefined;
}

/** What the steps of a kind are called, and which commands are about one: refusals tell them. */
export interface StepWords {
  readonly called: string;
  /** One of them, with its article. */
  readonly one: string;
  /** The commands that list them, or hand them out; the first is the one to try. */
  readonly lists: readonly string[];
  /** The command that gives one up, in front of its id; a kind may have none. */
  readonly givesUp?: string;
}

/** The words of a kind that says no others. */
export const stepWords: StepWords = { called: 'step', one: 'a step', lists: ['stint next', 'stint next --claim'] };

/** The steps of a session as they can be handed out; none of them are part of the view. */
export interface StepSource<State> {
  /** Those that are ready, in the order in which they are to be done, and how many there are in all. */
  readonly ready: (state: State, page: StepPage) => { readonly steps: readonly ReadyStep[]; readonly total: number };
  /** All of them, whatever became of them. */
  readonly ids: (state: State) => readonly string[];
  readonly running: (state: State) => readonly RunningStep[];
  /** Those that were interrupted, and of which nobody knows what they have done. */
  readonly inDoubt: (state: State) => readonly string[];
  /** The newest token that was handed out. */
  readonly token: (state: State) => number;
  /** The attempt that a background task works on, or has worked on, by the id of the task. */
  readonly byTask?: (state: State, task: string) => TaskAttempt | undefined;
  readonly words?: StepWords;
}

/** The attempt of a background task. */
export interface TaskAttempt {
  readonly step: string;
  readonly attempt: number;
}

/** A file that a session was made from, as it was then. */
export interface SourceFile {
  /** What it is, for a person. */
  readonly label: string;
  /** Relative to the checkout's root, or absolute. */
  readonly path: string;
  /** SHA-256 of its content; null where the session was made without it, so that what it says is not known. */
  readonly digest: string | null;
}

/** The folder of a session, relative to the checkout's root: its kind's, or the one in `archive` beside that, unless all share one. */
export const folderOf = (
  kind: { readonly folder: (name: string) => string; readonly current?: CurrentFile | undefined },
  { name, archivedAt }: Pick<Common, 'name' | 'archivedAt'>,
): string => {
  const folder = kind.folder(name);
  if (kind.current !== undefined) return folder;
  const at = folder.lastIndexOf('/') + 1;
  return archivedAt === null ? folder : `${folder.slice(0, at)}archive/${folder.slice(at)}`;
};

/**
 * Where the folder of a session belongs that was ever in the archive, recorded as mirrors are and not a file: so whoever
 * writes mirrors finds that it is still to be moved, and moves it. Where another system has put a session stays where it is
 * for as long as nothing happens to it here.
 */
const folderMark = (common: Common, folder: string, isShared: boolean): readonly Mirror[] =>
  common.folderSeq === 0 || isShared || isAsImported(common)
    ? []
    : [{ path: folderMarkOf(common.key), source: common.folderSeq, render: () => folder }];

/** What that record is called: no path of a file ends like this. */
export const folderMarkOf = (key: string): string => `${key}/`;

/** A kind as the rest of the program sees it: the author's types are closed over. */
export interface Kind {
  readonly name: string;
  readonly summary: string;
  readonly stateVersion: number;
  readonly commandTypes: readonly string[];
  readonly positions: readonly string[];
  readonly eventVersions: Readonly<Record<string, number>>;
  readonly examples: readonly KindCommand[];
  readonly exampleSamples: Samples;
  readonly folder: (name: string) => string;
  readonly current: CurrentFile | undefined;
  readonly modes: readonly string[];
  readonly whilePaused: readonly string[];
  readonly needsGoal: boolean;
  readonly endsForGood: boolean;
  /** What a project says of it in `stint.json`, as commands are told it, or faults that begin with a JSON path. */
  readonly declared: (said: JsonObject) => Result<JsonObject, readonly string[]>;
  readonly mirrorsJournal: boolean;
  readonly isSampled: boolean;
  /** The state before any event. */
  readonly empty: Folded;
  /** The state of a snapshot that `freeze` returned under this `stateVersion`. */
  readonly thaw: (snapshot: Json) => Folded;
}

/** A command: its type and its fields. */
export type KindCommand = JsonObject & { readonly type: string };

/** A kind's state with everything that can be asked of it. */
export interface Folded {
  /** The state itself, for verbs that only its kind has: nobody else knows what it is. */
  readonly state: unknown;
  readonly apply: (event: StoredEvent) => Result<Folded, Unreadable>;
  readonly freeze: () => string;
  readonly decide: (command: KindCommand, situation: Situation) => Result<readonly DecidedEvent[], Refusal>;
  readonly view: (common: Common) => KindView;
  readonly progress: (common: Common, samples: Samples) => Progress;
  readonly mirrors: (common: Common) => readonly Mirror[];
  readonly steps: FoldedSteps | undefined;
  readonly sources: () => readonly SourceFile[];
  readonly sampled: (common: Common, samples: Samples) => JsonObject;
  readonly handoff: FoldedHandoff | undefined;
  /** What the kind itself says for a brief; `kindBriefOf` has the rest. */
  readonly brief: (common: Common, samples: Samples) => Partial<KindBrief>;
}

/** What a kind says in documents, and takes from them, of a state. */
export interface FoldedHandoff {
  readonly status: (common: Common) => string;
  readonly owner: (common: Common) => string | null;
  readonly takes: (common: Common, edit: HandoffEdit) => readonly KindCommand[];
}

/** What can be handed out of a state. */
export interface FoldedSteps {
  readonly ready: (page: StepPage) => ReturnType<StepSource<unknown>['ready']>;
  readonly ids: () => readonly string[];
  readonly running: () => readonly RunningStep[];
  readonly inDoubt: () => readonly string[];
  readonly token: () => number;
  readonly byTask: (task: string) => TaskAttempt | undefined;
  readonly words: StepWords;
}

/** Closes over the types of a kind's author, so that a registry of different kinds is a plain list. */
export const defineKind = <State, Command extends { readonly type: string }, Event extends { readonly type: string }>(
  definition: KindDefinition<State, Command, Event>,
): Kind => {
  const versions: Readonly<Record<string, number>> = definition.eventVersions;
  let commandTypes: readonly string[] | undefined = definition.commandTypes;

  const fold = (state: State): Folded => ({
    state,
    apply: (stored) => {
      const unreadable = { seq: stored.seq, type: stored.type, v: stored.v };
      const version = versions[stored.type];
      if (version === undefined || stored.v > version) return err({ ...unreadable, reason: 'newer' });
      const event = v.safeParse(definition.events, { ...stored.data, type: stored.type });
      if (!event.success) return err({ ...unreadable, reason: 'invalid' });
      return ok(fold(definition.evolve(state, event.output, stored)));
    },
    freeze: () => JSON.stringify(state),
    decide: (input, situation) => {
      const command = v.safeParse(definition.commands, input);
      if (!command.success)
        return err(
          refuse('invalid-input', `The command ${input.type} is not valid.`, { faults: faultsOf(command.issues) }),
        );
      const events = definition.decide(state, command.output, situation);
      return events.ok ? ok(events.value.map((event) => eventToDecided(event, versions))) : events;
    },
    view: (common) => definition.view(state, common),
    progress: (common, samples) => definition.progress?.(state, common, samples) ?? noProgress,
    mirrors: (common) => {
      const folder = folderOf(definition, common);
      return [
        ...folderMark(common, folder, definition.current !== undefined),
        ...definition.mirrors(state, common, folder).map((mirror) => ({ ...mirror, path: `${folder}/${mirror.path}` })),
      ];
    },
    steps: definition.steps && stepsOf(definition.steps, state),
    sources: () => definition.sources?.(state) ?? [],
    sampled: (common, samples) => definition.sampled?.(state, common, samples) ?? {},
    handoff: definition.handoff && handoffOf(definition.handoff, state),
    brief: (common, samples) => definition.brief?.(state, common, samples) ?? {},
  });

  return {
    name: definition.name,
    summary: definition.summary,
    stateVersion: definition.stateVersion,
    positions: definition.positions ?? [],
    get commandTypes() {
      return (commandTypes ??= [...new Set(definition.examples.map(({ type }) => type))]);
    },
    eventVersions: versions,
    get examples() {
      return definition.examples.map((command) => ({ ...command }));
    },
    exampleSamples: definition.exampleSamples ?? new Map(),
    folder: definition.folder,
    current: definition.current,
    modes: definition.modes ?? [],
    whilePaused: definition.whilePaused ?? [],
    needsGoal: definition.needsGoal ?? false,
    endsForGood: definition.endsForGood ?? false,
    declared: (said) => {
      if (definition.declaration === undefined) return err(['$ there is nothing to be said of it']);
      const parsed = v.safeParse(definition.declaration, said);
      return parsed.success ? ok(parsed.output) : err(faultsOf(parsed.issues));
    },
    mirrorsJournal: definition.mirrorsJournal ?? false,
    isSampled: definition.sampled !== undefined,
    empty: fold(definition.initial),
    // A snapshot is only given back when its version and checksum hold, so it is what freeze returned for a State.
    thaw: (snapshot) => fold(snapshot as State),
  };
};

const handoffOf = <State>(side: HandoffSide<State>, state: State): FoldedHandoff => ({
  status: (common) => side.status(state, common),
  owner: (common) => side.owner(state, common),
  takes: (common, edit) => side.takes(state, common, edit).map((command) => ({ ...command })),
});

const stepsOf = <State>(source: StepSource<State>, state: State): FoldedSteps => ({
  ready: (page) => source.ready(state, page),
  ids: () => source.ids(state),
  running: () => source.running(state),
  inDoubt: () => source.inDoubt(state),
  token: () => source.token(state),
  byTask: (task) => source.byTask?.(state, task),
  words: source.words ?? stepWords,
});

const eventToDecided = (
  event: { readonly type: string; readonly happened?: unknown },
  versions: Readonly<Record<string, number>>,
): DecidedEvent => {
  const { type, happened, ...data } = event;
  return { type, v: versions[type] ?? 1, data, ...(typeof happened === 'string' ? { happened } : {}) };
};

/** The kinds of this program, by name. A map of kinds is one where all are loaded; `kinds.ts` makes those that load some. */
export interface Kinds {
  readonly has: (name: string) => boolean;
  readonly keys: () => Iterable<string>;
  /** Undefined for a kind that nobody knows. Throws `NotLoaded` for one that is not there yet, which is no other answer. */
  readonly get: (name: string) => Kind | undefined;
  /** What makes documents of hand-offs, for sessions of every kind. Throws `NotLoaded` as `get` does. */
  readonly printDocuments?: () => PrintDocuments;
}

/** All mirrors of a session: those of its kind, and the documents that describe it. */
export const mirrorsOf = (kinds: Kinds, session: OpenedSession): readonly Mirror[] => {
  const { common, folded } = session;
  const own = folded.mirrors(common);
  if (common.documents === undefined && common.archivedPairs === undefined) return own;
  return [...own, ...(kinds.printDocuments?.()(session) ?? [])];
};
