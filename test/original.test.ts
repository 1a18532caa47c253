/** The original's command lines, with `stint` in place of `ocr`: whole conversations, and what each name and flag means. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { mapped } from '../src/kinds/map/examples.ts';
import { approval, json, objection } from './support/reviews.ts';
import { assertSound, eventsOf } from './support/stores.ts';
import { createWorld, listOf, sorted, type Printed, type TestWorld } from './support/world.ts';

const id = '2026-03-17-main';
const folder = `.ocr/sessions/${id}`;

const reviewWalk = ['change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis'];
const mapWalk = ['topology', 'flow-analysis', 'requirements-mapping', 'synthesis'];

const begin = (world: TestWorld, type: string, session = id): Printed =>
  world.answer('state', 'begin', '--session-id', session, '--branch', 'main', '--workflow-type', type);

const advance = (world: TestWorld, phase: string, ...flags: readonly string[]): Printed =>
  world.answer('state', 'advance', '--phase', phase, ...flags);

const complete = (world: TestWorld, verb: string, payload: unknown, ...flags: readonly string[]): Printed =>
  world.with({ input: json(payload) }).answer('state', verb, '--stdin', ...flags);

const statusOf = (world: TestWorld, ...flags: readonly string[]): Printed => world.answer('state', 'status', ...flags);

/** A world with a review and a map under one id, each at its beginning. */
const bothIn = (context: TestContext): TestWorld => {
  const world = createWorld(context);
  begin(world, 'review');
  begin(world, 'map');
  return world;
};

test('a review is led through two rounds and closed in the original’s words', (context) => {
  const world = createWorld(context);
  const begun = begin(world, 'review');
  assert.deepEqual(
    [begun.session_id, begun.round, begun.phase, begun.completeness],
    [id, 1, 'context', 'open_no_artifact'],
  );
  for (const phase of reviewWalk) assert.equal(advance(world, phase).phase, phase);
  world.refusal(6, 'state', 'finish');
  const done = complete(world, 'complete-round', objection);
  assert.deepEqual([done.round, done.verdict, done.phase], [1, 'REQUEST CHANGES', 'complete']);
  assert.equal(done.meta_path, `${folder}/rounds/round-1/round-meta.json`);
  assert.equal(complete(world, 'complete-round', objection).completeness, done.completeness, 'a repeat succeeds');
  assert.equal(world.answer('state', 'finish').outcome, 'completed');
  assert.equal(world.answer('state', 'finish', '--session-id', id).outcome, 'completed', 'so does this one');

  assert.equal(begin(world, 'review').round, 2);
  assert.equal(statusOf(world).current_round, 2);
  for (const phase of reviewWalk) advance(world, phase, '--session-id', id);
  assert.equal(complete(world, 'complete-round', approval, '--session-id', id, '--round', '2').round, 2);
  assert.equal(world.answer('state', 'finish', '--session-id', id).outcome, 'completed');
  const { session, events } = world.answer('state', 'show', '--session-id', id);
  assert.equal(session.completeness_state, 'complete');
  assert.equal(listOf(events).filter(({ type }) => type === 'RoundCompleted').length, 2);
  assertSound(world);
});

test('a map is led through two runs and closed in the original’s words', (context) => {
  const world = createWorld(context);
  const begun = begin(world, 'map');
  assert.deepEqual(
    [begun.session_id, begun.round, begun.map_run, begun.phase, begun.completeness],
    [id, 1, 1, 'map-context', 'open_no_artifact'],
  );
  for (const phase of mapWalk) assert.equal(advance(world, phase).phase, phase);
  world.refusal(6, 'state', 'finish');
  const done = complete(world, 'complete-map', mapped, '--map-run', '1');
  assert.deepEqual([done.map_run, done.section_count, done.file_count, done.phase], [1, 2, 3, 'complete']);
  assert.equal(done.meta_path, `${folder}/map/runs/run-1/map-meta.json`);
  assert.equal(world.answer('state', 'finish').outcome, 'completed');

  assert.equal(begin(world, 'map').map_run, 2);
  assert.equal(world.refusal(6, 'state', 'finish').code, 'invariant-unmet', 'the second run is not the first one');
  for (const phase of mapWalk) advance(world, phase);
  assert.equal(complete(world, 'complete-map', mapped).map_run, 2);
  assert.equal(world.answer('state', 'finish').outcome, 'completed');
  for (const run of [1, 2]) assert.ok(existsSync(world.path(folder, `map/runs/run-${run}/map-meta.json`)));
});

