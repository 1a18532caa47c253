/** Orchestrations that are gone on with by somebody who knows nothing of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killOrchestrators } from './support/orchestration-campaigns.ts';

test('whoever knows nothing but what resume says finishes what another one has begun that was killed at one of 25 moments: no work is done twice, and what is in doubt is told and settled first', async (context) => {
  const seed = Date.now() % 1_000_000;
  context.diagnostic(`seed ${seed}`);
  const { kills, doubts, done } = await killOrchestrators(context, seed, 25);
  context.diagnostic(`${kills} kills, ${doubts} agents in doubt, ${done} of them were done`);
  assert.equal(kills, 25);
  assert.ok(doubts > 0);
});
