import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { displayWidth } from '../../lib/text.ts';
import { renderFrame } from './frame.ts';

const plain = { columns: 80, colour: false };

const step = (name: string, state: string, evidence: readonly JsonObject[] = []): JsonObject => ({
  name,
  label: `Do what ${name} says`,
  state,
  evidence: [...evidence],
});

const session: JsonObject = {
  session: 'task:a',
  status: 'active',
  outcome: null,
  position: 'two (2/3)',
  closed_at: null,
  here: true,
  folder: 'work/a',
  missing: ['two is not done', 'three is not done'],
  next_action: { kind: 'advance', text: 'Do two, then three.', command: 'stint advance three --session task:a' },
  steps: [
    step('one', 'done', [{ label: 'notes', path: 'work/a/notes.md', present: false }]),
    step('two', 'current', [
      {
        label: 'reports',
        path: 'work/a/reports',
        present: false,
        at_least: 3,
        files_total: 2,
        counts: 'findings',
        files: [
          { name: 'first.md', count: 2 },
          { name: '見出し.md', count: null },
        ],
      },
    ]),
    step('three', 'pending', [{ label: 'sum', path: 'work/a/sum.md', present: false }]),
  ],
  done: 1,
  total: 3,
  fraction: 1 / 3,
  cycle: { label: 'try 2', started_at: '2026-03-17T12:00:00.000Z', completed_at: null },
  running: true,
  elapsed_ms: 3_725_000,
  since_update_ms: 5000,
  earlier: [
    { label: 'try 1', completed_at: '2026-03-17T11:00:00.000Z', summary: { verdict: 'REDO', blocker_count: 1 } },
  ],
  summary: {},
  counts: [{ label: 'findings', total: 2, unknown: 1 }],
  results: [],
};

const answer = (...sessions: readonly JsonObject[]): JsonObject => ({
  now: '2026-03-17T13:02:05.000Z',
  sessions: [...sessions],
  total: sessions.length,
});

test('a frame tells how far each step is, with files and counts, earlier rounds, what is missing and what comes next', () => {
  assert.equal(
    renderFrame(answer(session), plain),
    `stint progress  task:a
active, try 2, running 1:02:05, last change 00:05 ago
[########----------------]  33%  1/3  Do what two says

[x] one    Do what one says
      not there: notes.md
[>] two    Do what two says
      first.md   findings 2
      見出し.md  findings ?
      2 of at least 3 reports
[ ] three  Do what three says

try 1: REDO, blocker 1
findings in files: 2 and ? in 1 file
missing: two is not done; three is not done
then: Do two, then three.
next: stint advance three --session task:a`,
  );
});

test('a step that has failed is told from one that is still to come', () => {
  const failed = { ...session, steps: [step('one', 'failed'), step('two', 'current'), step('three', 'pending')] };
  const frame = renderFrame(answer(failed), plain);
  assert.match(frame, /^\[!\] one {4}Do what one says \(failed\)\n\[>\] two .*\n\[ \] three/m);
});

test('on a narrow terminal the bar shrinks, lines go on below, and a command may still be copied', () => {
  assert.equal(
    renderFrame(answer(session), { ...plain, columns: 30 }),
    `stint progress  task:a
active, try 2, running
  1:02:05, last change 00:05
  ago
[##------]  33%  1/3  Do what…

[x] one    Do what one says
      not there: notes.md
[>] two    Do what two says
      first.md   findings 2
      見出し.md  findings ?
      2 of at least 3 reports
[ ] three  Do what three says

try 1: REDO, blocker 1
findings in files: 2 and ? in
  1 file
missing: two is not done;
  three is not done
then: Do two, then three.
next: stint advance three \\
  --session task:a`,
  );
});

test('several sessions take two lines each, and those that are too many are counted', () => {
  const other = {
    ...session,
    session: 'task:b',
    steps: [],
    done: 0,
    total: 0,
    fraction: null,
    earlier: [],
    elapsed_ms: null,
  };
  assert.equal(
    renderFrame({ ...answer(session, other), total: 30 }, plain),
    `stint progress  30 sessions are open in this checkout

task:a  active, try 2, running 1:02:05
  [########----------------]  33%  1/3  Do what two says

task:b  active, running -
  [------------------------]    -  0/0  two (2/3)

and 28 more: stint list`,
  );
});

