import type { TaskCommand } from './events.ts';
import { usualTransitions } from './workflow.ts';

/** A task of two steps, one of which is dropped, that is reviewed, sent back and done. */
export const examples: readonly TaskCommand[] = [
  { type: 'begin' },
  { type: 'continue', after: 'completed' },
  { type: 'add-step', text: 'Write the parser' },
  { type: 'add-step', text: 'Write its tests', before: 1 },
  { type: 'take-step' },
  { type: 'take-step', step: 1 },
  { type: 'finish-step', step: 1, outcome: 'it parses', files: ['src/parser.ts'] },
  { type: 'drop-step', step: 2, reason: 'they are there' },
  { type: 'place-step', step: 2, before: null },
  { type: 'move-task', to: 'in-progress' },
  { type: 'move-task', to: 'blocked', blocker: 'no token', needs: 'a token' },
  { type: 'move-task', to: 'ready-for-review', owner: 'qa' },
  { type: 'move-task', to: 'done' },
  { type: 'move-task', to: 'done', override: 'nobody reviews this' },
  { type: 'move-task', to: 'not-started', override: 'begun by mistake' },
  {
    type: 'move-task',
    to: 'in-progress',
    declared: { transitions: { ...usualTransitions, 'in-progress': ['blocked', 'ready-for-review', 'done'] } },
  },
];
