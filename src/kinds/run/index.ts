import { defineKind, type Kind } from '../../kernel/kind.ts';
import { doubtfulIn, doubtsOf, runningIn } from '../../kernel/steps.ts';
import { valueIn } from '../../lib/persistent-map.ts';
import { mirrorsOf } from './documents.ts';
import { commandSchema, eventSchema, eventVersions, type RunCommand, type RunEvent } from './events.ts';
import { examples } from './examples.ts';
import { folderOfRun } from './paths.ts';
import { decideRun, readyNodes } from './rules.ts';
import { emptyRun, nodeOf, type RunState } from './state.ts';
import { evolveRun } from './evolve.ts';
import { progressOfRun, viewOfRun } from './view.ts';

/** A workflow that is done node by node: those of a template, in the order of their dependencies. */
export const kind: Kind = defineKind<RunState, RunCommand, RunEvent>({
  name: 'run',
  summary: 'a workflow run: the nodes of a template, done in the order of their dependencies, with checkpoints',
  stateVersion: 1,
  commands: commandSchema,
  events: eventSchema,
  eventVersions,
  initial: emptyRun,
  evolve: evolveRun,
  decide: decideRun,
  view: viewOfRun,
  progress: progressOfRun,
  folder: folderOfRun,
  mirrors: mirrorsOf,
  steps: {
    ready: readyNodes,
    ids: ({ nodes }) => nodes.map(({ id }) => id),
    running: ({ pool }) => runningIn(pool),
    inDoubt: ({ pool }) => doubtfulIn(pool),
    token: ({ pool }) => pool.token,
    byTask: ({ tasks }, task) => valueIn(tasks, task),
  },
  sources: ({ template, origin }) =>
    template === null || (template.digest === null && origin === null)
      ? []
      : [{ label: 'template', path: template.path, digest: template.digest }],
  // Templates of the original have what a run is for among its values.
  brief: (state) => ({
    ...(state.context['goal'] === undefined ? {} : { goal: state.context['goal'] }),
    inDoubt: doubtsOf(state.pool, (id) => nodeOf(state, id)?.name),
  }),
  examples,
});
