/**
 * The defects that the original review workflow had or has: each either cannot happen here, and a test says so, or does
 * not concern a review in this program, and the table says why. The numbers are those of our notes on the original.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openStint } from '../src/index.ts';
import { processesOf, startProcess, startProgram } from './support/processes.ts';
import { mapped } from '../src/kinds/map/examples.ts';
import {
  advanceTo,
  approval,
  completeRound,
  finding,
  json,
  name,
  objection,
  phases,
  reviewIn,
  session,
} from './support/reviews.ts';
import { assertSound, dumpStore, eventsOf, litterIn } from './support/stores.ts';
import { createWorld, listOf, repository, type Printed, type TestWorld } from './support/world.ts';

const here = 'defects.test.ts';
const noPage = 'about the web page, which is not there yet';
const packaging = 'about packaging, not about state';

/** What hurt users (6) and what was reproduced (9): the file with the test that is named after it, or why there is none. */
const defects: Readonly<Record<string, { readonly file: string } | { readonly notHere: string }>> = {
  '6.1': { file: here },
  '6.2': { file: here },
  '6.3': { notHere: packaging },
  '6.4': { notHere: packaging },
  '6.5': { file: here },
  '6.6': { file: here },
  '6.7': { file: here },
  '6.8': { file: here },
  '6.9': { file: here },
  '6.10': { file: here },
  '6.11': { file: '../src/surfaces/host.test.ts' },
  '6.12': { file: here },
  '6.13': { notHere: 'no verb starts a process whose output could be held open' },
  '6.14': { file: here },
  '6.15': { file: here },
  '6.16': { file: here },
  '6.17': { file: here },
  '6.18': { file: here },
  '6.19': { file: here },
  '6.20': { file: here },
  '6.21': { file: here },
  '6.22': { file: here },
  '6.23': { file: here },
  '6.24': { file: here },
  '6.25': { notHere: 'no history of commands is kept beside the log' },
  '6.26': { file: here },
  '6.27': { notHere: noPage },
  '6.28': { file: here },
  '6.29': { file: here },
  '6.30': { file: here },
  '6.31': { file: here },
  '6.32': { file: here },
  '6.33': { notHere: 'about Windows' },
  '6.34': { notHere: packaging },
  '6.35': { file: here },
  '6.36': { file: here },
  '9.1 fresh begins': { file: 'races.test.ts' },
  '9.1 one completion': { file: 'races.test.ts' },
  '9.1 one close': { file: 'races.test.ts' },
  '9.1 nothing on disk': { file: 'races.test.ts' },
  '9.2 second run': { file: here },
  '9.2 one id': { file: here },
  '9.2 other completion': { file: here },
  '9.3 complete by a step': { file: here },
  '9.3 closed sessions': { file: here },
  '9.3 rounds': { file: here },
  '9.3 next action': { file: here },
  '9.3 driver of a finish': { file: here },
  '9.3 other verdict': { file: here },
  '9.3 fresh': { file: here },
  '9.3 cap of resumes': { notHere: 'there is no cap: a closed session goes on as often as it is begun by name' },
  '9.3 session ids': { file: here },
  '9.3 ended instances': { file: here },
  '9.3 resume by spawning': { notHere: 'no verb starts an agent' },
  '9.4 folder of a round': { file: here },
  '9.4 restart in round 2': { file: here },
};

test('every defect of the table has a test that is named after it, or a reason to have none', () => {
  for (let row = 1; row <= 36; row += 1) assert.ok(`6.${row}` in defects, `6.${row}`);
  for (const [id, defect] of Object.entries(defects)) {
    if ('notHere' in defect) assert.ok(defect.notHere !== '');
    else {
      const source = readFileSync(join(repository, 'test', defect.file), 'utf8');
      assert.ok(
        source.includes(`'${id}: `) || source.includes(`\`${id}: `) || source.includes(`(${id})`),
        `${id} in ${defect.file}`,
      );
    }
  }
});

const folder = `.ocr/sessions/${name}`;
const metaPath = `${folder}/rounds/round-1/round-meta.json`;

const countOf = (world: TestWorld, type: string): number =>
  eventsOf(world, session).filter((event) => event.type === type).length;

test('6.1: a review is not closed as completed before its round is, whatever lies in its folder', (context) => {
  for (const phase of ['context', 'reviews', 'synthesis'] as const) {
    const world = reviewIn(context, phase);
    world.write(`${folder}/rounds/round-1/final.md`, '# Final\n');
    world.write(metaPath, json(approval));
    assert.equal(world.refusal(6, 'finish').code, 'invariant-unmet');
    const { status, completeness } = world.answer('status');
    assert.deepEqual([status, completeness], ['active', 'open_no_artifact']);
  }
});