test('--current-round and --current-map-run start the next round from any phase', (context) => {
  const review = createWorld(context);
  begin(review, 'review');
  advance(review, 'change-context', '--current-round', '1');
  assert.equal(advance(review, 'context', '--current-round', '2').round, 2);
  review.refusal(5, 'state', 'advance', '--phase', 'context', '--current-round', '4');
  review.refusal(5, 'state', 'advance', '--phase', 'analysis', '--current-round', '3');
  const map = createWorld(context);
  begin(map, 'map');
  advance(map, 'topology', '--current-map-run', '1');
  assert.equal(advance(map, 'map-context', '--current-map-run', '2').map_run, 2);
  assert.equal(statusOf(map).current_map_run, 2);
});

test('--phase-number is taken and not looked at: the number follows from the name', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  for (const number of ['2', '7', 'x'])
    assert.equal(advance(world, 'change-context', '--phase-number', number).phase_number, 2);
  assert.equal(world.run('advance', 'analysis', '--phase-number', '3').status, 2, 'it is the original’s alone');
});

test('a payload comes from --stdin or --file, one of them, and --require-final looks for the final document', (context) => {
  for (const [type, walk, verb, payload, final] of [
    ['review', reviewWalk, 'complete-round', approval, 'rounds/round-1/final.md'],
    ['map', mapWalk, 'complete-map', mapped, 'map/runs/run-1/map.md'],
  ] as const) {
    const world = createWorld(context);
    begin(world, type);
    for (const phase of walk) advance(world, phase);
    const file = world.write('payload.json', json(payload));
    world.refusal(2, 'state', verb);
    world.refusal(2, 'state', verb, '--stdin', '--file', file);
    world.refusal(4, 'state', verb, '--file', world.path('nothing.json'));
    const missing = world.refusal(6, 'state', verb, '--file', file, '--require-final');
    assert.match(missing.message, new RegExp(`${final.split('/').at(-1)}`));
    world.write(`${folder}/${final}`, '# Final\n');
    world.answer('state', verb, '--file', file, '--require-final');
  }
});

test('begin on an open session changes nothing, in whatever phase it is', (context) => {
  const world = createWorld(context);
  begin(world, 'map');
  advance(world, 'topology');
  const { phase, resumed } = begin(world, 'map');
  assert.deepEqual([phase, resumed], ['topology', true]);
  assert.equal(eventsOf(world, `map:${id}`).length, 3);
});

test('finish --abort records a session that was given up, and begin goes on with it where it was left', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  advance(world, 'change-context');
  assert.equal(world.answer('state', 'finish', '--abort').outcome, 'aborted');
  const aborted = statusOf(world, '--session-id', id);
  assert.deepEqual(
    [aborted.completeness_state, aborted.next_action_kind, aborted.marked_closed],
    ['closed_without_artifact', 'reopen', true],
  );
  assert.deepEqual([begin(world, 'review').phase, statusOf(world).status], ['change-context', 'active']);
});

