import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killAtEachStep, killFirstBegins, killVerbs } from './support/campaigns.ts';
import { approval, json, reviewIn } from './support/reviews.ts';
import { createWorld } from './support/world.ts';

test('kill -9 at any moment of any verb: what was acknowledged is there, what was not is whole or absent, and the mirror is right', async (context) => {
  const { kills, acknowledged, unanswered } = await killVerbs(context, 60);
  assert.equal(acknowledged + unanswered, kills);
  assert.ok(unanswered > 0, 'some were dead before they could answer');
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

test('kill -9 at any moment of the very first verb: the next one makes the store, and leaves no litter', async (context) => {
  const { kills, unanswered } = await killFirstBegins(context, 8);
  assert.ok(unanswered > 0);
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

// Every other change, to keep this short; the soak takes each one.
test('kill -9 before single changes on disk of the very first verb leaves nothing that the next one does not put right', (context) => {
  const begin = { args: ['begin', 'review'], types: ['SessionOpened', 'RoundStarted'] };
  const kills = killAtEachStep(context, createWorld(context), begin, 2);
  context.diagnostic(`${kills} kills`);
});

test('kill -9 before single changes on disk of a completion leaves nothing that the next verb does not put right', (context) => {
  const complete = { args: ['complete-round', '-'], input: json(approval), types: ['RoundCompleted'] };
  const kills = killAtEachStep(context, reviewIn(context, 'synthesis'), complete, 2);
  context.diagnostic(`${kills} kills`);
});
