import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { hashEvent } from '../../kernel/event.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/sha256.ts';
import { parseStrictJson } from '../../lib/strict-json.ts';
import { sample } from '../handoff/samples.ts';
import { handover } from '../handoff/document.ts';
import { printBundle, readBundle, sealBundle, signedText, takeBundle } from './bundle.ts';
import { inspectBundle } from './inspect.ts';
import { faultText } from './parts.ts';
import { sampleBundle2, sampleBundle3, sampleEvents } from './samples.ts';
import { canonicalJson2 } from './version-2.ts';

const shared = '../shared';
const withoutShared = existsSync(shared) ? false : 'there is no ../shared';
const now = '2026-03-12T12:00:00.000Z';

const faultsOf = (bundle: JsonObject): readonly string[] => {
  const read = takeBundle(bundle);
  return read.ok ? [] : read.error.map(faultText);
};

/** A bundle with another value at a path, under checksums that fit. */
const changed = (bundle: JsonObject, path: string, value: Json): JsonObject => {
  const set = (object: Json, [key = '', ...more]: readonly string[]): Json => {
    if (Array.isArray(object)) return object.map((item: Json, at) => (String(at) === key ? set(item, more) : item));
    if (!isJsonObject(object)) return value;
    return { ...object, [key]: more.length === 0 ? value : set(object[key] ?? {}, more) };
  };
  const whole = set(bundle, path.split('.')) as JsonObject;
  return sealBundle(bundle['bundle_version'] === 2 ? 2 : 3, whole);
};

const both = [sampleBundle2(), sampleBundle3()];

test('bundles of the original are read, found valid, and printed as they were', { skip: withoutShared }, () => {
  const folder = `${shared}/fixtures/handoff`;
  const names = readdirSync(folder).filter((name) => name.startsWith('bundle-'));
  assert.ok(names.length >= 5);
  for (const name of names) {
    const text = readFileSync(`${folder}/${name}`, 'utf8');
    const bundle = readBundle(text);
    assert.ok(bundle.ok, name);
    assert.deepEqual(inspectBundle(bundle.value, name, '2026-12-01T00:00:00.000Z').errors, [], name);
    assert.equal(printBundle(2, bundle.value.value), text, name);
  }
});

test('canonical JSON of version 2 is that of the original, or the value is refused', { skip: withoutShared }, () => {
  const { canonical } = JSON.parse(readFileSync(`${shared}/handoff-pack/canonical-vectors.json`, 'utf8')) as {
    canonical: { value_ascii_json: string; msg: string; sha256: string }[];
  };
  let same = 0;
  for (const { value_ascii_json: text, msg, sha256: digest } of canonical) {
    const value = parseStrictJson(text, { depth: 10, values: 100, keys: 100 });
    // A fraction or a power is spelt otherwise by other programs: its checksum does not fit, and nothing else happens.
    if (!value.ok || typeof value.value === 'number') continue;
    assert.equal(canonicalJson2(value.value), msg);
    assert.equal(sha256(canonicalJson2(value.value)), digest);
    same += 1;
  }
  assert.ok(same >= 12);
});

test('a bundle is what it was after it was printed and read', () => {
  for (const bundle of both) {
    const version = bundle['bundle_version'] === 2 ? 2 : 3;
    const read = readBundle(printBundle(version, bundle));
    assert.ok(read.ok);
    assert.deepEqual(read.value.value, bundle);
    assert.equal(inspectBundle(read.value, 'b.json', now).result, 'valid');
  }
});

test('whatever is changed below a checksum is told by it', () => {
  for (const bundle of both)
    for (const part of ['source', 'documents', 'lease', 'report', 'readiness', 'git', 'redaction']) {
      const tampered = { ...bundle, [part]: { ...(bundle[part] as JsonObject), result: 'x' } };
      const faults = faultsOf(tampered);
      assert.ok(
        faults.some((fault) => fault.includes(`${part}_sha256`) || fault.includes('bundle_sha256')) ||
          faults.some((fault) => fault.includes(`$.${part}`)),
        `${part}: ${faults.join('; ')}`,
      );
    }
  for (const bundle of both)
    assert.deepEqual(faultsOf({ ...bundle, exported_at: '2026-03-12T09:00:00.000Z' }), [
      '$.integrity.bundle_sha256 is not the checksum of what it is about',
    ]);
});

