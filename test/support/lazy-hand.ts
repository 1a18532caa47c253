/**
 * One verb in a process of its own, where the kind `sheet` is loaded when it is needed, cannot be loaded, or is not known:
 * prints what became of the verb, and whether the kind was loaded for it.
 */
import { openStint } from '../../src/postgres.ts';
import type { LazyKind } from '../../src/kernel/kinds.ts';
import { storeIn } from './environment.ts';

const [, , cwd = '', how = '', verb = '', input = '{}', call = '{}'] = process.argv;
let loaded = false;
const sheet: LazyKind = {
  name: 'sheet',
  load: async () => {
    loaded = true;
    if (how === 'broken') throw new Error('no such module\nand where it was looked for');
    const { defineSheet } = await import('../kinds/sheet/index.ts');
    return { kind: defineSheet(2) };
  },
};
const now = process.env['STINT_NOW'] ?? '';
const opened = await openStint({
  cwd,
  actor: 'ana',
  host: 'desk',
  kinds: how === 'unknown' ? [] : [sheet],
  now: () => now,
  ...storeIn(process.env),
});
if (!opened.ok) throw new Error(opened.error.message);
const answer = await opened.value.run(verb, JSON.parse(input), JSON.parse(call));
process.stdout.write(
  JSON.stringify({
    loaded,
    ...(answer.ok ? { answer: answer.value } : { refusal: answer.error.refusal, report: answer.error.report ?? null }),
  }),
);
await opened.value.close();