test('under one id the verb and the vocabulary of the phase tell a review from a map', (context) => {
  const world = bothIn(context);
  const both = ['--session-id', id];
  const standing = (): readonly unknown[] =>
    ['review', 'map'].map((kind) => statusOf(world, '--session-id', `${kind}:${id}`).current_phase);
  // By turns, so that neither is the one that moved last.
  for (const [mine, theirs] of [
    ['change-context', 'topology'],
    ['analysis', 'flow-analysis'],
    ['reviews', 'requirements-mapping'],
  ] as const) {
    assert.equal(advance(world, mine, ...both).session, `review:${id}`);
    assert.equal(advance(world, theirs, ...both).session, `map:${id}`);
    assert.deepEqual(standing(), [mine, theirs]);
  }
  // Without an id the vocabulary decides as well.
  assert.equal(advance(world, 'aggregation').session, `review:${id}`);
  assert.equal(advance(world, 'discourse').session, `review:${id}`);
  advance(world, 'synthesis', '--session-id', `review:${id}`);
  advance(world, 'synthesis', '--session-id', `map:${id}`);
  assert.equal(complete(world, 'complete-map', mapped, ...both).session, `map:${id}`);
  assert.equal(complete(world, 'complete-round', approval, ...both).session, `review:${id}`);
  assert.equal(advance(world, 'map-context', ...both, '--current-map-run', '2').session, `map:${id}`);
  assert.equal(advance(world, 'context', ...both, '--current-round', '2').session, `review:${id}`);
  assertSoundExceptMaps(world);
});

/** Sound, where folders of maps are no litter. */
const assertSoundExceptMaps = (world: TestWorld): void => assert.equal(world.answer('doctor').healthy, true);

test('under one id what neither the verb nor the phase decides is refused with both, and a line that decides', (context) => {
  const world = bothIn(context);
  const keys = [`map:${id}`, `review:${id}`];
  for (const args of [
    ['state', 'advance', '--phase', 'synthesis', '--session-id', id],
    ['state', 'advance', '--phase', 'complete', '--session-id', id],
    ['state', 'advance', '--phase', 'nonsense', '--session-id', id],
    ['state', 'finish', '--session-id', id],
    ['state', 'finish', '--abort', '--session-id', id],
    ['state', 'status', '--session-id', id],
    ['state', 'show', '--session-id', id],
    ['state', 'finish'],
    ['state', 'status'],
    ['state', 'show'],
    ['session', 'start-instance', '--workflow', id, '--vendor', 'claude'],
    ['session', 'list', '--workflow', id],
  ]) {
    const error = world.refusal(3, ...args);
    assert.deepEqual(sorted(listOf(error.candidates)), keys, args.join(' '));
    const [, way = ''] = /--session (\S+)$/.exec(error.hint) ?? [];
    assert.ok(keys.includes(way), error.hint);
  }
  for (const key of keys) {
    assert.equal(
      statusOf(world, '--session-id', key).session,
      key,
      'the way out is one, under the original’s flag too',
    );
    assert.equal(world.answer('state', 'finish', '--abort', '--session-id', key).session, key);
  }
});

test('under one id a reviewer instance belongs to the workflow that knows its phase', (context) => {
  const world = bothIn(context);
  const start = (phase: string): string =>
    world.answer('session', 'start-instance', '--workflow', id, '--vendor', 'claude', '--phase', phase).session;
  assert.equal(start('reviews'), `review:${id}`);
  assert.equal(start('topology'), `map:${id}`);
});

test('a completion of the other workflow is refused, and changes nothing', (context) => {
  for (const [type, verb, payload] of [
    ['map', 'complete-round', approval],
    ['review', 'complete-map', mapped],
  ] as const) {
    const world = createWorld(context);
    begin(world, type);
    world.with({ input: json(payload) }).refusal(5, 'state', verb, '--stdin', '--session-id', id);
    world.with({ input: json(payload) }).refusal(4, 'state', verb, '--stdin');
    assert.equal(eventsOf(world, `${type}:${id}`).length, 2);
  }
});

for (const [retired, successor] of [
  ['init', 'begin'],
  ['transition', 'advance'],
  ['close', 'finish'],
  ['round-complete', 'complete-round'],
  ['map-complete', 'complete-map'],
] as const) {
  test(`state ${retired}, which the original has retired, is refused with its successor`, (context) => {
    const world = createWorld(context);
    for (const rest of [[], ['--session-id', 'a', '--phase', 'context', '--phase-number', '1'], ['--stdin']]) {
      const error = world.refusal(2, 'state', retired, ...rest);
      assert.equal(error.code, 'usage');
      assert.match(error.message, new RegExp(`^state ${retired} was retired; ${successor} `));
      assert.equal(error.expected, `stint ${successor}`);
      assert.equal(error.hint, `stint ${successor} --help`);
    }
    assert.equal(existsSync(world.path('.stint')), false);
  });
}

