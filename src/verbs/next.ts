import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { moreIn, namesText, nextText, objectAt, objectsAt, table, textAt } from '../kernel/answer.ts';
import { flag, optionalCount, optionalText, sessionField } from '../kernel/fields.ts';
import { ttlField, wishOf } from '../kernel/lease-rules.ts';
import { listSteps, orderHandOut } from '../kernel/step-orders.ts';
import { defineVerb } from '../kernel/verb.ts';
import { truncate } from '../lib/text.ts';
import { err } from '../lib/result.ts';
import type { JsonObject } from '../lib/canonical-json.ts';

/** How many steps are listed, and handed out, where nobody says so, and at most. */
const pages = { listed: 20, claimed: 1, most: 200 };

export const next = defineVerb({
  name: 'next',
  summary: 'What can be done now? With --claim: give it to me.',
  details: `Lists the steps of the session that are ready, in their order, --limit at a time; --after names the last one that was seen. A kind whose work has no such steps (review, map, task) answers with none, and with its next action.

--claim hands steps out, one unless --limit says otherwise, each to exactly one caller. The answer names for each its attempt and token: with both its result is recorded, and nobody else's is. A claim lasts for --ttl and is renewed by start and beat. Whoever works for a driver that may be gone when it ends leaves its result in the file that result_path names, as JSON with token, exit_code and where it helps output, output_path, artifacts, child_session and error: it is taken when somebody asks next. Attempts whose worker (--pid, --process) is proved to be gone, or whose claim has expired while no worker is seen alive, are interrupted in the same transaction and stay on the record. The list names such attempts under abandoned. Their steps come back as another attempt where doing them twice does no harm; else they are in doubt, and are not handed out before somebody says what came of them.`,
  examples: [
    'stint next --json',
    'stint next --claim --ttl 10m --json',
    'stint next --claim --limit 5 --pid 4711 --json',
  ],
  input: () =>
    v.strictObject({
      claim: flag('Hand steps out to me.'),
      limit: optionalCount('At most so many. Default: 20, with --claim 1.', 1, pages.most),
      after: optionalText('Only those behind this step.'),
      ttl: ttlField,
      pid: optionalCount('The pid of the program that does the work, on this machine.', 1, 2 ** 31 - 1),
      session: sessionField(),
    }),
  positionals: ['session'],
  contradiction: ({ claim, after, ttl, pid }) => {
    if (claim === true) return after === undefined ? undefined : '--after does not go with --claim';
    return ttl === undefined && pid === undefined ? undefined : '--ttl and --pid go with --claim';
  },
  does: {
    isReading: ({ claim }) => claim !== true,
    orReads: async (world, { session: given, limit, after }) => {
      const row = await resolve(world, given);
      if (!row.ok) return err({ refusal: row.error });
      const listed = await listSteps(world, row.value, { limit: limit ?? pages.listed, after });
      return listed.ok ? listed : err({ refusal: listed.error });
    },
    writes: async (world, { session, limit, ...input }) => {
      const row = await resolve(world, session);
      if (!row.ok) return row;
      const wish = await wishOf(world, row.value.key, input);
      if (!wish.ok) return wish;
      return orderHandOut(world, row.value, wish.value, limit ?? pages.claimed);
    },
  },
  text: (answer) => {
    const steps = objectsAt(answer, 'steps');
    const doubtful = namesText(answer, 'in_doubt');
    const moreLeft = moreIn(answer, 'abandoned');
    return [
      steps.length === 0
        ? `${textAt(answer, 'session')}: no step is ready (${textAt(answer, 'running')} running)`
        : table(steps.map(stepCells)),
      ...steps
        .filter((step) => typeof step['args'] === 'string' && step['args'] !== '')
        .map((step) => `${textAt(step, 'id')}: ${truncate(textAt(step, 'args'), 200)}`),
      ...(doubtful === '' ? [] : [`in doubt: ${doubtful}`]),
      ...objectsAt(answer, 'abandoned').map(
        (one) => `left: ${textAt(one, 'id')}, attempt ${textAt(one, 'attempt')} (${textAt(one, 'because')})`,
      ),
      ...(moreLeft === 0 ? [] : [`left: ${moreLeft} more`]),
      ...objectsAt(answer, 'adopted').map(
        (one) =>
          `taken: ${textAt(one, 'id')}, attempt ${textAt(one, 'attempt')} has ${textAt(one, 'outcome')} (${textAt(one, 'path')})`,
      ),
      ...objectsAt(answer, 'interrupted').map(
        (one) => `interrupted: ${textAt(one, 'id')}, attempt ${textAt(one, 'attempt')}`,
      ),
      `then: ${textAt(objectAt(answer, 'next_action'), 'text')}`,
      ...nextText(answer),
    ].join('\n');
  },
});

const stepCells = (step: JsonObject): readonly string[] => [
  textAt(step, 'id'),
  textAt(step, 'type'),
  textAt(step, 'name'),
  `attempt ${textAt(step, 'attempt')}`,
  ...(textAt(step, 'token') === '' ? [] : [`token ${textAt(step, 'token')}`, `until ${textAt(step, 'expires_at')}`]),
];
