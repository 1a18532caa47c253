/** Every exit code that can be reached and what is said with it, to a person and as JSON; for 8 (busy) see races.test.ts, B03. */
import { kind as review } from '../src/kinds/review/index.ts';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { printBundle } from '../src/formats/bundle/bundle.ts';
import { sampleBundle3 } from '../src/formats/bundle/samples.ts';
import { defineKind, openStint } from '../src/index.ts';
import * as v from 'valibot';
import { approval, completeRound, json, name, objection, reviewIn, session } from './support/reviews.ts';
import { dumpStore, tamper } from './support/stores.ts';
import {
  assertErrorKeys,
  command,
  createWorld,
  fileOnly,
  lines,
  listOf,
  refusedText,
  storeOf,
  type Printed,
  type TestWorld,
} from './support/world.ts';

/** A world with a review in its first phase. */
const begun = (context: TestContext): TestWorld => reviewIn(context, 'context');

test('2 usage: what is not known is named, with what is near', (context) => {
  const world = createWorld(context);
  const verbs = [
    'advance, archive, beat, begin, block, brief',
    'bundle export, bundle import, bundle inspect, bundle sign, bundle trust, bundle verify',
    'complete, decide, fail, finish',
    'handoff archive, handoff audit, handoff begin, handoff end, handoff history, handoff lease, handoff locate, handoff new, handoff new-handover, handoff new-state, handoff ready, handoff reconcile, handoff repair, handoff report, handoff restore, handoff root, handoff summarize, handoff update, handoff validate, handoff validate-handover, handoff validate-state',
    'import review',
    'journal, lease claim, lease release, lease renew, lease show, list, log, next, note, pause',
    'policy check-ci, policy check-redaction, policy check-trust, policy new-ci, policy new-redaction, policy new-trust',
    'process beat, process bind, process end, process list, process start, process sweep',
    'reconcile, reopen, resume, show, skip, start, status, timeline, unarchive, unblock, complete-map',
    'new, agent start, agent progress, agent complete, agent fail, agent cancel, agent pause, agent continue, agent list',
    'todo add, todo done, todo drop, mode, focus, save, usage report, compress, import orchestrator',
    'history, history show, history resume, report, complete-round, run',
    'import workflow-run, template list, template show, template validate, task move',
    'step add, step start, step done, step drop, step move, progress, doctor, rebuild, store copy, policy ci, init',
  ].join(', ');
  assert.equal(
    refusedText(world, 2, 'bgin'),
    lines('stint: There is no verb "bgin".', `  legal: ${verbs}`, '  perhaps: begin', '  try: stint --help'),
  );
  assert.equal(
    refusedText(world, 2, 'status', '--sesion', 'x'),
    lines(
      'stint: status has no flag "--sesion".',
      '  legal: --session, --json, --format, --actor, --store, --process, --quiet, --help',
      '  perhaps: --session',
      '  try: stint status --help',
    ),
  );
  assert.equal(
    refusedText(world, 2, '--jsno'),
    lines('stint: There is no flag "--jsno" before the verb.', '  try: stint --help'),
  );
  const error = world.refusal(2, 'advnace', 'context');
  assert.equal(error.code, 'usage');
  assert.deepEqual(error.candidates, ['advance']);
});

