/** Runs of a small template: a node, a checkpoint, another node. */
import { createWorld, type Tidying, type TestWorld } from './world.ts';

const template = {
  template_id: 'wft-tidy',
  name: 'Tidy',
  nodes: [
    { id: 'N-001', type: 'skill', executor: 'tidy' },
    { id: 'CP-01', type: 'checkpoint', name: 'Look at it', auto_continue: true },
    { id: 'N-002', type: 'skill', executor: 'tidy' },
  ],
  edges: [
    { from: 'N-001', to: 'CP-01' },
    { from: 'CP-01', to: 'N-002' },
  ],
  context_schema: {},
};

/** A world with a run of that template, called `tidy`, whose first node is at work. */
export const runIn = (tidying: Tidying): TestWorld => {
  const world = createWorld(tidying);
  world.write('.workflow/templates/tidy.json', JSON.stringify(template));
  world.answer('run', 'tidy', '--name', 'tidy');
  world.answer('next', '--claim');
  return world;
};

/** How a run ends, from there. */
export const endings = {
  completed: (world: TestWorld): void => {
    world.answer('complete', 'N-001', '--output', 'the first is tidy');
    world.answer('next', '--claim');
    world.answer('complete', 'N-002', '--output', 'the second is tidy');
    if (world.answer('status', 'tidy').status === 'active') world.answer('finish');
  },
  failed: (world: TestWorld): void => {
    world.answer('complete', 'N-001', '--output', 'the first is tidy');
    world.answer('next', '--claim');
    world.answer('fail', 'N-002', '--error', 'nothing could be tidied');
  },
  aborted: (world: TestWorld): void => {
    world.answer('complete', 'N-001', '--output', 'the first is tidy');
    world.answer('finish', '--abort', '--reason', 'no longer needed');
  },
} as const;
