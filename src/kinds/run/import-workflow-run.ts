import * as v from 'valibot';
import { keyOf } from '../../kernel/address.ts';
import { optionalText } from '../../kernel/fields.ts';
import { orderTakings, takingsText } from '../../kernel/take-over-order.ts';
import { cleanJson, defineVerb } from '../../kernel/verb.ts';
import type { Json } from '../../lib/canonical-json.ts';
import type { RunToTake } from './found-runs.ts';

export const importWorkflowRun = defineVerb({
  name: 'import workflow-run',
  summary: 'Take over runs of the workflow player.',
  details: `Reads the session-state.json of each run, and the snapshots beside it. What is missing in one, misspelt or in contradiction is concluded as far as it can be; a file that is not whole JSON (cut off, with NUL bytes, in a fence) is not taken. A run comes over with its times: running, paused, closed or archived as it was. A node that was running is in doubt here, because nobody knows whether it still does; one that had failed is ready again while the run goes on. One that says it is completed while nodes are not done goes on, and in the archive counts as given up. Of several files of one run the one in the folder of its name is taken, else the newest; where that is not known, none. What the nodes do is taken from the template as it is now, where that can be found and fits. What could not be taken as it was stands in problems; files of other tools, and those that were not taken, in ignored, with what helps. Where nothing is taken, and something could not be, the exit code says why (6, 7, 14), with the same report.

The original is never changed: its files stay what they are until something happens to the run here. Then they are kept beside ours. --dry-run shows what would be taken. Doing it again takes what is new of a run; one that has gone on here since is left alone.`,
  examples: ['stint import workflow-run --dry-run', 'stint import workflow-run ../old-checkout --json'],
  input: () =>
    v.strictObject({
      path: optionalText(
        'A checkout, a folder of sessions, or the file of a run. Default: .workflow/sessions of this checkout.',
      ),
    }),
  positionals: ['path'],
  creates: true,
  does: {
    writes: async (world, input) => {
      const { findRuns } = await import('./found-runs.ts');
      const found = await findRuns(world, input.path);
      if (!found.ok) return found;
      const { decideTakeOver } = await import('../../kernel/take-over.ts');
      const { leftRun } = await import('./take-over.ts');
      const { worktree } = world.places.here;
      const { source, runs, ignored } = found.value;
      const clean = await cleaned(runs, world.caller.redact);
      return orderTakings(world, {
        source,
        takings: clean.map((run) => ({
          ...run,
          key: keyOf('run', run.found.document.session_id),
          decide: (session) => decideTakeOver(session, leftRun(run, worktree)),
        })),
        ignored,
      });
    },
  },
  text: takingsText,
});

/** What others wrote of a run. */
type Told = Pick<RunToTake, 'found' | 'problems' | 'notes' | 'files'>;

/** A run as it may be stored, with how often each rule of the scanner fired. */
type CleanRun = RunToTake & { readonly secrets: Readonly<Record<string, number>> };

/** What was found without the secrets in it: what others wrote is no safer than what is given. */
const cleaned = async (runs: readonly RunToTake[], redact: boolean): Promise<readonly CleanRun[]> => {
  const clean: CleanRun[] = [];
  for (const run of runs) {
    const { session_id, execution_plan, ...texts } = run.found.document;
    const { problems, notes, files } = run;
    const told: Json = JSON.parse(JSON.stringify({ found: { ...run.found, document: texts }, problems, notes, files }));
    const { value, found: secrets } = await cleanJson(told, redact);
    // Texts are replaced by texts: what it is made of stays. Names stay what they are.
    const left = value as unknown as Told;
    const document = { ...left.found.document, session_id, execution_plan };
    clean.push({ ...run, ...left, found: { ...left.found, document }, secrets });
  }
  return clean;
};