test('6.2: a process that keeps the store open loses nothing that others write, and they nothing of its', async (context) => {
  const world = reviewIn(context, 'context');
  const opened = openStint({ cwd: world.project, actor: 'long-lived' });
  assert.ok(opened.ok);
  const expected: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    assert.ok((await opened.value.run('note', { text: `inside ${count}` })).ok);
    world.answer('note', `outside ${count}`);
    expected.push(`inside ${count}`, `outside ${count}`);
  }
  assert.ok((await opened.value.run('advance', { phase: 'change-context' })).ok);
  world.answer('advance', 'analysis');
  const seen = await opened.value.run('status', {});
  assert.ok(seen.ok);
  assert.equal(seen.value['current_phase'], 'analysis', 'it sees what others did');
  await opened.value.close();
  assert.deepEqual(
    eventsOf(world, session)
      .filter(({ type }) => type === 'Noted')
      .map(({ data }) => data.text),
    expected,
  );
  assertSound(world);
});

test('6.5: with two open sessions nothing is closed, completed or mirrored by a guess', (context) => {
  const world = reviewIn(context, 'synthesis');
  world.with({ now: '2026-03-18T12:00:00Z' }).answer('begin', 'review', '--name', 'newer', '--branch', 'newer');
  const before = dumpStore(world);
  world.refusal(3, 'finish');
  world.refusal(3, 'finish', '--abort');
  world.with({ input: json(approval) }).refusal(3, 'complete-round', '-');
  assert.deepEqual(dumpStore(world), before);
  assert.equal(existsSync(world.path(metaPath)), false);
  completeRound(world, approval, '--session', name);
  assert.equal(existsSync(world.path(metaPath)), true);
  assert.deepEqual(readdirSync(world.path('.ocr/sessions/newer')), []);
});

test('6.6: open sessions that nobody has closed do not keep a branch from its own, and are listed', (context) => {
  const world = createWorld(context);
  for (let day = 1; day <= 5; day += 1) {
    world.with({ now: `2026-02-0${day}T12:00:00Z` }).answer('begin', 'review', '--branch', `stale-${day}`);
  }
  assert.equal(world.answer('begin', 'review').resumed, false);
  assert.equal(world.answer('begin', 'review').session, session);
  assert.equal(world.answer('list').total, 6);
  assert.equal(world.refusal(3, 'status').candidates.length, 6);
  assert.equal(world.with({ env: { STINT_SESSION: session } }).answer('status').session, session);
});

test('6.7: no phase is jumped over, and phases of another workflow are none', (context) => {
  const world = reviewIn(context, 'reviews');
  for (const phase of [
    'discourse',
    'synthesis',
    'complete',
    'context',
    'analysis',
    'topology',
    'map-context',
    'flow-analysis',
  ])
    assert.equal(world.refusal(5, 'advance', phase).code, 'illegal-transition', phase);
  assert.equal(world.answer('status').current_phase, 'reviews');
});

test('6.8: a session has one closing event, however often and in whichever way it is finished', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  world.answer('finish', '--session', name);
  world.refusal(5, 'finish', '--abort', '--session', name);
  assert.equal(countOf(world, 'SessionClosed'), 1);
  assert.equal(world.answer('status', name).outcome, 'completed');
});

test('6.8: a close leaves no process behind, and ends none twice', (context) => {
  const world = reviewIn(context, 'complete');
  const ended = startProcess(world, 'instance');
  world.answer('process', 'end', ended);
  const left = [startProcess(world, 'instance'), startProcess(world, 'utility')];
  world.answer('finish');
  world.answer('finish', '--session', name);
  world.answer('process', 'sweep');
  assert.deepEqual(
    eventsOf(world, session)
      .filter(({ type }) => type === 'ProcessEnded')
      .map(({ data }) => [data.process, data.outcome]),
    [
      [ended, 'done'],
      [left[0], 'cancelled'],
      [left[1], 'cancelled'],
    ],
  );
  assert.deepEqual(
    Object.values(processesOf(world)).filter(({ status }) => status === 'running'),
    [],
  );
});

test('6.9: the next round follows from the log, not from files that are there or missing', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  rmSync(world.path(folder), { recursive: true });
  for (const round of [2, 3, 7]) world.write(`${folder}/rounds/round-${round}/final.md`, '# Final\n');
  assert.equal(world.answer('begin', 'review', '--name', name).round, 2);
});

test('6.10: a review that was left alone for weeks is still open, and goes on where it was left', (context) => {
  const world = reviewIn(context, 'reviews');
  const later = world.with({ now: '2026-05-01T12:00:00Z' });
  assert.equal(later.answer('status').status, 'active');
  assert.equal(later.answer('doctor').healthy, true);
  const { session: goesOn, phase, resumed } = later.answer('begin', 'review');
  assert.deepEqual([goesOn, phase, resumed], [session, 'reviews', true]);
});