test('2 usage: arguments that are missing, contradict each other, or are of another type are named', (context) => {
  const world = begun(context);
  const table: readonly (readonly [RegExp, ...string[]])[] = [
    [/kind is missing/, 'begin'],
    [/kind must not be blank/, 'begin', ' '],
    [/begin does not take "more"/, 'begin', 'review', 'more'],
    [/branch must not be blank/, 'begin', 'review', '--branch', ''],
    [/--name needs a value/, 'begin', 'review', '--name'],
    [/text is missing/, 'note'],
    [/text must not be blank/, 'note', ' '],
    [/text is given twice/, 'note', 'one', '--text', 'two'],
    [/--session is given twice/, 'note', 'one', '--session', 'one', '--session', 'two'],
    [/--skip needs a --reason/, 'advance', '--skip', 'discourse'],
    [/--skip needs a --reason/, 'advance', '--skip', 'discourse', '--reason', ' '],
    [/--reason goes with --skip/, 'advance', 'analysis', '--reason', 'why'],
    [/--reason goes with --abort/, 'finish', '--reason', 'why'],
    [/--round takes a whole number/, 'advance', 'context', '--round', 'two'],
    [/--round takes a whole number/, 'advance', 'context', '--round', '1.5'],
    [/round expected at least 1/, 'advance', 'context', '--round', '0'],
    [/round expected at least 1/, 'advance', 'context', '--round=-3'],
    [/limit expected at least 1/, 'log', '--limit', '0'],
    [/at expected at least 1/, 'show', '--at', '0'],
    [/--json takes no value/, 'list', '--json=yes'],
    [/--format is json or text/, 'list', '--format', 'xml'],
    [/--expect-revision takes a whole number/, 'note', 'x', '--expect-revision', 'newest'],
    [/status has no flag "--request-id"/, 'status', '--request-id', 'a'],
    [/--request-id is not legal/, 'note', 'x', '--request-id', 'two words'],
    [/--actor is not legal/, 'note', 'x', '--actor', 'one\ntwo'],
    [/--actor needs a value/, 'note', 'x', '--actor', ''],
    [/--store needs a value/, 'note', 'x', '--store', ''],
    [/from --stdin or from --file, one of them/, 'complete-round'],
    [/from --stdin or from --file, one of them/, 'complete-round', '--stdin', '--file', 'x.json'],
    [/There is no verb "nonsense"/, 'help', 'nonsense'],
    [/--lease-token takes a whole number/, 'note', 'x', '--lease-token', 'newest'],
    [/status has no flag "--lease-token"/, 'status', '--lease-token', '1'],
    [/--take-over takes no value/, 'lease', 'claim', '--take-over=yes'],
    [/ttl expected a number with s, m, h or d/, 'lease', 'claim', '--ttl', 'soon'],
    [/pid expected at least 1/, 'lease', 'claim', '--pid', '0'],
    [/purpose must not be blank/, 'lease', 'claim', '--purpose', ' '],
    [/purpose must be one line/, 'lease', 'claim', '--purpose', 'a\nnext: b'],
  ];
  const before = dumpStore(world);
  for (const [message, ...args] of table) assert.match(refusedText(world, 2, ...args), message, args.join(' '));
  assert.deepEqual(dumpStore(world), before, 'nothing was stored');
});

test('3 ambiguous: several sessions that could be meant are listed, and none is taken', (context) => {
  const world = begun(context);
  world.answer('begin', 'review', '--name', 'login-form', '--branch', 'form');
  world.with({ now: '2026-03-17T13:00:00Z' }).answer('begin', 'review', '--name', 'login-page', '--branch', 'page');
  const before = dumpStore(world);
  assert.equal(
    refusedText(world, 3, 'note', 'for whom?'),
    lines(
      'stint: Several sessions are open in this checkout.',
      '  expected: one session',
      `  perhaps: review:login-page, review:${name}, review:login-form`,
      '  try: name one with --session, for example --session review:login-page',
    ),
  );
  assert.equal(
    refusedText(world, 3, 'status', 'login'),
    lines(
      'stint: Several sessions match login.',
      '  expected: one session',
      '  perhaps: review:login-page, review:login-form',
      '  try: name one with --session, for example --session review:login-page',
    ),
  );
  for (const args of [
    ['advance', 'change-context'],
    ['finish', '--abort'],
    ['status'],
    ['show'],
    ['log'],
    ['timeline'],
  ]) {
    const error = world.refusal(3, ...args);
    assert.equal(error.code, 'ambiguous');
    assert.deepEqual(error.candidates, ['review:login-page', `review:${name}`, 'review:login-form']);
  }
  world.answer('begin', 'review', '--name', 'second', '--branch', 'main');
  assert.deepEqual(world.refusal(3, 'begin', 'review').candidates, [`review:${name}`, 'review:second']);
  assert.deepEqual(dumpStore(world)['event']?.slice(0, 6), before['event']);
  assert.equal(dumpStore(world)['event']?.length, 8);
});

