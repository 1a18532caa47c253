import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject } from '../../lib/json.ts';
import { err, ok } from '../../lib/result.ts';
import { auditToJson } from './audit.ts';
import { checkDocument, handover, sessionState, type DocumentKind } from './document.ts';
import { readLeaseFile } from './lease-file.ts';
import { archivedPair, lookAt, sample } from './samples.ts';
import { examinePair, summaryToJson } from './summary.ts';
import { comparePair, completePair, currentPath, examine, isStamp, leaseIn, locatePair } from './workspace.ts';

const now = '2026-03-12T10:00:00.000Z';
const transfer = 'handovers/20260312_0915_handover.md';

const sound = { [currentPath]: sample(sessionState), [transfer]: sample(handover) };

const codesOf = (kind: DocumentKind, text: string): readonly string[] =>
  checkDocument(kind, text).map(({ code }) => code);

test('a document that has what it needs is sound, with other line ends, a byte order mark, and sections nobody asks for', () => {
  for (const kind of [sessionState, handover]) {
    const text = sample(kind);
    for (const one of [
      text,
      text.replaceAll('\n', '\r\n'),
      `\uFEFF${text}`,
      `${text}\n## Notes\n`,
      text.replace('\n## ', '\nwritten by hand\n\n## '),
      text.replace('## Status\n', '## Status\n\n'),
    ])
      assert.deepEqual(checkDocument(kind, one), []);
  }
});

test('what is wrong with a document is told with its line and a remedy', () => {
  const wrong: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ Status: 'finished' }, 'doc-status'],
    [{ 'Last updated': '2026-03-12T10:15:00' }, 'doc-time'],
    [{ 'Last updated': '2026-03-12 10:15:00+01:00' }, 'doc-time'],
    [{ 'Last updated': '2026-02-30T10:15:00Z' }, 'doc-time'],
    [{ 'Last updated': '2026-13-01T10:15:00Z' }, 'doc-time'],
    [{ 'Last updated': '2026-03-12T24:00:00Z' }, 'doc-time'],
    [{ 'Last updated': '2026-03-12T10:60:00Z' }, 'doc-time'],
    [{ 'Last updated': '2026-03-12T10:15:60Z' }, 'doc-time'],
    [{ 'Last updated': '2026-03-12T10:15:00+24:00' }, 'doc-time'],
    [{ 'Last updated': '2026-03-12T10:15:00-0160' }, 'doc-time'],
    [{ 'Updated by': 'none' }, 'doc-updated-by'],
    [{ 'Next owner': 'None' }, 'doc-owner-missing'],
    [{ Status: 'done' }, 'doc-owner-done'],
    [{ 'Current step': '<what is done now>' }, 'doc-placeholder'],
    [{ 'Current step': '- TBD' }, 'doc-placeholder'],
    [{ Blockers: '' }, 'doc-section-empty'],
    [{ 'Handover pointer': String.raw`..\handovers\x.md` }, 'ptr-backslash'],
  ];
  for (const [said, code] of wrong) {
    const text = sample(sessionState, said);
    const [name = ''] = Object.keys(said);
    const findings = checkDocument(sessionState, text);
    assert.deepEqual(
      findings.map((one) => one.code),
      [code],
      JSON.stringify(said),
    );
    const line = text.split('\n').indexOf(`## ${code === 'doc-owner-done' ? 'Next owner' : name}`) + 1;
    assert.equal(findings[0]?.line, line, JSON.stringify(said));
    assert.ok((findings[0]?.remedy ?? '') !== '');
  }
  const text = sample(sessionState);
  assert.deepEqual(codesOf(handover, text).slice(0, 1), ['doc-root-heading']);
  assert.deepEqual(codesOf(sessionState, text.replace('## Blockers', '## Obstacles')), ['doc-section-missing']);
  assert.deepEqual(codesOf(sessionState, `${text}\n## Status\ndone\n`), ['doc-section-twice']);
  const swapped = text
    .replace('## Task\n', '## X\n')
    .replace('## Status\n', '## Task\n')
    .replace('## X\n', '## Status\n');
  assert.deepEqual(codesOf(sessionState, swapped), ['doc-section-order']);
  assert.deepEqual(codesOf(sessionState, text.replace('## Status\n', '```\n## Status\n')).slice(0, 1), [
    'doc-section-missing',
  ]);
  assert.deepEqual(codesOf(handover, sample(handover, { 'Session-state pointer': 'None' })), ['ptr-missing']);
  const done = { Status: 'done', 'Next owner': 'None', 'Session-state pointer': 'None' };
  assert.deepEqual(codesOf(handover, sample(handover, done)), []);
});