test('6.10: a process that works for long without a word is quiet, and no sweep takes it for dead', async (context) => {
  const world = reviewIn(context, 'reviews');
  const { pid } = await startProgram(context);
  const [seen, unseen] = [startProcess(world, 'instance', '--pid', String(pid)), startProcess(world, 'instance')];
  const later = world.with({ now: '2026-03-17T20:00:00Z' });
  assert.deepEqual(later.answer('process', 'sweep').swept, []);
  const processes = processesOf(later);
  assert.deepEqual([processes[seen].liveness, processes[unseen].liveness], ['alive', 'quiet']);
  for (const id of [seen, unseen]) assert.equal(later.answer('process', 'end', id).status, 'done');
});

test('6.12: whatever is started and stopped beside it, a process that lives stays on record as running', async (context) => {
  const world = reviewIn(context, 'reviews');
  const { pid } = await startProgram(context);
  startProcess(world, 'supervisor', '--pid', String(pid));
  startProcess(world, 'instance');
  const before = dumpStore(world);
  for (let start = 0; start < 2; start += 1) {
    const opened = openStint({ cwd: world.project, now: () => '2026-03-17T13:00:00.000Z' });
    assert.ok(opened.ok);
    for (const verb of ['list', 'progress', 'process list', 'process sweep', 'reconcile', 'doctor'])
      assert.ok((await opened.value.run(verb)).ok, verb);
    await opened.value.close();
    for (const args of [['progress'], ['process', 'sweep'], ['doctor'], ['rebuild']]) world.answer(...args);
  }
  assert.deepEqual(dumpStore(world), before);
  assert.equal(world.answer('status').activity, 'running');
});

test('6.14: what is asked again and again does not make the store grow', (context) => {
  const world = reviewIn(context, 'complete');
  const ask = (): unknown => {
    completeRound(world);
    world.answer('begin', 'review');
    world.answer('rebuild');
    world.answer('status');
    return dumpStore(world);
  };
  const before = ask();
  assert.deepEqual(ask(), before);
});

test('6.15: no verb leaves a temporary file behind, also where its mirror could not be written', (context) => {
  const world = reviewIn(context, 'synthesis');
  assert.deepEqual(litterIn(world), []);
  // A folder stands where the file belongs.
  mkdirSync(world.path(metaPath), { recursive: true });
  const outcome = world.with({ input: json(approval) }).run('complete-round', '-');
  assert.equal(outcome.status, 0, 'a mirror that fails does not fail the verb');
  assert.match(outcome.stderr, /^stint: warning: .*round-meta\.json could not be written/);
  assert.deepEqual(litterIn(world), []);
  rmSync(world.path(metaPath), { recursive: true });
  world.answer('rebuild');
  assertSound(world);
});

test('6.15: rebuild says to a person what it could not write', (context) => {
  const world = reviewIn(context, 'complete');
  rmSync(world.path(metaPath));
  mkdirSync(world.path(metaPath));
  const { stdout, stderr } = world.run('rebuild');
  assert.match(`${stdout}${stderr}`, /could not be written/);
  assert.doesNotMatch(stdout, /1 file written/);
  const { json: data } = world.run('rebuild', '--json');
  assert.deepEqual(data.sessions[0].files, [], 'what was not written is not called written');
  assert.match(listOf(data.warnings).join('\n'), /could not be written/);
});

test('6.16: a round that is complete and not finished shows as that, with what is left to do', (context) => {
  const world = reviewIn(context, 'complete');
  const { status, completeness, missing, next_action: next } = world.answer('status');
  assert.deepEqual([status, completeness, missing, next.kind], ['active', 'open_with_artifact', [], 'finish']);
  assert.equal(next.command, `stint finish --session ${session}`);
});

test('6.17: a review that was left after the reviewers says what is missing and how to go on', (context) => {
  const world = reviewIn(context, 'reviews');
  const { completeness, missing, remaining, next_action: next } = world.answer('status');
  assert.equal(completeness, 'open_no_artifact');
  assert.match(missing[0], /aggregation, discourse, synthesis/);
  assert.deepEqual(remaining, ['aggregation', 'discourse', 'synthesis', 'complete']);
  assert.equal(next.command, `stint advance aggregation --session ${session}`);
});

test('6.18: begin on a running review loses no phase, and stores nothing', (context) => {
  const world = reviewIn(context, 'discourse');
  const before = dumpStore(world);
  for (const args of [[], ['--name', name], ['--branch', 'main']]) {
    const { phase, resumed } = world.answer('begin', 'review', ...args);
    assert.deepEqual([phase, resumed], ['discourse', true]);
  }
  assert.deepEqual(dumpStore(world), before);
});

test('6.19: a final document alone completes nothing', (context) => {
  const world = reviewIn(context, 'synthesis');
  world.write(`${folder}/rounds/round-1/final.md`, '# Final\n\nAPPROVE\n');
  for (const args of [['rebuild'], ['doctor'], ['list', '--all']]) world.answer(...args);
  const { completeness, evidence } = world.answer('status');
  assert.equal(completeness, 'open_no_artifact');
  assert.equal(listOf(evidence).find(({ label }) => label === 'final review').present, true, 'it is seen all the same');
});

