/** Bundles as whoever means harm would make them: each is one fault, everything else of it is sound. */
import assert from 'node:assert/strict';
import { printBundle, sealBundle } from '../../src/formats/bundle/bundle.ts';
import { sampleBundle2 } from '../../src/formats/bundle/samples.ts';
import { objectAt } from '../../src/kernel/answer.ts';
import { genesis, hashEvent, isLifecycle, type StoredEvent } from '../../src/kernel/event.ts';
import type { Json, JsonObject } from '../../src/lib/canonical-json.ts';
import { isJsonObject } from '../../src/lib/json.ts';
import { bundleOfEvents } from './bundles.ts';
import { randomFrom } from './random.ts';
import { publicOf, signed } from './signed-bundles.ts';
import { createKey, type SigningKey } from './ssh.ts';

/** A hostile bundle: what is wrong with it, and its file. */
export interface HostileBundle {
  readonly name: string;
  readonly content: string | Uint8Array;
}

/** A session to forge bundles of. */
export interface Forged {
  readonly key: string;
  readonly events: readonly StoredEvent[];
  readonly state: JsonObject;
  readonly changed: JsonObject;
}

/** The key that the policy of the campaign pins, and one that anybody could have made. */
export const trustedKey = createKey('ed25519');
const otherKey = createKey('ed25519');

/** What a policy pins of a key. */
export const fingerprintOf = (key: SigningKey): string => publicOf(key).fingerprint;

/** A bundle with a signature of a key. */
export const signedBy = (key: SigningKey, bundle: JsonObject): JsonObject => signed(bundle, { with: key });

const fileOf = (bundle: JsonObject): string => printBundle(bundle['bundle_version'] === 2 ? 2 : 3, bundle);

/** With the checksums that it has to have: anybody can make them. */
const resealed = ({ integrity: _integrity, signature: _signature, ...bundle }: JsonObject): JsonObject =>
  sealBundle(bundle['bundle_version'] === 2 ? 2 : 3, bundle);

/** Events with a chain that holds. */
const rechained = (events: readonly StoredEvent[]): readonly StoredEvent[] => {
  let hash = genesis;
  return events.map((event) => {
    const unhashed = { ...event };
    hash = hashEvent(hash, unhashed);
    return { ...unhashed, hash };
  });
};

/** A bundle of a session whose events were forged. */
const ofEvents = ({ key, state, changed }: Forged, events: readonly StoredEvent[]): string =>
  fileOf(
    bundleOfEvents(
      key,
      rechained(events),
      { state, revision: events.findLast(({ type }) => isLifecycle(type))?.seq ?? 0 },
      changed,
    ),
  );

/** The same value with what a path leads to changed. */
const withAt = (value: Json, path: readonly (string | number)[], changed: Json | undefined): Json => {
  const [key, ...rest] = path;
  if (key === undefined) return changed ?? null;
  if (Array.isArray(value))
    return value.flatMap((item: Json, at) =>
      at === key ? (rest.length === 0 && changed === undefined ? [] : [withAt(item, rest, changed)]) : [item],
    );
  if (!isJsonObject(value)) return value;
  const { [String(key)]: held = null, ...others } = value;
  return rest.length === 0 && changed === undefined ? others : { ...others, [key]: withAt(held, rest, changed) };
};

const wrongs: readonly Json[] = [null, true, 0, -1, 1.5, 'x', '', [], [[]], {}, { x: {} }];

