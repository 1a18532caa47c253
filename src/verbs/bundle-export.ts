import * as v from 'valibot';
import { makeBundle, type MadeBundle } from '../formats/bundle/export.ts';
import { placeForBundle, writeBundle, type BundlePlace } from '../formats/bundle/write.ts';
import { reportText } from '../formats/handoff/verdict.ts';
import { textAt, textsAt } from '../kernel/answer.ts';
import { orderOne, type Order } from '../kernel/dispatch.ts';
import { flag, optionalCount, optionalText, optionalTexts, requiredText, sessionField } from '../kernel/fields.ts';
import { decideNote } from '../kernel/lifecycle.ts';
import { defineVerb, type VerbRefusal, type World } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';

export const bundleExport = defineVerb({
  name: 'bundle export',
  summary: 'Make one file of a session that may leave this machine: its log, its documents, its checkout in short.',
  details: `The session of the documents of this checkout, else the only open one here, or the one that --session names, of any kind. The bundle holds where it stands, all of its events with their chain (--no-history leaves them out), its documents as they lie there, who holds it, whether it is ready to be handed over, what git has of the checkout (branch, commit, fingerprints; with --with-patch the changes themselves), and its artifacts by their digests (with --with-artifacts their bytes too). The store is only read, and what was written in documents is not taken in.

Secrets are taken out, in documents that were edited too; what others have to find again (ids, digests, names, times, verdicts) stays. An artifact that holds one goes without its bytes. handoff-bundle-redaction-policy.json in the root of the documents says what else is taken out, or stays: paths as bundle.documents.handover_markdown, with * for any text; keywords of names; regular expressions. Each list on the command line takes the place of that of --redaction-policy-file. Of a policy that is checked in they take nothing back: what loosens it, and --no-redact-secrets (--no-redact) beside one, is refused (12), unless --override says why. The reason then stands in the bundle and in the journal of the session. Where the redaction changes an event, the events from there on are chained anew, and redaction.rechained_from says so: it is another history then.

The finished bundle is inspected as bundle inspect does before it is written, whole: what is not sound is not written (6). It lies in handoff-bundles/ below the documents, or below .stint/ where there are none, in a folder that git does not see, under the next free minute in UTC; or in the file that --output names, which is only replaced with --force (9).

--format-version 2 makes the bundle of the original: a pair of documents, without a log.`,
  examples: [
    'stint bundle export',
    'stint bundle export --session login --output ../login.json --with-patch --with-artifacts',
    'stint bundle export --format-version 2 --json',
  ],
  input: () =>
    v.strictObject({
      session: sessionField(),
      output: optionalText('The file. Default: the next free one in handoff-bundles/.'),
      force: flag('Replace the file that is there.'),
      format_version: optionalCount('2: what the original reads. Default: 3.', 2, 3),
      no_history: flag('Leave the events out.'),
      with_patch: flag('Take the uncommitted changes along.'),
      with_artifacts: flag('Take the bytes of artifacts along.'),
      redaction_policy_file: optionalText('The redaction policy. Default: the one in the root of the documents.'),
      no_redaction_policy_file: flag('Go without the redaction policy.'),
      allow_redaction_path: optionalTexts('What stays as it is, as a path.'),
      deny_redaction_path: optionalTexts('What is taken out, as a path.'),
      extra_sensitive_keyword: optionalTexts('What names of secrets hold too.'),
      extra_redaction_regex: optionalTexts('What is taken out too, as a regular expression.'),
      no_redact_secrets: flag('Take nothing out.'),
      override: v.optional(requiredText('Why a policy that is checked in does not count.')),
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  raw: [
    'output',
    'redaction_policy_file',
    'allow_redaction_path',
    'deny_redaction_path',
    'extra_sensitive_keyword',
    'extra_redaction_regex',
    'root',
    'start_dir',
  ],
  contradiction: ({ format_version: version, no_history: none, with_patch: patch, with_artifacts: artifacts }) =>
    version === 2 && (none === true || patch === true || artifacts === true)
      ? '--no-history, --with-patch and --with-artifacts are about version 3'
      : undefined,
  does: {
    isReading: ({ override }) => override === undefined,
    orReads: async (world, input) => {
      const prepared = await prepare(world, input);
      return prepared.ok ? write(world, prepared.value) : prepared;
    },
    writes: async (world, input) => {
      const prepared = await prepare(world, input);
      if (!prepared.ok) return prepared;
      const { session, loosened, answer } = prepared.value.made;
      const text = `A bundle was exported against the redaction policy: ${input.override ?? ''} (${loosened.join('; ')}).`;
      const order = (told: JsonObject): Order<JsonObject> =>
        session === undefined || loosened.length === 0
          ? { keys: [], decide: () => ok(new Map()), answer: () => told }
          : {
              journalOnly: true,
              ...orderOne(
                session,
                (found) => decideNote(found, text),
                () => told,
              ),
            };
      return ok({
        ...order({ ...answer, bundle_path: prepared.value.place.path }),
        work: async () => {
          const written = await write(world, prepared.value);
          return written.ok ? ok({ order: order(written.value), at: world.caller.now }) : err(written.error.refusal);
        },
      });
    },
  },
  text: (answer) =>
    reportText(answer, [
      ['Result', textAt(answer, 'result')],
      ['Bundle', textAt(answer, 'bundle_path')],
      ['Bundle version', textAt(answer, 'bundle_version')],
      ['Bundle id', textAt(answer, 'bundle_id')],
      ['Session', textAt(answer, 'session')],
      ['Events', textAt(answer, 'events')],
      ['Artifacts', textAt(answer, 'artifacts')],
      ['Docs root', textAt(answer, 'docs_root')],
      ['Source', textAt(answer, 'source')],
      ['Handover', textAt(answer, 'handover')],
      ['Session-state', textAt(answer, 'session_state')],
      ['Lease state', textAt(answer, 'lease_state')],
      ['Readiness verdict', textAt(answer, 'readiness_verdict')],
      ['Git available', textAt(answer, 'git_available')],
      ['Git dirty', textAt(answer, 'git_dirty')],
      ['Redaction count', textAt(answer, 'redaction_count')],
    ]),
});

/** What the command line says. */
type Input = Omit<Parameters<typeof makeBundle>[1], 'version' | 'withHistory' | 'withPatch' | 'withArtifacts'> & {
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
  readonly format_version?: number | undefined;
  readonly no_history?: boolean | undefined;
  readonly with_patch?: boolean | undefined;
  readonly with_artifacts?: boolean | undefined;
};

interface Prepared {
  readonly made: MadeBundle;
  readonly place: BundlePlace;
}

/** A bundle that may be written where it is to lie. */
const prepare = async (world: World, input: Input): Promise<Result<Prepared, VerbRefusal>> => {
  const made = await makeBundle(world, {
    ...input,
    version: input.format_version === 2 ? 2 : 3,
    withHistory: input.no_history !== true,
    withPatch: input.with_patch === true,
    withArtifacts: input.with_artifacts === true,
  });
  if (!made.ok) {
    const { refusal, report = { bundle_path: 'None', warnings: [] } } = made.error;
    return err({ report: { errors: [refusal.message], ...report, result: 'error' }, refusal });
  }
  const { root, answer } = made.value;
  const place = await placeForBundle(world, root, { output: input.output, force: input.force === true });
  return place.ok
    ? ok({ made: made.value, place: place.value })
    : err({ report: refused(answer, place.error.message), refusal: place.error });
};

const write = async (world: World, { made, place }: Prepared): Promise<Result<JsonObject, VerbRefusal>> => {
  const written = await writeBundle(world, place, made.text);
  if (!written.ok) return err({ report: refused(made.answer, written.error.message), refusal: written.error });
  const warnings = [...textsAt(made.answer, 'warnings'), ...written.value.warnings];
  return ok({
    ...made.answer,
    result: warnings.length === 0 ? 'exported' : 'exported-with-warnings',
    bundle_path: written.value.path,
    warnings,
  });
};

const refused = (answer: JsonObject, error: string): JsonObject => ({ ...answer, result: 'error', errors: [error] });
