/** The public cases about what older, newer and other programs left behind; the table of all cases is in support/cases.ts. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import * as v from 'valibot';
import { defineKind, openStint } from '../src/index.ts';
import { mapped } from '../src/kinds/map/examples.ts';
import { caseFile } from './support/cases.ts';
import { makeOcrProject, ocrVersions } from './support/ocr-databases.ts';
import { advanceTo, approval, completeRound, json, name, reviewIn, session } from './support/reviews.ts';
import { eventsOf, treeOf } from './support/stores.ts';
import { createWorld, listOf, withoutShared, type TestWorld } from './support/world.ts';

const skip = withoutShared('cases');
const folder = `.ocr/sessions/${name}`;

/** More than a year after the reviews of these tests were touched. */
const muchLater = '2027-04-21T12:00:00.000Z';

test('F01: no verb but reconcile closes what was left alone, and none deletes it, also after 400 days', (context) => {
  const world = reviewIn(context, 'reviews');
  world.answer('process', 'start', '--kind', 'instance');
  world.write(`${folder}/context.md`, '# Context\n');
  const old = new Date(Date.parse('2026-03-17T12:00:00Z') - 400 * 86_400_000);
  for (const path of [folder, `${folder}/context.md`, '.stint', '.stint/stint.db'])
    utimesSync(world.path(path), old, old);
  const late = world.with({ now: muchLater });
  const before = eventsOf(world, session);
  const files = treeOf(world.path(folder));
  for (let count = 0; count < 2; count += 1) {
    late.answer('begin', 'review', '--name', `n${count}`, '--branch', `n${count}`);
    late.answer('finish', '--abort', '--session', `n${count}`);
    for (const args of [
      ['list', '--all'],
      ['status', name],
      ['progress'],
      ['timeline', name],
      ['process', 'list', '--all'],
      ['process', 'sweep'],
      ['doctor'],
      ['doctor', '--fix'],
      ['rebuild'],
      ['reconcile', '--dry-run'],
      ['state', 'sync', '--dry-run'],
      ['state', 'sync'],
    ])
      late.answer(...args);
  }
  assert.deepEqual(eventsOf(world, session), before);
  assert.deepEqual(treeOf(world.path(folder)), files);
  assert.ok(listOf(late.answer('list').sessions).some((one) => one.session === session));

  late.answer('reconcile');
  const { reason, status } = late.answer('status', name);
  assert.deepEqual([status, reason], ['closed', 'nothing happened for 7 days']);
  assert.deepEqual(eventsOf(world, session).slice(0, before.length), before, 'its events are all there');
  assert.deepEqual(treeOf(world.path(folder)), files, 'and its files');
  assert.equal(late.answer('begin', 'review', '--name', name).phase, 'reviews');
});

test('F01: what a list shows can be opened', (context) => {
  const world = reviewIn(context, 'reviews').with({ now: muchLater });
  world.answer('reconcile');
  world.answer('begin', 'map', '--name', name);
  for (const { session: key } of listOf(world.answer('list', '--all').sessions))
    for (const verb of ['status', 'show', 'log', 'timeline']) world.answer(verb, key);
});

test(
  'F04: remarks on a round survive edits of its files, and every verb that reads or mends them',
  { skip },
  (context) => {
    const world = reviewIn(context, 'complete');
    const triage = readFileSync(caseFile('F04', 'triage.json'), 'utf8');
    world.answer('note', triage);
    const remarks = (): readonly unknown[] => eventsOf(world, session).filter(({ type }) => type === 'Noted');
    const before = remarks();
    const meta = `${folder}/rounds/round-1/round-meta.json`;
    for (const verb of [
      ['state', 'sync'],
      ['import', 'review'],
      ['rebuild'],
      ['doctor', '--fix'],
      ['reconcile'],
      ['progress'],
    ]) {
      cpSync(caseFile('F04', 'rounds'), world.path(folder, 'rounds'), { recursive: true });
      world.write(meta, json({ ...approval, edited: true }));
      world.run(...verb);
      assert.deepEqual(remarks(), before, verb.join(' '));
      assert.equal(world.answer('status').notes, 1);
    }
    assert.equal(
      readFileSync(world.path(folder, 'rounds/round-1/final.md'), 'utf8'),
      readFileSync(caseFile('F04', 'rounds/round-1/final.md'), 'utf8'),
      'what others wrote is theirs',
    );
  },
);

