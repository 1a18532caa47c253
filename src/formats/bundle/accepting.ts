import { textAt } from '../../kernel/answer.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { VerbRefusal, World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { faultsOf } from '../handoff/lease.ts';
import { findRoot, type Whereabouts } from '../handoff/look.ts';
import {
  judgedToJson,
  refuseUntrusted,
  trustBundle,
  type JudgedBundle,
  type TrustInput,
} from '../policy/trust-bundle.ts';
import { readBundleFile } from './file.ts';
import type { Accepted } from './importing.ts';
import type { Bundle } from './parts.ts';

/** Whether a bundle may be taken: it is read once, and judged by what this project trusts. */

/** What is said on the command line. */
export interface Accepting extends Whereabouts, TrustInput {
  readonly bundle: string;
  readonly untrusted?: boolean | undefined;
  readonly strip_lease?: boolean | undefined;
}

/** Reads and judges a bundle; a refusal comes with everything that is known by then. */
export const acceptBundle = async (world: World, input: Accepting): Promise<Result<Accepted, VerbRefusal>> => {
  const root = await findRoot(world, input);
  if (!root.ok) return err({ refusal: root.error });
  const { path, read } = await readBundleFile(world, input.bundle);
  const unknown = { bundle_path: path, source_readiness_verdict: 'unknown' };
  if (!read.ok) {
    const { refusal, errors } = read.error;
    return err({ refusal, report: refusedToJson(world, unknown, errors) });
  }
  const bundle = read.value;
  const { caller, host, variable } = world;
  const tools = { files: await world.project(), variable, clock: { now: caller.now, offsetAt: host.offsetAt } };
  const judged = await trustBundle(tools, root.value, { path, bundle }, input);
  if (!judged.ok) {
    const { refusal, errors } = judged.error;
    return err({ refusal, report: refusedToJson(world, unknown, errors) });
  }
  const { inspection, verdict } = judged.value;
  const report = {
    bundle_path: path,
    source_readiness_verdict: textAt(inspection, 'source_readiness_verdict'),
    trust: judgedToJson(path, judged.value),
  };
  const refused = (refusal: Refusal): JsonObject => refusedToJson(world, report, faultsOf(refusal));
  const isUntrusted = verdict.result === 'untrusted';
  const refusal =
    inspection.errors.length > 0
      ? refuse('invalid-input', `${path} contradicts itself: ${inspection.errors[0] ?? ''}.`, {
          expected: 'a bundle whose parts say the same',
          faults: inspection.errors,
          hint: `stint bundle inspect --bundle ${path}`,
        })
      : isUntrusted && input.untrusted !== true
        ? refuseUntrusted(path, verdict)
        : undefined;
  if (refusal !== undefined) return err({ refusal, report: refused(refusal) });
  return ok({
    bundle,
    record: recordOf(bundle, judged.value),
    isUntrusted,
    warnings: [
      ...verdict.reasons.map(({ text }) => `UNTRUSTED: ${text}`),
      ...new Set([...inspection.warnings, ...verdict.warnings]),
      ...(input.strip_lease === true ? [] : heldTexts(bundle, inspection)),
      ...otherHistory(bundle),
    ],
    report,
    refused,
  });
};

/** What is put on record of a bundle that is taken. */
const recordOf = (bundle: Bundle, { inspection, signature, verdict, chosen }: JudgedBundle): JsonObject => ({
  ...(bundle.id === undefined ? {} : { bundle: bundle.id }),
  digest: bundle.digest,
  version: bundle.version,
  exported_at: bundle.exportedAt,
  ...(bundle.session === undefined
    ? {}
    : { of: bundle.session.key, seq: bundle.session.seq, hash: bundle.session.hash, store: bundle.session.storeId }),
  verdict: verdict.result,
  ...(signature?.ok === true
    ? {
        scheme: textAt(inspection, 'signature_scheme'),
        signer: textAt(inspection, 'signature_signer'),
        key_id: textAt(inspection, 'signature_key_id'),
        ...(signature.value.vouchedBy === 'secret'
          ? {}
          : { fingerprint: textAt(inspection, 'signature_public_key_fingerprint') }),
      }
    : {}),
  ...(verdict.result === 'untrusted' ? { untrusted: verdict.reasons.map(({ text }) => text) } : {}),
  ...(chosen.override === null ? {} : { override: chosen.override.reason }),
});

/** Who held what travels: nobody does here. */
const heldTexts = ({ lease: { inspection } }: Bundle, { lease_state: state }: JsonObject): readonly string[] =>
  state === 'active' || state === 'expired'
    ? [
        `LEASE: ${textAt(inspection, 'holder')} held it until ${textAt(inspection, 'expires_at')}; a lease does not travel`,
      ]
    : [];

/** A log from which secrets were taken out is another one from there on. */
const otherHistory = ({ redaction }: Bundle): readonly string[] => {
  const from = redaction['rechained_from'];
  return typeof from === 'number'
    ? [
        `HISTORY: event ${from} was redacted, and the log is chained anew from there: it is another history than that of its origin`,
      ]
    : [];
};

const refusedToJson = (world: World, report: JsonObject, errors: readonly string[]): JsonObject => ({
  result: 'error',
  ...report,
  docs_root: null,
  handover: null,
  session_state: null,
  status: 'None',
  next_owner: 'None',
  lease_restored: false,
  lease_state: 'none',
  dry_run: world.caller.dryRun,
  warnings: [],
  errors: [...errors],
});
