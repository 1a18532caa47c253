import { objectAt } from '../../kernel/answer.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/sha256.ts';
import type { BundleFault, BundleParts } from './parts.ts';
import { documentNameProblem } from './names.ts';

/** Version 2 of a bundle, as another program writes and reads it. */

/** The parts of a bundle that its whole digest covers, in their order. */
const parts = ['source', 'documents', 'lease', 'report', 'readiness', 'git', 'redaction', 'integrity'] as const;

/** Canonical JSON of that version: keys by the code points of their characters, without blanks. */
export const canonicalJson2 = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson2(item)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).toSorted(byCodePoint);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson2(value[key] ?? null)}`).join(',')}}`;
};

const byCodePoint = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    if (a.charCodeAt(at) === b.charCodeAt(at)) continue;
    return (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0);
  }
  return a.length - b.length;
};

/** The digests of a bundle as it is. What has a part that is none has no digests. */
const digestsOf2 = (bundle: JsonObject): Readonly<Record<string, string>> => {
  const { integrity: _integrity, signature: _signature, ...covered } = bundle;
  const [documents, lease] = [objectAt(bundle, 'documents'), objectAt(bundle, 'lease')];
  const digest = (value: Json | undefined): string => sha256(canonicalJson2(value ?? null));
  const text = (value: Json | undefined): string => sha256(typeof value === 'string' ? value : '');
  return {
    source_sha256: digest(bundle['source']),
    handover_markdown_sha256: text(documents['handover_markdown']),
    session_state_markdown_sha256: text(documents['session_state_markdown']),
    lease_payload_sha256: digest(lease['payload']),
    lease_inspection_sha256: digest(lease['inspection']),
    report_sha256: digest(bundle['report']),
    readiness_sha256: digest(bundle['readiness']),
    bundle_sha256: digest(covered),
  };
};

/** The bundle with the digests of what it holds. */
export const sealed2 = (bundle: JsonObject): JsonObject => ({ ...bundle, integrity: digestsOf2(bundle) });

/** The text that a signature of a bundle is made over. */
export const signedText2 = ({ signature: _signature, ...signed }: JsonObject): string => canonicalJson2(signed);

/** The file of a bundle: indented, ASCII only. */
export const printBundle2 = (bundle: JsonObject): string =>
  `${JSON.stringify(bundle, undefined, 2).replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;

/** Most values of a bundle. It has no log; what it says of documents takes less, and its checksums go over all of them twice. */
const mostValues = 500_000;

/** Whether a value holds more values than that. */
const isOverfull = (value: Json): boolean => {
  const open: Json[] = [value];
  let seen = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    for (const inner of Object.values(next)) {
      seen += 1;
      if (seen > mostValues) return true;
      if (typeof inner === 'object' && inner !== null) open.push(inner);
    }
  }
  return false;
};

/** Takes a bundle apart, stage by stage: the first one that finds something tells it alone. */
export const readBundle2 = (
  bundle: JsonObject,
): { readonly parts: BundleParts } | { readonly faults: readonly BundleFault[] } => {
  if (isOverfull(bundle))
    return { faults: [{ stage: 'shape', path: '$', problem: `holds more than ${mostValues} values` }] };
  const shape = shapeFaults(bundle);
  if (shape.length > 0) return { faults: shape };
  const integrity = objectAt(bundle, 'integrity');
  const digests = digestsOf2(bundle);
  const wrong = Object.entries(digests).flatMap(([key, digest]): readonly BundleFault[] =>
    integrity[key] === digest
      ? []
      : [{ stage: 'integrity', path: `$.integrity.${key}`, problem: 'is not the checksum of what it is about' }],
  );
  if (wrong.length > 0) return { faults: wrong };
  const source = objectAt(bundle, 'source');
  const names = (['handover_name', 'session_state_name'] as const).flatMap((key): readonly BundleFault[] => {
    const problem = documentNameProblem(textIn(source, key));
    return problem === undefined ? [] : [{ stage: 'names', path: `$.source.${key}`, problem }];
  });
  if (names.length > 0) return { faults: names };
  const documents = objectAt(bundle, 'documents');
  const lease = objectAt(bundle, 'lease');
  const payload = lease['payload'];
  return {
    parts: {
      id: undefined,
      digest: digests['bundle_sha256'] ?? '',
      session: undefined,
      documents: {
        handover: { name: textIn(source, 'handover_name'), text: textIn(documents, 'handover_markdown') },
        sessionState: { name: textIn(source, 'session_state_name'), text: textIn(documents, 'session_state_markdown') },
      },
      lease: { payload: isJsonObject(payload) ? payload : undefined, inspection: objectAt(lease, 'inspection') },
      artifacts: [],
    },
  };
};

const shapeFaults = (bundle: JsonObject): readonly BundleFault[] => {
  const faults: BundleFault[] = [];
  const tell = (path: string, problem: string): void =>
    void faults.push({ stage: 'shape', path: `$.${path}`, problem });
  for (const part of parts) if (!isJsonObject(bundle[part])) tell(part, 'is no object');
  if (faults.length > 0) return faults;
  const filled = (part: 'source' | 'documents', key: string): void => {
    const value = objectAt(bundle, part)[key];
    if (typeof value !== 'string' || value.trim() === '') tell(`${part}.${key}`, 'is no text, or blank');
  };
  filled('source', 'handover_name');
  filled('source', 'session_state_name');
  filled('documents', 'handover_markdown');
  filled('documents', 'session_state_markdown');
  if (typeof bundle['exported_at'] !== 'string') tell('exported_at', 'is no text');
  const { payload, inspection } = objectAt(bundle, 'lease');
  if (payload !== null && !isJsonObject(payload)) tell('lease.payload', 'is neither an object nor null');
  if (!isJsonObject(inspection)) tell('lease.inspection', 'is no object');
  const { signature } = bundle;
  if (signature !== undefined && !isJsonObject(signature)) tell('signature', 'is no object');
  for (const key of Object.keys(bundle))
    if (!known.has(key))
      faults.push({ stage: 'shape', path: '$', problem: 'holds a key that no bundle of this version has' });
  return faults;
};

const known: ReadonlySet<string> = new Set(['bundle_version', 'exported_at', ...parts, 'signature']);

const textIn = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value : '';
};