/** Names and paths that lead elsewhere on one system or another, or that break what prints them. */
const paths = [
  '../victim.md',
  '../../victim/secret.md',
  '/etc/passwd',
  '/tmp/victim.md',
  '..',
  '.',
  '',
  ' ',
  '.git/hooks/pre-commit',
  '.git/config',
  '.stint/stint.db',
  'stint.json',
  'C:\\victim.md',
  'C:victim.md',
  '\\\\host\\share\\victim.md',
  '\\\\?\\C:\\victim.md',
  '..\\..\\victim.md',
  'a/../../victim.md',
  'a//b.md',
  './a.md',
  'a\u0000.md',
  'a\n.md',
  'a\u001b[2J.md',
  'a\u2028.md',
  'a\u202egpj.md',
  'CON.md',
  'nul',
  'aux.md',
  'victim.md:stream',
  'a.md ',
  'a.md.',
  '~/victim.md',
  '$HOME/victim.md',
  '`id`.md',
  '%2e%2e/victim.md',
  `${'a'.repeat(300)}.md`,
  'ａ／ｂ.md',
  '99999999_9999_handover.md',
  'CURRENT.md',
  'ACTIVE_LEASE.json',
];

/** Texts that are nothing but trouble. */
const texts: readonly string[] = [
  '__proto__',
  'constructor',
  'a\u0000b',
  '\u001b]0;owned\u0007',
  '\u202e',
  'x'.repeat(100_000),
  '[REDACTED]',
  '{"$text":[]}',
  '<script>alert(1)</script>',
  '${process.exit(1)}',
  '\uFEFF',
  '𝕏'.repeat(1000),
];

function* structure(base: JsonObject): Generator<HostileBundle> {
  for (const key of Object.keys(base)) {
    yield { name: `without ${key}`, content: fileOf(resealed(withAt(base, [key], undefined) as JsonObject)) };
    for (const wrong of wrongs.slice(0, 6))
      yield {
        name: `${key} is ${JSON.stringify(wrong)}`,
        content: fileOf(resealed(withAt(base, [key], wrong) as JsonObject)),
      };
  }
  yield { name: 'a key too many', content: fileOf(resealed({ ...base, extra: 1 })) };
  for (const version of [0, 1, 4, 2.5, '3', null, -3, 1e9])
    yield { name: `version ${String(version)}`, content: `${JSON.stringify({ ...base, bundle_version: version })}\n` };
  yield { name: 'checksums of another', content: JSON.stringify({ ...base, exported_at: '2026-03-13T10:00:00.000Z' }) };
  yield { name: 'no checksums', content: JSON.stringify({ ...base, integrity: {} }) };
}

function* names(base: JsonObject): Generator<HostileBundle> {
  const places: readonly (readonly string[])[] = [
    ['source', 'handover_name'],
    ['source', 'session_state_name'],
    ['source', 'docs_root'],
    ['source', 'name'],
    ['source', 'session'],
  ];
  for (const [index, path] of paths.entries()) {
    // Every path somewhere, and the first of them everywhere.
    for (const place of index < 4 ? places : places.slice(index % places.length, (index % places.length) + 1))
      yield {
        name: `${place.join('.')} is ${JSON.stringify(path).slice(0, 40)}`,
        content: fileOf(resealed(withAt(base, place, path) as JsonObject)),
      };
    yield {
      name: `an artifact at ${JSON.stringify(path).slice(0, 40)}`,
      content: fileOf(resealed({ ...base, artifacts: [artifactAt(path)] })),
    };
  }
}

const artifactAt = (path: string): JsonObject => ({
  path,
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  size: 3,
  content_base64: 'YWJj',
});