test('F04: remarks on what was taken over survive that the original grows and is taken again', (context) => {
  const world = createWorld(context);
  const path = makeOcrProject(world.project, {
    version: 14,
    sessions: [{ id: name, started_at: '2026-03-01 10:00:00' }],
    events: [{ session_id: name, event_type: 'session_created', phase: 'context', round: 1 }],
  });
  world.answer('import', 'review');
  world.answer('note', 'will not be fixed', '--session', name);
  const database = new DatabaseSync(path);
  database.exec(
    `INSERT INTO orchestration_events (session_id, event_type, phase, round) VALUES ('${name}', 'phase_transition', 'change-context', 1)`,
  );
  database.close();
  world.answer('import', 'review');
  const { current_phase: phase, notes } = world.answer('status', name);
  assert.deepEqual([phase, notes], ['change-context', 1]);
});

test('F04: a session that was closed keeps its events readable, also where its folder is gone', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  const { events } = world.answer('log', name);
  rmSync(world.path('.ocr'), { recursive: true });
  assert.deepEqual(world.answer('log', name).events, events);
});

test('H02: a map is not completed by a step either, and its next run leaves the first one as it was', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'map', '--name', name);
  for (const phase of ['topology', 'flow-analysis', 'requirements-mapping', 'synthesis']) {
    assert.equal(world.refusal(5, 'advance', 'complete').code, 'illegal-transition');
    assert.match(world.refusal(6, 'finish').faults[0], /map run 1 is not completed/);
    world.answer('advance', phase);
  }
  world.with({ input: json(mapped) }).answer('complete-map', '-');
  world.answer('finish');
  const before = world.answer('show', name);
  assert.equal(world.answer('begin', 'map', '--name', name).map_run, 2);
  const after = world.answer('show', name);
  assert.deepEqual(listOf(after.events).slice(0, before.events.length), before.events);
  assert.deepEqual(after.session.rounds[0], before.session.rounds[0]);
});

test(
  'H06: of a tree with eleven rounds and 41 empty folders one session comes over, closed, in its eleventh round',
  { skip },
  (context) => {
    const world = createWorld(context);
    cpSync(caseFile('H06', 'sessions'), world.path('.ocr/sessions'), { recursive: true });
    for (let count = 0; count < 40; count += 1)
      mkdirSync(world.path(`.ocr/sessions/2026-01-01-ghost-${count}/rounds`), { recursive: true });
    for (const odd of ['round-x', 'round-03', 'round-0', 'round-12.bak'])
      world.write(`.ocr/sessions/2026-03-17-main/rounds/${odd}/final.md`, '# Final\n');
    const taken = world.answer('import', 'review');
    assert.deepEqual(
      listOf(taken.sessions).map(({ session: key, status, position }) => [key, status, position]),
      [['review:2026-03-17-main', 'aborted', 'context (1/8), round 11']],
    );
    const ghosts = listOf(taken.ignored).filter(({ reason }) => reason === 'It holds no .md and no .json file.');
    assert.equal(ghosts.length, existsSync(caseFile('H06', 'sessions/2026-01-01-ghost')) ? 41 : 40);
    const { problems } = taken.sessions[0];
    assert.deepEqual(
      listOf(problems).map((problem) => String(problem).split(':')[0]),
      ['rounds/round-0', 'rounds/round-03', 'rounds/round-12.bak', 'rounds/round-x'],
    );
    assert.equal(world.answer('list').total, 0, 'none is open');
    assert.deepEqual(
      listOf(world.answer('status', '2026-03-17-main').rounds).map(({ round }) => round),
      Array.from({ length: 11 }, (_, index) => index + 1),
    );
  },
);

/** A program of the future: a review with an event that this one does not know. */
const laterReview = defineKind({
  name: 'review',
  summary: 'a review of the future',
  stateVersion: 99,
  commands: v.variant('type', [
    v.object({ type: v.literal('begin') }),
    v.object({ type: v.literal('continue'), after: v.nullable(v.string()) }),
  ]),
  events: v.variant('type', [v.looseObject({ type: v.literal('PhaseEntered') })]),
  eventVersions: { PhaseEntered: 3 },
  initial: 0,
  evolve: (state) => state + 1,
  decide: () => ({
    ok: true,
    value: [
      { type: 'PhaseEntered' as const, phase: 'analysis', x_cost: 1.25, x_nested: { keep: [1, 2, { deep: 'é' }] } },
    ],
  }),
  view: () => ({
    position: 'later',
    where: {},
    fields: {},
    remaining: [],
    missing: ['everything'],
    next: { kind: 'advance', text: 'Go on.', command: null },
    evidence: [],
  }),
  folder: (of) => `.ocr/sessions/${of}`,
  mirrors: () => [],
  examples: [{ type: 'begin' }, { type: 'continue', after: null }],
});

