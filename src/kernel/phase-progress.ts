import {
  type PhaseState,
  type PhaseWorkflow,
  atRound,
  currentOf,
  indexOf,
  isDone,
  roundName,
  roundOf,
} from './phase-table.ts';
import { progressLimits, type Progress } from './view.ts';

/** The phases are the steps. The last one is done with the round; until then one of the others is the current one. */
export const progressOf = (workflow: PhaseWorkflow, state: PhaseState): Progress => {
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