test('a conflict that a merge has left is told alone, and hides neither the other document nor what names it', () => {
  const text = sample(sessionState).replace(
    'in-progress',
    '<<<<<<< HEAD\nin-progress\n=======\nblocked\n>>>>>>> other',
  );
  assert.deepEqual(
    checkDocument(sessionState, text).map(({ code, line }) => [code, line]),
    [['doc-conflict', 7]],
  );
  const look = lookAt({ ...sound, [currentPath]: text });
  const { findings } = examinePair(look, { handover: transfer, sessionState: currentPath, source: '' });
  assert.deepEqual(
    findings.map(({ tag, finding }) => [tag, finding.code]),
    [
      ['HANDOVER', 'ptr-conflict'],
      ['SESSION', 'doc-conflict'],
    ],
  );
});

test('whatever a document holds, it is judged and summarized, and nothing is thrown', () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .array(fc.oneof(fc.constantFrom(...sample(sessionState).split('\n')), fc.string({ maxLength: 8 })))
      .map((lines) => lines.join('\n')),
  );
  fc.assert(
    fc.property(text, text, (one, other) => {
      const look = lookAt({ [currentPath]: one, [transfer]: other, 'session-state/ACTIVE_LEASE.json': other });
      locatePair(look);
      auditToJson(look, now);
      const pair = { handover: transfer, sessionState: currentPath, source: 'named' };
      const { findings } = examinePair(look, pair);
      for (const { finding } of findings) assert.ok(finding.text !== '' && finding.remedy !== '');
      summaryToJson(look, pair, now);
    }),
  );
});

test('a pointer leads to the other document below the same root, and to nothing else', () => {
  const at = (pointer: string, files: Readonly<Record<string, string>> = {}): readonly string[] =>
    examine(
      lookAt({ ...sound, ...files, [currentPath]: sample(sessionState, { 'Handover pointer': pointer }) }),
      sessionState,
      currentPath,
    ).findings.map(({ code }) => code);
  assert.deepEqual(at('../handovers/20260312_0915_handover.md'), []);
  assert.deepEqual(at(`/docs/${transfer}`), []);
  assert.deepEqual(at('None'), []);
  assert.deepEqual(at('/etc/passwd'), ['ptr-outside']);
  assert.deepEqual(at('../../x.md'), ['ptr-outside']);
  assert.deepEqual(at('../handovers/none.md'), ['ptr-dangling']);
  assert.deepEqual(at('CURRENT.md'), ['ptr-wrong-kind']);
  assert.deepEqual(at('../handovers/b.md', { 'handovers/b.md': sample(handover, { Status: 'blocked' }) }), [
    'ptr-status-mismatch',
  ]);
});

test('two sound documents say the same, and name each other', () => {
  const codes = (said: Readonly<Record<string, string>>): readonly string[] => {
    const look = lookAt({ ...sound, [transfer]: sample(handover, said) });
    return comparePair(examine(look, handover, transfer), examine(look, sessionState, currentPath)).map(
      ({ code }) => code,
    );
  };
  assert.deepEqual(codes({}), []);
  assert.deepEqual(codes({ 'Updated by': 'cleo' }), ['pair-updated-by']);
  assert.deepEqual(codes({ 'Next owner': 'cleo' }), ['pair-owner']);
  assert.deepEqual(codes({ 'Last updated': '2026-03-12T09:15:00Z' }), ['pair-time']);
  assert.deepEqual(codes({ 'Session-state pointer': '/docs/session-state/CURRENT.md' }), ['pair-ptr-value']);
});

