import * as v from 'valibot';
import type { JsonObject } from '../lib/canonical-json.ts';
import type { Result } from '../lib/result.ts';
import type { Common } from './common.ts';
import { refuseClosed } from './lifecycle.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Evidence } from './view.ts';

/**
 * A workflow that walks through phases in rounds: a table. The phases are a line; the last one is reached only by
 * completing the round in the phase before it. In paths, `{round}` stands for the round's number.
 */
export interface PhaseWorkflow {
  readonly name: string;
  readonly summary: string;
  /** As in `KindDefinition`. */
  readonly everyday?: true;
  readonly phases: readonly [Phase, Phase, ...Phase[]];
  readonly cycle: Cycle;
  readonly completion: Completion;
  /** The session's own folder, relative to the checkout's root; `{name}` stands for its name. */
  readonly folder: string;
  readonly examples: readonly PhaseCommand[];
}

/** One phase. */
export interface Phase {
  readonly name: string;
  /** What is done in it, for a person. */
  readonly label: string;
  /** What lies in the session's folder when it is over. */
  readonly evidence?: readonly Evidence[];
  /** Whether it may be passed over, on the record and with a reason. */
  readonly skippable?: boolean;
}

/** What a workflow calls its rounds. */
export interface Cycle {
  /** For a person, and the key in answers: `round`. */
  readonly field: string;
  /** The original's name for the current one. */
  readonly currentField: string;
  /** The original's name for when the current one began. */
  readonly startedField: string;
}

/** How a round is completed. */
export interface Completion {
  /** The verb that does it, with its help. */
  readonly verb: string;
  readonly summary: string;
  readonly details: string;
  readonly examples: readonly string[];
  /** What the payload is, in a few words. */
  readonly payload: string;
  /** The file that is made of the payload, relative to the session's folder. */
  readonly metaPath: string;
  /** A file that may be asked for before the round is complete. */
  readonly finalPath: string;
  /** Checks a payload; what is stored is what it returns. Faults are lines that begin with a JSON path. */
  readonly check: (payload: unknown) => Result<CheckedPayload, readonly string[]>;
  /** The file's text, from what was stored. */
  readonly print: (payload: JsonObject) => string;
}

/** A payload that holds, and what lists and answers say of it. */
export interface CheckedPayload {
  readonly payload: JsonObject;
  readonly summary: JsonObject;
  /** What was changed in it, as lines that begin with a JSON path. */
  readonly notes: readonly string[];
}

export const jsonObject = v.custom<JsonObject>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
  'expected an object',
);

export const makeCommandSchema = () =>
  v.variant('type', [
    v.object({ type: v.literal('begin') }),
    v.object({ type: v.literal('continue'), after: v.nullable(v.string()) }),
    v.object({
      type: v.literal('advance'),
      phase: v.optional(v.string()),
      round: v.optional(v.number()),
      skip: v.optional(v.string()),
      reason: v.optional(v.string()),
    }),
    v.object({
      type: v.literal('complete'),
      payload: v.unknown(),
      /** Keyed digest of the payload as it was given: decides whether it is the same. */
      digest: v.string(),
      round: v.optional(v.number()),
      /** Whether the final document is there, where the caller requires it. */
      final: v.optional(v.boolean()),
      /** What the payload claims and what does not hold. */
      unproved: v.optional(v.array(v.string())),
    }),
    /** What happened in another system, as `Moved` describes it. */
    v.object({
      type: v.literal('import'),
      what: v.picklist(['round', 'phase', 'completed']),
      round: v.number(),
      phase: v.optional(v.string()),
      summary: v.optional(jsonObject),
      payload: v.optional(jsonObject),
    }),
  ]);

/** What may be asked of a phase workflow. */
export type PhaseCommand = v.InferOutput<ReturnType<typeof makeCommandSchema>>;
export const makeEventSchema = () =>
  v.variant('type', [
    v.object({
      type: v.literal('RoundStarted'),
      round: v.number(),
      phase: v.string(),
      phase_number: v.number(),
      /** The round before, where it was left incomplete. */
      left: v.optional(v.object({ round: v.number(), phase: v.string() })),
    }),
    v.object({ type: v.literal('PhaseEntered'), round: v.number(), phase: v.string(), phase_number: v.number() }),
    v.object({
      type: v.literal('PhaseSkipped'),
      round: v.number(),
      phase: v.string(),
      phase_number: v.number(),
      reason: v.string(),
    }),
    v.object({
      type: v.literal('RoundCompleted'),
      round: v.number(),
      digest: v.string(),
      summary: jsonObject,
      payload: jsonObject,
    }),
    /** A round that another system has completed; its file is that system's, so that none is made here. */
    v.object({
      type: v.literal('RoundImported'),
      round: v.number(),
      summary: jsonObject,
      payload: v.optional(jsonObject),
    }),
  ]);
export type PhaseEvent = v.InferOutput<ReturnType<typeof makeEventSchema>>;