test('I01: an event of a newer version keeps its version and every field, whatever this program does', async (context) => {
  const world = reviewIn(context, 'analysis');
  const later = openStint({ cwd: world.project, kinds: [laterReview], now: () => '2026-03-17T12:00:00.000Z' });
  assert.ok(later.ok);
  assert.ok((await later.value.run('begin', { kind: 'review', name: 'later' })).ok);
  await later.value.close();
  const before = eventsOf(world, 'review:later');
  assert.deepEqual(before.at(-1).data, {
    phase: 'analysis',
    x_cost: 1.25,
    x_nested: { keep: [1, 2, { deep: 'é' }] },
  });
  assert.equal(before.at(-1).v, 3);

  const muchlater = world.with({ now: muchLater });
  for (const args of [
    ['advance', 'reviews', '--session', name],
    ['advance', 'reviews', '--session', 'later'],
    ['note', 'x', '--session', 'later'],
    ['process', 'start', '--kind', 'instance', '--session', 'later'],
    ['finish', '--abort', '--session', 'later'],
    ['begin', 'review', '--name', 'later'],
    ['rebuild'],
    ['doctor', '--fix'],
    ['reconcile'],
    ['state', 'sync'],
    ['list', '--all'],
  ])
    muchlater.run(...args);
  assert.deepEqual(eventsOf(world, 'review:later'), before);
  const [shown] = listOf(world.answer('log', 'later').events).slice(-1);
  assert.deepEqual([shown.v, shown.data], [3, before.at(-1).data]);
  assert.equal(world.refusal(13, 'advance', 'reviews', '--session', 'later').code, 'newer-version');
});

test('I01: keys of a payload that this program does not know are stored and mirrored', (context) => {
  const world = reviewIn(context, 'synthesis');
  const payload = { ...approval, x_team: { lead: 'ana', rota: [1, 2, 3] }, x_cost: 1.25 };
  completeRound(world, payload);
  world.answer('advance', 'context', '--round', '2');
  world.answer('rebuild');
  assert.deepEqual(JSON.parse(readFileSync(world.path(folder, 'rounds/round-1/round-meta.json'), 'utf8')), payload);
});

test('I01: an event that the original had and nobody knows is kept as a remark in its words', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, {
    version: 11,
    sessions: [{ id: 'a' }],
    events: [
      { session_id: 'a', event_type: 'session_created', phase: 'context', round: 1 },
      { session_id: 'a', event_type: 'round_teleported', round: 1, metadata: json({ x_nested: { keep: true } }) },
    ],
  });
  const original = treeOf(world.path('.ocr/data'));
  world.answer('import', 'review');
  const remark = eventsOf(world, 'review:a').find(({ type }) => type === 'Noted');
  assert.equal(remark.data.text, 'OCR recorded round_teleported, round 1, {"x_nested":{"keep":true}}');
  assert.deepEqual(treeOf(world.path('.ocr/data')), original);
});

/** Originals of every schema side by side, in folders of their own; each with a session that nothing tells of but its row. */
const everySchema = (context: TestContext): TestWorld => {
  const world = createWorld(context);
  for (const version of ocrVersions)
    makeOcrProject(world.path(`v${version}`), {
      version,
      sessions: [{ id: `old-${version}`, started_at: '2026-03-01 10:00:00', updated_at: '2026-03-01 10:00:00' }],
    });
  return world;
};

test('I03: sessions of every schema are listed beside new ones, none is hidden for what it lacks, and the originals stay', async (context) => {
  const world = everySchema(context);
  world.answer('begin', 'review', '--name', 'new');
  const originals = treeOf(world.project, (path) => !/^v\d/.test(path));
  const opened = openStint({ cwd: world.project });
  assert.ok(opened.ok);
  for (const version of ocrVersions)
    assert.ok((await opened.value.run('import review', { path: world.path(`v${version}`) })).ok);
  await opened.value.close();
  assert.equal(world.answer('list', '--all').total, ocrVersions.length + 1);
  for (const version of ocrVersions) world.answer('status', `review:old-${version}`);
  assert.deepEqual(
    treeOf(world.project, (path) => !/^v\d/.test(path)),
    originals,
  );
});