test('6.19: a payload from a file leaves the same mirror as one from a pipe, and a lost mirror is healed', (context) => {
  const [piped, filed] = [reviewIn(context, 'synthesis'), reviewIn(context, 'synthesis')];
  completeRound(piped, objection);
  filed.answer('complete-round', '--file', filed.write('findings.json', json(objection)));
  const expected = readFileSync(piped.path(metaPath), 'utf8');
  assert.equal(readFileSync(filed.path(metaPath), 'utf8'), expected);
  for (const heal of [['complete-round', '--file', 'findings.json'], ['rebuild'], ['note', 'x']]) {
    rmSync(filed.path(`${folder}/rounds`), { recursive: true });
    filed.answer(...heal);
    assert.equal(readFileSync(filed.path(metaPath), 'utf8'), expected, heal[0]);
  }
});

test('6.19: the counts of a round are the same wherever they are shown', (context) => {
  const world = reviewIn(context, 'synthesis');
  const counts = {
    verdict: 'REQUEST CHANGES',
    blocker_count: 1,
    should_fix_count: 0,
    suggestion_count: 0,
    reviewer_count: 1,
    total_finding_count: 2,
  };
  const pick = (from: Printed): unknown => Object.fromEntries(Object.keys(counts).map((key) => [key, from[key]]));
  assert.deepEqual(pick(world.with({ input: json(objection) }).answer('complete-round', '-')), counts);
  assert.deepEqual(pick(world.answer('status').rounds[0]), counts);
  assert.deepEqual(pick(world.answer('show').session.rounds[0]), counts);
  assert.deepEqual(listOf(world.answer('log').events).at(-1).data.summary, counts);
});

test('6.20: a verdict outside the vocabulary and a title that says nothing are refused', (context) => {
  const world = reviewIn(context, 'synthesis');
  for (const verdict of ['accept_with_followups', 'APPROVED', 'approve', 'LGTM', 'REQUEST_CHANGES', '']) {
    const { faults } = world.with({ input: json({ ...approval, verdict }) }).refusal(7, 'complete-round', '-');
    assert.match(faults[0], /^\$\.verdict expected exactly one of APPROVE, REQUEST CHANGES, NEEDS DISCUSSION/);
  }
  const short = {
    ...approval,
    reviewers: [{ type: 'a', instance: 1, findings: [finding('s'), finding('  seven  ')] }],
  };
  assert.deepEqual(world.with({ input: json(short) }).refusal(7, 'complete-round', '-').faults, [
    '$.reviewers[0].findings[0].title expected at least 8 characters',
    '$.reviewers[0].findings[1].title expected at least 8 characters',
  ]);
  completeRound(world, { ...approval, verdict: '  APPROVE ' });
  assert.equal(JSON.parse(readFileSync(world.path(metaPath), 'utf8')).verdict, 'APPROVE');
});

test('6.21: the verdict agrees with the blockers', (context) => {
  const world = reviewIn(context, 'synthesis');
  const refuse = (payload: unknown): string =>
    world.with({ input: json(payload) }).refusal(7, 'complete-round', '-').faults[0];
  assert.match(refuse({ ...objection, verdict: 'APPROVE' }), /^\$\.verdict is APPROVE with 1 blockers/);
  assert.match(
    refuse({ ...approval, verdict: 'REQUEST CHANGES' }),
    /^\$\.verdict is REQUEST CHANGES without a blocker/,
  );
  completeRound(world, {
    ...objection,
    verdict: 'APPROVE',
    synthesis_counts: { blockers: 0, should_fix: 0, suggestions: 0 },
  });
});

test('6.22: findings that two reviewers share are counted once where the synthesis says so, and never above the tally', (context) => {
  const world = reviewIn(context, 'synthesis');
  const twice = {
    schema_version: 1,
    verdict: 'REQUEST CHANGES',
    reviewers: [
      { type: 'a', instance: 1, findings: [finding('The same thing twice', 'blocker')] },
      { type: 'b', instance: 1, findings: [finding('The same thing twice', 'blocker')] },
    ],
    synthesis_counts: { blockers: 1, should_fix: 0, suggestions: 0 },
  };
  const { faults } = world
    .with({ input: json({ ...twice, synthesis_counts: { ...twice.synthesis_counts, blockers: 3 } }) })
    .refusal(7, 'complete-round', '-');
  assert.match(faults[0], /^\$\.synthesis_counts\.blockers is 3/);
  const answer = world.with({ input: json(twice) }).answer('complete-round', '-');
  assert.deepEqual([answer.blocker_count, answer.total_finding_count, answer.reviewer_count], [1, 2, 2]);
});

