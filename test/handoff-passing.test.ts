/** A task that is passed around: at every moment its documents are what the log says, or are told not to be. */
import { it } from 'node:test';
import { passAround } from './support/passing.ts';
import { fileOnly } from './support/world.ts';

for (const seed of [9, 19])
  it(
    `seed ${seed}: two worktrees and three agents pass a task around, and nobody is told what is not so`,
    {
      skip: fileOnly,
    },
    async (context) => {
      context.diagnostic(JSON.stringify(await passAround(context, seed, 6)));
    },
  );