function* text(whole: string): Generator<HostileBundle> {
  const head = '{\n  "bundle_version": 3,';
  assert.ok(whole.startsWith(head));
  const rest = whole.slice(head.length);
  for (let part = 1; part <= 12; part += 1)
    yield { name: `cut off at ${part}/13`, content: whole.slice(0, Math.floor((whole.length * part) / 13)) };
  yield { name: 'empty', content: '' };
  yield { name: 'white space', content: ' \n\t' };
  yield { name: 'not JSON', content: 'bundle_version: 3\n' };
  yield { name: 'a key twice', content: `${head}\n  "bundle_version": 2,${rest}` };
  yield { name: 'a key twice, one of them escaped', content: `${head}\n  "bundle_\\u0076ersion": 3,${rest}` };
  yield { name: '__proto__', content: `${head}\n  "__proto__": {"bundle_version": 3},${rest}` };
  yield { name: 'something behind it', content: `${whole}{}` };
  yield { name: 'a byte order mark', content: `\uFEFF${whole}` };
  yield { name: 'two byte order marks', content: `\uFEFF\uFEFF${whole}` };
  yield { name: 'a comment', content: `// bundle\n${whole}` };
  yield {
    name: 'no UTF-8',
    content: Buffer.concat([Buffer.from(whole.slice(0, 50)), Buffer.from([0xff, 0xfe, 0xc0])]),
  };
  yield { name: 'UTF-16', content: Buffer.from(whole, 'utf16le') };
  yield { name: 'half a character', content: whole.replace('"ana"', '"\\ud800"') };
  yield { name: 'zero bytes', content: Buffer.alloc(4096) };
  for (const [name, number] of [
    ['NaN', 'NaN'],
    ['infinity', '1e999'],
    ['2^70', '1180591620717411303424'],
    ['more digits than a number has', '3.00000000000000000000001'],
    ['-0', '-0'],
    ['0x3', '0x3'],
    ['03', '03'],
  ] as const)
    yield { name: `the number ${name}`, content: whole.replace('"bundle_version": 3', `"bundle_version": ${number}`) };
  for (const [name, open, close] of [
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ] as const)
    for (const depth of [150, 200_000])
      yield {
        name: `${depth} ${name} in each other`,
        content: `${head}\n  "deep": ${open.repeat(depth)}1${close.repeat(depth)},${rest}`,
      };
  yield { name: 'a bare list', content: `[${whole}]` };
  yield { name: 'a text', content: JSON.stringify(whole) };
  yield { name: 'many keys', content: `{${Array.from({ length: 50_000 }, (_, at) => `"k${at}":${at}`).join(',')}}` };
  yield {
    name: 'pieces that stand for more than fits',
    content: whole.replace('"texts": {', `"texts": {"${'a'.repeat(64)}": "x",`),
  };
}

function* signatures(base: JsonObject): Generator<HostileBundle> {
  const own = signedBy(otherKey, base);
  yield { name: 'signed by anybody, as ana', content: fileOf(own) };
  const good = signedBy(trustedKey, base);
  const signature = good['signature'] as JsonObject;
  const other = resealed(withAt(base, ['exported_at'], '2026-03-13T10:00:00.000Z') as JsonObject);
  yield { name: 'the signature of another bundle', content: fileOf({ ...other, signature }) };
  for (const [field, value] of [
    ['signer', 'eve'],
    ['key_id', 'k2'],
    ['signed_at', '2026-03-14T10:30:00Z'],
    ['scheme', 'hmac-sha256'],
    ['scheme', 'none'],
    ['public_key', otherKey.line],
    ['public_key_fingerprint', fingerprintOf(otherKey)],
    ['value', ''],
    ['value', 'AAAA'],
  ] as const)
    yield {
      name: `a signature with another ${field}`,
      content: fileOf({ ...good, signature: { ...signature, [field]: value } }),
    };
  for (const wrong of wrongs)
    yield { name: `the signature is ${JSON.stringify(wrong)}`, content: fileOf({ ...base, signature: wrong }) };
  const mixed = {
    ...(own['signature'] as JsonObject),
    public_key: trustedKey.line,
    public_key_fingerprint: fingerprintOf(trustedKey),
  };
  yield { name: 'a trusted key beside the signature of another', content: fileOf({ ...base, signature: mixed }) };
  yield {
    name: 'a digest without a secret',
    content: fileOf({
      ...base,
      signature: {
        scheme: 'hmac-sha256',
        signer: 'ana',
        key_id: 'k1',
        signed_at: '2026-03-12T10:30:00Z',
        value: '0'.repeat(64),
      },
    }),
  };
  yield {
    name: 'exported in times to come',
    content: fileOf(resealed({ ...base, exported_at: '2199-01-01T00:00:00.000Z' })),
  };
}