test('6.23: files of later phases move no phase, and missing files of earlier ones hold none back', (context) => {
  const world = reviewIn(context, 'analysis');
  for (const file of ['reviews/a-1.md', 'reviews/b-1.md', 'discourse.md', 'final.md'])
    world.write(`${folder}/rounds/round-1/${file}`, '# Here\n');
  for (const args of [['status'], ['list'], ['doctor'], ['rebuild']]) world.answer(...args);
  assert.equal(world.answer('status').position, 'analysis (3/8), round 1');
  assert.equal(world.answer('advance', 'reviews').phase, 'reviews');
});

test('6.24: folders without a session become none (rounds in number order: cases, H06)', (context) => {
  const world = createWorld(context);
  for (let count = 0; count < 5; count += 1)
    mkdirSync(world.path(`.ocr/sessions/2026-01-0${count + 1}-ghost`), { recursive: true });
  assert.equal(world.answer('list', '--all').total, 0);
  world.answer('begin', 'review');
  assert.equal(world.answer('list', '--all').total, 1);
});

test('6.26: begin says whether it went on and where it stands', (context) => {
  const world = reviewIn(context, 'analysis');
  assert.match(world.run('begin', 'review').stdout, /^goes on {2}review:\S+: analysis \(3\/8\), round 1/);
  assert.match(
    world.run('begin', 'review', '--name', 'another', '--branch', 'b').stdout,
    /^begun {2}review:another: context/,
  );
});

test('6.28: an event of a type that nobody knows is noticed, and changes no derivation', (context) => {
  const world = reviewIn(context, 'analysis');
  const store = dumpStore(world);
  const known = new Set(listOf(store['event']).map(({ type }) => type));
  assert.deepEqual(known, new Set(['SessionOpened', 'RoundStarted', 'PhaseEntered']));
  // How a session with an unknown event is read and not written: cli-exits.test.ts, 13.
  assert.equal(world.answer('doctor').healthy, true);
});

test('6.29: an abort that makes way for a new session and that session are one transaction', (context) => {
  const world = reviewIn(context, 'reviews');
  const { session: fresh, aborted } = world.answer('begin', 'review', '--fresh');
  const closing = eventsOf(world, aborted).at(-1);
  const opening = eventsOf(world, fresh)[0];
  assert.equal(closing.type, 'SessionClosed');
  assert.deepEqual(closing.data, { outcome: 'aborted', reason: `begun anew as ${fresh}` });
  assert.equal(closing.cause, opening.cause);

  const before = dumpStore(world);
  world.refusal(9, 'begin', 'review', '--fresh', '--expect-revision', '77');
  assert.deepEqual(dumpStore(world), before, 'refused as a whole');
});

test('6.30: verbs of older programs are usage errors, not bugs', (context) => {
  const world = createWorld(context);
  const retired = ['init', 'transition', 'close', 'round-complete', 'map-complete'];
  for (const verb of [...retired, 'sync', 'state', 'session']) assert.equal(world.refusal(2, verb).code, 'usage', verb);
  for (const verb of retired)
    assert.match(world.refusal(2, 'state', verb).message, /was retired; \S+ does what it did/);
});

test('6.31: a payload above the size of a pipe is taken whole (slowly: cases, L04)', (context) => {
  const world = reviewIn(context, 'synthesis');
  const payload = {
    ...approval,
    reviewers: [
      {
        type: 'a',
        instance: 1,
        findings: Array.from({ length: 300 }, (_, at) => finding(`Finding ${at} of many`, 'style', 'z'.repeat(500))),
      },
    ],
  };
  assert.ok(json(payload).length > 128 * 1024);
  assert.equal(world.with({ input: json(payload) }).answer('complete-round', '-').total_finding_count, 300);
  assert.deepEqual(JSON.parse(readFileSync(world.path(metaPath), 'utf8')), payload);
});

test('6.32: the time of a round begins with the round, and of a session with the session', (context) => {
  const world = reviewIn(context, 'complete');
  world.with({ now: '2026-03-17T15:00:00Z' }).answer('advance', 'context', '--round', '2');
  const { started_at: begun, round_started_at: round } = world.answer('status');
  assert.deepEqual([begun, round], ['2026-03-17T12:00:00.000Z', '2026-03-17T15:00:00.000Z']);
  assert.equal(world.with({ now: '2026-03-17T15:00:00Z' }).answer('timeline').total_ms, 3 * 3_600_000);
});

test('6.35: a normal finish is a completed one, everywhere', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  assert.equal(world.answer('status', name).outcome, 'completed');
  assert.equal(world.answer('list', '--all').sessions[0].outcome, 'completed');
  assert.equal(eventsOf(world, session).at(-1).data.outcome, 'completed');
});

