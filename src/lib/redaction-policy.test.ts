import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from './canonical-json.ts';
import { createRedactionPolicy, type RedactionForm, type RedactionLists } from './redaction-policy.ts';

const MARK = '[REDACTED]';
const GITHUB = ['gh', 'p_0123456789abcdefghijABCDEFGHIJ012345'].join('');

const policyOf = (lists: RedactionLists, form?: RedactionForm) => {
  const policy = createRedactionPolicy(lists, form);
  assert.ok(policy.ok, JSON.stringify(policy));
  return policy.value;
};

test('a policy without lists redacts as there is none', () => {
  const policy = policyOf({});
  assert.deepEqual(policy.redact(`password=hunter2 ${GITHUB}`), {
    text: `password=${MARK} ${MARK}`,
    found: { 'assigned-secret': 1, 'github-token': 1 },
  });
  const same: Json = { a: ['b', 1] };
  assert.equal(policy.redactJson(same, 'bundle').value, same);
});

test('what a pattern matches goes, under its number', () => {
  const policy = policyOf({ patterns: ['zz-[a-z]+', String.raw`(?i)\bcase-\d+\b`] });
  assert.deepEqual(policy.redact('zz-hidden CASE-12 case-x and zz-z'), {
    text: `${MARK} ${MARK} case-x and ${MARK}`,
    found: { 'extra-regex-1': 2, 'extra-regex-2': 1 },
  });
  assert.deepEqual(policy.redactJson({ 'zz-k': ['a zz-b'] }, 'x').value, { [MARK]: [`a ${MARK}`] });
});

test('no pattern takes a mark apart, and none begins or ends at one', () => {
  const policy = policyOf({ patterns: ['[A-Z]+', String.raw`\bx`, 'R.*D'] });
  assert.equal(policy.redact(`a ${MARK} b`).text, `a ${MARK} b`);
  assert.equal(policy.redact('xxx').text, `${MARK}xx`);
  assert.equal(policy.redact(`${MARK}xx`).text, `${MARK}xx`);
  assert.equal(policy.redact('password=hunter2ABC').text, `password=${MARK}`);
});

test('behind a keyword any value goes, in text and in JSON, however the name is written', () => {
  const policy = policyOf({ keywords: ['resume_code', 'PIN'] });
  const rows: readonly (readonly [before: string, after: string])[] = [
    ['resume_code=carry', `resume_code=${MARK}`],
    ['resume-code: carry on', `resume-code: ${MARK} on`],
    ['lastResumeCode = "carry this"', `lastResumeCode = "${MARK}"`],
    ['{"RESUME_CODE":"1"}', `{"RESUME_CODE":"${MARK}"}`],
    ['go --resume-code carry', `go --resume-code ${MARK}`],
    ['<resume_code>carry</resume_code>', `<resume_code>${MARK}</resume_code>`],
    ['pin: 1234', `pin: ${MARK}`],
    ['resume_code=$CODE and resume code', 'resume_code=$CODE and resume code'],
  ];
  for (const [before, after] of rows) {
    const { text, found } = policy.redact(before);
    assert.equal(text, after);
    assert.deepEqual(found, before === after ? {} : { 'sensitive-key': 1 });
    assert.deepEqual(policy.redact(text), { text, found: {} });
  }
  assert.deepEqual(
    policy.redactJson({ resume_code: 'y', other: 'x', pin: 1234, deep: { Pin: [12, { a: 1 }, null, true] } }, 'bundle'),
    {
      value: { resume_code: MARK, other: 'x', pin: MARK, deep: { Pin: [MARK, { a: 1 }, null, true] } },
      found: { 'sensitive-key': 3 },
    },
  );
});

test('the common rules stay in force beside keywords', () => {
  const policy = policyOf({ keywords: ['pin'] });
  assert.equal(policy.redact('password=hunter2 pin=1').text, `password=${MARK} pin=${MARK}`);
  assert.equal(policy.redact('the token: an integer').text, 'the token: an integer');
});

test('a denied path becomes one mark, an allowed one stays with all below, and allowing wins', () => {
  const policy = policyOf({
    denyPaths: ['bundle.source.*', 'bundle.steps.0', 'bundle.c'],
    allowPaths: ['bundle.*.raw', 'bundle.c'],
  });
  const value: Json = {
    source: { root: '/home/ana', raw: { t: GITHUB, [GITHUB]: 1 }, count: 3, list: [1, { raw: GITHUB }] },
    steps: ['first', GITHUB],
    c: GITHUB,
    raw: GITHUB,
  };
  assert.deepEqual(policy.redactJson(value, 'bundle'), {
    value: {
      source: { root: MARK, raw: { t: GITHUB, [GITHUB]: 1 }, count: MARK, list: MARK },
      steps: [MARK, MARK],
      c: GITHUB,
      raw: MARK,
    },
    found: { 'deny-path': 4, 'github-token': 2 },
  });
});