test('a terminal that is too low is told how many lines do not fit', () => {
  const whole = renderFrame(answer(session), plain).split('\n');
  const cut = renderFrame(answer(session), { ...plain, rows: 6 }).split('\n');
  assert.deepEqual(cut, [...whole.slice(0, 5), `... ${whole.length - 5} more lines`]);
  assert.equal(renderFrame(answer(session), { ...plain, rows: 0 }), `... ${whole.length} more lines`);
});

const process = (called: string, more: JsonObject = {}): JsonObject => ({
  called,
  status: 'running',
  liveness: 'unknown',
  phase: null,
  host: 'desk',
  here: true,
  last_heartbeat_at: '2026-03-17T12:30:00.000Z',
  ...more,
});

test('who works stands under its step, else under the current one, with whether it lives and since when nothing was heard', () => {
  const working = {
    ...session,
    activity: 'running',
    activity_since: null,
    processes: [
      process('lead', { liveness: 'alive' }),
      process('gone', { status: 'crashed', liveness: 'ended' }),
      process('security-1', { phase: 'three', liveness: 'quiet' }),
      process('見-2', { phase: 'no step', host: 'build-b', here: false }),
    ],
  };
  const lines = renderFrame(answer(working), plain).split('\n');
  assert.equal(lines[1], 'active, try 2, running 1:02:05, last change 00:05 ago');
  assert.deepEqual(lines.slice(4, -6), [
    '[x] one    Do what one says',
    '      not there: notes.md',
    '[>] two    Do what two says',
    '      first.md   findings 2',
    '      見出し.md  findings ?',
    '      2 of at least 3 reports',
    '      lead  alive',
    '      見-2  unknown on build-b',
    '[ ] three  Do what three says',
    '      security-1  quiet, last heard of 2026-03-17T12:30:00.000Z',
  ]);
});

test('where no step is being done, who works stands below all of them', () => {
  const working = { ...session, steps: [step('one', 'done')], processes: [process('lead', { liveness: 'alive' })] };
  const lines = renderFrame(answer(working), plain).split('\n');
  assert.deepEqual(lines.slice(3, 8), [
    '',
    '[x] one  Do what one says',
    '      lead  alive',
    '',
    'try 1: REDO, blocker 1',
  ]);
});

test('a session on which nobody works any more is not called running, and says since when', () => {
  for (const activity of ['interrupted', 'quiet']) {
    const left = { ...session, activity, activity_since: '2026-03-17T12:40:00.000Z', earlier: [] };
    assert.equal(
      renderFrame(answer(left), { ...plain, columns: 200 }).split('\n')[1],
      `active, ${activity} since 2026-03-17T12:40:00.000Z, open 1:02:05, last change 00:05 ago`,
    );
    assert.match(
      renderFrame(answer(left, left), { ...plain, columns: 200 }),
      new RegExp(`^task:a  active, ${activity} since 2026-03-17T12:40:00.000Z, open 1:02:05$`, 'm'),
    );
    const closed = { ...left, status: 'closed', outcome: 'aborted', running: false };
    assert.doesNotMatch(renderFrame(answer(closed), plain), /since/);
  }
});

test('colours add to a frame and change nothing of it', () => {
  const coloured = renderFrame(answer(session), { ...plain, colour: true });
  assert.match(coloured, /^\u001b\[1mstint progress/);
  assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ''), renderFrame(answer(session), plain));
});

