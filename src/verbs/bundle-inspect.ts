import * as v from 'valibot';
import { readBundleFile } from '../formats/bundle/file.ts';
import { inspectBundle, unreadInspection } from '../formats/bundle/inspect.ts';
import { reportText } from '../formats/handoff/verdict.ts';
import { textAt } from '../kernel/answer.ts';
import { flag, requiredText } from '../kernel/fields.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const bundleInspect = defineVerb({
  name: 'bundle inspect',
  summary: 'What does a bundle hold, and does it contradict itself?',
  details: `Nothing is written, and nothing that a bundle names is looked at: it is taken apart in memory. The verdict is valid, valid-with-warnings or error. An error (7) is what cannot be read (JSON of which two programs could think differently, a checksum, a name or a path that is not safe, a chain of events that does not hold), documents that are not sound, or parts that say different things. A warning is what the workspace or the readiness said where it was exported; --strict refuses that too (6). A lease is told as it stands now: one that was active may have expired.

A checksum tells damage, not harm: whoever changes a bundle can make it anew. Who signed it is what bundle verify looks at, and whether it may be used bundle trust.

Bundles of version 2 are those of the original, under whose names the answer has its fields; those of version 3 are made by stint.`,
  examples: ['stint bundle inspect --bundle work.json', 'stint bundle inspect --bundle work.json --strict --json'],
  input: () =>
    v.strictObject({
      bundle: requiredText('The file of the bundle.'),
      strict: flag('Refuse a bundle with warnings.'),
    }),
  does: {
    reads: async (world, { bundle: named, strict }) => {
      const { path, read } = await readBundleFile(world, named);
      if (!read.ok) return err({ report: unreadInspection(path, read.error.errors), refusal: read.error.refusal });
      const report = inspectBundle(read.value, path, world.caller.now);
      const { errors, warnings } = report;
      const faults = errors.length > 0 ? errors : strict === true ? warnings : [];
      if (faults.length === 0) return ok(report);
      const count = `${faults.length} ${faults.length === 1 ? 'finding' : 'findings'}`;
      return err({
        report,
        refusal: refuse(errors.length > 0 ? 'invalid-input' : 'invariant-unmet', `${path} is not sound: ${count}.`, {
          expected: errors.length > 0 ? 'a bundle without errors' : 'a bundle without warnings',
          faults,
          hint: 'put right what is told where it comes from, and export it again',
        }),
      });
    },
  },
  text: (answer) =>
    reportText(
      answer,
      labels
        .slice(0, answer['bundle_version'] === 'unknown' ? 2 : undefined)
        .map(([label, key]) => [label, textAt(answer, key)]),
    ),
});

const labels = [
  ['Result', 'result'],
  ['Bundle', 'bundle_path'],
  ['Bundle version', 'bundle_version'],
  ['Bundle id', 'bundle_id'],
  ['Exported at', 'exported_at'],
  ['Session', 'session'],
  ['Revision', 'revision'],
  ['Events', 'events'],
  ['Artifacts', 'artifacts'],
  ['Source resolution', 'source_resolution'],
  ['Source docs root', 'source_docs_root'],
  ['Handover name', 'handover_name'],
  ['Session-state name', 'session_state_name'],
  ['Task', 'task'],
  ['Status', 'status'],
  ['Last updated', 'last_updated'],
  ['Updated by', 'updated_by'],
  ['Next owner', 'next_owner'],
  ['Lease present', 'lease_present'],
  ['Lease state', 'lease_state'],
  ['Signature present', 'signature_present'],
  ['Signature scheme', 'signature_scheme'],
  ['Signature signer', 'signature_signer'],
  ['Signature key id', 'signature_key_id'],
  ['Signature public key fingerprint', 'signature_public_key_fingerprint'],
  ['Signature signed at', 'signature_signed_at'],
  ['Git available', 'git_available'],
  ['Git branch', 'git_branch'],
  ['Git commit', 'git_commit_sha'],
  ['Git dirty', 'git_dirty'],
  ['Git dirty fingerprint', 'git_dirty_fingerprint'],
  ['Git status fingerprint', 'git_status_fingerprint'],
  ['Git patch summary fingerprint', 'git_patch_summary_fingerprint'],
  ['Git changed files', 'git_changed_file_count'],
  ['Git added lines', 'git_added_line_count'],
  ['Git deleted lines', 'git_deleted_line_count'],
  ['Redaction enabled', 'redaction_enabled'],
  ['Redaction count', 'redaction_count'],
  ['Redaction policy source', 'redaction_policy_source'],
  ['Source report result', 'source_report_result'],
  ['Source readiness verdict', 'source_readiness_verdict'],
] as const;