test('I03: an original is taken over when it is asked for, and never by another verb', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, { version: 14, sessions: [{ id: 'old' }] });
  for (const args of [['list', '--all'], ['doctor'], ['progress'], ['reconcile']]) world.answer(...args);
  world.answer('begin', 'review', '--name', 'new');
  for (const args of [['list', '--all'], ['doctor'], ['progress'], ['reconcile']]) world.answer(...args);
  assert.equal(world.answer('list', '--all').total, 1);
  world.answer('state', 'sync');
  assert.equal(world.answer('list', '--all').total, 2);
});

test('I05: a session of an older original that runs is taken over running, its leftovers do not block it, and it is completed and finished', (context) => {
  for (const version of [4, 11, 13]) {
    const world = createWorld(context);
    makeOcrProject(world.project, {
      version,
      sessions: [{ id: name, current_phase: 'reviews', started_at: '2026-03-17 10:00:00' }],
      events: [
        {
          session_id: name,
          event_type: 'session_created',
          phase: 'context',
          round: 1,
          created_at: '2026-03-17 10:00:00',
        },
        {
          session_id: name,
          event_type: 'phase_transition',
          phase: 'reviews',
          round: 1,
          created_at: '2026-03-17 10:10:00',
        },
      ],
      executions:
        version < 11
          ? []
          : [
              { uid: 'runs', workflow_id: name, command: 'session-instance:a-1', started_at: '2026-03-17 10:11:00' },
              {
                uid: 'failed',
                workflow_id: name,
                command: 'session-instance:b-1',
                started_at: '2026-03-17 10:11:00',
                finished_at: '2026-03-17 10:12:00',
              },
            ],
    });
    world.answer('import', 'review');
    const { status, current_phase: phase } = world.answer('status', name);
    assert.deepEqual([status, phase], ['active', 'reviews']);
    assert.deepEqual(
      listOf(world.answer('process', 'list').processes).map((one) => [one.id, one.status]),
      version < 11
        ? []
        : [
            ['runs', 'running'],
            ['failed', 'crashed'],
          ],
    );
    advanceTo(world, 'synthesis', '--session', name);
    completeRound(world, approval, '--session', name);
    assert.equal(world.answer('finish', '--session', name).outcome, 'completed');
    assert.ok(listOf(world.answer('process', 'list', '--all').processes).every(({ status: one }) => one !== 'running'));
    assert.ok(readdirSync(join(world.path(folder), 'rounds/round-1')).includes('round-meta.json'));
  }
});

test('K01: times of an original that say no zone are UTC, those with an offset are converted, and rubbish is told', (context) => {
  for (const zone of ['UTC', 'Asia/Kolkata', 'America/New_York']) {
    const world = createWorld(context).with({ env: { TZ: zone } });
    makeOcrProject(world.project, {
      version: 14,
      sessions: [{ id: 'a', started_at: '2026-03-17T14:30:22', updated_at: '2026-03-17T14:35:14Z' }],
      events: [
        {
          session_id: 'a',
          event_type: 'session_created',
          phase: 'context',
          round: 1,
          created_at: '2026-03-17T14:30:22',
        },
        {
          session_id: 'a',
          event_type: 'phase_transition',
          phase: 'change-context',
          round: 1,
          created_at: '2026-03-17T20:05:14+05:30',
        },
        { session_id: 'a', event_type: 'phase_transition', phase: 'analysis', round: 1, created_at: 'yesterday' },
      ],
    });
    const { sessions } = world.with({ now: '2026-03-17T15:00:00Z' }).answer('import', 'review');
    assert.match(sessions[0].problems[0], /"yesterday", which is no time/);
    const spans = listOf(world.with({ now: '2026-03-17T15:00:00Z' }).answer('timeline', 'a').spans);
    assert.deepEqual(
      spans.map(({ from, ms }) => [from, ms]),
      [
        ['2026-03-17T14:30:22.000Z', 292_000],
        ['2026-03-17T14:35:14.000Z', 1_486_000],
      ],
      zone,
    );
  }
});