test('what a caller needs the form of keeps it, whatever is denied', () => {
  const policy = policyOf(
    { denyPaths: ['bundle', 'bundle.*'], keywords: ['name'] },
    {
      fixed: ['bundle.bundle_version', 'bundle.documents.handover_name', 'bundle.digest'],
      shaped: [
        'bundle',
        'bundle.documents',
        'bundle.documents.handover_markdown',
        'bundle.lease',
        'bundle.lease.events',
      ],
    },
  );
  const value: Json = {
    bundle_version: 3,
    digest: GITHUB,
    documents: {
      handover_name: '20260317_1430_handover.md',
      handover_markdown: '# Handover\n\n## Status\n\nopen\n',
      x: 'y',
    },
    lease: { events: ['a', { b: 1 }], holder: 'ana' },
  };
  const expected = {
    bundle_version: 3,
    digest: GITHUB,
    documents: {
      handover_name: '20260317_1430_handover.md',
      handover_markdown: `# Handover\n\n## Status\n\n${MARK}\n`,
      x: MARK,
    },
    lease: { events: [MARK, MARK], holder: MARK },
  };
  const once = policy.redactJson(value, 'bundle');
  assert.deepEqual(once, { value: expected, found: { 'deny-path': 5 } });
  assert.deepEqual(policy.redactJson(once.value, 'bundle'), { value: once.value, found: {} });
});

test('a text whose form matters is redacted within its sections', () => {
  const policy = policyOf({ patterns: ['(?s)begin.*end'] }, { shaped: ['doc'] });
  const key = ['PRIVATE', 'KEY'].join(' ');
  const text = `# A begin\nx\n## B ${GITHUB}\n\n-----BEGIN ${key}-----\nMII\n## C\nMII\n-----END ${key}-----\n# D end of it\n`;
  assert.deepEqual(policy.redactJson(text, 'doc'), {
    value: `# A ${MARK}\n${MARK}\n## B ${GITHUB}\n\n${MARK}\n## C\n${MARK}\n# D end of it\n`.replace(GITHUB, MARK),
    found: { 'extra-regex-1': 4, 'github-token': 1 },
  });
  assert.equal(policy.redact(text).text, `# A ${MARK} of it\n`);
});

test('all faults of a policy are told at once, with list, number and what is not legal', () => {
  const policy = createRedactionPolicy({ patterns: ['a', '(?=b)', '['], keywords: ['ok', '--'], denyPaths: ['['] });
  assert.ok(!policy.ok);
  assert.deepEqual(
    policy.error.map(({ list, index, construct, at }) => [list, index, construct, at]),
    [
      ['patterns', 1, 'look-ahead', 0],
      ['patterns', 2, 'a class that is not closed', 0],
      ['keywords', 1, 'a keyword without a letter', 0],
    ],
  );
});

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        GITHUB,
        MARK,
        'x',
        'xx',
        ' ',
        '\n',
        '## H\n',
        'pin',
        '=',
        ': ',
        '"',
        'password',
        'zz-a',
        '[',
        ']',
        'A',
        'hunter2',
      ),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

test('redacting twice with a policy is the same as once', () => {
  const policy = policyOf(
    {
      patterns: ['zz-[a-z]+', String.raw`\bx+`, '[A-Z]{2,}', '(?m)^a.*$', String.raw`\]\s?x`],
      keywords: ['pin'],
      denyPaths: ['r.d*'],
      allowPaths: ['r.dx'],
    },
    { shaped: ['r.s*'], fixed: ['r.f'] },
  );
  const json = fc.dictionary(
    fc.oneof(anyText, fc.constantFrom('d', 'dx', 's', 'f', 'pin', 'name', 'value')),
    fc.oneof(anyText, fc.integer()),
  );
  fc.assert(
    fc.property(anyText, json, (text, value) => {
      const once = policy.redact(text);
      assert.deepEqual(policy.redact(once.text), { text: once.text, found: {} });
      const clean = policy.redactJson(value, 'r');
      const again = policy.redactJson(clean.value, 'r');
      assert.deepEqual(again.found, {});
      assert.equal(again.value, clean.value);
    }),
    { numRuns: 5000 },
  );
});

test('a path deep below is not matched anew at each place', () => {
  let value: Json = 'password=hunter2';
  for (let depth = 0; depth < 20_000; depth += 1) value = { a: value };
  const policy = policyOf({ denyPaths: ['*.b'], allowPaths: ['r.a.c'] }, { shaped: ['*.s'] });
  let { value: clean } = policy.redactJson(value, 'r');
  while (clean !== null && typeof clean === 'object') clean = Object.values(clean)[0] ?? null;
  assert.equal(clean, `password=${MARK}`);
});
