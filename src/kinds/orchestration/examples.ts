import { nothingUnknown, type OrchestratorDocument } from '../../formats/orchestrator/document.ts';
import type { Samples } from '../../kernel/kind.ts';
import type { OrchestrationCommand } from './events.ts';
import { agentSample, usageSample } from './samples.ts';

/** Commands that reach what can become of an orchestration, for the contract suite of kinds. */
const now = '2026-03-17T10:00:00.000Z';
const claim = {
  holder: { actor: 'ana', host: 'desk', user: 'ana', place: 'here', worktree: 'main' },
  claimed_at: now,
  expires_at: '2026-03-17T10:30:00.000Z',
};

export const exampleSamples: Samples = new Map([
  [agentSample('code-1'), { percent: 40, attempt: 1 }],
  [usageSample, { tokens: 25_000, percentage: 20 }],
]);

/** A session as another program has left it. */
const left: OrchestratorDocument = {
  schema_version: '1.0',
  session_id: 'old',
  created: now,
  updated: now,
  project: { name: 'shop', path: '/srv/shop', git_branch: 'main' },
  goal: 'a goal',
  mode: 'default',
  status: 'paused',
  agents: [
    { id: 'arch-1', type: 'arch', task: 'Design it', status: 'complete', started: now, completed: now },
    { id: 'test-1', type: 'test', task: 'Test it', status: 'in_progress', started: now, progress: 40 },
  ],
  completed_work: [{ task: 'Looked around', outcome: 'clear', files: [] }],
  pending_tasks: ['Write it down'],
  decisions_made: [],
  context_usage: { estimated_tokens: 1000, percentage: 1, last_compression: null },
  errors: [],
};

export const examples: readonly OrchestrationCommand[] = [
  { type: 'begin', mode: 'optimize', project: { name: 'shop', path: '/srv/shop' } },
  { type: 'continue', after: 'aborted' },
  { type: 'prepare-agent', agent: 'code-1', agent_type: 'code', task: 'Write it', now },
  { type: 'claim-step', step: 'code-1', attempt: 1, token: 1, ...claim },
  { type: 'start-step', step: 'code-1', attempt: 1, facts: { tokens: 1500 } },
  {
    type: 'end-step',
    step: 'code-1',
    outcome: 'completed',
    attempt: 1,
    token: 1,
    result: { summary: 'Written' },
    digest: 'd',
  },
  {
    type: 'end-step',
    step: 'code-1',
    outcome: 'failed',
    attempt: 1,
    token: 1,
    result: { error: 'no', class: 'permanent' },
    digest: 'e',
  },
  { type: 'interrupt-step', step: 'code-1', attempt: 1, because: 'expired' },
  { type: 'settle-step', step: 'code-1', as: 'again', reason: 'nothing was written' },
  { type: 'cancel-agent', agent: 'code-1', reason: 'not needed' },
  { type: 'pause-agent', agent: 'code-1' },
  { type: 'continue-agent', agent: 'code-1' },
  { type: 'add-todo', text: 'Write tests' },
  { type: 'end-todo', todo: 1, as: 'done', outcome: 'Written', files: ['test/a.test.ts'] },
  { type: 'change-mode', mode: 'debug' },
  { type: 'focus', on: 'tests' },
  { type: 'decide', node: 'wave-1', answer: 'continue' },
  { type: 'decide', node: 'wave-1', answer: 'pause' },
  { type: 'decide', node: 'wave-1', answer: 'abort', reason: 'wrong way' },
  { type: 'save' },
  { type: 'compress', summary: 'Half of it is written.' },
  { type: 'import', digest: 'f', is_over: false, document: left, unknown: nothingUnknown },
];