test('the pair that was worked on last is found in this order, and a stamp that is no time is no stamp', () => {
  const named = (files: Readonly<Record<string, string>>) => locatePair(lookAt(files));
  assert.deepEqual(named(sound), { handover: transfer, sessionState: currentPath, source: 'current-pointer' });
  const later = { 'handovers/20260312_1130_handover.md': sample(handover), 'handovers/99999999_9999_handover.md': 'x' };
  const lost = { ...sound, ...later, [currentPath]: sample(sessionState, { 'Handover pointer': 'None' }) };
  assert.deepEqual(named(lost), {
    handover: 'handovers/20260312_1130_handover.md',
    sessionState: currentPath,
    source: 'current-plus-latest-handover',
  });
  const snapshot = 'session-state/20260312_0915_session-state.md';
  const archived = {
    [transfer]: sample(handover, { 'Session-state pointer': '../session-state/20260312_0915_session-state.md' }),
    [snapshot]: sample(sessionState),
  };
  assert.deepEqual(named(archived)?.source, 'latest-handover-pointer');
  assert.deepEqual(named({ ...archived, [transfer]: sample(handover) })?.source, 'latest-snapshots');
  assert.equal(named({ [transfer]: sample(handover) }), undefined);
  assert.equal(named({}), undefined);
});

test('of a pair of which one half is named the other is the one that it points to', () => {
  const complete = (one: string | undefined, other: string | undefined) =>
    completePair(lookAt(sound), { handover: one, sessionState: other });
  const pair = { handover: transfer, sessionState: currentPath, source: 'named' };
  for (const found of [
    complete(transfer, undefined),
    complete(undefined, currentPath),
    complete(transfer, currentPath),
  ])
    assert.deepEqual(found, ok(pair));
  assert.deepEqual(complete('handovers/x.md', undefined), err('handovers/x.md is not there'));
});

test('the file of a lease is read whatever it holds', () => {
  const good = {
    version: 1,
    holder: 'codex',
    purpose: 'edit',
    acquired_at: '2026-03-12T09:50:00+00:00',
    expires_at: '2026-03-12T10:20:00+00:00',
    handover: transfer,
    session_state: currentPath,
  };
  const read = (text: string) => readLeaseFile(text, now, (path) => path === transfer || path === currentPath);
  const stateOf = (change: object): string => read(JSON.stringify({ ...good, ...change })).state;
  assert.equal(stateOf({}), 'active');
  assert.equal(stateOf({ handover: 'None' }), 'active');
  assert.equal(stateOf({ expires_at: '2026-03-12T10:00:00Z' }), 'expired');
  for (const change of [
    { version: true },
    { holder: 7 },
    { holder: 'evil\nState: none' },
    { purpose: ' ' },
    { acquired_at: '2099-01-01T00:00:00Z', expires_at: '2099-01-02T00:00:00Z' },
    { expires_at: '2026-03-12T09:00:00Z' },
    { expires_at: 'soon' },
    { handover: 'handovers/gone.md' },
    { session_state: '/etc/passwd' },
    { session_state: 'None' },
  ])
    assert.equal(stateOf(change), 'invalid', JSON.stringify(change));
  for (const text of ['', '[]', '"x"', 'null', '{"version": 1']) assert.equal(read(text).state, 'invalid');
  assert.equal(read('{}').problems.length, 7);
  assert.equal(leaseIn(lookAt({}), now).state, 'none');
});

const audited = (files: Readonly<Record<string, string>>) => {
  const { result, totals, findings, warnings } = auditToJson(lookAt(files), now);
  const codes = Array.isArray(findings) ? findings.map((one) => (isJsonObject(one) ? one['code'] : null)) : null;
  return { result, totals, codes, warnings };
};

test('every document is looked at, and archived ones as pairs; what is no document is left alone', () => {
  const files = { ...sound, ...archivedPair('20260310_0900', { Status: 'blocked' }), 'handovers/README.md': 'read me' };
  assert.deepEqual(audited(files), {
    result: 'clean',
    totals: {
      handover_files: 2,
      session_state_files: 2,
      snapshot_pairs: 1,
      orphan_handovers: 0,
      orphan_session_snapshots: 0,
    },
    codes: [],
    warnings: [],
  });
});

