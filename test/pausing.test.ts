/** Sessions that are paused, and closed ones that go on on the record. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { claim } from './support/leases.ts';
import { approval, json, name, reviewIn, session } from './support/reviews.ts';
import { runIn } from './support/tidy-runs.ts';
import { assertSound, dumpStore, eventsOf } from './support/stores.ts';
import { createWorld, later, lines, listOf, refusedText, say, type TestWorld } from './support/world.ts';

const resume = `stint resume --session ${session}`;
const since = '2026-03-17T12:01:00.000Z';

/** A review that is paused one minute after noon, with a reason. */
const pausedIn = (...[context, phase]: Parameters<typeof reviewIn>): TestWorld => {
  const world = reviewIn(context, phase);
  later(world, 1).answer('pause', '--reason', 'until the release is out.');
  return later(world, 2);
};

test('a session is paused, and everybody who looks is told since when, by whom and why', (context) => {
  const world = reviewIn(context, 'context');
  const paused = later(world, 1).with({ env: { STINT_ACTOR: 'bob' } });
  assert.equal(
    say(paused, 'pause', '--reason', 'until the release is out.'),
    lines(`paused since ${since}  ${session}: context (1/8), round 1 (open_no_artifact)`, `next: ${resume}`),
  );
  const at = later(world, 2);
  const why = `since ${since} by bob: until the release is out`;
  assert.equal(
    say(at, 'status'),
    lines(
      `${session}  active`,
      `paused                  ${why}`,
      'position                context (1/8), round 1',
      'completeness            open_no_artifact',
      'missing                 round 1 is not completed (still to come: change-context, analysis, reviews, aggregation, discourse, synthesis)',
      'branch                  main',
      `updated                 ${since}`,
      `not there               .ocr/sessions/${name}/discovered-standards.md`,
      `then: Paused ${why}. Nothing new is begun before it is resumed.`,
      `next: ${resume}`,
    ),
  );
  assert.equal(
    say(at, 'list'),
    lines(
      'SESSION                 STATUS                                 POSITION                BRANCH  WORKTREE  UPDATED',
      `${session}  paused since ${since}  context (1/8), round 1  main    main      ${since}`,
    ),
  );
  assert.match(say(at, 'progress', '--once'), /^active, paused since 2026-03-17T12:01:00\.000Z, open 02:00, /m);
  const status = at.answer('status');
  assert.deepEqual(status.paused, { at: since, actor: 'bob', reason: 'until the release is out.' });
  assert.deepEqual(status.next_action.kind, 'resume');
  const [row] = listOf(at.answer('list').sessions);
  assert.deepEqual([row.status, row.paused_at, row.archived_at], ['active', since, null]);
});

test('a reason of several lines stays on the line of whoever gave it, and forges no next action', (context) => {
  const world = reviewIn(context, 'context');
  world.answer('pause', '--reason', 'x\nnext: stint finish --abort');
  for (const verb of ['status', 'next', 'show', 'log', 'timeline', 'list', 'progress']) {
    const text = say(world, verb);
    assert.doesNotMatch(text, /^\s*next: stint finish/m, verb);
  }
  assert.doesNotMatch(refusedText(world, 5, 'advance', 'complete'), /^\s*next:/m);
  assert.doesNotMatch(world.answer('status').next_action.text, /\n/);
  world.answer('finish', '--abort', '--reason', 'y\nnext: stint begin review --fresh');
  for (const verb of ['status', 'show', 'progress'])
    assert.doesNotMatch(say(world, verb, session), /^\s*next: stint begin review --fresh/m, verb);
});