test('6.35: whoever finishes a review is not recorded as cancelled by it', (context) => {
  for (const kind of ['supervisor', 'instance']) {
    const world = reviewIn(context, 'complete');
    const driver = startProcess(world, kind);
    world.answer('finish', '--process', driver);
    assert.equal(processesOf(world)[driver].status, 'running', 'how it ends it says itself');
    world.answer('process', 'end', driver, '--exit-code', '0');
    assert.deepEqual([processesOf(world)[driver].status, processesOf(world)[driver].exit_code], ['done', 0]);
  }
});

test('6.36: a review is resumed in the conversation that was bound, and no reviewer in one that is not its own', (context) => {
  const world = reviewIn(context, 'reviews');
  const lead = startProcess(world, 'supervisor', '--vendor', 'codex');
  const reviewers = [1, 2].map((instance) =>
    startProcess(world, 'instance', '--vendor', 'codex', '--persona', 'principal', '--instance', String(instance)),
  );
  world.answer('process', 'bind', lead, 'shared');
  const resume = { process: lead, vendor: 'codex', vendor_session_id: 'shared', command: 'codex resume shared' };
  assert.deepEqual(world.answer('status').resume, resume);
  for (const id of reviewers) assert.equal(processesOf(world)[id].resume_command, null);
  // Where the host has one conversation for all, binding it to each of them leads to that one.
  for (const id of reviewers) world.answer('process', 'bind', id, 'shared');
  assert.equal(world.answer('status').resume.command, resume.command);
  assert.equal(world.refusal(9, 'process', 'bind', lead, 'its-own').code, 'conflict');
});

/** A world with a finished map. */
const finishedMap = (context: TestContext): TestWorld => {
  const world = createWorld(context);
  world.answer('begin', 'map', '--name', name);
  for (const phase of ['topology', 'flow-analysis', 'requirements-mapping', 'synthesis'])
    world.answer('advance', phase);
  world.with({ input: json(mapped) }).answer('complete-map', '-');
  world.answer('finish');
  return world;
};

test('9.2 second run: a finished map that is begun again is in its next run, which is not complete before it is', (context) => {
  const world = finishedMap(context);
  assert.equal(world.answer('begin', 'map', '--name', name).map_run, 2);
  const { next_action: next, completeness, current_phase: phase } = world.answer('status');
  assert.deepEqual([next.kind, completeness, phase], ['advance', 'open_no_artifact', 'map-context']);
  assert.equal(world.refusal(6, 'finish').code, 'invariant-unmet');
  assert.equal(world.with({ input: json(mapped) }).refusal(6, 'complete-map', '-').code, 'invariant-unmet');
});

test('9.2 one id: a map and a review of one branch on one day have the same id, and neither is in the way of the other', (context) => {
  const world = reviewIn(context, 'reviews');
  const { session: map, session_id: id } = world.answer('begin', 'map');
  assert.deepEqual([map, id], [`map:${name}`, name]);
  assert.equal(world.answer('advance', 'topology').session, map);
  assert.equal(world.answer('advance', 'aggregation').session, session);
  assert.equal(world.answer('status', session).current_phase, 'aggregation');
});

test('9.2 other completion: neither workflow takes the completion of the other, and neither is the worse for it', (context) => {
  const world = finishedMap(context);
  world.answer('begin', 'map', '--name', name);
  const before = dumpStore(world);
  assert.equal(world.with({ input: json(approval) }).refusal(5, 'complete-round', '-', '--session', name).exit, 5);
  assert.deepEqual(dumpStore(world), before);
  const review = reviewIn(context, 'synthesis');
  assert.equal(review.with({ input: json(mapped) }).refusal(5, 'complete-map', '-', '--session', name).exit, 5);
  completeRound(review);
});

test('9.3 complete by a step: it is refused, and leaves no dead end', (context) => {
  const world = reviewIn(context, 'synthesis');
  assert.equal(
    world.refusal(5, 'advance', 'complete').hint,
    'stint complete-round --file round-meta.json --session review:2026-03-17-main',
  );
  assert.equal(world.refusal(5, 'advance', '--phase', 'complete', '--round', '1').code, 'illegal-transition');
  completeRound(world);
  assert.equal(world.answer('finish').outcome, 'completed');
});

test('9.3 closed sessions: neither steps nor completions move them; a new start does', (context) => {
  const closed = reviewIn(context, 'complete');
  closed.answer('finish');
  const aborted = reviewIn(context, 'synthesis');
  aborted.answer('finish', '--abort');
  for (const world of [closed, aborted]) {
    const before = dumpStore(world);
    for (const args of [
      ['change-context'],
      ['context', '--round', '2'],
      ['complete'],
      ['--skip', 'discourse', '--reason', 'r'],
    ])
      assert.equal(world.refusal(5, 'advance', ...args, '--session', name).hint, `stint begin review --name ${name}`);
    const complete = world.with({ input: json(objection) }).run('complete-round', '-', '--session', name, '--json');
    assert.ok([5, 9].includes(complete.status ?? 0), complete.stdout);
    assert.deepEqual(dumpStore(world), before);
  }
  assert.equal(closed.answer('begin', 'review', '--name', name).round, 2);
  const { phase, round } = aborted.answer('begin', 'review', '--name', name);
  assert.deepEqual([phase, round], ['synthesis', 1], 'an aborted one goes on where it was left');
});

