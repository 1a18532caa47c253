/** A checker of bundles of version 2 that shares nothing with the program: it follows the format alone. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Printed } from './world.ts';

const order = [
  'bundle_version',
  'exported_at',
  'source',
  'documents',
  'lease',
  'report',
  'readiness',
  'git',
  'redaction',
];
const source = ['resolution', 'docs_root', 'handover', 'session_state', 'handover_name', 'session_state_name'];
const gitKeys = [
  'available',
  'project_root',
  'branch',
  'commit_sha',
  'is_dirty',
  'dirty_paths',
  'dirty_fingerprint',
  'status_fingerprint',
  'patch_summary_fingerprint',
  'changed_file_count',
  'added_line_count',
  'deleted_line_count',
  'patch_summary',
  'error',
];
const laterKeys: ReadonlySet<string> = new Set(gitKeys.slice(8, 13));
const redactionKeys = [
  'enabled',
  'policy_source',
  'redaction_count',
  'redacted_paths',
  'rules_triggered',
  'allow_paths',
  'deny_paths',
  'extra_sensitive_keywords',
  'extra_redaction_regex_count',
];
const inspectionKeys = [
  'docs_root',
  'lease_path',
  'exists',
  'state',
  'holder',
  'purpose',
  'acquired_at',
  'expires_at',
  'handover',
  'session_state',
  'warnings',
  'errors',
];

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Canonical JSON: keys in the order of the code points of their characters. */
const canonical = (value: Printed): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const points = (key: string): readonly number[] => Array.from(key, (character) => character.codePointAt(0) ?? 0);
  const keys = Object.keys(value).toSorted((a, b) => {
    const [one, other] = [points(a), points(b)];
    for (const [at, point] of one.entries()) if (point !== other[at]) return point - (other[at] ?? -1);
    return one.length - other.length;
  });
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
};

/** Asserts that a text is the file of a bundle of version 2. */
export const assertVersion2 = (text: string): Printed => {
  assert.match(text, /^[\n\u0020-\u007e]*\n$/, 'it is ASCII, and ends with a line');
  const bundle = JSON.parse(text);
  assert.equal(
    text.replaceAll(/\\u[\da-f]{4}/g, ''),
    `${JSON.stringify(bundle, undefined, 2)}\n`.replaceAll(/[\u007f-\uffff]|\\u[\da-f]{4}/g, ''),
  );
  const { integrity, signature, ...covered } = bundle;
  assert.deepEqual(Object.keys(bundle), [...order, 'integrity', ...(signature === undefined ? [] : ['signature'])]);
  assert.equal(bundle.bundle_version, 2);
  assert.match(bundle.exported_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
  assert.deepEqual(Object.keys(bundle.source), source);
  for (const half of ['handover', 'session_state'])
    assert.equal(basename(String(bundle.source[half])), bundle.source[`${half}_name`]);
  assert.deepEqual(Object.keys(bundle.documents), ['handover_markdown', 'session_state_markdown']);
  for (const document of Object.values<Printed>(bundle.documents)) assert.match(document, /\S/);
  assert.deepEqual(Object.keys(bundle.lease), ['payload', 'inspection']);
  for (const key of inspectionKeys) assert.ok(key in bundle.lease.inspection, key);
  assertReport(bundle.report);
  assert.ok(['ready', 'ready-with-warnings', 'not-ready'].includes(bundle.readiness.verdict));
  for (const key of ['docs_root', 'ready', 'task', 'status', 'next_owner', 'lease', 'blocking_reasons', 'next_actions'])
    assert.ok(key in bundle.readiness, key);
  assertReport(bundle.readiness.report);
  assertGit(bundle.git);
  for (const key of redactionKeys) assert.ok(key in bundle.redaction, key);
  assert.ok(bundle.redaction.redacted_paths.length <= 50);
  assert.deepEqual(integrity, {
    source_sha256: sha256(canonical(bundle.source)),
    handover_markdown_sha256: sha256(bundle.documents.handover_markdown),
    session_state_markdown_sha256: sha256(bundle.documents.session_state_markdown),
    lease_payload_sha256: sha256(canonical(bundle.lease.payload)),
    lease_inspection_sha256: sha256(canonical(bundle.lease.inspection)),
    report_sha256: sha256(canonical(bundle.report)),
    readiness_sha256: sha256(canonical(bundle.readiness)),
    bundle_sha256: sha256(canonical(covered)),
  });
  return bundle;
};

const assertReport = (report: Printed): void => {
  for (const key of ['docs_root', 'result', 'summary', 'lease', 'audit', 'history', 'warnings', 'errors'])
    assert.ok(key in report, key);
  assert.ok(report.history.history.length <= 3);
};

const assertGit = (git: Printed): void => {
  const keys = Object.keys(git);
  if (git.error === 'None' && git.available === false) {
    assert.deepEqual(
      keys,
      gitKeys.filter((key) => !laterKeys.has(key)),
    );
    return;
  }
  assert.deepEqual(keys, gitKeys);
  assert.ok(git.dirty_paths.length <= 100);
  assert.ok(git.patch_summary.length <= 50);
  for (const key of ['dirty_fingerprint', 'status_fingerprint', 'patch_summary_fingerprint'])
    assert.match(git[key], git.available === true ? /^(?:clean|[\da-f]{64})$/ : /^None$/, key);
};