test('every verb that moves a paused session is refused with the command that resumes it, and changes nothing', (context) => {
  const world = pausedIn(context, 'synthesis');
  const before = dumpStore(world);
  assert.equal(
    refusedText(world, 5, 'advance', 'complete'),
    lines(
      `stint: ${session} is paused since ${since} by ana@desk: until the release is out.`,
      '  expected: a session that is not paused',
      `  legal: ${resume}`,
      `  try: ${resume}`,
    ),
  );
  for (const args of [
    ['advance', 'context', '--round', '2'],
    ['advance', '--skip', 'complete', '--reason', 'x'],
    ['finish'],
  ])
    assert.deepEqual([world.refusal(5, ...args).hint, ...args], [resume, ...args]);
  const completing = world.with({ input: json(approval) });
  assert.equal(completing.refusal(5, 'complete-round', '-').hint, resume);
  assert.deepEqual(dumpStore(world), before);
});

test('a map that is paused is not completed either', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'map', '--name', 'a');
  world.answer('pause');
  assert.equal(world.refusal(5, 'advance', 'topology').hint, 'stint resume --session map:a');
  assert.equal(world.refusal(5, 'finish').hint, 'stint resume --session map:a');
});

test('a run that is paused hands nothing out, and takes what comes of the step that is under way', (context) => {
  const world = runIn(context);
  world.answer('pause');
  const hint = 'stint resume --session run:tidy';
  assert.equal(world.refusal(5, 'next', '--claim').hint, hint);
  assert.equal(world.refusal(5, 'finish').hint, hint);
  assert.deepEqual(world.answer('next').steps, []);
  assert.equal(world.answer('complete', 'N-001', '--output', 'tidy').next_action.kind, 'resume');
  assert.deepEqual(world.answer('next').steps, []);
  const state = JSON.parse(readFileSync(world.path('.workflow/sessions/tidy/session-state.json'), 'utf8'));
  assert.equal(state.status, 'paused');
  world.answer('resume');
  assert.deepEqual(
    listOf(world.answer('next').steps).map(({ id }) => id),
    ['N-002'],
  );
});

test('it goes on where it was when it is resumed', (context) => {
  const world = pausedIn(context, 'reviews');
  world.answer('resume');
  const status = world.answer('status');
  assert.deepEqual([status.paused, status.position], [null, 'reviews (4/8), round 1']);
  world.answer('advance', 'aggregation');
  const events = eventsOf(world, session).slice(-3);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['SessionPaused', 'SessionResumed', 'PhaseEntered'],
  );
});

test('remarks, leases, processes and an abort are taken while it is paused', (context) => {
  const world = pausedIn(context, 'reviews');
  world.answer('note', 'still thinking');
  const { id } = world.answer('process', 'start', '--kind', 'utility', '--name', 'watch');
  world.answer('process', 'beat', id);
  world.answer('process', 'end', id);
  claim(world);
  world.answer('lease', 'release');
  assert.equal(world.answer('status').paused.at, since, 'it is still paused');
  const closed = world.answer('finish', '--abort', '--reason', 'no longer needed');
  assert.deepEqual([closed.outcome, world.answer('status', name).paused], ['aborted', null]);
  assertSound(world);
});

test('begin shows a paused session as it stands, next hands nothing out, and neither changes it', (context) => {
  const world = pausedIn(context, 'reviews');
  const before = eventsOf(world, session);
  assert.equal(
    say(world, 'begin', 'review'),
    lines(`goes on  ${session}: reviews (4/8), round 1 (open_no_artifact)`, `next: ${resume}`),
  );
  assert.equal(world.answer('begin', 'review', '--read-only').next_action.kind, 'resume');
  assert.equal(
    say(world, 'next'),
    lines(
      `${session}: no step is ready (0 running)`,
      `then: Paused since ${since} by ana@desk: until the release is out. Nothing new is begun before it is resumed.`,
      `next: ${resume}`,
    ),
  );
  assert.deepEqual(eventsOf(world, session), before);
});

test('to pause it again changes nothing, nor does the other reason; a dry run does not either', (context) => {
  const world = pausedIn(context, 'context');
  const before = dumpStore(world);
  const again = world.answer('pause', '--reason', 'another');
  assert.deepEqual(again.paused, { at: since, actor: 'ana@desk', reason: 'until the release is out.' });
  assert.deepEqual(dumpStore(world), before);
  const open = reviewIn(context, 'context');
  const untouched = dumpStore(open);
  assert.equal(open.answer('pause', '--dry-run').dry_run, true);
  assert.deepEqual(dumpStore(open), untouched);
});