function* histories(forged: Forged, seed: number): Generator<HostileBundle> {
  const { events, key } = forged;
  const random = randomFrom(seed);
  const pick = <Value>(list: readonly Value[]): Value => list[Math.floor(random() * list.length)] as Value;
  yield {
    name: `${key}: without its first event`,
    content: ofEvents(
      forged,
      events.slice(1).map((one, at) => ({ ...one, seq: at + 1 })),
    ),
  };
  yield {
    name: `${key}: twice its first event`,
    content: ofEvents(
      forged,
      [...events.slice(0, 1), ...events].map((one, at) => ({ ...one, seq: at + 1 })),
    ),
  };
  yield {
    name: `${key}: backwards`,
    content: ofEvents(
      forged,
      events.toReversed().map((one, at) => ({ ...one, seq: at + 1 })),
    ),
  };
  for (const [at, event] of events.entries()) {
    const instead = (change: Partial<StoredEvent>): string =>
      ofEvents(
        forged,
        events.map((one, index) => (index === at ? { ...one, ...change } : one)),
      );
    const what = `${key}: event ${event.seq} (${event.type})`;
    yield { name: `${what} of no known type`, content: instead({ type: 'Levitated' }) };
    yield { name: `${what} without data`, content: instead({ data: {} }) };
    yield { name: `${what} in times to come`, content: instead({ at: '2999-01-01T00:00:00.000Z' }) };
    for (const field of Object.keys(event.data)) {
      const wrong = pick(wrongs);
      yield {
        name: `${what}: ${field} is ${JSON.stringify(wrong)}`,
        content: instead({ data: { ...event.data, [field]: wrong } }),
      };
      const evil = pick([...paths, ...texts]);
      yield {
        name: `${what}: ${field} is ${JSON.stringify(evil).slice(0, 30)}`,
        content: instead({ data: { ...event.data, [field]: evil } }),
      };
    }
  }
  // Events of the kernel that nobody decided.
  const forgeries: readonly (readonly [string, number, JsonObject])[] = [
    ['ProcessEnded', 1, { process: 'p', outcome: 'done' }],
    ['ProcessStarted', 1, { process: '', kind: 'x', host: 1, pid: -1 }],
    ['LeaseClaimed', 1, { token: 9e15, holder: [], claimed_at: 'x', expires_at: 'y' }],
    [
      'LeaseClaimed',
      1,
      {
        token: 1,
        holder: { actor: 'eve' },
        claimed_at: '2026-03-17T11:00:00.000Z',
        expires_at: '2999-01-01T00:00:00.000Z',
      },
    ],
    ['Noted', 2, { entry: 'validation', text: 7, output: 'x', file: [], alternatives: 'x' }],
    ['Noted', 2, { entry: 'file', text: '../../victim', path: '../../victim', file: { sha256: 1 } }],
    ['BlockerCleared', 1, { blocker: 'x' }],
    ['BlockerRaised', 1, { reason: {}, needs: [] }],
    ['KeysAdded', 1, { keys: [] }],
    ['Salvaged', 1, { lost: {} }],
    ['SessionClosed', 1, { outcome: 'won' }],
    ['SessionPaused', 1, { reason: 1 }],
    ['SessionResumed', 1, { root: 1, branch: {}, head: [] }],
    ['SessionArchived', 1, {}],
    ['Imported', 1, { source: {}, taken: 'x', lost: 'x' }],
    ['ResultRefused', 1, {}],
    ['BundleTaken', 1, {}],
  ];
  for (const [type, v, data] of forgeries) {
    const last = events.at(-1);
    assert.ok(last);
    yield {
      name: `${key}: a forged ${type} ${JSON.stringify(data).slice(0, 40)}`,
      content: ofEvents(forged, [...events, { ...last, seq: events.length + 1, type, v, data }]),
    };
  }
}

