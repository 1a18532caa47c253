/** Processes that are killed, and that share sessions, on a server. Races have the same tests there as in a file (`npm run test:server`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killFirstBegins, killVerbs, workMixed } from './support/campaigns.ts';
import { useWorldsOnServer } from './support/postgres.ts';
import { createWorld } from './support/world.ts';

useWorldsOnServer();

test('kill -9 at any moment of any verb: what was acknowledged is there, what was not is whole or absent', async (context) => {
  const { kills, acknowledged, unanswered } = await killVerbs(context, 24);
  assert.equal(acknowledged + unanswered, kills);
  assert.ok(unanswered > 0, 'some were dead before they could answer');
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

test('kill -9 at any moment of the very first verb: the next one makes the project', async (context) => {
  const { kills, unanswered } = await killFirstBegins(context, 6);
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

test('8 workers that share sessions are refused for good reason only, and what they were told is there', async (context) => {
  const end = performance.now() + 5000;
  const { verbs, refused } = await workMixed(createWorld(context), 8, () => performance.now() > end);
  context.diagnostic(`${verbs} verbs, ${refused} refused`);
});