test('a tampered source is told by name, before anything else', () => {
  const [first] = faultsOf({
    ...sampleBundle2(),
    source: { ...(sampleBundle2()['source'] as JsonObject), handover_name: '../x.md' },
  });
  assert.equal(first, '$.integrity.source_sha256 is not the checksum of what it is about');
});

test('a bundle without a log holds no more values than documents take', () => {
  const report = { items: Array.from({ length: 500_000 }, () => null) };
  const read = takeBundle(sealBundle(2, { ...sampleBundle2(), report }));
  assert.ok(!read.ok);
  assert.deepEqual(read.error.map(faultText), ['$ holds more than 500000 values']);
});

test('what is no bundle is refused with the path of what is wrong', () => {
  const broken: readonly (readonly [JsonObject | Json, RegExp])[] = [
    [[], /^\$ is no object$/],
    [null, /^\$ is no object$/],
    [{}, /^\$\.bundle_version is neither 2 nor 3$/],
    [{ bundle_version: 4 }, /^\$\.bundle_version is newer than/],
    [{ bundle_version: true }, /^\$\.bundle_version is neither/],
    [{ bundle_version: '2' }, /^\$\.bundle_version is neither/],
    [{ bundle_version: 2, integrity: {} }, /^\$\.source is no object$/],
    [{ bundle_version: 3, integrity: {} }, /is no UUID|is no object|is no text/],
    [changed(sampleBundle2(), 'documents.handover_markdown', 7), /^\$\.documents\.handover_markdown is no text/],
    [changed(sampleBundle2(), 'documents.handover_markdown', ' \n'), /^\$\.documents\.handover_markdown is no text/],
    [changed(sampleBundle2(), 'lease.payload', 'x'), /^\$\.lease\.payload is neither/],
    [changed(sampleBundle2(), 'report', '[REDACTED]'), /^\$\.report is no object$/],
    [changed(sampleBundle2(), 'signature', []), /^\$\.signature is no object$/],
    [changed(sampleBundle2(), 'extra', 1), /^\$ holds a key that no bundle/],
    [changed(sampleBundle3(), 'extra', 1), /^\$\.extra is no object, or one with other keys$/],
    [changed(sampleBundle3(), 'source.docs_root', '../docs'), /^\$\.source\.docs_root is a path with empty parts/],
    [changed(sampleBundle3(), 'source.session', 'run:login'), /^\$\.source\.session is not the session/],
    [changed(sampleBundle3(), 'session', null), /^\$\.events are those of no session$/],
    [
      changed(sampleBundle3(), 'documents.handover_markdown', { $text: [{ sha256: 'a' }] }),
      /^\$\.documents\.handover_markdown names a text/,
    ],
    [changed(sampleBundle3(), 'source.handover_name', null), /^\$\.source\.handover_name is missing$/],
    [changed(sampleBundle3(), 'texts', { a: 'b' }), /^\$\.texts holds a text under another digest/],
    [
      changed(sampleBundle3(), 'exported_at', '2026-02-30T10:00:00.000Z'),
      /^\$\.exported_at is no time of the calendar$/,
    ],
  ];
  for (const [bundle, fault] of broken) assert.match(faultsOf(bundle as JsonObject)[0] ?? 'none', fault);
});

