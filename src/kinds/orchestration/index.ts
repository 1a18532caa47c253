import { defineKind, type Kind } from '../../kernel/kind.ts';
import { doubtfulIn, runningIn } from '../../kernel/steps.ts';
import { briefOfOrchestration } from './brief.ts';
import { currentFile, home, kindName, mirrorsOf, nameFor } from './documents.ts';
import {
  commandSchema,
  eventSchema,
  eventVersions,
  type OrchestrationCommand,
  type OrchestrationEvent,
} from './events.ts';
import { evolveOrchestration } from './evolve.ts';
import { examples, exampleSamples } from './examples.ts';
import { modes } from '../../formats/orchestrator/document.ts';
import { agentWords, decideOrchestration, readyAgents } from './rules.ts';
import { emptyOrchestration, isPaused, type OrchestrationState } from './state.ts';
import { measuredOf, progressOfOrchestration, viewOfOrchestration } from './view.ts';

/** The work of one who hands it out to agents, and goes on with it after every interruption. */
export const kind: Kind = defineKind<OrchestrationState, OrchestrationCommand, OrchestrationEvent>({
  name: kindName,
  summary: 'an orchestrator at work: agents, what is to be done and what is done, in waves, with the limits of a mode',
  stateVersion: 2,
  commands: commandSchema,
  events: eventSchema,
  eventVersions,
  current: {
    path: currentFile,
    results: 'orchestrator-results',
    ignores: ['orchestrator-session.json*', 'orchestrator-history/', 'orchestrator-results/'],
    nameFor,
    changed: async (...file) => (await import('./changed-file.ts')).changed(...file),
    look: async (world, digest) => (await import('./left-file.ts')).look(world, digest),
    successor: 'stint new --goal GOAL',
  },
  modes,
  needsGoal: true,
  whilePaused: ['cancel-agent', 'pause-agent', 'end-todo', 'save', 'compress'],
  mirrorsJournal: true,
  sampled: measuredOf,
  initial: emptyOrchestration,
  evolve: evolveOrchestration,
  decide: decideOrchestration,
  view: viewOfOrchestration,
  progress: progressOfOrchestration,
  brief: briefOfOrchestration,
  folder: () => home,
  mirrors: mirrorsOf,
  steps: {
    ready: readyAgents,
    ids: ({ order }) => order,
    running: (state) => runningIn(state.pool).map((step) => ({ ...step, isPaused: isPaused(state, step.id) })),
    inDoubt: ({ pool }) => doubtfulIn(pool),
    token: ({ pool }) => pool.token,
    words: agentWords,
  },
  examples,
  exampleSamples,
});
