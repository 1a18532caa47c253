import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askAll } from './ask.ts';

test('what was asked for stands in the place of nothing, where nothing was given under its name', async () => {
  const asks = [{ field: 'context', name: 'goal', description: 'What' }];
  const prompt = { line: () => Promise.resolve('tidy up') };
  const answered = await askAll(prompt, asks, { context: ['goal=', 'goals=3'] });
  assert.deepEqual(answered, { context: ['goals=3', 'goal=tidy up'] });
});
