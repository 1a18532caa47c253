import * as v from 'valibot';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { nearest } from '../lib/text.ts';
import type { Common } from './common.ts';
import type { StoredEvent } from './event.ts';
import { defineKind, type Kind, type Mirror, type Situation } from './kind.ts';
import { refuseClosed } from './lifecycle.ts';
import { refuse, refusePayload, type Refusal } from './refusal.ts';
import { progressLimits, reopenCommand, type Evidence, type KindView, type NextAction, type Progress } from './view.ts';

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

const jsonObject = v.custom<JsonObject>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
  'expected an object',
);

const makeCommandSchema = () =>
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
type Advance = Extract<PhaseCommand, { type: 'advance' }>;
type Complete = Extract<PhaseCommand, { type: 'complete' }>;
type Import = Extract<PhaseCommand, { type: 'import' }>;

const makeEventSchema = () =>
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
type PhaseEvent = v.InferOutput<ReturnType<typeof makeEventSchema>>;

interface Round {
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

interface PhaseState {
  /** The current phase; empty before the first round. */
  readonly phase: string;
  /** All rounds, in order; the last one is the current one. */
  readonly rounds: readonly Round[];
}

/** The schemas are made when something is parsed: a verb that only writes a remark starts without them. */
const schemas: { command?: ReturnType<typeof makeCommandSchema>; event?: ReturnType<typeof makeEventSchema> } = {};

/** Makes a kind of a table. */
export const definePhaseWorkflow = (workflow: PhaseWorkflow): Kind =>
  defineKind<PhaseState, PhaseCommand, PhaseEvent>({
    name: workflow.name,
    summary: workflow.summary,
    stateVersion: 3,
    commands: v.lazy(() => (schemas.command ??= makeCommandSchema())),
    events: v.lazy(() => (schemas.event ??= makeEventSchema())),
    commandTypes: ['begin', 'continue', 'advance', 'complete', 'import'],
    positions: workflow.phases.map(({ name }) => name),
    eventVersions: { RoundStarted: 1, PhaseEntered: 1, PhaseSkipped: 1, RoundCompleted: 1, RoundImported: 1 },
    initial: { phase: '', rounds: [] },
    evolve: (state, event, stored) => evolve(workflow, state, event, stored),
    decide: (state, command, situation) => decide(workflow, state, command, situation),
    view: (state, common) => viewOf(workflow, state, common),
    progress: (state) => progressOf(workflow, state),
    folder: (name) => folderOf(workflow, name),
    mirrors: (state) => mirrorsOf(workflow, state),
    get examples() {
      return [...workflow.examples, ...importExamples(workflow)];
    },
  });

const evolve = (workflow: PhaseWorkflow, state: PhaseState, event: PhaseEvent, stored: StoredEvent): PhaseState => {
  const inRound = (change: (round: Round) => Round): readonly Round[] =>
    state.rounds.map((round) => (round.round === event.round ? change(round) : round));
  switch (event.type) {
    case 'RoundStarted':
      return {
        phase: event.phase,
        rounds: [...state.rounds, { round: event.round, startedAt: stored.at, skipped: [], completed: null }],
      };
    case 'PhaseEntered':
      return { ...state, phase: event.phase };
    case 'PhaseSkipped':
      return {
        ...state,
        rounds: inRound((round) => ({
          ...round,
          skipped: [...round.skipped, { phase: event.phase, reason: event.reason }],
        })),
      };
    case 'RoundCompleted':
      return {
        phase: lastOf(workflow).name,
        rounds: inRound((round) => ({
          ...round,
          completed: { at: stored.at, seq: stored.seq, digest: event.digest, summary: event.summary },
        })),
      };
    case 'RoundImported':
      return {
        phase: lastOf(workflow).name,
        rounds: inRound((round) => ({
          ...round,
          completed: { at: stored.at, seq: stored.seq, digest: null, summary: event.summary },
        })),
      };
  }
};

const decide = (
  workflow: PhaseWorkflow,
  state: PhaseState,
  command: PhaseCommand,
  { common }: Situation,
): Result<readonly PhaseEvent[], Refusal> => {
  switch (command.type) {
    case 'begin':
      return ok(state.rounds.length === 0 ? [startRound(workflow, state, 1)] : []);
    case 'continue':
      // A completed round is followed by the next one; one that was left goes on in the phase where it was left.
      return ok(isDone(currentOf(state)) ? [startRound(workflow, state, roundOf(state) + 1)] : []);
    case 'advance':
      return common?.status === 'active'
        ? advance(workflow, state, command, common)
        : err(refuseWithout(workflow, common));
    case 'complete':
      return complete(workflow, state, command, common);
    case 'import':
      return takeOver(workflow, state, command, common);
  }
};

const advance = (
  workflow: PhaseWorkflow,
  state: PhaseState,
  wish: Advance,
  common: Common,
): Result<readonly PhaseEvent[], Refusal> => {
  const from = indexOf(workflow, state.phase);
  const round = roundOf(state);
  const moves = legalMoves(workflow, state, common);
  const illegal = (message: string, more: Parameters<typeof refuse>[2] = {}): Result<never, Refusal> =>
    err(
      refuse('illegal-transition', message, {
        legal: moves,
        ...(moves[0] === undefined ? {} : { hint: moves[0] }),
        ...more,
      }),
    );

  for (const name of [wish.phase, wish.skip]) {
    if (name !== undefined && indexOf(workflow, name) < 0) {
      return illegal(`A ${workflow.name} has no phase of that name.`, {
        expected: `one of ${workflow.phases.map((phase) => phase.name).join(', ')}`,
        candidates: nearest(
          name,
          workflow.phases.map((phase) => phase.name),
        ),
      });
    }
  }

  if (wish.round !== undefined && wish.round !== round) {
    if (wish.round !== round + 1) {
      return illegal(
        `A ${roundName(workflow)} is the current one (${round}) or the next one (${round + 1}), not ${wish.round}.`,
      );
    }
    if (wish.phase !== firstOf(workflow).name) {
      return illegal(`A new ${roundName(workflow)} begins with ${firstOf(workflow).name}.`);
    }
    return ok([startRound(workflow, state, wish.round)]);
  }

  const skip = wish.skip === undefined ? undefined : indexOf(workflow, wish.skip);
  // Passing over a phase enters the one behind it; else the phase is named, so that a repeat changes nothing.
  const target = wish.phase === undefined ? (skip ?? Number.NaN) + 1 : indexOf(workflow, wish.phase);
  const entering = workflow.phases[target];
  if (entering === undefined) return illegal('It is not said which phase to enter.');
  const skipped = skip === undefined ? undefined : workflow.phases[skip];

  const wasSkipped =
    skipped === undefined || (currentOf(state)?.skipped.some(({ phase }) => phase === skipped.name) ?? false);
  if (target === from && wasSkipped) return ok([]);
  if (target === workflow.phases.length - 1) {
    return illegal(`${entering.name} is reached only by ${workflow.completion.verb}.`);
  }
  if (skip !== undefined && skipped !== undefined) {
    if (skipped.skippable !== true) return illegal(`${skipped.name} cannot be skipped.`);
    if (skip !== from + 1 || target !== skip + 1) {
      return illegal(`From ${state.phase}, ${skipped.name} cannot be skipped to enter ${entering.name}.`);
    }
    return ok([
      { type: 'PhaseSkipped', round, phase: skipped.name, phase_number: skip + 1, reason: wish.reason ?? '' },
      enter(round, entering, target),
    ]);
  }
  if (target !== from + 1) return illegal(`From ${state.phase}, ${entering.name} cannot be entered.`);
  return ok([enter(round, entering, target)]);
};

const complete = (
  workflow: PhaseWorkflow,
  state: PhaseState,
  wish: Complete,
  common: Common | undefined,
): Result<readonly PhaseEvent[], Refusal> => {
  const { completion } = workflow;
  const checked = completion.check(wish.payload);
  if (!checked.ok) return err(refusePayload(completion.verb, checked.error));

  const current = roundOf(state);
  const wanted = wish.round ?? current;
  const round = state.rounds.find((known) => known.round === wanted);
  if (isDone(round)) {
    if (round.completed.digest === wish.digest) return ok([]);
    return err(
      refuse(
        'conflict',
        `The ${roundName(workflow)} ${wanted} was completed at ${round.completed.at} with another payload.`,
        {
          expected: `the same payload, or the next ${roundName(workflow)}`,
          hint:
            common?.status === 'closed'
              ? reopenCommand(common)
              : `stint advance ${firstOf(workflow).name} --round ${current + 1}${common === undefined ? '' : ` --session ${common.key}`}`,
        },
      ),
    );
  }
  if (wanted !== current || round === undefined) {
    return err(
      refuse(
        'illegal-transition',
        `Only the current ${roundName(workflow)} (${current}) can be completed, not ${wanted}.`,
        {
          legal: legalMoves(workflow, state, common),
        },
      ),
    );
  }
  if (common?.status !== 'active') return err(refuseWithout(workflow, common));
  if (state.phase !== completing(workflow).name) {
    return err(
      refuse(
        'invariant-unmet',
        `The ${roundName(workflow)} is in ${state.phase}; it is completed from ${completing(workflow).name}.`,
        {
          expected: `the phase ${completing(workflow).name}`,
          faults: remainingOf(workflow, state)
            .slice(0, -1)
            .map((phase) => `not entered yet: ${phase}`),
          legal: legalMoves(workflow, state, common),
        },
      ),
    );
  }
  if (wish.final === false) {
    return err(
      refuse('invariant-unmet', `The final document is missing: ${atRound(completion.finalPath, current)}.`, {
        expected: atRound(completion.finalPath, current),
      }),
    );
  }
  const { unproved = [] } = wish;
  if (unproved.length > 0) {
    return err(
      refuse('invariant-unmet', `What the payload claims does not hold: ${unproved[0] ?? ''}.`, {
        expected: 'files that are there as they are claimed to be, and no other checks',
        faults: unproved,
        legal: legalMoves(workflow, state, common),
      }),
    );
  }
  const { payload, summary } = checked.value;
  return ok([{ type: 'RoundCompleted', round: current, digest: wish.digest, summary, payload }]);
};

/**
 * What happened in another system is taken as it happened there, phases that were jumped over too; but a round is the
 * current or the next one, and the last phase is still reached by a completion alone.
 */
const takeOver = (
  workflow: PhaseWorkflow,
  state: PhaseState,
  wish: Import,
  common: Common | undefined,
): Result<readonly PhaseEvent[], Refusal> => {
  if (common?.status !== 'active') return err(refuseWithout(workflow, common));
  const illegal = (message: string): Result<never, Refusal> =>
    err(refuse('illegal-transition', message, { legal: legalMoves(workflow, state, common) }));
  const current = roundOf(state);
  if (wish.what === 'round') {
    if (state.rounds.some(({ round }) => round === wish.round)) return ok([]);
    if (wish.round !== current + 1) return illegal(`After ${roundName(workflow)} ${current} comes none ${wish.round}.`);
    return ok([startRound(workflow, state, wish.round)]);
  }
  if (wish.round !== current) return illegal(`The current ${roundName(workflow)} is ${current}, not ${wish.round}.`);
  if (wish.what === 'completed') {
    if (isDone(currentOf(state))) return ok([]);
    const { round, summary = {}, payload } = wish;
    return ok([{ type: 'RoundImported', round, summary, ...(payload === undefined ? {} : { payload }) }]);
  }
  const index = indexOf(workflow, wish.phase ?? '');
  const entering = workflow.phases[index];
  if (entering === undefined || index === workflow.phases.length - 1)
    return illegal(`A ${workflow.name} has no such phase to be in.`);
  if (isDone(currentOf(state))) return illegal(`The ${roundName(workflow)} ${current} is complete.`);
  if (entering.name === state.phase) return ok([]);
  // What was jumped over there was not done: it is not to look as if it had been.
  const jumped = workflow.phases.slice(indexOf(workflow, state.phase) + 1, index);
  return ok([
    ...jumped.map((phase): PhaseEvent => ({
      type: 'PhaseSkipped',
      round: current,
      phase: phase.name,
      phase_number: indexOf(workflow, phase.name) + 1,
      reason: 'never entered in the system that it was taken over from',
    })),
    enter(current, entering, index),
  ]);
};

/** One import of every sort, so that what they lead to is explored with everything else. */
const importExamples = (workflow: PhaseWorkflow): readonly PhaseCommand[] => [
  { type: 'import', what: 'round', round: 2 },
  { type: 'import', what: 'phase', round: 1, phase: completing(workflow).name },
  { type: 'import', what: 'completed', round: 1, summary: {} },
  { type: 'import', what: 'completed', round: 1, summary: {}, payload: {} },
];

const viewOf = (workflow: PhaseWorkflow, state: PhaseState, common: Common): KindView => {
  const { cycle } = workflow;
  const index = indexOf(workflow, state.phase);
  const current = currentOf(state);
  const round = roundOf(state);
  const done = isDone(current);
  const remaining = remainingOf(workflow, state);
  return {
    position: positionOf(workflow, index, round),
    where: whereOf(workflow, index, round),
    fields: {
      workflow_type: workflow.name,
      current_phase: state.phase,
      phase_number: index + 1,
      [cycle.currentField]: round,
      [cycle.startedField]: current?.startedAt ?? null,
      rounds_total: state.rounds.length,
      rounds: state.rounds.slice(-20).map((known) => ({
        [cycle.field]: known.round,
        started_at: known.startedAt,
        completed_at: known.completed?.at ?? null,
        ...known.completed?.summary,
        skipped: known.skipped.map(({ phase, reason }) => ({ phase, reason })),
      })),
    },
    remaining,
    missing: done
      ? []
      : [
          `${roundName(workflow)} ${round} is not completed${remaining.length > 1 ? ` (still to come: ${remaining.slice(0, -1).join(', ')})` : ''}`,
        ],
    next: nextOf(workflow, state, common.key),
    evidence: workflow.phases
      .slice(0, index + 1)
      .filter((phase) => !(current?.skipped.some((skip) => skip.phase === phase.name) ?? false))
      .flatMap((phase) => phase.evidence ?? [])
      // What is counted is asked of the progress: views are stored.
      .map(({ label, path, atLeast }) => ({
        label,
        path: atRound(path, round),
        ...(atLeast === undefined ? {} : { atLeast }),
      })),
  };
};

const nextOf = (workflow: PhaseWorkflow, { phase }: PhaseState, key: string): NextAction => {
  const { phases, completion } = workflow;
  const index = indexOf(workflow, phase);
  const following = phases[index + 1];
  const here = phases[index];
  if (following === undefined || here === undefined || phase === completing(workflow).name) {
    return {
      kind: 'complete',
      text: `${here?.label ?? phase}, then complete the ${roundName(workflow)}.`,
      command: `stint ${completion.verb} --file ${completion.metaPath.split('/').at(-1)} --session ${key}`,
    };
  }
  return {
    kind: 'advance',
    text: `${here.label}, then enter ${following.name}.`,
    command: `stint advance ${following.name} --session ${key}`,
  };
};

/** The phases are the steps. The last one is done with the round; until then one of the others is the current one. */
const progressOf = (workflow: PhaseWorkflow, state: PhaseState): Progress => {
  const { completion } = workflow;
  const index = indexOf(workflow, state.phase);
  const current = currentOf(state);
  const round = roundOf(state);
  const labelOf = ({ round: number }: { readonly round: number }): string => `${roundName(workflow)} ${number}`;
  const steps = workflow.phases.map(({ name, label, evidence = [] }, at): Progress['steps'][number] => {
    const isSkipped = current?.skipped.some(({ phase }) => phase === name) ?? false;
    return {
      name,
      label,
      state: isSkipped ? 'skipped' : at < index || isDone(current) ? 'done' : at === index ? 'current' : 'pending',
      evidence: isSkipped ? [] : evidence.map((one) => ({ ...one, path: atRound(one.path, round) })),
    };
  });
  const finalLabel = workflow.phases
    .flatMap(({ evidence = [] }) => evidence)
    .find(({ path }) => path === completion.finalPath)?.label;
  return {
    steps: steps.slice(0, progressLimits.steps),
    done: steps.filter((step) => step.state === 'done' || step.state === 'skipped').length,
    total: steps.length,
    cycle:
      current === undefined
        ? null
        : { label: labelOf(current), startedAt: current.startedAt, completedAt: current.completed?.at ?? null },
    earlier: state.rounds
      .slice(0, -1)
      .slice(-progressLimits.earlier)
      .map((known) => ({
        label: labelOf(known),
        completedAt: known.completed?.at ?? null,
        summary: known.completed?.summary ?? {},
      })),
    summary: current?.completed?.summary ?? {},
    results: isDone(current)
      ? [
          { label: finalLabel ?? 'document', path: atRound(completion.finalPath, round) },
          { label: 'data', path: atRound(completion.metaPath, round) },
        ]
      : [],
  };
};

const mirrorsOf = (workflow: PhaseWorkflow, state: PhaseState): readonly Mirror[] =>
  state.rounds.flatMap(({ round, completed }) =>
    completed === null || completed.digest === null
      ? []
      : [
          {
            path: atRound(workflow.completion.metaPath, round),
            source: completed.seq,
            render: (event) => {
              const payload = v.parse(v.object({ payload: jsonObject }), event.data);
              return workflow.completion.print(payload.payload);
            },
          },
        ],
  );

/** The session's own folder, relative to the checkout's root. */
const folderOf = (workflow: PhaseWorkflow, name: string): string => workflow.folder.replaceAll('{name}', name);

/** The file that is made of a round's payload, relative to the checkout's root. */
export const metaPathOf = (workflow: PhaseWorkflow, name: string, round: number): string =>
  `${folderOf(workflow, name)}/${atRound(workflow.completion.metaPath, round)}`;

/** The final document of a round, relative to the checkout's root. */
export const finalPathOf = (workflow: PhaseWorkflow, name: string, round: number): string =>
  `${folderOf(workflow, name)}/${atRound(workflow.completion.finalPath, round)}`;

const startRound = (workflow: PhaseWorkflow, state: PhaseState, round: number): PhaseEvent => {
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

const enter = (round: number, phase: Phase, index: number): PhaseEvent => ({
  type: 'PhaseEntered',
  round,
  phase: phase.name,
  phase_number: index + 1,
});

const positionOf = (workflow: PhaseWorkflow, index: number, round: number): string =>
  `${workflow.phases[index]?.name ?? ''} (${index + 1}/${workflow.phases.length}), ${roundName(workflow)} ${round}`;

/** What a workflow calls a round, for a person. */
export const roundName = ({ cycle }: PhaseWorkflow): string => cycle.field.replaceAll('_', ' ');

const whereOf = (workflow: PhaseWorkflow, index: number, round: number): JsonObject => ({
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
const legalMoves = (workflow: PhaseWorkflow, state: PhaseState, common: Common | undefined): readonly string[] => {
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

const refuseWithout = (workflow: PhaseWorkflow, common: Common | undefined): Refusal =>
  common === undefined
    ? refuse('not-found', `This ${workflow.name} was not begun.`, { hint: `stint begin ${workflow.name}` })
    : refuseClosed(common);

const indexOf = (workflow: PhaseWorkflow, name: string): number =>
  workflow.phases.findIndex((phase) => phase.name === name);

const firstOf = (workflow: PhaseWorkflow): Phase => workflow.phases[0];

const lastOf = (workflow: PhaseWorkflow): Phase => workflow.phases.at(-1) ?? firstOf(workflow);

/** The phase from which a round is completed: the one before the last. */
const completing = (workflow: PhaseWorkflow): Phase => workflow.phases.at(-2) ?? firstOf(workflow);

const currentOf = (state: PhaseState): Round | undefined => state.rounds.at(-1);

const isDone = (round: Round | undefined): round is Round & { readonly completed: NonNullable<Round['completed']> } =>
  round !== undefined && round.completed !== null;

const roundOf = (state: PhaseState): number => currentOf(state)?.round ?? 0;

const remainingOf = (workflow: PhaseWorkflow, state: PhaseState): readonly string[] =>
  workflow.phases.slice(indexOf(workflow, state.phase) + 1).map((phase) => phase.name);

const atRound = (path: string, round: number): string => path.replaceAll('{round}', String(round));