test('9.3 closed sessions: one of another day does not go on by itself', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  const next = world.with({ now: '2026-03-18T09:00:00Z' }).answer('begin', 'review');
  assert.deepEqual([next.session, next.resumed], ['review:2026-03-18-main', false]);
});

test('9.3 rounds: only the current and the next one are rounds', (context) => {
  const world = reviewIn(context, 'synthesis');
  const before = dumpStore(world);
  for (const round of ['0', '-3', 'abc', '1.5', ''])
    assert.equal(world.run('advance', 'context', `--round=${round}`).status, 2, round);
  for (const round of ['3', '7', '999999999999999'])
    assert.equal(world.refusal(5, 'advance', 'context', '--round', round).code, 'illegal-transition');
  assert.equal(
    world.refusal(5, 'advance', 'reviews', '--round', '2').code,
    'illegal-transition',
    'a round begins with its first phase',
  );
  const ready = world.with({ input: json(approval) });
  for (const round of ['2', '5'])
    assert.equal(ready.refusal(5, 'complete-round', '-', '--round', round).code, 'illegal-transition');
  assert.equal(ready.run('complete-round', '-', '--round', '0').status, 2);
  assert.deepEqual(dumpStore(world), before);

  assert.equal(world.answer('advance', 'context', '--round', '2').round, 2);
  assert.deepEqual(
    eventsOf(world, session).at(-1).data.left,
    { round: 1, phase: 'synthesis' },
    'what was left is on the record',
  );
  assert.equal(world.refusal(5, 'advance', 'context', '--round', '1').code, 'illegal-transition');
  assert.equal(ready.refusal(5, 'complete-round', '-', '--round', '1').code, 'illegal-transition');
});

test('9.3 next action: whoever does what it says, and nothing else, completes a review', (context) => {
  const world = reviewIn(context, 'context');
  const kinds: string[] = [];
  for (let step = 0; step < 20; step += 1) {
    const { next_action: next } = world.answer('status', name);
    kinds.push(next.kind);
    if (next.command === null) break;
    world.write('round-meta.json', json(approval));
    const [program, ...args] = String(next.command).split(' ');
    assert.equal(program, 'stint');
    world.answer(...args);
  }
  assert.deepEqual(kinds, [...phases.slice(1, 7).map(() => 'advance'), 'complete', 'finish', 'none']);
  assert.equal(world.answer('status', name).completeness, 'complete');

  world.answer('begin', 'review', '--name', name);
  world.answer('finish', '--abort');
  const { kind, command } = world.answer('status', name).next_action;
  assert.equal(kind, 'reopen');
  world.answer(...String(command).split(' ').slice(1));
  assert.equal(world.answer('status').next_action.kind, 'advance');
});

test('9.3 next action: who drives a review and names itself, or is its supervisor, is never told to wait for itself', (context) => {
  for (const kind of ['supervisor', 'instance']) {
    const world = reviewIn(context, 'context');
    const driven = world.with({ env: { STINT_PROCESS: startProcess(world, kind) } });
    const kinds: string[] = [];
    for (let step = 0; step < 20; step += 1) {
      const { next_action: next } = driven.answer('status', name);
      kinds.push(next.kind);
      if (next.command === null) break;
      world.write('round-meta.json', json(approval));
      driven.answer(...String(next.command).split(' ').slice(1));
    }
    assert.deepEqual(kinds, [...phases.slice(1, 7).map(() => 'advance'), 'complete', 'finish', 'none']);
  }
});

test('9.3 driver of a finish: the record says that the review succeeded, and of its driver what the driver said', (context) => {
  const world = reviewIn(context, 'complete');
  const lead = startProcess(world, 'supervisor');
  const reviewer = startProcess(world, 'instance');
  // Also where the driver does not say who it is.
  world.answer('finish');
  const { outcome, completeness } = world.answer('status', name);
  assert.deepEqual([outcome, completeness], ['completed', 'complete']);
  const processes = processesOf(world);
  assert.deepEqual([processes[lead].status, processes[reviewer].status], ['running', 'cancelled']);
});

test('9.3 ended instances: they cannot be beaten, bound or ended otherwise', (context) => {
  const world = reviewIn(context, 'reviews');
  const id = startProcess(world, 'instance');
  world.answer('process', 'end', id, '--exit-code', '0');
  const before = dumpStore(world);
  world.refusal(5, 'process', 'beat', id);
  world.refusal(5, 'process', 'bind', id, 'v-1');
  world.refusal(9, 'process', 'end', id, '--outcome', 'crashed');
  world.refusal(4, 'process', 'start', '--kind', 'instance', '--parent', id);
  assert.deepEqual(dumpStore(world), before);
});