test('4 not found: a session, kind, revision or file that is not there, with near names', (context) => {
  const world = begun(context);
  assert.equal(
    refusedText(world, 4, 'status', '2026-03-17-mian'),
    lines(
      'stint: There is no session 2026-03-17-mian.',
      '  expected: <kind>:<name>, a bare name, or the first characters (at least 4) of one',
      `  perhaps: review:${name}`,
      '  try: stint list --all',
    ),
  );
  assert.equal(
    refusedText(world, 4, 'begin', 'reveiw'),
    lines(
      'stint: There is no such kind of session.',
      '  legal: map, orchestration, review, run, task',
      '  perhaps: review',
    ),
  );
  assert.equal(
    refusedText(world, 4, 'show', '--at', '99'),
    lines(`stint: review:${name} has no revision 99.`, `  try: stint log --session review:${name}`),
  );
  assert.equal(
    refusedText(world, 4, 'complete-round', '--file', 'nowhere.json'),
    lines('stint: The payload nowhere.json does not exist.', '  expected: a file that can be read'),
  );
  assert.equal(world.refusal(4, 'complete-round', '--file', '.').message, 'The payload . is a folder.');
  assert.equal(world.refusal(4, 'list', '--kind', 'dream').code, 'not-found');
  assert.equal(world.refusal(4, 'status', 'other:thing').code, 'not-found');

  world.answer('finish', '--abort');
  assert.equal(
    refusedText(world, 4, 'status'),
    lines(
      'stint: There is no open session.',
      '  expected: an open session of this checkout, or --session',
      `  perhaps: review:${name}`,
      `  try: name one with --session, for example --session review:${name}`,
    ),
  );
  const empty = createWorld(context);
  assert.equal(
    refusedText(empty, 4, 'note', 'x'),
    lines(
      'stint: There is no open session.',
      '  expected: an open session of this checkout, or --session',
      '  try: stint begin KIND',
    ),
  );
});

test('5 illegal transition: from here only the moves that are listed', (context) => {
  const world = begun(context);
  assert.equal(
    refusedText(world, 5, 'advance', 'reviews'),
    lines(
      'stint: From context, reviews cannot be entered.',
      '  legal: stint advance change-context --session review:2026-03-17-main, stint advance context --round 2 --session review:2026-03-17-main',
      '  try: stint advance change-context --session review:2026-03-17-main',
    ),
  );
  assert.equal(
    refusedText(world, 5, 'advance', 'complete'),
    lines(
      'stint: complete is reached only by complete-round.',
      '  legal: stint advance change-context --session review:2026-03-17-main, stint advance context --round 2 --session review:2026-03-17-main',
      '  try: stint advance change-context --session review:2026-03-17-main',
    ),
  );
  assert.deepEqual(world.refusal(5, 'advance', 'revews').candidates, ['reviews']);
  assert.match(world.refusal(5, 'advance', '--skip', 'reviews', '--reason', 'r').message, /reviews cannot be skipped/);
  world.answer('finish', '--abort');
  assert.equal(
    refusedText(world, 5, 'advance', 'change-context', '--session', name),
    lines(
      `stint: review:${name} is closed (aborted): nothing but a new start moves it.`,
      '  expected: an open session',
      `  legal: stint begin review --name ${name}`,
      `  try: stint begin review --name ${name}`,
    ),
  );
  assert.match(world.refusal(5, 'finish', '--session', name).message, /is closed already: aborted/);
});

test('6 invariant unmet: what is missing is listed', (context) => {
  const world = begun(context);
  assert.equal(
    refusedText(world, 6, 'finish'),
    lines(
      `stint: review:${name} is not complete: round 1 is not completed (still to come: change-context, analysis, reviews, aggregation, discourse, synthesis).`,
      '  expected: nothing missing',
      `  legal: stint advance change-context --session review:${name}, stint finish --abort --session review:${name}`,
      `  try: stint advance change-context --session review:${name}`,
    ),
  );
  assert.deepEqual(world.refusal(6, 'finish').faults, [
    'round 1 is not completed (still to come: change-context, analysis, reviews, aggregation, discourse, synthesis)',
  ]);
  const ready = world.with({ input: json(approval) });
  assert.deepEqual(ready.refusal(6, 'complete-round', '-').faults, [
    'not entered yet: change-context',
    'not entered yet: analysis',
    'not entered yet: reviews',
    'not entered yet: aggregation',
    'not entered yet: discourse',
    'not entered yet: synthesis',
  ]);
});

