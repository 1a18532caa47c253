import { defineKind, type Kind } from '../../kernel/kind.ts';
import { commandSchema, eventSchema, eventVersions, type TaskCommand, type TaskEvent } from './events.ts';
import { evolveTask } from './evolve.ts';
import { examples } from './examples.ts';
import { handoff } from './handoff.ts';
import { decideTask } from './rules.ts';
import { emptyTask, type TaskState } from './state.ts';
import { briefOfTask, progressOfTask, viewOfTask } from './view.ts';
import { declarationSchema } from './workflow.ts';

/** A piece of work that is passed from one to the next: its status, its steps, and who is to act. */
export const kind: Kind = defineKind<TaskState, TaskCommand, TaskEvent>({
  name: 'task',
  summary: 'a piece of work that is passed from one to the next: a status, steps in their order, who is to act next',
  stateVersion: 1,
  commands: commandSchema,
  events: eventSchema,
  eventVersions,
  needsGoal: true,
  endsForGood: true,
  declaration: declarationSchema,
  whilePaused: ['finish-step'],
  initial: emptyTask,
  evolve: evolveTask,
  decide: decideTask,
  view: viewOfTask,
  progress: progressOfTask,
  brief: briefOfTask,
  handoff,
  folder: (name) => `.stint/tasks/${name}`,
  mirrors: () => [],
  examples,
});
