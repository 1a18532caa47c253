/** Sessions of every kind that go from a file to a server and back in bundles. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { completeAgents, orchestrationIn, startAgents } from './support/orchestrations.ts';
import { startServer, type TestServer } from './support/postgres.ts';
import { approval, json, reviewIn } from './support/reviews.ts';
import { claimStep, templateOf, work, writeTemplate } from './support/runs.ts';
import { createWorld, fileOnly, listOf, type Printed, type TestWorld } from './support/world.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(async () => server.remove());

/** A session of each kind: as it is begun, and after some work. */
const kinds: Readonly<
  Record<string, (context: TestContext) => { readonly world: TestWorld; readonly go: () => void }>
> = {
  review: (context) => {
    const world = reviewIn(context, 'synthesis');
    return { world, go: () => void world.with({ input: json(approval) }).answer('complete-round', '-') };
  },
  map: (context) => {
    const world = createWorld(context);
    world.answer('begin', 'map', '--name', 'mapped');
    return { world, go: () => void world.answer('note', 'decision', 'kept', '--rationale', 'r') };
  },
  run: (context) => {
    const world = createWorld(context);
    writeTemplate(world, 'flow', templateOf([[work('A')], [work('B')]]));
    world.answer('run', 'flow', '--name', 'flow');
    return {
      world,
      go: () => {
        const { token } = claimStep(world);
        world.answer('complete', 'A', '--attempt', '1', '--token', String(token), '--output', 'it is done');
      },
    };
  },
  orchestration: (context) => {
    const world = orchestrationIn(context);
    return {
      world,
      go: () => {
        world.answer('todo', 'add', 'tests');
        startAgents(world, 'a', 'b');
        completeAgents(world, 'a', 'b');
      },
    };
  },
  task: (context) => {
    const world = createWorld(context);
    world.answer('begin', 'task', '--goal', 'Ship it');
    return {
      world,
      go: () => {
        world.answer('step', 'add', 'Write it');
        world.answer('block', 'no key', '--needs', 'a key');
      },
    };
  },
};

/** What a session is: its state, its events with their chain, and what a brief says of it beside what is seen around it. */
const standingOf = (world: TestWorld, key: string): Printed => {
  const { session, events } = world.answer('show', key);
  const { status, position, revision, completeness, missing, remaining, goal, notes } = session;
  const brief: Printed = world.answer('brief', key);
  const sections = listOf(brief.sections).filter(({ name }) => name !== 'outside');
  assert.ok(sections.length > 0);
  // Whether a file is there is not known from another machine.
  const told: Printed = JSON.parse(JSON.stringify(sections).replaceAll(' (not there)', ''));
  return {
    state: { status, position, revision, completeness, missing, remaining, goal, notes },
    events,
    brief: { goal: brief.goal, progress: brief.progress, sections: told, next: brief.next_action },
  };
};

/** Takes a session over from another world, as it is exported there. */
const take = (to: TestWorld, from: TestWorld, key: string): Printed => {
  const file = join(to.root, 'bundle.json');
  from.answer('bundle', 'export', '--session', key, '--output', file, '--force');
  return to.answer('bundle', 'import', '--bundle', file);
};

const travel = (context: TestContext, kind: string): void => {
  const { world, go } = kinds[kind]?.(context) ?? assert.fail(kind);
  const key: string = world.answer('status').session;
  const team = createWorld(context).with({ env: { STINT_STORE: server.url, STINT_PROJECT: `travel-${kind}` } });
  assert.equal(take(team, world, key).landed, 'new');
  assert.deepEqual(standingOf(team, key), standingOf(world, key));
  go();
  assert.equal(take(team, world, key).landed, 'gone-on-with');
  assert.deepEqual(standingOf(team, key), standingOf(world, key));
  team.answer('note', 'seen by the team', '--session', key);
  assert.equal(take(world, team, key).events, 1);
  assert.equal(take(world, team, key).result, 'unchanged');
  assert.deepEqual(standingOf(world, key), standingOf(team, key));
  for (const one of [world, team]) assert.equal(one.answer('doctor').healthy, true);
};

for (const kind of Object.keys(kinds))
  test(
    `a ${kind} goes to a server and comes back: the same state, the same chain, the same brief`,
    { skip: fileOnly },
    (context) => travel(context, kind),
  );