test('6 invariant unmet: a final document that is asked for and is not there', (context) => {
  const world = reviewIn(context, 'synthesis');
  const ready = world.with({ input: json(approval) });
  assert.equal(
    ready.refusal(6, 'complete-round', '-', '--require-final').message,
    'The final document is missing: rounds/round-1/final.md.',
  );
  world.write(`.ocr/sessions/${name}/rounds/round-1/final.md`, '# Final\n');
  ready.answer('complete-round', '-', '--require-final');
});

test('6 invariant unmet: doctor prints its report and what it found, in both forms', (context) => {
  const world = reviewIn(context, 'complete');
  const path = `.ocr/sessions/${name}/rounds/round-1/round-meta.json`;
  rmSync(world.path(path));
  const outcome = world.run('doctor');
  assert.equal(outcome.status, 6);
  assert.equal(
    world.scrub(outcome.stdout),
    lines(
      `not healthy: 1 session, 9 events in ${storeOf(world)}`,
      `review:${name}  its mirror ${path} is not there  stint rebuild --session review:${name}`,
    ),
  );
  assert.equal(
    outcome.stderr,
    lines('stint: There is one finding.', '  expected: no findings', '  try: stint doctor --fix'),
  );
  const report = world.run('doctor', '--json');
  assert.equal(report.status, 6);
  assert.equal(report.stderr, '');
  assertErrorKeys(report.json);
  assert.equal(report.json.healthy, false);
  assert.deepEqual(report.json.findings, [
    {
      subject: `review:${name}`,
      problem: `its mirror ${path} is not there`,
      fix: `stint rebuild --session review:${name}`,
    },
  ]);
  assert.deepEqual(world.answer('rebuild').sessions[0].files, [path]);
  world.answer('doctor');
});

test('7 invalid input: every fault of a payload is named by its JSON path with what was expected there', (context) => {
  const world = reviewIn(context, 'synthesis');
  const payload = {
    schema_version: 2,
    verdict: 'APPROVED',
    reviewers: [
      { type: 'quality', instance: '1', findings: [{ title: 'short', category: 'bug', severity: 'bad', summary: 1 }] },
      { instance: 2 },
      'nobody',
    ],
  };
  const error = world.with({ input: json(payload) }).refusal(7, 'complete-round', '-');
  assert.equal(error.code, 'invalid-input');
  assert.deepEqual(error.faults, [
    '$.schema_version expected 1, found 2',
    '$.verdict expected exactly one of APPROVE, REQUEST CHANGES, NEEDS DISCUSSION, found "APPROVED"',
    '$.reviewers[0].instance expected a number, found "1"',
    '$.reviewers[0].findings[0].title expected at least 8 characters',
    '$.reviewers[0].findings[0].category expected one of blocker, should_fix, suggestion, style, found "bug"',
    '$.reviewers[0].findings[0].severity expected one of critical, high, medium, low, info, found "bad"',
    '$.reviewers[0].findings[0].summary expected a string, found 1',
    '$.reviewers[1].type is missing',
    '$.reviewers[1].findings is missing',
    '$.reviewers[2] expected an object, found "nobody"',
  ]);
});

test('7 invalid input: a payload must agree with itself', (context) => {
  const world = reviewIn(context, 'synthesis');
  const faultsOf = (payload: unknown): readonly string[] =>
    world.with({ input: json(payload) }).refusal(7, 'complete-round', '-').faults;
  assert.deepEqual(faultsOf({ ...objection, verdict: 'APPROVE' }), [
    '$.verdict is APPROVE with 1 blockers: expected none',
  ]);
  assert.deepEqual(faultsOf({ ...approval, verdict: 'REQUEST CHANGES' }), [
    '$.verdict is REQUEST CHANGES without a blocker: expected at least one',
  ]);
  assert.deepEqual(faultsOf({ ...objection, synthesis_counts: { blockers: 2, should_fix: 0, suggestions: 0 } }), [
    "$.synthesis_counts.blockers is 2, but the reviewers' findings hold 1 of category blocker",
  ]);
  assert.deepEqual(faultsOf({ ...approval, synthesis_findings: [] }), [
    '$.synthesis_findings leaves out principal-1/0',
  ]);
});