/** Documents that lie elsewhere. */
function* documents(forged: Forged): Generator<HostileBundle> {
  const { events, key } = forged;
  for (const path of paths.slice(0, 24))
    for (const place of ['root', 'handover', 'session_state'] as const) {
      const last = events.at(-1);
      assert.ok(last);
      const data = {
        place: 'elsewhere',
        root: 'docs/tests',
        handover: 'handovers/20260312_0915_handover.md',
        session_state: 'session-state/CURRENT.md',
        origin: 'file',
        texts: { session_state: { text: 'x', differs: {} } },
        taken: ['x'],
        [place]: path,
      };
      yield {
        name: `${key}: documents with ${place} ${JSON.stringify(path).slice(0, 30)}`,
        content: ofEvents(forged, [...events, { ...last, seq: events.length + 1, type: 'DocumentEdited', v: 1, data }]),
      };
    }
}

/** Documents that say what no program would have written. */
function* papers(base: JsonObject): Generator<HostileBundle> {
  const changes: readonly (readonly [string, (paper: string) => string])[] = [
    ['nothing', () => ''],
    ['a heading alone', (paper) => `${paper.split('\n')[0]}\n`],
    ['no heading', (paper) => paper.replace(/^# .*\n/, '')],
    ['twice itself', (paper) => `${paper}${paper}`],
    ['no sections', () => '# Handover\n\n# Session State\n'],
    ['a pointer to a file of the system', (paper) => paper.replace(/(pointer\n).*/, '$1/etc/passwd')],
    ['a pointer that climbs', (paper) => paper.replace(/(pointer\n).*/, '$1../../../victim/secret.md')],
    ['a pointer with a zero byte', (paper) => paper.replace(/(pointer\n).*/, '$1../handovers/a\u0000.md')],
    ['a pointer to a folder', (paper) => paper.replace(/(pointer\n).*/, '$1..')],
    ['another status', (paper) => paper.replace(/## Status\n.*/, '## Status\nowned')],
    ['done with steps left', (paper) => paper.replace(/## Status\n.*/, '## Status\ndone')],
    ['a time that is none', (paper) => paper.replace(/## Last updated\n.*/, '## Last updated\nyesterday')],
    ['a time to come', (paper) => paper.replace(/## Last updated\n.*/, '## Last updated\n2999-01-01T00:00:00Z')],
    ['line ends of others', (paper) => paper.replaceAll('\n', '\r\n')],
    ['separators of lines', (paper) => paper.replaceAll('\n', '\u2028')],
    ['a fence that is not closed', (paper) => paper.replace('## Status', '```\n## Status')],
    ['escape sequences', (paper) => paper.replaceAll('None', '\u001b[2J\u001b]0;x\u0007')],
    ['a megabyte in one line', (paper) => paper.replace('None', 'x'.repeat(1_000_000))],
    ['many sections', (paper) => `${paper}${'## x\ny\n'.repeat(20_000)}`],
    ['a conflict of a merge', (paper) => `<<<<<<< ours\n${paper}=======\n${paper}>>>>>>> theirs\n`],
  ];
  for (const half of ['handover_markdown', 'session_state_markdown'] as const)
    for (const [what, change] of changes) {
      const held = objectAt(base, 'documents')[half];
      assert.ok(typeof held === 'string');
      yield {
        name: `version ${String(base['bundle_version'])}: ${half} with ${what}`,
        content: fileOf(resealed(withAt(base, ['documents', half], change(held)) as JsonObject)),
      };
    }
}

/** All of them, made of sessions as they were exported. */
export function* hostileBundles(sessions: readonly Forged[]): Generator<HostileBundle> {
  const [first] = sessions;
  assert.ok(first);
  const base = bundleOfEvents(
    first.key,
    first.events,
    { state: first.state, revision: first.events.findLast(({ type }) => isLifecycle(type))?.seq ?? 0 },
    first.changed,
  );
  yield* structure(base);
  yield* structure(sampleBundle2());
  yield* names(base);
  yield* names(sampleBundle2());
  yield* text(fileOf(base));
  yield* signatures(base);
  yield* papers(sampleBundle2());
  yield* papers(base);
  for (const [seed, forged] of sessions.entries()) yield* histories(forged, seed + 1);
  for (const forged of sessions.slice(0, 2)) yield* documents(forged);
}
