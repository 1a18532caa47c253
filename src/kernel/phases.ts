import * as v from 'valibot';
import { err, ok, type Result } from '../lib/result.ts';
import { nearest } from '../lib/nearest.ts';
import type { Common } from './common.ts';
import type { StoredEvent } from './event.ts';
import { defineKind, type Kind, type Mirror, type Situation } from './kind.ts';
import { complete, importExamples, takeOver } from './phase-completion.ts';
import { progressOf } from './phase-progress.ts';
import {
  type PhaseCommand,
  type PhaseEvent,
  type PhaseState,
  type PhaseWorkflow,
  type Round,
  atRound,
  completing,
  currentOf,
  enter,
  firstOf,
  folderOf,
  indexOf,
  isDone,
  jsonObject,
  lastOf,
  legalMoves,
  makeCommandSchema,
  makeEventSchema,
  positionOf,
  refuseWithout,
  remainingOf,
  roundName,
  roundOf,
  startRound,
  whereOf,
} from './phase-table.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { KindView, NextAction } from './view.ts';

type Advance = Extract<PhaseCommand, { type: 'advance' }>;
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
