import * as v from 'valibot';
import { objectAt } from '../../kernel/answer.ts';
import { findBrokenLink } from '../../kernel/chain.ts';
import { isLifecycle, type StoredEvent } from '../../kernel/event.ts';
import { canonicalJson, type Json, type JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { pathTo } from '../../lib/lenient.ts';
import { nameProblem } from '../../lib/name.ts';
import { sha256, sha256Bytes } from '../../lib/sha256.ts';
import { documentNameProblem, relativePathProblem } from './names.ts';
import type { BundledArtifact, BundledDocuments, BundledSession, BundleFault, BundleParts } from './parts.ts';
import { unsharing, wrongTextIn, type Unshare } from './texts.ts';

/** Version 3 of a bundle: a session of any kind, with its whole log. */

/** The parts that have a checksum each. */
const parts = [
  'source',
  'documents',
  'session',
  'events',
  'texts',
  'lease',
  'report',
  'readiness',
  'git',
  'artifacts',
  'redaction',
] as const;

/**
 * The checksums of a bundle: of each part that of its canonical JSON (RFC 8785), of the whole that of its head and those of
 * its parts. Whoever changes a bundle can make them anew: they tell damage, not harm.
 */
const digestsOf3 = (bundle: JsonObject): Readonly<Record<string, string>> => {
  const digests: Record<string, string> = {};
  for (const part of parts) digests[`${part}_sha256`] = sha256(canonicalJson(bundle[part] ?? null));
  const { bundle_version: version, bundle_id: id, exported_at: at } = bundle;
  const head = { bundle_version: version ?? null, bundle_id: id ?? null, exported_at: at ?? null };
  return { ...digests, bundle_sha256: sha256(canonicalJson({ ...head, ...digests })) };
};

/** The bundle with the checksums of what it holds. */
export const sealed3 = (bundle: JsonObject): JsonObject => ({ ...bundle, integrity: digestsOf3(bundle) });

/** What the text of a signature begins with, so that a signature of something else is none of a bundle. */
const domain = 'stint-bundle-v3';

/** The text that a signature is made over: the digest of the bundle, and what the signature says of itself. */
export const signedText3 = (digest: string, signed: JsonObject): string =>
  `${domain}\n${canonicalJson({ ...signed, bundle_sha256: digest })}`;

/** The file of a bundle: indented, each event, text and artifact on a line of its own. */
export const printBundle3 = (bundle: JsonObject): string => {
  const members = Object.entries(bundle).map(([key, value]) => `  ${JSON.stringify(key)}: ${printPart(key, value)}`);
  return `{\n${members.join(',\n')}\n}\n`;
};

const printPart = (key: string, value: Json): string => {
  if (Array.isArray(value) && value.length > 0)
    return `[\n${value.map((item: Json) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`;
  if (key === 'texts' || !isJsonObject(value)) return JSON.stringify(value);
  return JSON.stringify(value, undefined, 2).replaceAll('\n', '\n  ');
};

const text = v.string('is no text');
const line = v.pipe(text, v.regex(/^[^\p{Cc}\p{Zl}\p{Zp}]{0,1024}$/u, 'is no line of at most 1024 characters'));
const digest = v.pipe(text, v.regex(/^[\da-f]{64}$/, 'is no SHA-256 in lower-case hex'));
const count = v.pipe(v.number('is no number'), v.safeInteger('is no whole number'), v.minValue(0, 'is negative'));
const time = v.pipe(
  text,
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'is no time in UTC with milliseconds'),
  v.check((at) => !Number.isNaN(Date.parse(at)) && new Date(at).toISOString() === at, 'is no time of the calendar'),
);
const object = v.custom<JsonObject>((value) => isJsonObject(value as Json), 'is no object');
const name = v.pipe(
  text,
  v.check((value) => nameProblem(value) === undefined, 'is no legal name'),
);
const path = v.pipe(
  text,
  v.check(
    (value) => relativePathProblem(value) === undefined,
    ({ input }) => relativePathProblem(input) ?? '',
  ),
);
const document = v.pipe(
  text,
  v.check(
    (value) => documentNameProblem(value) === undefined,
    ({ input }) => documentNameProblem(input) ?? '',
  ),
);
const notObject = 'is no object, or one with other keys';

const shape = v.strictObject(
  {
    bundle_version: v.literal(3, 'is not 3'),
    bundle_id: v.pipe(text, v.regex(/^[\dA-Za-z-]{16,64}$/, 'is no id of 16 to 64 letters and digits')),
    exported_at: time,
    source: v.strictObject(
      {
        kind: v.nullable(name),
        name: v.nullable(name),
        session: v.nullable(line),
        store_id: v.nullable(line),
        project: v.nullable(line),
        resolution: line,
        docs_root: v.nullable(path),
        handover_name: v.nullable(document),
        session_state_name: v.nullable(document),
      },
      notObject,
    ),
    documents: v.nullable(
      v.strictObject(
        {
          handover_markdown: v.union([text, v.null(), object], 'is no text'),
          session_state_markdown: v.union([text, object], 'is no text'),
        },
        notObject,
      ),
    ),
    session: v.nullable(
      v.strictObject({ version: count, seq: count, revision: count, hash: digest, state: object }, notObject),
    ),
    events: v.nullable(
      v.array(
        v.strictObject(
          {
            seq: count,
            at: time,
            type: v.pipe(text, v.regex(/^[A-Z]\w{0,99}$/, 'is no type of an event')),
            v: count,
            actor: line,
            place: line,
            cause: line,
            data: object,
            hash: digest,
          },
          notObject,
        ),
        'is no list',
      ),
    ),
    texts: v.record(text, text, notObject),
    lease: v.strictObject({ payload: v.nullable(object), inspection: object }, notObject),
    report: v.nullable(object),
    readiness: v.nullable(object),
    git: object,
    artifacts: v.array(
      v.strictObject({ path, sha256: digest, size: count, content_base64: v.nullable(text) }, notObject),
      'is no list',
    ),
    redaction: object,
    integrity: object,
    signature: v.optional(object),
  },
  notObject,
);