test('7 invalid input: what is no JSON is named with its line and column', (context) => {
  const world = begun(context);
  const messageOf = (input: string): string => world.with({ input }).refusal(7, 'complete-round', '-').message;
  const place = /^The payload in standard input is not JSON at (line \d+, column \d+)[.:]/;
  const placeOf = (input: string): string | undefined => place.exec(messageOf(input))?.[1];
  assert.equal(placeOf('{\n  "a": 1,\n}'), 'line 3, column 1');
  assert.equal(placeOf('{\n  "a" 1\n}'), 'line 2, column 7');
  assert.equal(placeOf('{\n  "a": yes,\n  "b": 2\n}'), 'line 2, column 8');
  assert.equal(placeOf('{\n  "a": \n}'), 'line 3, column 1');
  assert.equal(messageOf(' \n'), 'There is no payload: standard input is empty.');
  assert.match(messageOf(`${'['.repeat(5000)}${']'.repeat(5000)}`), /nested deeper than 100 levels/);
});

test('9 conflict: revision, request id or payload differs from what is stored', (context) => {
  const world = reviewIn(context, 'synthesis');
  assert.equal(
    refusedText(world, 9, 'note', 'x', '--expect-revision', '3'),
    lines(
      `stint: review:${name} is at revision 8, not 3: somebody else has moved it.`,
      '  expected: revision 8',
      `  try: stint status --session review:${name}`,
    ),
  );
  completeRound(world);
  assert.equal(
    refusedText(world.with({ input: json(objection) }), 9, 'complete-round', '-'),
    lines(
      'stint: The round 1 was completed at 2026-03-17T12:00:00.000Z with another payload.',
      '  expected: the same payload, or the next round',
      '  try: stint advance context --round 2 --session review:2026-03-17-main',
    ),
  );
  world.answer('note', 'one', '--request-id', 'r1');
  assert.equal(
    refusedText(world, 9, 'note', 'two', '--request-id', 'r1'),
    lines(
      'stint: The request r1 was used before: note by ana@desk at 2026-03-17T12:00:00.000Z.',
      '  expected: the same verb, actor and input, or a new request id',
      '  try: use a new --request-id',
    ),
  );
  assert.equal(world.refusal(9, 'begin', 'review', '--name', name, '--branch', 'other').code, 'conflict');
});

test('10 lease: whoever does not hold a session that is held is told who does, where, since when, until when and for what', (context) => {
  const world = begun(context);
  world.answer('lease', 'claim', '--purpose', 'round 1');
  const held = `stint: ${session} is held by ana@desk on desk (worktree main) since 2026-03-17T12:00:00.000Z until 2026-03-17T12:30:00.000Z, for: round 1; whether it is alive is not known.`;
  assert.equal(
    refusedText(world, 10, 'advance', 'change-context', '--actor', 'bob', '--session', name),
    lines(
      held,
      '  expected: its lease, or its token; it ends at 2026-03-17T12:30:00.000Z',
      `  legal: stint lease show --session ${session}, stint lease claim --take-over --session ${session}`,
      `  try: stint lease show --session ${session}`,
    ),
  );
  const error = world.refusal(10, 'finish', '--abort', '--actor', 'bob', '--session', name);
  assert.deepEqual([error.code, error.retryable, `stint: ${error.message}`], ['lease', true, held]);
  assert.equal(
    refusedText(world, 10, 'note', 'x', '--lease-token', '1'),
    lines(
      `stint: The lease token 1 does not count for ${session}: ana@desk holds it since 2026-03-17T12:00:00.000Z with another one.`,
      '  expected: the newest token of this session, or none (--lease-token, STINT_LEASE_TOKEN)',
      `  legal: stint lease show --session ${session}`,
      `  try: stint lease show --session ${session}`,
    ),
  );
});