test('what comes from outside stays on its line and has no power over the terminal', () => {
  const evil = 'a\u001b[2J\u009b2J\r\nnext: rm\u2028b\u202ec\u0007\ud800';
  const frame = renderFrame(answer({ ...session, session: evil, missing: [evil] }), { ...plain, columns: 500 });
  assert.doesNotMatch(frame, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
  assert.ok(frame.isWellFormed());
  assert.equal(frame.split('\n').filter((line) => line.startsWith('next: ')).length, 1);
  assert.equal(frame.split('\n').length, renderFrame(answer(session), plain).split('\n').length);
});

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.constantFrom('', 'レビュー'.repeat(30), 'a'.repeat(300), '👩‍👩‍👧‍👦'.repeat(20), 'e\u0301'.repeat(90), 'x y '.repeat(50)),
);
const numbers = fc.oneof(fc.constant(null), fc.integer({ min: -5, max: 1e15 }), fc.constant(0));
const anySession = fc.record(
  {
    session: texts,
    status: texts,
    outcome: fc.option(texts),
    reason: texts,
    position: texts,
    folder: texts,
    closed_at: fc.option(texts),
    missing: fc.array(texts, { maxLength: 3 }),
    next_action: fc.record({ text: texts, command: fc.option(texts) }),
    steps: fc.array(
      fc.record({
        name: texts,
        label: texts,
        state: fc.constantFrom('done', 'current', 'pending', 'skipped', 'failed', 'unheard of'),
        evidence: fc.array(
          fc.record(
            {
              label: texts,
              path: texts,
              present: fc.boolean(),
              at_least: fc.integer(),
              files_total: numbers,
              counts: texts,
              count: numbers,
              files: fc.array(fc.record({ name: texts, count: numbers }), { maxLength: 2 }),
            },
            { requiredKeys: [] },
          ),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 3 },
    ),
    done: numbers,
    total: numbers,
    fraction: numbers,
    running: fc.boolean(),
    activity: fc.oneof(texts, fc.constantFrom('running', 'quiet', 'interrupted', 'none')),
    activity_since: fc.option(texts),
    processes: fc.array(
      fc.record(
        {
          called: texts,
          status: fc.oneof(texts, fc.constant('running')),
          liveness: fc.oneof(texts, fc.constantFrom('alive', 'quiet', 'dead', 'unknown')),
          phase: fc.option(texts),
          host: texts,
          here: fc.boolean(),
          last_heartbeat_at: fc.option(texts),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
    elapsed_ms: numbers,
    since_update_ms: numbers,
    cycle: fc.option(fc.record({ label: texts, completed_at: fc.option(texts) })),
    earlier: fc.array(
      fc.record({ label: texts, completed_at: fc.option(texts), summary: fc.dictionary(texts, texts) }),
      {
        maxLength: 2,
      },
    ),
    summary: fc.dictionary(texts, fc.oneof(texts, numbers)),
    counts: fc.array(fc.record({ label: texts, total: numbers, unknown: numbers }), { maxLength: 2 }),
    results: fc.array(fc.record({ label: texts, path: texts, present: fc.boolean() }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const widths = fc.oneof(fc.integer({ min: 0, max: 120 }), fc.constantFrom(0, 1, 2, 19, 20, 21, 1000));

/** Asserts what every frame promises. */
const assertFrame = (frame: string, columns: number): void => {
  for (const line of frame.split('\n'))
    assert.ok(displayWidth(line) <= columns, `${displayWidth(line)} columns in ${columns}: ${JSON.stringify(line)}`);
  assert.doesNotMatch(frame, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  assert.doesNotMatch(frame, /NaN|undefined|Infinity|\[object Object\]|Invalid Date/);
};

test('no line is wider than the terminal, whatever the width and whatever is shown', () => {
  fc.assert(
    fc.property(fc.array(anySession, { maxLength: 3 }), numbers, widths, texts, (sessions, total, columns, remark) => {
      assertFrame(renderFrame({ sessions, total }, { columns, colour: false, remarks: [remark] }), columns);
    }),
    { numRuns: 300 },
  );
});

test('H13: an answer of any other shape is shown without a word of our own innards', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.constantFrom(...Object.keys(session)), fc.jsonValue() as fc.Arbitrary<never>)),
      widths,
      (sessions, columns) => {
        assertFrame(renderFrame({ sessions, total: {} }, { columns, colour: false }), columns);
      },
    ),
  );
});
