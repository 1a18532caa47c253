import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { sessionField } from '../kernel/fields.ts';
import type { Finding } from '../kernel/ports.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb, type World } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';
import { inspectMirrors } from '../mirror/sync.ts';

export const doctor = defineVerb({
  name: 'doctor',
  summary: 'Verify the store: file, chains, projections, mirrors.',
  details: `Checks the store file itself, every session's hash chain, that rows, views and snapshots are what the events say, and that the mirror files are the newest versions. Changes nothing. Exits 6 with its findings when something is not as it should be.`,
  examples: ['stint doctor', 'stint doctor --json'],
  input: v.strictObject({ session: sessionField }),
  does: {
    reads: async (world, input) => {
      const only = input.session === undefined ? undefined : await resolve(world, input.session);
      if (only?.ok === false) return err({ refusal: only.error });
      const rows = only === undefined ? await world.store.rows({}) : [only.value];
      const all = await world.store.verify();
      const findings: Finding[] = all.filter(({ subject }) => only === undefined || subject === only.value.key);
      for (const { key } of rows) findings.push(...(await mirrorFindings(world, key)));
      const report = {
        healthy: findings.length === 0,
        store: world.store.name,
        sessions: rows.length,
        events: rows.reduce((total, row) => total + row.seq, 0),
        findings: findings.map((finding) => ({ ...finding })),
      };
      if (findings.length === 0) return ok(report);
      return err({
        report,
        refusal: refuse(
          'invariant-unmet',
          `${findings.length === 1 ? 'There is one finding' : `There are ${findings.length} findings`}.`,
          {
            expected: 'no findings',
            ...(findings.some(({ fix }) => fix !== null) ? { hint: 'stint rebuild' } : {}),
          },
        ),
      });
    },
  },
  text: (answer) =>
    [
      `${answer['healthy'] === true ? 'healthy' : 'not healthy'}: ${counted(answer, 'session')}, ${counted(answer, 'event')} in ${textAt(answer, 'store')}`,
      ...(answer['healthy'] === true
        ? []
        : [
            table(
              objectsAt(answer, 'findings').map((finding) => [
                textAt(finding, 'subject'),
                textAt(finding, 'problem'),
                textAt(finding, 'fix'),
              ]),
            ),
          ]),
    ].join('\n'),
});

const counted = (answer: JsonObject, what: string): string => {
  const count = textAt(answer, `${what}s`);
  return `${count} ${count === '1' ? what : `${what}s`}`;
};

/** What is wrong with a mirror, for a person. */
const mirrorProblems = {
  missing: 'is not there',
  stale: 'is an older version',
  drifted: 'was changed by somebody else',
  unreadable: 'cannot be read',
} as const;

const mirrorFindings = async (world: World, key: string): Promise<readonly Finding[]> =>
  (await inspectMirrors(world, key)).flatMap(({ record, state }) =>
    state === 'current'
      ? []
      : [
          {
            subject: key,
            problem: `its mirror ${record.path} ${mirrorProblems[state]}`,
            fix: `stint rebuild --session ${key}`,
          },
        ],
  );
