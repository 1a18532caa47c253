/** Sessions of every kind that go from a file to a server and back in bundles. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { startServer, type TestServer } from './support/postgres.ts';
import { standingOf, take, travellers } from './support/travellers.ts';
import { createWorld, fileOnly } from './support/world.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(async () => server.remove());

const travel = (context: TestContext, kind: string): void => {
  const { world, go } = travellers[kind]?.(context) ?? assert.fail(kind);
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

for (const kind of Object.keys(travellers))
  test(
    `a ${kind} goes to a server and comes back: the same state, the same chain, the same brief`,
    { skip: fileOnly },
    (context) => travel(context, kind),
  );