test('the name of a document is a plain name of a file with a stamp that is a time', () => {
  const names = [
    '../../evil.md',
    'lab/rc.md',
    '/etc/rc.md',
    'C:\\rc.md',
    '..\\rc.md',
    '.bashrc.md',
    'CON.md',
    'rc',
    'a\u0000.md',
    '99999999_9999_handover.md',
    '[REDACTED]',
  ];
  for (const name of names)
    for (const key of ['handover_name', 'session_state_name'])
      for (const bundle of both) {
        const [fault] = faultsOf(changed(bundle, `source.${key}`, name));
        assert.match(fault ?? 'none', new RegExp(`^\\$\\.source\\.${key} (?:is no|has a stamp)`), name);
      }
  for (const name of ['active.md', '20260312_0915_handover.md']) {
    const bundle = changed(sampleBundle3(), 'source.handover_name', name);
    assert.deepEqual(faultsOf(bundle), [], name);
  }
});

test('the path of an artifact stays below the checkout, and its content is what its digest says', () => {
  const artifact = (changes: JsonObject): JsonObject =>
    changed(sampleBundle3(), 'artifacts', [
      { path: 'out/a.txt', sha256: sha256('abc'), size: 3, content_base64: 'YWJj', ...changes },
    ]);
  assert.deepEqual(faultsOf(artifact({})), []);
  assert.deepEqual(faultsOf(artifact({ content_base64: null })), []);
  for (const path of ['../a', '/a', 'a/../b', 'C:/a', 'a\\b', '', 'a//b', './a', 'a\nb', 'x'.repeat(2000)])
    assert.match(faultsOf(artifact({ path }))[0] ?? 'none', /^\$\.artifacts\[0\]\.path is/, path);
  for (const changes of [
    { content_base64: 'YWJk' },
    { size: 4 },
    { content_base64: 'YWJj\n' },
    { sha256: sha256('x') },
  ])
    assert.match(faultsOf(artifact(changes))[0] ?? 'none', /^\$\.artifacts\[0\]\.content_base64 is not/);
  const twice = { path: 'A.txt', sha256: sha256('abc'), size: 3, content_base64: null };
  assert.match(
    faultsOf(changed(sampleBundle3(), 'artifacts', [twice, { ...twice, path: 'a.txt' }]))[0] ?? 'none',
    /^\$\.artifacts\[1\]\.path is there twice$/,
  );
});

test('events whose chain does not hold, or does not end where the session says, are refused', () => {
  const events = sampleEvents('task:login', [{}, { text: 'one' }, { text: 'two' }]);
  const sound = sampleBundle3({}, events);
  assert.deepEqual(faultsOf(sound), []);
  assert.match(
    faultsOf(changed(sound, 'events.1.data', { text: 'other' }))[0] ?? '',
    /^\$\.events\[1\] breaks the chain/,
  );
  assert.match(faultsOf(changed(sound, 'events.0.seq', 2))[0] ?? '', /^\$\.events\[0\] breaks the chain/);
  assert.match(faultsOf(changed(sound, 'session.hash', '0'.repeat(64)))[0] ?? '', /^\$\.session\.hash is not/);
  assert.match(faultsOf(changed(sound, 'session.seq', 2))[0] ?? '', /^\$\.session\.hash is not/);
  assert.match(faultsOf(changed(sound, 'session.revision', 3))[0] ?? '', /^\$\.session\.revision is not/);
  const [first] = events;
  assert.ok(first);
  const other = { ...first, session: 'task:other' };
  const foreign = sampleBundle3({}, [{ ...other, hash: hashEvent('', other) }]);
  assert.match(faultsOf(foreign)[0] ?? '', /^\$\.events\[0\] breaks the chain/);
  assert.deepEqual(faultsOf(changed(sound, 'events', null)), []);
});

test('a long text stands once, however often it is held, and a few bytes never become more than can be held', () => {
  const long = `# Session State\n\n## Task\n${'x'.repeat(100_000)}\n\n## Status\n${'y'.repeat(50_000)}\n`;
  const events = sampleEvents('task:login', [
    { texts: { a: long } },
    { texts: { a: `${long}## More\nz\n` } },
    { $text: ['a'] },
  ]);
  const bundle = sampleBundle3({}, events);
  assert.ok(printBundle(3, bundle).length < 1.1 * long.length);
  const read = takeBundle(bundle);
  assert.ok(read.ok);
  assert.deepEqual(read.value.session?.events, events);
  const text = 'x'.repeat(1_000_000);
  const many = Array.from({ length: 5000 }, () => ({ sha256: sha256(text) }));
  const bomb = changed(changed(sound3(), 'texts', { [sha256(text)]: text }), 'documents.handover_markdown', {
    $text: many,
  });
  assert.match(faultsOf(bomb)[0] ?? 'none', /comes to too much of it$/);
});