test('11 untrusted, 12 policy: a bundle that the policy does not accept, and a call that would have it accept more', (context) => {
  const world = createWorld(context);
  world.write('b.json', printBundle(3, sampleBundle3()));
  world.write('docs/tests/handoff-bundle-trust-policy.json', '{"max_age_hours": 1}');
  const { stdout, stderr, status } = world.run('bundle', 'trust', '--bundle', 'b.json');
  assert.equal(status, 11);
  assert.match(stdout, /^Result +untrusted$/m);
  assert.equal(
    world.scrub(stderr),
    lines(
      'stint: ROOT/project/b.json is not trusted: it was exported at 2026-03-12T10:00:00.000Z, more than an hour ago.',
      '  expected: a bundle that the trust policy accepts',
      '  try: have it exported again',
    ),
  );
  const error = world.refusal(12, 'bundle', 'trust', '--bundle', 'b.json', '--max-age-hours', '200');
  assert.equal(error.code, 'policy');
});

test('13 newer version: a store with a newer schema is read, and not written', { skip: fileOnly }, (context) => {
  const world = reviewIn(context, 'synthesis');
  tamper(world, (database) => database.exec('PRAGMA user_version = 99'));
  const before = dumpStore(world);
  for (const args of [['status'], ['list'], ['show'], ['log'], ['timeline']])
    assert.equal(world.run(...args).status, 0);
  for (const args of [['begin', 'review'], ['note', 'x'], ['finish', '--abort'], ['rebuild']]) {
    assert.equal(
      refusedText(world, 13, ...args),
      lines(
        'stint: The store ROOT/project/.stint/stint.db was written by a newer stint (schema 99, this program knows 6); it can be read, not written.',
        '  expected: a store of schema 6 or older',
        '  try: use the newer stint',
      ),
    );
  }
  assert.equal(world.refusal(13, 'advance', 'context').code, 'newer-version');
  assert.deepEqual(dumpStore(world), before);
});

/** A review as a later program might define it: with an event that this one does not know. */
const laterReview = defineKind({
  name: 'review',
  summary: 'a review of the future',
  stateVersion: review.stateVersion,
  commands: v.variant('type', [
    v.object({ type: v.literal('begin') }),
    v.object({ type: v.literal('continue'), after: v.nullable(v.string()) }),
  ]),
  events: v.variant('type', [v.object({ type: v.literal('PhaseImagined'), dream: v.string() })]),
  eventVersions: { PhaseImagined: 1 },
  initial: 0,
  evolve: (state) => state + 1,
  decide: () => ({ ok: true, value: [{ type: 'PhaseImagined', dream: 'a longer one' }] }),
  view: () => ({
    position: 'dreaming',
    where: { phase: 'dreaming', phase_number: 1, round: 1 },
    fields: { current_phase: 'dreaming' },
    remaining: [],
    missing: ['everything'],
    next: { kind: 'advance', text: 'Wake up.', command: null },
    evidence: [],
  }),
  folder: (of) => `.ocr/sessions/${of}`,
  mirrors: () => [],
  examples: [{ type: 'begin' }, { type: 'continue', after: null }],
});

test(
  '13 newer version: a session that holds an unknown event is read, and not written; the others are',
  { skip: fileOnly },
  async (context) => {
    const world = begun(context);
    const later = openStint({ cwd: world.project, kinds: [laterReview], now: () => '2026-03-17T12:00:00.000Z' });
    assert.ok(later.ok);
    const made = await later.value.run('begin', { kind: 'review', name: 'from-later' });
    assert.ok(made.ok);
    await later.value.close();

    const status = world.answer('status', 'from-later');
    assert.equal(status.position, 'dreaming');
    assert.match(status.read_only, /PhaseImagined/);
    assert.equal(listOf(world.answer('log', 'from-later').events).at(-1).type, 'PhaseImagined');
    assert.equal(world.answer('list').total, 2);
    const before = dumpStore(world);
    for (const args of [
      ['note', 'x'],
      ['advance', 'analysis'],
      ['finish', '--abort'],
    ]) {
      assert.equal(
        refusedText(world, 13, ...args, '--session', 'from-later'),
        lines(
          'stint: review:from-later holds the event PhaseImagined (version 1, event 2), which this program does not know; it can be read, not written.',
          '  expected: events that this program knows',
          '  try: use the newer stint that wrote it',
        ),
      );
    }
    assert.equal(world.refusal(13, 'begin', 'review', '--name', 'from-later').code, 'newer-version');
    assert.deepEqual(dumpStore(world), before);
    world.answer('advance', 'change-context', '--session', name);
  },
);