export interface Round {
  readonly round: number;
  readonly startedAt: string;
  readonly skipped: readonly { readonly phase: string; readonly reason: string }[];
  readonly completed: {
    readonly at: string;
    readonly seq: number;
    /** Null for a round that was taken over: no payload is the same. */
    readonly digest: string | null;
    readonly summary: JsonObject;
  } | null;
}

export interface PhaseState {
  /** The current phase; empty before the first round. */
  readonly phase: string;
  /** All rounds, in order; the last one is the current one. */
  readonly rounds: readonly Round[];
}

/** The session's own folder, relative to the checkout's root. */
export const folderOf = (workflow: PhaseWorkflow, name: string): string => workflow.folder.replaceAll('{name}', name);

/** The file that is made of a round's payload, relative to the checkout's root. */
export const metaPathOf = (workflow: PhaseWorkflow, name: string, round: number): string =>
  `${folderOf(workflow, name)}/${atRound(workflow.completion.metaPath, round)}`;

/** The final document of a round, relative to the checkout's root. */
export const finalPathOf = (workflow: PhaseWorkflow, name: string, round: number): string =>
  `${folderOf(workflow, name)}/${atRound(workflow.completion.finalPath, round)}`;

export const startRound = (workflow: PhaseWorkflow, state: PhaseState, round: number): PhaseEvent => {
  const current = currentOf(state);
  return {
    type: 'RoundStarted',
    round,
    phase: firstOf(workflow).name,
    phase_number: 1,
    ...(current !== undefined && current.completed === null
      ? { left: { round: current.round, phase: state.phase } }
      : {}),
  };
};

export const enter = (round: number, phase: Phase, index: number): PhaseEvent => ({
  type: 'PhaseEntered',
  round,
  phase: phase.name,
  phase_number: index + 1,
});

export const positionOf = (workflow: PhaseWorkflow, index: number, round: number): string =>
  `${workflow.phases[index]?.name ?? ''} (${index + 1}/${workflow.phases.length}), ${roundName(workflow)} ${round}`;

/** What a workflow calls a round, for a person. */
export const roundName = ({ cycle }: PhaseWorkflow): string => cycle.field.replaceAll('_', ' ');

export const whereOf = (workflow: PhaseWorkflow, index: number, round: number): JsonObject => ({
  phase: workflow.phases[index]?.name ?? '',
  phase_number: index + 1,
  // The original calls it so in answers, whatever the workflow calls it.
  round,
  [workflow.cycle.field]: round,
});

/** Where a round stands that is complete. */
export const completedWhere = (workflow: PhaseWorkflow, round: number): JsonObject => {
  const last = workflow.phases.length - 1;
  return { ...whereOf(workflow, last, round), position: positionOf(workflow, last, round) };
};

/** The moves that are legal now, as commands. */
export const legalMoves = (
  workflow: PhaseWorkflow,
  state: PhaseState,
  common: Common | undefined,
): readonly string[] => {
  const index = indexOf(workflow, state.phase);
  const moves: string[] = [];
  const next = workflow.phases[index + 1];
  if (state.phase === completing(workflow).name)
    moves.push(`stint ${workflow.completion.verb} --file ${workflow.completion.metaPath.split('/').at(-1)}`);
  else if (next !== undefined) {
    moves.push(`stint advance ${next.name}`);
    if (next.skippable === true) moves.push(`stint advance --skip ${next.name} --reason R`);
  }
  moves.push(`stint advance ${firstOf(workflow).name} --round ${roundOf(state) + 1}`);
  // Each names its session: what is suggested must never move another one.
  return common === undefined ? moves : moves.map((move) => `${move} --session ${common.key}`);
};

export const refuseWithout = (workflow: PhaseWorkflow, common: Common | undefined): Refusal =>
  common === undefined
    ? refuse('not-found', `This ${workflow.name} was not begun.`, { hint: `stint begin ${workflow.name}` })
    : refuseClosed(common);

export const indexOf = (workflow: PhaseWorkflow, name: string): number =>
  workflow.phases.findIndex((phase) => phase.name === name);

export const firstOf = (workflow: PhaseWorkflow): Phase => workflow.phases[0];

export const lastOf = (workflow: PhaseWorkflow): Phase => workflow.phases.at(-1) ?? firstOf(workflow);

/** The phase from which a round is completed: the one before the last. */
export const completing = (workflow: PhaseWorkflow): Phase => workflow.phases.at(-2) ?? firstOf(workflow);

export const currentOf = (state: PhaseState): Round | undefined => state.rounds.at(-1);

export const isDone = (
  round: Round | undefined,
): round is Round & { readonly completed: NonNullable<Round['completed']> } =>
  round !== undefined && round.completed !== null;

export const roundOf = (state: PhaseState): number => currentOf(state)?.round ?? 0;

export const remainingOf = (workflow: PhaseWorkflow, state: PhaseState): readonly string[] =>
  workflow.phases.slice(indexOf(workflow, state.phase) + 1).map((phase) => phase.name);

export const atRound = (path: string, round: number): string => path.replaceAll('{round}', String(round));