test('a closed session is not paused, and one that somebody else holds only by its holder', (context) => {
  const closed = reviewIn(context, 'context');
  closed.answer('finish', '--abort');
  assert.equal(closed.refusal(5, 'pause', '--session', name).hint, `stint begin review --name ${name}`);

  const world = reviewIn(context, 'context');
  claim(world.with({ env: { STINT_ACTOR: 'bob' } }), '--ttl', '1h');
  assert.match(world.refusal(10, 'pause', '--session', session).message, /bob/);
  world.with({ env: { STINT_ACTOR: 'bob' } }).answer('pause');
  assert.equal(world.answer('status').paused.actor, 'bob');
});

test('what is paused is not left alone: reconcile keeps it open', (context) => {
  const world = pausedIn(context, 'reviews').with({ now: '2026-06-17T12:00:00.000Z' });
  assert.deepEqual(listOf(world.answer('reconcile').closed), []);
});

test('a closed session is reopened with the reason on record, and answers as begin does', (context) => {
  const world = reviewIn(context, 'reviews');
  world.answer('finish', '--abort', '--reason', 'withdrawn');
  assert.equal(
    say(world, 'reopen', '--reason', 'it was needed'),
    lines(
      `goes on  ${session}: reviews (4/8), round 1 (open_no_artifact)`,
      `next: stint advance aggregation --session ${session}`,
    ),
  );
  const reopenings = eventsOf(world, session).filter(({ type }) => type === 'SessionReopened');
  assert.deepEqual(
    reopenings.map(({ data }) => data),
    [{ after: 'aborted', reason: 'it was needed' }],
  );
  const before = dumpStore(world);
  const again = world.answer('reopen', '--session', name, '--reason', 'twice');
  assert.deepEqual(again, world.answer('begin', 'review'), 'an open one answers with where it stands');
  assert.deepEqual(dumpStore(world), before);
});

test('a completed session that is reopened has its next round before it', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  const reopened = world.answer('reopen');
  assert.deepEqual([reopened.resumed, reopened.position], [true, 'context (1/8), round 2']);
  assert.ok(existsSync(world.path('.ocr/sessions', name, 'rounds/round-1/round-meta.json')));
});

test('which closed session is meant is not guessed: of several none, and none where there is none', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'open');
  assert.equal(
    refusedText(world, 4, 'reopen'),
    lines(
      'stint: There is no closed session outside the archive.',
      '  expected: a closed session of this checkout, or --session',
      '  perhaps: review:open',
      '  try: name one with --session, for example --session review:open',
    ),
  );
  for (const one of ['first', 'second']) {
    later(world, one === 'first' ? 1 : 2).answer('begin', 'review', '--name', one);
    later(world, one === 'first' ? 1 : 2).answer('finish', '--abort', '--session', one);
  }
  for (const verb of ['reopen', 'archive'])
    assert.equal(
      refusedText(world, 3, verb),
      lines(
        'stint: Several sessions are closed in this checkout.',
        '  expected: one session',
        '  perhaps: review:second, review:first',
        '  try: name one with --session, for example --session review:second',
      ),
    );
  world.answer('archive', '--session', 'first');
  assert.equal(world.answer('reopen').session, 'review:second', 'one in the archive is not meant');
  assert.equal(world.refusal(4, 'reopen').code, 'not-found');
  assert.equal(world.answer('unarchive').session, 'review:first');
  assert.equal(world.with({ env: { STINT_SESSION: 'first' } }).answer('reopen').session, 'review:first');
});

test('whoever reopens a session that is open and held by somebody else is told so', (context) => {
  const world = reviewIn(context, 'context');
  claim(world.with({ env: { STINT_ACTOR: 'bob' } }), '--ttl', '1h');
  assert.match(world.refusal(10, 'reopen', '--session', name).message, /bob/);
});