test('14 damaged: a store file that is none is named, and left as it is', { skip: fileOnly }, (context) => {
  const world = begun(context);
  const file = world.path('.stint/stint.db');
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  writeFileSync(file, 'this was a store once\n'.repeat(500));
  const size = statSync(file).size;
  for (const args of [['list'], ['status'], ['begin', 'review'], ['note', 'x']]) {
    assert.match(refusedText(world, 14, ...args), /^stint: The store ROOT\/project\/.stint\/stint.db is damaged: /);
    assert.equal(world.refusal(14, ...args).code, 'damaged');
  }
  assert.equal(statSync(file).size, size);
});

test(
  '14 damaged: an empty or missing store file beside its log is not taken for a new store',
  { skip: fileOnly },
  (context) => {
    const world = begun(context);
    const file = world.path('.stint/stint.db');
    const log = statSync(`${file}-wal`).size;
    assert.ok(log > 0);
    truncateSync(file, 0);
    assert.match(refusedText(world, 14, 'begin', 'review'), /stint.db is empty, but its log stint.db-wal is there/);
    assert.match(world.run('list').stderr, /^stint: warning: .* This is what can be read of it \(1 session\)/);
    rmSync(file);
    assert.match(refusedText(world, 14, 'begin', 'review'), /stint.db is missing, but its log stint.db-wal is there/);
    assert.match(world.run('list').stdout, /^review:/m);
    assert.equal(statSync(`${file}-wal`).size, log, 'the log is still there');
  },
);

test('14 damaged: a folder of ours that is no folder is named', (context) => {
  const world = createWorld(context);
  world.write('.stint', 'a file');
  for (const args of [['list'], ['begin', 'review']])
    assert.match(refusedText(world, 14, ...args), /^stint: ROOT\/project\/\.stint is not a folder\./);
});

test('1 is never given for what happens outside: a working folder that is gone is refused by name', (context) => {
  const world = createWorld(context, { git: false });
  const gone = join(world.root, 'gone');
  mkdirSync(gone);
  // The shell stands in the folder when it is removed, and then runs the verb there.
  const child = spawnSync(
    'sh',
    ['-c', 'rmdir "$1" && exec "$2" "$3" list --json', 'sh', gone, process.execPath, command],
    {
      cwd: gone,
      env: world.env,
      encoding: 'utf8',
    },
  );
  assert.notEqual(child.status, 1, child.stderr);
  assert.equal(child.stderr, '');
  const printed: Printed = JSON.parse(child.stdout);
  assertErrorKeys(printed);
  assert.ok([4, 14].includes(printed.error.exit));
});

test('JSON is printed only where it was asked for, also when the verb is not known', (context) => {
  const world = createWorld(context, { git: false });
  for (const word of ['json', 'jsno']) {
    const outcome = world.run(word);
    assert.equal(outcome.status, 2);
    assert.equal(outcome.stdout, '', `${word} is a word, not a flag`);
    assert.match(outcome.stderr, /There is no verb/);
  }
  for (const flags of [['--json'], ['--format', 'json'], ['--format=json']]) {
    const outcome = world.run('bgin', ...flags);
    assert.equal(outcome.status, 2);
    assert.equal(outcome.stderr, '');
    assertErrorKeys(outcome.json);
  }
});

test('the library refuses a clock that tells no time, and everything after it was closed; closing twice is closing', async (context) => {
  const world = createWorld(context);
  const wrong = openStint({ cwd: world.project, now: () => 'yesterday' });
  assert.ok(!wrong.ok);
  assert.match(wrong.error.message, /now\(\) answered "yesterday", which is no time/);
  const opened = openStint({ cwd: world.project, actor: 'ana' });
  assert.ok(opened.ok);
  await opened.value.close();
  await opened.value.close();
  const refused = await opened.value.run('list');
  assert.ok(!refused.ok);
  assert.equal(refused.error.refusal.code, 'usage');
});
