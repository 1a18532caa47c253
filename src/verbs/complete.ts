import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { standingText } from '../kernel/answer.ts';
import { pathAtHome, refuseMissing } from '../kernel/missing-files.ts';
import { optionalCount, optionalName, optionalText, optionalTexts, sessionField } from '../kernel/fields.ts';
import { findTask, orderEndStep, resolveSaid, type StepResult } from '../kernel/step-orders.ts';
import { defineVerb, type World } from '../kernel/verb.ts';
import { withoutUndefined } from '../lib/json.ts';
import { err, ok } from '../lib/result.ts';

export const complete = defineVerb({
  name: 'complete',
  summary: 'Record what came of a step.',
  details: `The attempt that runs is meant, or --attempt; whoever claimed it may say it, as the same caller or by its --token. A step that is not running is refused (5), an attempt that does not count any more, or is somebody else's, too (10): what was said is kept on record then, and not applied. The same result again changes nothing.

The output is a text, from --output, a file or standard input; it is kept whole. Files that it names (--output-path, --artifact) are relative to the root of the caller's checkout, and must be there and not empty (6); of another checkout than the session's own they are kept with their whole path.

A background command that ends knows the id of its task alone: --cli-task-id with --exit-code finds the step and its session by it. Another exit code than 0 is a failure.

What follows of itself follows at once: in a run a checkpoint is saved, a failure is settled as the template says, and after the last node the run is complete.`,
  examples: [
    'stint complete N-001 --output "it builds" --json',
    'stint complete N-002 --attempt 1 --token 1773748822000 --output-file report.md --artifact dist/app.tgz',
    'stint complete --cli-task-id gem-143514-x7k2 --exit-code 0',
  ],
  input: () =>
    v.strictObject({
      step: optionalName('The id of the step.'),
      attempt: optionalCount('The attempt. Default: the one that runs.'),
      token: optionalCount('Its token, as next --claim gave it.'),
      output: optionalText('What it says of itself.'),
      output_path: optionalText('The file that it has left.'),
      child_session: optionalName('The session that it has started.'),
      artifact: optionalTexts('A file that it has made.'),
      cli_task_id: optionalName('The id of the background task that worked on it.'),
      exit_code: optionalCount('How its program ended.', 0, 2 ** 31 - 1),
      session: sessionField(),
    }),
  positionals: ['step'],
  textFrom: { field: 'output', file: 'output-file' },
  contradiction: ({ step, cli_task_id: task, attempt }) => {
    if (step === undefined && task === undefined) return 'the step is missing: its id, or --cli-task-id';
    return task !== undefined && (step !== undefined || attempt !== undefined)
      ? '--cli-task-id alone says which step and attempt is meant'
      : undefined;
  },
  does: {
    writes: async (world, { step, attempt, token, session, cli_task_id: task, ...said }) => {
      const { artifact = [], exit_code: exitCode, ...texts } = said;
      const isFailed = exitCode !== undefined && exitCode !== 0;
      const outcome = isFailed ? 'failed' : 'completed';
      const claimed = [...artifact, ...(said.output_path === undefined ? [] : [said.output_path])];
      const missing = refuseMissing(world, isFailed ? [] : claimed);
      if (missing !== undefined) return err(missing);
      const meant = await stepOf(world, { step, attempt, task, session });
      if (!meant.ok) return meant;
      const { row, ...which } = meant.value;
      const kept = (path: string): string => pathAtHome(world.places, row, path);
      const result = withoutUndefined({
        ...texts,
        ...(said.output_path === undefined ? {} : { output_path: kept(said.output_path) }),
        exit_code: exitCode,
        ...(isFailed ? { error: `exit code ${exitCode}` } : {}),
        ...(artifact.length === 0 ? {} : { artifacts: artifact.map(kept) }),
      });
      return orderEndStep(world, row, { ...which, token, outcome, result });
    },
  },
  text: standingText,
});

/** The step that is meant: by its id, or by the background task that works on it. */
const stepOf = async (
  world: World,
  given: {
    readonly step: string | undefined;
    readonly attempt: number | undefined;
    readonly task: string | undefined;
    readonly session: string | undefined;
  },
) => {
  // Who works on a step comes to work beside nobody: its claim is the authority.
  const looking = { ...world, joins: undefined };
  if (given.task === undefined) {
    const row = await resolveSaid(looking, given.session, 'end-step');
    return row.ok ? ok({ row: row.value, step: given.step ?? '', attempt: given.attempt }) : row;
  }
  const named = given.session === undefined ? undefined : await resolve(looking, given.session);
  if (named?.ok === false) return named;
  const found = await findTask(world, given.task, named?.value);
  return found.ok
    ? ok({ ...found.value, isKnown: true } satisfies Pick<StepResult, 'step' | 'isKnown'> & typeof found.value)
    : found;
};