test('status --json has every key of the original’s data model and of its status', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  const later = world.with({ now: '2026-03-17T13:00:00Z' });
  advance(later, 'change-context');
  const review = statusOf(later);
  assert.deepEqual(
    Object.fromEntries(
      [
        'schema_version',
        'session_id',
        'workflow_type',
        'status',
        'current_phase',
        'phase_number',
        'current_round',
        'started_at',
        'round_started_at',
        'updated_at',
        'completeness_state',
        'has_terminal_artifact',
        'marked_closed',
        'dependents_settled',
        'next_action_kind',
        'remaining_phases',
      ].map((key) => [key, review[key]]),
    ),
    {
      schema_version: 1,
      session_id: id,
      workflow_type: 'review',
      status: 'active',
      current_phase: 'change-context',
      phase_number: 2,
      current_round: 1,
      started_at: '2026-03-17T12:00:00.000Z',
      round_started_at: '2026-03-17T12:00:00.000Z',
      updated_at: '2026-03-17T13:00:00.000Z',
      completeness_state: 'open_no_artifact',
      has_terminal_artifact: false,
      marked_closed: false,
      dependents_settled: true,
      next_action_kind: 'advance',
      remaining_phases: ['analysis', 'reviews', 'aggregation', 'discourse', 'synthesis', 'complete'],
    },
  );
  assert.equal('current_map_run' in review, false, 'only present during map workflow');

  const maps = createWorld(context);
  begin(maps, 'map');
  const map = statusOf(maps);
  assert.deepEqual(
    [map.workflow_type, map.current_map_run, map.map_started_at, map.phase_number, map.remaining_phases],
    ['map', 1, '2026-03-17T12:00:00.000Z', 1, [...mapWalk, 'complete']],
  );
});

test('completeness_state and next_action_kind say what the original’s say, through the whole life of a round', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  const seen = (flags: readonly string[] = []): readonly unknown[] => {
    const status = statusOf(world, ...flags);
    return [
      status.completeness_state,
      status.has_terminal_artifact,
      status.marked_closed,
      status.dependents_settled,
      status.next_action_kind,
    ];
  };
  assert.deepEqual(seen(), ['open_no_artifact', false, false, true, 'advance']);
  const instance = world.answer('session', 'start-instance', '--vendor', 'claude', '--persona', 'principal').id;
  assert.deepEqual(seen(), ['in_flight', false, false, false, 'wait']);
  world.answer('session', 'end-instance', instance);
  for (const phase of reviewWalk) advance(world, phase);
  assert.deepEqual(seen(), ['open_no_artifact', false, false, true, 'complete_round']);
  complete(world, 'complete-round', approval);
  assert.deepEqual(seen(), ['open_no_artifact', true, false, true, 'finish']);
  world.answer('state', 'finish');
  assert.deepEqual(seen(['--session-id', id]), ['complete', true, true, true, 'none']);
});

test('show prints the newest events to a person and all of them as JSON', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  for (const phase of reviewWalk) advance(world, phase);
  const { session, events } = world.answer('state', 'show');
  assert.deepEqual([session.session_id, session.branch, listOf(events).length], [id, 'main', 8]);
  const { stdout } = world.run('state', 'show');
  assert.equal([...stdout.matchAll(/PhaseEntered/g)].length, 5);
  assert.match(stdout, /3 earlier events/);
});

