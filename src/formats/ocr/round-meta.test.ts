import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { longestText } from './payload.ts';
import { checkRoundMeta, printRoundMeta } from './round-meta.ts';

const finding = { title: 'A finding of note', category: 'should_fix', severity: 'low', summary: '' };
const meta = {
  schema_version: 1,
  verdict: 'NEEDS DISCUSSION',
  reviewers: [{ type: 'principal', instance: 1, findings: [finding] }],
};

const faultsOf = (payload: unknown): readonly string[] => {
  const checked = checkRoundMeta(payload);
  return checked.ok ? [] : checked.error;
};

const withFinding = (change: object): object => ({
  ...meta,
  reviewers: [{ type: 'a', instance: 1, findings: [{ ...finding, ...change }] }],
});

const accepted = (payload: unknown) => {
  const checked = checkRoundMeta(payload);
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.value;
};

/** What is wrong, and the fault that must name it. */
const faulty: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object', [], /^\$ expected an object/],
  ['no version', { ...meta, schema_version: undefined }, /^\$\.schema_version is missing/],
  ['another version', { ...meta, schema_version: 2 }, /^\$\.schema_version expected 1, found 2/],
  ['a verdict that is none', { ...meta, verdict: 'approved' }, /^\$\.verdict expected exactly one of APPROVE/],
  ['a verdict in other letters', { ...meta, verdict: 'Approve' }, /^\$\.verdict expected/],
  ['reviewers that are no list', { ...meta, reviewers: {} }, /^\$\.reviewers expected an array/],
  [
    'a reviewer without a type',
    { ...meta, reviewers: [{ instance: 1, findings: [] }] },
    /^\$\.reviewers\[0\]\.type is missing/,
  ],
  [
    'an instance that is no number',
    { ...meta, reviewers: [{ type: 'a', instance: '1', findings: [] }] },
    /^\$\.reviewers\[0\]\.instance expected a number/,
  ],
  [
    'a title of 7 characters',
    withFinding({ title: ' 1234567 ' }),
    /^\$\.reviewers\[0\]\.findings\[0\]\.title expected at least 8/,
  ],
  ['a category that is none', withFinding({ category: 'nit' }), /findings\[0\]\.category expected one of blocker/],
  ['a severity that is none', withFinding({ severity: 'urgent' }), /findings\[0\]\.severity expected one of critical/],
  ['a summary that is missing', withFinding({ summary: undefined }), /findings\[0\]\.summary is missing/],
  ['a line that is no number', withFinding({ line_start: '4' }), /findings\[0\]\.line_start expected a number/],
  [
    'too many who flagged it',
    withFinding({ flagged_by: Array.from({ length: 21 }, () => 'a') }),
    /flagged_by expected at most 20/,
  ],
  [
    'a negative count',
    { ...meta, synthesis_counts: { blockers: -1 } },
    /^\$\.synthesis_counts\.blockers expected a number of at least 0/,
  ],
  [
    'a count above the findings',
    { ...meta, synthesis_counts: { should_fix: 2 } },
    /^\$\.synthesis_counts\.should_fix is 2, but the reviewers' findings hold 1/,
  ],
  [
    'an approval with a blocker',
    { ...withFinding({ category: 'blocker' }), verdict: 'APPROVE' },
    /^\$\.verdict is APPROVE with 1 blockers/,
  ],
  [
    'a rejection without a blocker',
    { ...meta, verdict: 'REQUEST CHANGES' },
    /^\$\.verdict is REQUEST CHANGES without a blocker/,
  ],
  [
    'a rejection whose counts say none',
    { ...withFinding({ category: 'blocker' }), verdict: 'REQUEST CHANGES', synthesis_counts: { blockers: 0 } },
    /REQUEST CHANGES without a blocker/,
  ],
];

for (const [name, payload, fault] of faulty) {
  test(`a payload with ${name} is refused by its JSON path`, () => {
    assert.ok(
      faultsOf(JSON.parse(JSON.stringify(payload))).some((line) => fault.test(line)),
      faultsOf(payload).join('\n'),
    );
  });
}

test('every fault is named, not only the first', () => {
  assert.equal(faultsOf({ schema_version: 2, verdict: 5, reviewers: [{}] }).length, 5);
});