const sound3 = (): JsonObject => sampleBundle3();

test('a bundle that contradicts itself is told with what it contradicts', () => {
  const errorsOf = (bundle: JsonObject): readonly string[] => {
    const read = takeBundle(bundle);
    assert.ok(read.ok);
    return inspectBundle(read.value, 'b.json', now).errors;
  };
  assert.deepEqual(errorsOf(changed(sampleBundle2(), 'source.handover', '/srv/other.md')), [
    'BUNDLE: source.handover and source.handover_name are of two files',
  ]);
  assert.deepEqual(errorsOf(changed(sampleBundle2(), 'report.summary.next_owner', 'eve')), [
    'BUNDLE: report says another next owner than the documents',
  ]);
  assert.deepEqual(errorsOf(changed(sampleBundle3(), 'readiness.status', 'done')), [
    'BUNDLE: readiness says another status than the documents',
  ]);
  for (const bundle of [sampleBundle2(), sampleBundle3()]) {
    const other = changed(bundle, 'documents.handover_markdown', sample(handover, { 'Next owner': 'eve' }));
    assert.match(errorsOf(other).join('\n'), /PAIR: .*Next owner is "eve"/);
    const empty = changed(bundle, 'documents.handover_markdown', '# Handover\n');
    assert.match(errorsOf(empty).join('\n'), /HANDOVER: .*are missing/);
    const outside = changed(
      bundle,
      'documents.handover_markdown',
      sample(handover, { 'Session-state pointer': '/etc/passwd' }),
    );
    assert.match(errorsOf(outside).join('\n'), /names a file outside/);
  }
});

test('a bundle from Windows is read as one from here', () => {
  const source = {
    ...(sampleBundle2()['source'] as JsonObject),
    docs_root: 'C:\\work\\docs\\tests',
    handover: 'C:\\work\\docs\\tests\\handovers\\20260312_0915_handover.md',
    session_state: 'C:\\work\\docs\\tests\\session-state\\CURRENT.md',
  };
  const read = takeBundle(changed(sampleBundle2(), 'source', source));
  assert.ok(read.ok);
  assert.equal(inspectBundle(read.value, 'b.json', now).result, 'valid');
});

test('a lease is what it is now, not what it was when the bundle was made', () => {
  const payload = {
    version: 1,
    holder: 'ana',
    purpose: 'work',
    acquired_at: '2026-03-12T10:00:00+00:00',
    expires_at: '2026-03-12T11:00:00+00:00',
    handover: 'handovers/20260312_0915_handover.md',
    session_state: 'session-state/CURRENT.md',
  };
  for (const bundle of both) {
    const read = takeBundle(changed(bundle, 'lease.payload', payload));
    assert.ok(read.ok);
    const stateAt = (time: string): string => inspectBundle(read.value, 'b.json', time).lease_state;
    assert.equal(stateAt('2026-03-12T10:30:00.000Z'), 'active');
    assert.equal(stateAt('2026-03-12T11:30:00.000Z'), 'expired');
    assert.equal(stateAt('2026-03-12T09:00:00.000Z'), 'invalid');
  }
});

test('a signature of version 3 covers what it says of itself, and is none of anything but a bundle', () => {
  const read = takeBundle(sampleBundle3());
  assert.ok(read.ok);
  const text = signedText(read.value, { signer: 'ana', key_id: 'k1' });
  assert.match(text, /^stint-bundle-v3\n\{"bundle_sha256":"[\da-f]{64}","key_id":"k1","signer":"ana"\}$/);
});
