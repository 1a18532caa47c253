/** Sessions of every kind, and what is the same of one wherever it is. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { decidedAs } from '../../src/kernel/travel.ts';
import { kernelEvent, type StoredEvent } from '../../src/kernel/event.ts';
import { absentSession, appendEvents } from '../../src/kernel/session.ts';
import { createKinds, loadKind } from '../../src/kernel/kinds.ts';
import { kinds as registry } from '../../src/kinds/registry.gen.ts';
import { bundleFile, bundleOfEvents } from './bundles.ts';
import { completeAgents, orchestrationIn, startAgents } from './orchestrations.ts';
import { startServer } from './postgres.ts';
import { approval, json, reviewIn } from './reviews.ts';
import { claimStep, templateOf, work, writeTemplate } from './runs.ts';
import { createWorld, listOf, type Printed, type Tidying, type TestWorld } from './world.ts';

/** A session of each kind: as it is begun, and after some work. */
export const travellers: Readonly<
  Record<string, (context: Tidying) => { readonly world: TestWorld; readonly go: () => void }>
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
export const standingOf = (world: TestWorld, key: string): Printed => {
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
export const take = (to: TestWorld, from: TestWorld, key: string): Printed => {
  const file = join(to.root, 'bundle.json');
  from.answer('bundle', 'export', '--session', key, '--output', file, '--force');
  return to.answer('bundle', 'import', '--bundle', file);
};

/** Gives a session of a world so many remarks at once, as if they had been written one by one. */
const lengthen = async (world: TestWorld, key: string, count: number): Promise<void> => {
  const [kindName = ''] = key.split(':');
  const kind = (await loadKind(createKinds(registry), kindName)) ?? assert.fail(kindName);
  const shown: Printed = world.answer('show', key);
  const known: readonly StoredEvent[] = listOf(shown.events).map((event) => ({ ...event, session: key }));
  const { session } = appendEvents(absentSession(kind, key), known.map(decidedAs), nobody);
  const remarks = Array.from({ length: count }, (_, at) => kernelEvent('Noted', { text: `remark ${at} of many` }));
  const { events } = appendEvents(session, remarks, nobody);
  const bundle = bundleOfEvents(key, [...known, ...events], { revision: Number(shown.session.revision) });
  world.answer('bundle', 'import', '--bundle', bundleFile(world, bundle));
};

const nobody = { now: '2026-03-17T12:00:00.000Z', actor: 'ana', place: 'there', cause: 'c' };

/** Takes a session of each kind to a server and back, with so many remarks; answers how many kinds there are. */
export const travelAtLength = async (tidying: Tidying, count: number): Promise<number> => {
  const server = await startServer();
  try {
    for (const [name, make] of Object.entries(travellers)) {
      const { world, go } = make(tidying);
      go();
      const key = String(listOf(world.answer('list', '--all').sessions)[0]?.session);
      await lengthen(world, key, count);
      const team = createWorld(tidying).with({ env: { STINT_STORE: server.url, STINT_PROJECT: `long-${name}` } });
      assert.equal(take(team, world, key).landed, 'new');
      team.answer('note', 'seen by the team', '--session', key);
      const back = take(world, team, key);
      assert.deepEqual([back.landed, back.events], ['gone-on-with', 1]);
      assert.deepEqual(standingOf(world, key), standingOf(team, key));
    }
    return Object.keys(travellers).length;
  } finally {
    await server.remove();
  }
};