test('9.3 other verdict: it is a conflict, and a lost file comes back with the one that was stored', (context) => {
  const world = reviewIn(context, 'synthesis');
  completeRound(world, objection);
  const stored = readFileSync(world.path(metaPath), 'utf8');
  rmSync(world.path(metaPath));
  assert.equal(world.with({ input: json(approval) }).refusal(9, 'complete-round', '-').code, 'conflict');
  assert.equal(existsSync(world.path(metaPath)), false, 'nothing is written for what was refused');
  completeRound(world, objection);
  assert.equal(readFileSync(world.path(metaPath), 'utf8'), stored);
  assert.equal(countOf(world, 'RoundCompleted'), 1);
});

test('9.3 other verdict: a mirror that somebody has changed is kept beside the one that was stored', (context) => {
  const world = reviewIn(context, 'synthesis');
  completeRound(world, objection);
  const stored = readFileSync(world.path(metaPath), 'utf8');
  const changed = stored.replace('REQUEST CHANGES', 'APPROVE');
  world.write(metaPath, changed);
  const outcome = world.run('note', 'x');
  assert.equal(outcome.status, 0);
  assert.match(
    outcome.stderr,
    /^stint: warning: round-meta\.json had been changed by somebody else; that version is kept as round-meta\.json\.kept-[0-9a-f]{8}\n$/,
  );
  assert.equal(readFileSync(world.path(metaPath), 'utf8'), stored);
  const kept = readdirSync(world.path(`${folder}/rounds/round-1`)).find((file) => file.includes('kept'));
  assert.equal(readFileSync(world.path(`${folder}/rounds/round-1`, String(kept)), 'utf8'), changed);
  assert.equal(world.answer('status').rounds[0].verdict, 'REQUEST CHANGES');
});

test('9.3 fresh: an open session is aborted on the record, and the new one is not in its way', (context) => {
  const world = reviewIn(context, 'reviews');
  world.write(`${folder}/context.md`, '# Context\n');
  const { session: fresh, aborted, phase } = world.answer('begin', 'review', '--fresh');
  assert.deepEqual([fresh, aborted, phase], [`${session}-2`, session, 'context']);
  assert.equal(world.answer('begin', 'review').session, fresh, 'it is the open one of the branch now');
  assert.equal(world.answer('begin', 'review', '--fresh').session, `${session}-3`);
  assert.equal(existsSync(world.path(`${folder}/context.md`)), true, 'no file of the old one is touched');
  assert.equal(world.answer('begin', 'review', '--name', name).phase, 'reviews', 'and it can go on');
});

test('9.3 session ids: a name that leads out of the folder, or is none, is refused before anything is made', (context) => {
  const world = createWorld(context);
  for (const id of ['../../evil', '', ' ', '.', '..', 'a/b', 'a\\b', '-x', 'a'.repeat(129), 'con', 'x.', 'a..b', 'ü'])
    assert.equal(world.run('begin', 'review', `--name=${id}`).status, 2, id);
  assert.equal(existsSync(join(world.root, 'evil')), false);
  assert.equal(existsSync(world.path('.ocr')), false);
  assert.equal(world.answer('list', '--all').total, 0);
  world.answer('begin', 'review', '--name', 'a'.repeat(128));
});

test('9.4 folder of a round: making one on a finished session changes nothing, whoever reads', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  const before = dumpStore(world);
  const status = world.answer('status', name);
  mkdirSync(world.path(`${folder}/rounds/round-2/reviews`), { recursive: true });
  for (const args of [
    ['list', '--all'],
    ['status', name],
    ['show', name],
    ['log', name],
    ['timeline', name],
    ['doctor'],
    ['rebuild'],
  ])
    world.answer(...args);
  assert.deepEqual(world.answer('status', name), status);
  assert.deepEqual([status.current_round, status.completeness], [1, 'complete']);
  assert.deepEqual(dumpStore(world), before);
});

test('9.4 restart in round 2: whatever is started then, the live round stays open and goes on', async (context) => {
  const world = reviewIn(context, 'complete');
  world.write(`${folder}/rounds/round-1/final.md`, '# Final\n');
  world.answer('advance', 'context', '--round', '2');
  advanceTo(world, 'reviews');
  const before = dumpStore(world);
  const opened = openStint({ cwd: world.project });
  assert.ok(opened.ok);
  for (const verb of ['list', 'status', 'doctor', 'rebuild']) assert.ok((await opened.value.run(verb)).ok, verb);
  await opened.value.close();
  for (const args of [['status'], ['list'], ['doctor'], ['rebuild']]) world.answer(...args);
  assert.deepEqual(dumpStore(world), before);
  const { status, completeness, current_round: round } = world.answer('status');
  assert.deepEqual([status, completeness, round], ['active', 'open_no_artifact', 2]);
  assert.equal(world.answer('advance', 'aggregation').phase, 'aggregation');
});
