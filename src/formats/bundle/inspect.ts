import { objectAt, textsAt } from '../../kernel/answer.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { err } from '../../lib/result.ts';
import { sessionState, type DocumentFinding } from '../handoff/document.ts';
import { examinePair, summaryToJson } from '../handoff/summary.ts';
import { examine, leaseIn, leasePath, withTexts, type Look } from '../handoff/workspace.ts';
import { baseName } from './names.ts';
import type { Bundle, BundledDocuments } from './parts.ts';

/** What a bundle says of itself, and whether it contradicts itself. All of it happens in memory. */

/** What was found in a bundle that can be read: its fields, under the names of the original and ours, and a verdict. */
export type Inspection = JsonObject & {
  readonly result: 'valid' | 'valid-with-warnings' | 'error';
  readonly lease_state: string;
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
};

/** Inspects a bundle as it is now: a lease may have expired since it was made. `path` is what the caller calls its file. */
export const inspectBundle = (bundle: Bundle, path: string, now: string): Inspection => {
  const { version, source, report, readiness, git, redaction, signature, documents, session } = bundle;
  const look = lookInside(bundle);
  const told = documents === undefined ? undefined : toldBy(look, documents, now);
  const says = told?.says ?? summaryIn(bundle);
  const lease = leaseOf(bundle, look, now);
  const errors = [
    ...namesDiffer(bundle),
    ...(told?.errors ?? []),
    ...lease.errors,
    ...(documents?.handover === undefined
      ? []
      : [
          ...differences('report', version === 2 ? objectAt(report, 'summary') : report, says),
          ...differences('readiness', readiness, says),
        ]),
  ];
  const verdict = textOf(readiness['verdict']);
  const warnings = [
    ...[...textsAt(report, 'warnings'), ...textsAt(report, 'errors')].map((text) => `SOURCE-WORKSPACE: ${text}`),
    ...(verdict === 'ready' || verdict === 'None' ? [] : [`SOURCE: the work was ${verdict} when it was exported`]),
  ];
  const of = (object: JsonObject | undefined, key: string): string => textOf(object?.[key]);
  return {
    result: errors.length > 0 ? 'error' : warnings.length > 0 ? 'valid-with-warnings' : 'valid',
    bundle_path: path,
    bundle_version: version,
    exported_at: bundle.exportedAt,
    source_resolution: of(source, 'resolution'),
    source_docs_root: of(source, 'docs_root'),
    handover_name: documents?.handover?.name ?? 'None',
    session_state_name: documents?.sessionState.name ?? 'None',
    task: of(says, 'task'),
    status: of(says, 'status'),
    last_updated: of(says, 'last_updated'),
    updated_by: of(says, 'updated_by'),
    next_owner: of(says, 'next_owner'),
    lease_present: bundle.lease.payload !== undefined,
    lease_state: lease.state,
    signature_present: signature !== undefined,
    signature_scheme: of(signature, 'scheme'),
    signature_signer: of(signature, 'signer'),
    signature_key_id: of(signature, 'key_id'),
    signature_public_key_fingerprint: of(signature, 'public_key_fingerprint'),
    signature_signed_at: of(signature, 'signed_at'),
    git_available: git['available'] === true,
    git_branch: of(git, 'branch'),
    git_commit_sha: of(git, 'commit_sha'),
    git_dirty: git['is_dirty'] === true,
    git_dirty_fingerprint: of(git, 'dirty_fingerprint'),
    git_status_fingerprint: of(git, 'status_fingerprint'),
    git_patch_summary_fingerprint: of(git, 'patch_summary_fingerprint'),
    git_changed_file_count: countOf(git['changed_file_count']),
    git_added_line_count: countOf(git['added_line_count']),
    git_deleted_line_count: countOf(git['deleted_line_count']),
    redaction_enabled: redaction['enabled'] === true,
    redaction_count: countOf(redaction['redaction_count']),
    redaction_policy_source: of(redaction, 'policy_source'),
    source_report_result: of(report, 'result'),
    source_readiness_verdict: verdict,
    warnings,
    errors,
    bundle_id: bundle.id ?? null,
    bundle_sha256: bundle.digest,
    session: session?.key ?? null,
    revision: session?.revision ?? null,
    events: session?.events?.length ?? null,
    artifacts: bundle.artifacts.length,
    git_patch: typeof git['patch'] === 'string',
  };
};

/** The same of what cannot be read as a bundle. */
export const unreadInspection = (path: string, errors: readonly string[]): Inspection => ({
  ...Object.fromEntries(unknownTexts.map((key) => [key, 'unknown'])),
  ...Object.fromEntries(unknownSwitches.map((key) => [key, false])),
  ...Object.fromEntries(unknownCounts.map((key) => [key, 0])),
  result: 'error',
  bundle_path: path,
  lease_state: 'unknown',
  warnings: [],
  errors,
  bundle_id: null,
  session: null,
  revision: null,
  events: null,
});