test('an instance is journaled from its start to its end in the original’s words', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  const started = world.run(
    'session',
    'start-instance',
    '--workflow',
    id,
    '--vendor',
    'claude',
    '--persona',
    'principal',
    '--instance',
    '2',
    '--name',
    'principal-2',
    '--model',
    'opus',
    '--phase',
    'reviews',
    '--note',
    'second pair of eyes',
  );
  // Scripts take the whole output for the id.
  assert.match(started.stdout, /^[0-9A-Z]{26}\n$/);
  const instance = started.stdout.trim();
  const vendorSession = '0193b3c2-7d1e-7c55-8f60-2b8a1c9f4e11';
  assert.equal(world.answer('session', 'bind-vendor-id', instance, vendorSession).vendor_session_id, vendorSession);
  assert.equal(world.answer('session', 'bind-vendor-id', instance, vendorSession).id, instance, 'the same id again');
  world.refusal(9, 'session', 'bind-vendor-id', instance, 'another');
  const later = world.with({ now: '2026-03-17T12:05:00Z' });
  assert.equal(later.answer('session', 'beat', instance).last_heartbeat_at, '2026-03-17T12:05:00.000Z');
  const [row] = listOf(later.answer('session', 'list', '--workflow', id).processes);
  assert.deepEqual(
    Object.fromEntries(
      [
        'id',
        'workflow_id',
        'vendor',
        'vendor_session_id',
        'persona',
        'instance_index',
        'name',
        'resolved_model',
        'phase',
        'status',
        'kind',
        'pid',
        'started_at',
        'last_heartbeat_at',
        'ended_at',
        'exit_code',
        'notes',
      ].map((key) => [key, row[key]]),
    ),
    {
      id: instance,
      workflow_id: id,
      vendor: 'claude',
      vendor_session_id: vendorSession,
      persona: 'principal',
      instance_index: 2,
      name: 'principal-2',
      resolved_model: 'opus',
      phase: 'reviews',
      status: 'running',
      kind: 'instance',
      pid: null,
      started_at: '2026-03-17T12:00:00.000Z',
      last_heartbeat_at: '2026-03-17T12:05:00.000Z',
      ended_at: null,
      exit_code: null,
      notes: 'second pair of eyes',
    },
  );
  const ended = later.answer('session', 'end-instance', instance, '--status', 'crashed', '--exit-code', '137');
  assert.deepEqual([ended.status, ended.exit_code, ended.ended_at], ['crashed', 137, '2026-03-17T12:05:00.000Z']);
  for (const verb of [
    ['beat', instance],
    ['bind-vendor-id', instance, 'x1'],
  ])
    assert.ok([5, 9].includes(world.run('session', ...verb).status ?? 0), 'what has ended is not moved');
  assert.equal(world.run('session', 'end-instance', instance, '--status', 'orphaned').status, 2);
  assert.equal(listOf(later.answer('session', 'list').processes)[0].status, 'crashed');
});

test('without a status the exit code of an instance says how it ended', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  for (const [flags, status] of [
    [[], 'done'],
    [['--exit-code', '0'], 'done'],
    [['--exit-code', '2'], 'crashed'],
    [['--status', 'cancelled'], 'cancelled'],
  ] as const) {
    const { id: instance } = world.answer('session', 'start-instance', '--vendor', 'claude');
    assert.equal(world.answer('session', 'end-instance', instance, ...flags).status, status);
  }
});

test('progress finds the open session by itself, and a closed one by its name', (context) => {
  const world = createWorld(context);
  begin(world, 'review');
  advance(world, 'change-context');
  assert.match(world.run('progress').stdout, /change-context|Gather the context/);
  assert.equal(world.answer('progress').sessions[0].session, `review:${id}`);
  world.answer('state', 'finish', '--abort');
  assert.equal(world.answer('progress', '--session', id).sessions[0].session, `review:${id}`);
});

for (const [group, words] of [
  ['state', ['begin', 'advance', 'complete-round', 'complete-map', 'finish', 'status', 'show', 'sync', 'reconcile']],
  ['session', ['start-instance', 'bind-vendor-id', 'beat', 'end-instance', 'list']],
  ['process', ['start', 'bind', 'beat', 'end', 'list', 'sweep']],
  ['import', ['review', 'workflow-run', 'orchestrator']],
] as const) {
  test(`stint ${group} without more names what can follow, and its help explains it`, (context) => {
    const world = createWorld(context);
    const names = sorted(words.map((word) => `${group} ${word}`));
    const error = world.refusal(2, group);
    assert.equal(error.message, `${group} alone is no verb; a second word says what to do.`);
    assert.deepEqual(sorted(listOf(error.legal)), names);
    assert.equal(error.hint, `stint help ${group}`);
    const [help, ...same] = [
      ['help', group],
      [group, '--help'],
      [group, '-h'],
    ].map((args) => world.run(...args));
    assert.equal(help?.status, 0);
    for (const other of same) assert.equal(other.stdout, help?.stdout);
    for (const name of names) assert.match(help?.stdout ?? '', new RegExp(`^  ${name} `, 'm'));
  });
}

