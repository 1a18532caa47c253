import type { Node, RunCommand } from './events.ts';

/** A run of two nodes side by side, a checkpoint that asks, and one more node. */

const node = (id: string, more: Partial<Node> = {}): Node => ({
  id,
  name: `do ${id}`,
  type: 'skill',
  executor: 'worker',
  args: '{goal}',
  on_fail: 'abort',
  idempotent: false,
  auto_continue: false,
  details: {},
  ...more,
});

const claim = (step: string, attempt: number, token: number): RunCommand => ({
  type: 'claim-step',
  step,
  attempt,
  token,
  holder: { actor: 'ana' },
  claimed_at: 'then',
  expires_at: 'later',
});

const end = (step: string, attempt: number, outcome: 'completed' | 'failed'): RunCommand => ({
  type: 'end-step',
  step,
  attempt,
  outcome,
  ...(outcome === 'failed' ? { result: { error: 'it broke' } } : { result: { output: 'it is done' } }),
});

const nodes = [node('A', { on_fail: 'retry' }), node('CP', { type: 'checkpoint', executor: null, args: '' })];
const plan = [
  { batch: 1, nodes: ['A'], parallel: false },
  { batch: 2, nodes: ['CP'], parallel: false },
];

/** The same run, as another program has left it in the middle of A. */
const imported: RunCommand = {
  type: 'import',
  digest: 'digest of a file',
  is_over: false,
  document: {
    session_id: 'WFR-example',
    template_id: 'wft-example',
    template_path: '.workflow/templates/example.json',
    template_name: 'Example',
    status: 'running',
    context: { goal: 'show it' },
    execution_plan: plan,
    current_batch: 1,
    current_node: 'A',
    last_checkpoint: null,
    node_states: {
      A: {
        status: 'running',
        started_at: '2026-03-17T14:30:25Z',
        completed_at: null,
        session_id: null,
        output_path: null,
        artifacts: [],
        error: null,
      },
      CP: { status: 'pending', saved_at: null, snapshot_path: null },
    },
    created_at: '2026-03-17T14:30:22Z',
    updated_at: '2026-03-17T14:30:25Z',
    completed_at: null,
  },
  nodes,
  unknown: {},
  unknown_of_nodes: {},
  unknown_of_batches: {},
};

export const examples: readonly RunCommand[] = [
  { type: 'begin' },
  { type: 'continue', after: 'aborted' },
  {
    type: 'plan',
    template_id: 'wft-example',
    template_path: '.workflow/templates/example.json',
    template_name: 'Example',
    nodes,
    plan,
    context: { goal: 'show it' },
  },
  imported,
  claim('A', 1, 7),
  claim('A', 2, 8),
  { type: 'start-step', step: 'A', attempt: 1, facts: { cli_task_id: 'gem-143514-x7k2' } },
  { type: 'interrupt-step', step: 'A', attempt: 1, because: 'gone' },
  end('A', 1, 'completed'),
  end('A', 1, 'failed'),
  end('A', 2, 'failed'),
  { type: 'settle-step', step: 'A', as: 'again', reason: 'nothing was written' },
  { type: 'settle-step', step: 'A', as: 'done', reason: 'it is there' },
  { type: 'skip-step', step: 'A', reason: 'not needed' },
  { type: 'decide', node: 'CP', answer: 'continue' },
  { type: 'decide', node: 'CP', answer: 'pause', reason: 'for the night' },
  { type: 'decide', node: 'CP', answer: 'abort' },
];