const unknownSwitches = [
  'lease_present',
  'signature_present',
  'git_available',
  'git_dirty',
  'redaction_enabled',
  'git_patch',
];
const unknownCounts = [
  'git_changed_file_count',
  'git_added_line_count',
  'git_deleted_line_count',
  'redaction_count',
  'artifacts',
];
const unknownTexts = [
  'bundle_version',
  'exported_at',
  'source_resolution',
  'source_docs_root',
  'handover_name',
  'session_state_name',
  'task',
  'status',
  'last_updated',
  'updated_by',
  'next_owner',
  'signature_scheme',
  'signature_signer',
  'signature_key_id',
  'signature_public_key_fingerprint',
  'signature_signed_at',
  'git_branch',
  'git_commit_sha',
  'git_dirty_fingerprint',
  'git_status_fingerprint',
  'git_patch_summary_fingerprint',
  'redaction_policy_source',
  'source_report_result',
  'source_readiness_verdict',
  'bundle_sha256',
];

/** What the documents of a bundle say in short, as `inspectBundle` compares it with the rest; undefined without a handover. */
export const saidInDocuments = (documents: BundledDocuments, now: string): JsonObject | undefined =>
  toldBy(lookInside({ documents, lease: { payload: undefined, inspection: {} } }), documents, now).says;

/** What the rest of a bundle has to say as they do. */
export const saidTwice = ['task', 'status', 'next_owner'] as const;

/** A root that is nowhere: what documents name outside of the bundle is not there. */
const nowhere = '/bundle';

/** The documents and the lease of a bundle as they would lie below a root. */
const lookInside = ({ documents, lease }: Pick<Bundle, 'documents' | 'lease'>): Look => {
  const texts = new Map<string, string>();
  if (documents?.handover !== undefined) texts.set(handoverPath(documents), documents.handover.text);
  if (documents !== undefined) texts.set(statePath(documents), documents.sessionState.text);
  if (lease.payload !== undefined) texts.set(leasePath, JSON.stringify(lease.payload));
  const empty: Look = {
    root: nowhere,
    read: () => err({ problem: 'is not in the bundle', isMissing: true }),
    list: () => [],
  };
  return withTexts(empty, texts);
};

const handoverPath = ({ handover }: BundledDocuments): string => `handovers/${handover?.name ?? ''}`;
const statePath = ({ sessionState: { name } }: BundledDocuments): string => `session-state/${name}`;

/** What the documents say, and what is wrong with them. */
const toldBy = (
  look: Look,
  documents: BundledDocuments,
  now: string,
): { readonly says: JsonObject | undefined; readonly errors: readonly string[] } => {
  const sessionStatePath = statePath(documents);
  if (documents.handover === undefined) {
    const { findings } = examine(look, sessionState, sessionStatePath);
    return { says: undefined, errors: findings.map((finding) => findingText('SESSION', sessionStatePath, finding)) };
  }
  const pair = { handover: handoverPath(documents), sessionState: sessionStatePath, source: 'bundle' };
  return {
    says: summaryToJson(look, pair, now),
    errors: examinePair(look, pair).findings.map(({ tag, path, finding }) => findingText(tag, path, finding)),
  };
};

const findingText = (tag: string, path: string, { line, text }: DocumentFinding): string =>
  `${tag}: ${path}${line === null ? '' : `:${line}`}: ${text}`;

/** What the bundle says in short beside its documents. */
const summaryIn = ({ version, report }: Bundle): JsonObject => (version === 2 ? objectAt(report, 'summary') : report);

/** The lease as it is now, whatever the bundle says of it. */
const leaseOf = (
  { lease: { payload }, documents }: Bundle,
  look: Look,
  now: string,
): { readonly state: string; readonly errors: readonly string[] } => {
  if (payload === undefined) return { state: 'none', errors: [] };
  if (documents !== undefined) {
    const { state, problems } = leaseIn(look, now);
    return { state, errors: problems.map((problem) => `LEASE: ${problem}`) };
  }
  const expires = Date.parse(textOf(payload['expires_at']));
  if (Number.isNaN(expires)) return { state: 'invalid', errors: ['LEASE: expires_at is no time with an offset'] };
  return { state: expires > Date.parse(now) ? 'active' : 'expired', errors: [] };
};

/** In version 2 the source names its documents twice. Another system has other separators. */
const namesDiffer = ({ version, source }: Bundle): readonly string[] =>
  version === 2
    ? (['handover', 'session_state'] as const).flatMap((half) =>
        baseName(textOf(source[half])) === source[`${half}_name`]
          ? []
          : [`BUNDLE: source.${half} and source.${half}_name are of two files`],
      )
    : [];

/** What a part says otherwise than the documents. */
const differences = (part: string, object: JsonObject, says: JsonObject | undefined): readonly string[] =>
  says === undefined
    ? []
    : saidTwice.flatMap((key) =>
        object[key] === undefined || object[key] === says[key]
          ? []
          : [`BUNDLE: ${part} says another ${key.replaceAll('_', ' ')} than the documents`],
      );

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : 'None');

const countOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