test('a second word that is none is answered with those that are near', (context) => {
  const world = createWorld(context);
  for (const [args, near] of [
    [['state', 'bgin'], 'state begin'],
    [['state', 'advanse', '--phase', 'x'], 'state advance'],
    [['state', 'complete-rond'], 'state complete-round'],
    [['session', 'start-instanc'], 'session start-instance'],
    [['process', 'strat'], 'process start'],
    [['import', 'reviews'], 'import review'],
    // The first word may be the wrong one.
    [['sate', 'begin'], 'state begin'],
    [['sesion', 'list'], 'session list'],
  ] as const) {
    const error = world.refusal(2, ...args);
    assert.ok(listOf(error.candidates).includes(near), `${args.join(' ')}: ${JSON.stringify(error.candidates)}`);
  }
  assert.match(world.refusal(2, 'state', 'dance').message, /"state dance"/);
  assert.equal(world.run('help', 'state', 'dance').status, 2);
});

test('a flag that an alias lacks is answered with the original’s names of its flags', (context) => {
  const world = createWorld(context);
  const error = world.refusal(2, 'state', 'begin', '--sesion-id', 'a');
  assert.deepEqual(listOf(error.candidates).slice(0, 1), ['--session-id']);
  assert.ok(listOf(error.legal).includes('--workflow-type'));
  assert.match(world.refusal(2, 'state', 'begin', '--session-id', 'a').message, /kind is missing/);
  assert.equal(world.run('state', 'begin', '--session-id', '../../evil', '--workflow-type', 'review').status, 2);
});

test('help --json and the help of a verb name every alias with its flags', (context) => {
  const world = createWorld(context);
  const verbs = listOf(world.answer('help').verbs);
  const aliases = Object.fromEntries(
    verbs.flatMap((verb) => listOf(verb.aliases).map((alias) => [alias.name, [verb.name, alias.flags]])),
  );
  const session = { 'session-id': 'session' };
  assert.deepEqual(aliases, {
    continue: ['resume', {}],
    'state begin': ['begin', { 'session-id': 'name', 'workflow-type': 'kind' }],
    'state advance': ['advance', { ...session, 'current-round': 'round', 'current-map-run': 'round' }],
    'state complete-round': ['complete-round', { ...session, round: 'round' }],
    'state complete-map': ['complete-map', { ...session, 'map-run': 'round' }],
    'state finish': ['finish', session],
    'state status': ['status', session],
    'state show': ['show', session],
    'state sync': ['import review', {}],
    'state reconcile': ['reconcile', {}],
    'session start-instance': ['process start', { workflow: 'session' }],
    'session bind-vendor-id': ['process bind', {}],
    'session beat': ['process beat', {}],
    'session end-instance': ['process end', { status: 'outcome' }],
    'session list': ['process list', { workflow: 'session' }],
  });
  for (const { name: verb, aliases: names } of verbs) {
    for (const { name } of names) {
      const { stdout, status } = world.run(...String(name).split(' '), '--help');
      assert.equal(status, 0);
      assert.equal(stdout, world.run('help', ...String(verb).split(' ')).stdout);
      assert.match(stdout, new RegExp(`also called: .*\\b${name}\\b`));
    }
  }
});

test('an alias writes what the verb itself writes', (context) => {
  const [ours, theirs] = [createWorld(context), createWorld(context)];
  ours.answer('begin', 'review', '--name', id, '--branch', 'main');
  ours.answer('advance', 'change-context');
  begin(theirs, 'review');
  advance(theirs, 'change-context');
  const written = (world: TestWorld): unknown =>
    eventsOf(world, `review:${id}`).map(({ type, data }) => ({ type, data }));
  assert.deepEqual(written(theirs), written(ours));
});