/** Takes a bundle apart, stage by stage: the first one that finds something tells it alone. */
export const readBundle3 = (
  bundle: JsonObject,
): { readonly parts: BundleParts } | { readonly faults: readonly BundleFault[] } => {
  // One fault is enough: a hostile bundle may have millions.
  const parsed = v.safeParse(shape, bundle, { abortEarly: true });
  if (!parsed.success)
    return {
      faults: parsed.issues.map((issue) => ({
        stage: 'shape',
        path: (issue.path ?? []).reduce(
          (keys, { key }) => pathTo(keys, typeof key === 'number' ? key : String(key)),
          '$',
        ),
        problem: issue.message,
      })),
    };
  const read = parsed.output;
  const integrity = objectAt(bundle, 'integrity');
  const digests = digestsOf3(bundle);
  const wrong = Object.entries(digests).filter(([key, value]) => integrity[key] !== value);
  if (wrong.length > 0)
    return {
      faults: wrong.map(([key]) => ({
        stage: 'integrity',
        path: `$.integrity.${key}`,
        problem: 'is not the checksum of what it is about',
      })),
    };
  const history: BundleFault[] = [];
  const tell = (where: string, problem: string): void => void history.push({ stage: 'history', path: where, problem });
  const wrongText = wrongTextIn(read.texts);
  if (wrongText !== undefined) tell('$.texts', 'holds a text under another digest than its own');
  const unshare = unsharing(read.texts);
  const session = sessionOf(read, unshare, tell);
  const documents = documentsOf(read, unshare, tell);
  const artifacts = artifactsOf(read, tell);
  if (history.length > 0) return { faults: history };
  return {
    parts: {
      id: read.bundle_id,
      digest: digests['bundle_sha256'] ?? '',
      session,
      documents,
      lease: { payload: read.lease.payload ?? undefined, inspection: read.lease.inspection },
      artifacts,
    },
  };
};

type Read = v.InferOutput<typeof shape>;
type Tell = (path: string, problem: string) => void;

const sessionOf = ({ source, session, events }: Read, unshare: Unshare, tell: Tell): BundledSession | undefined => {
  const { kind, name: named, session: key, store_id: storeId } = source;
  if (session === null) {
    if (events !== null) tell('$.events', 'are those of no session');
    if (key !== null) tell('$.source.session', 'names a session that is not there');
    return undefined;
  }
  if (kind === null || named === null || storeId === null || key !== `${kind}:${named}`) {
    tell('$.source.session', 'is not the session of that kind and name');
    return undefined;
  }
  const head = { key, kind, name: named, storeId, state: session.state, seq: session.seq };
  const common = { ...head, revision: session.revision, hash: session.hash };
  if (events === null) return { ...common, events: undefined };
  const whole: StoredEvent[] = [];
  for (const [index, event] of events.entries()) {
    const data = unshare(event.data);
    if (!isJsonObject(data)) {
      tell(`$.events[${index}].data`, 'names a text that is not there, or comes to too much of it');
      return undefined;
    }
    whole.push({ ...event, session: key, data });
  }
  const broken = findBrokenLink(whole);
  if (broken !== undefined) tell(`$.events[${broken.seq - 1}]`, `breaks the chain: ${broken.problem}`);
  else if (whole.at(-1)?.hash !== session.hash || whole.length !== session.seq)
    tell('$.session.hash', 'is not that of the newest event');
  else if ((whole.findLast(({ type }) => isLifecycle(type))?.seq ?? 0) !== session.revision)
    tell('$.session.revision', 'is not that of the newest event that moves it');
  return { ...common, events: whole };
};

const documentsOf = ({ source, documents }: Read, unshare: Unshare, tell: Tell): BundledDocuments | undefined => {
  if (documents === null) return undefined;
  const one = (half: 'handover' | 'session_state', held: Json) => {
    const named = source[`${half}_name`];
    const made = unshare(held);
    if (named === null) tell(`$.source.${half}_name`, 'is missing');
    if (typeof made !== 'string')
      tell(`$.documents.${half}_markdown`, 'names a text that is not there, or comes to too much of it');
    return { name: named ?? '', text: typeof made === 'string' ? made : '' };
  };
  const { handover_markdown: handover, session_state_markdown: state } = documents;
  return {
    handover: handover === null ? undefined : one('handover', handover),
    sessionState: one('session_state', state),
  };
};

const artifactsOf = ({ artifacts }: Read, tell: Tell): readonly BundledArtifact[] => {
  const known = new Set<string>();
  return artifacts.map(({ path: at, sha256: wanted, size, content_base64: encoded }, index) => {
    // Some file systems take both for one, however they are written.
    const folded = at.normalize('NFC').toLowerCase();
    if (known.has(folded)) tell(`$.artifacts[${index}].path`, 'is there twice');
    known.add(folded);
    const content = encoded === null ? undefined : Buffer.from(encoded, 'base64');
    if (
      content !== undefined &&
      (content.toString('base64') !== encoded || content.length !== size || sha256Bytes(content) !== wanted)
    )
      tell(`$.artifacts[${index}].content_base64`, 'is not the file of that size and digest');
    return { path: at, sha256: wanted, size, content };
  });
};