test('one broken document is told, and hides no other; one without its other half is a warning', () => {
  const orphan = { ...sound, 'session-state/20260310_0900_session-state.md': sample(sessionState) };
  assert.deepEqual(
    [audited(orphan).result, audited(orphan).warnings],
    ['warning', ['session-state/20260310_0900_session-state.md: there is no handover with its stamp']],
  );
  const broken = {
    ...sound,
    ...archivedPair('20260310_0900', { 'Last updated': 'yesterday' }),
    'handovers/junk.md': '# Handover',
  };
  assert.deepEqual(
    [audited(broken).result, audited(broken).codes],
    ['error', ['doc-time', 'doc-section-missing', 'doc-time']],
  );
  const differs = { ...sound, ...archivedPair('20260310_0900') };
  const changed = {
    ...differs,
    'handovers/20260310_0900_handover.md': sample(handover, {
      'Session-state pointer': '../session-state/20260310_0900_session-state.md',
      'Next owner': 'cleo',
    }),
  };
  assert.deepEqual(audited(changed).codes, ['pair-owner']);
});

test('a handover that another has taken the place of is no fault, and a lease is looked at too', () => {
  const replaced = { ...sound, 'handovers/20260311_0900_handover.md': sample(handover, { Status: 'blocked' }) };
  assert.deepEqual([audited(replaced).result, audited(replaced).codes], ['warning', []]);
  const lease = (text: string) => audited({ ...replaced, 'session-state/ACTIVE_LEASE.json': text });
  assert.deepEqual([lease('[]').result, lease('[]').codes], ['error', ['lease-invalid']]);
  const expired = {
    version: 1,
    holder: 'a',
    purpose: 'b',
    acquired_at: '2026-03-12T09:00:00Z',
    expires_at: '2026-03-12T09:30:00Z',
    handover: 'handovers/20260311_0900_handover.md',
    session_state: currentPath,
  };
  const { warnings } = lease(JSON.stringify(expired));
  assert.deepEqual(Array.isArray(warnings) ? warnings.slice(1) : warnings, [
    'session-state/ACTIVE_LEASE.json: it has expired',
    'session-state/ACTIVE_LEASE.json: it is about another handover',
  ]);
  assert.deepEqual(audited({}).warnings, ['there is no active pair']);
  assert.deepEqual(audited({ ...sound, ...archivedPair('99999999_9999') }).warnings, [
    'handovers/99999999_9999_handover.md: the stamp in its name is no time',
    'session-state/99999999_9999_session-state.md: the stamp in its name is no time',
  ]);
});

test('each of very many findings has its line, counted once for all', { timeout: 60_000 }, () => {
  const many = 200_000;
  const findings = checkDocument(sessionState, `# Session State\n\n${'## Task\n\n'.repeat(many)}`);
  const lines = findings.flatMap(({ code, line }) => (code === 'doc-section-empty' ? [line] : []));
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [many, 3, 2 * many + 1]);
});

test('a stamp is a minute of the calendar', () => {
  const digits = (length: number): fc.Arbitrary<string> =>
    fc.nat({ max: 10 ** length - 1 }).map((value) => String(value).padStart(length, '0'));
  // Around the ends of months, hours and minutes, where the rules are.
  const parts = fc.tuple(digits(4), fc.nat({ max: 13 }), fc.nat({ max: 32 }), fc.nat({ max: 25 }), fc.nat({ max: 61 }));
  const two = (value: number): string => String(value).padStart(2, '0');
  fc.assert(
    fc.property(parts, ([year, month, day, hour, minute]) => {
      const date = new Date(`${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:00Z`);
      const isTime = !Number.isNaN(date.getTime()) && date.getUTCDate() === day && date.getUTCHours() === hour;
      assert.equal(isStamp(`${year}${two(month)}${two(day)}_${two(hour)}${two(minute)}`), isTime);
    }),
    { numRuns: 2000 },
  );
  for (const text of ['', '20240229', '20240229_090', '20240229_09000', '2024o229_0900', ' 20240229_0900'])
    assert.equal(isStamp(text), false, text);
  assert.equal(isStamp('20240229_0900'), true);
  assert.equal(isStamp('20230229_0900'), false);
});