test('the counts prefer what was synthesized, else they are tallied; style counts in the total alone', () => {
  const findings = ['blocker', 'blocker', 'should_fix', 'suggestion', 'style'].map((category) => ({
    ...finding,
    category,
  }));
  const payload = {
    ...meta,
    reviewers: [
      { type: 'a', instance: 1, findings },
      { type: 'b', instance: 1, findings: [] },
    ],
  };
  const counts = { reviewer_count: 2, total_finding_count: 5, should_fix_count: 1, suggestion_count: 1 };
  assert.deepEqual(accepted(payload).summary, { verdict: 'NEEDS DISCUSSION', blocker_count: 2, ...counts });
  assert.deepEqual(accepted({ ...payload, synthesis_counts: { blockers: 1 } }).summary, {
    verdict: 'NEEDS DISCUSSION',
    blocker_count: 1,
    ...counts,
  });
});

test('synthesized findings account for every finding of the reviewers exactly once', () => {
  const synthesized = (key: string, ...sources: readonly object[]) => ({ ...finding, key, sources });
  const source = { reviewer: 'principal-1', index: 0 };
  assert.deepEqual(
    faultsOf({ ...meta, synthesis_findings: [synthesized('S1', { ...source, reviewer: '@principal-1' })] }),
    [],
  );
  assert.match(faultsOf({ ...meta, synthesis_findings: [] }).join('\n'), /leaves out principal-1\/0/);
  assert.match(
    faultsOf({ ...meta, synthesis_findings: [synthesized('S1', source), synthesized('S2', source)] }).join('\n'),
    /names finding 0 of principal-1 again/,
  );
  assert.match(
    faultsOf({ ...meta, synthesis_findings: [synthesized('S1', { ...source, index: 1 })] }).join('\n'),
    /index 1 is not a finding/,
  );
  assert.match(
    faultsOf({ ...meta, synthesis_findings: [synthesized('S1', { ...source, reviewer: 'x-1' })] }).join('\n'),
    /is none of principal-1/,
  );
  assert.match(
    faultsOf({ ...meta, synthesis_findings: [synthesized('S1', source), synthesized('S1', source)] }).join('\n'),
    /key S1 is used twice/,
  );
  assert.match(
    faultsOf({ ...meta, synthesis_findings: [synthesized('1', source)] }).join('\n'),
    /\.key expected S and a number/,
  );
  assert.match(
    faultsOf({ ...meta, synthesis_findings: [synthesized('S1', source)], synthesis_counts: { should_fix: 0 } }).join(
      '\n',
    ),
    /should_fix is 0, but synthesis_findings holds 1/,
  );
});

test('keys that are not named are kept, in the order in which they came', () => {
  const payload = { zebra: [1, { deep: null }], ...withFinding({ extra: { a: 1 } }), last: 'x' };
  assert.equal(JSON.stringify(accepted(payload).payload), JSON.stringify(payload));
});

test('free texts are cleaned: no control characters, no leading [ocr], at most 4096 characters, and a cut is reported', () => {
  const cleaned = accepted(
    withFinding({ title: '[ocr] A title\u0007 that holds', summary: `${'🔥'.repeat(3000)}end` }),
  );
  const [reviewer] = cleaned.payload['reviewers'] as readonly JsonObject[];
  const [found] = (reviewer?.['findings'] ?? []) as readonly JsonObject[];
  assert.equal(found?.['title'], 'A title that holds');
  assert.ok(String(found?.['summary']).length <= longestText && String(found?.['summary']).isWellFormed());
  assert.deepEqual(cleaned.notes, ['$.reviewers[0].findings[0].summary was cut to 4096 characters']);
});

test('what is stored is accepted again as it is, and prints the same', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 8, unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.jsonValue(),
      (title, summary, extra) => {
        fc.pre(title.trim().length >= 8);
        const first = checkRoundMeta(JSON.parse(JSON.stringify(withFinding({ title, summary, extra }))));
        fc.pre(first.ok);
        const stored = JSON.parse(JSON.stringify(first.value.payload));
        const again = checkRoundMeta(stored);
        // A title may be shorter than legal once its controls are gone; it was legal when it came.
        fc.pre(again.ok);
        assert.equal(printRoundMeta(again.value.payload), printRoundMeta(stored));
      },
    ),
  );
});
