/** Long runs of kills and races, each checked to the last event: short ones in the tests, long ones in the soak. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { approval, json, objection, reviewIn } from './reviews.ts';
import { assertSound, dumpStore, eventsOf, isOnServer, litterIn } from './stores.ts';
import {
  assertAnswer,
  command,
  createWorld,
  listOf,
  sorted,
  type Outcome,
  type Printed,
  type Tidying,
  type TestWorld,
} from './world.ts';

/** One writing verb with the types of the events that it causes. */
export interface Step {
  readonly args: readonly string[];
  readonly input?: string;
  /** The types of the events that it appends; with a cause behind one that another request has. */
  readonly types: readonly string[];
  /** What else must hold of the files: right after a kill, and when the next verb has looked after them. */
  readonly left?: (world: TestWorld, what: string) => void;
  readonly healed?: (world: TestWorld, wasCommitted: boolean, what: string) => void;
}

/** Where the folder of a session must be, as its events say. */
const folderOf = (events: readonly Printed[], session: string): string => {
  const moves = events.filter((event) => event.session === session && /^Session(?:Una|A)rchived$/.test(event.type));
  const isArchived = moves.at(-1)?.type === 'SessionArchived';
  return `.ocr/sessions/${isArchived ? 'archive/' : ''}${session.replace(/^review:/, '')}`;
};

/** What the events of a store say must be on disk: the text of each round's findings, by its path in the project. */
const mirrorsOf = (events: readonly Printed[]): ReadonlyMap<string, string> =>
  new Map(
    events
      .filter(({ type }) => type === 'RoundCompleted')
      .map((event) => {
        const { round, payload } = JSON.parse(event.data);
        return [
          `${folderOf(events, String(event.session))}/rounds/round-${round}/round-meta.json`,
          `${JSON.stringify(payload, null, 2)}\n`,
        ];
      }),
  );

/** Asserts that every mirror is what its event says, that there is none without its event, and each folder in one place. */
const assertMirrors = (world: TestWorld, events: readonly Printed[], what: string): void => {
  const mirrors = mirrorsOf(events);
  for (const [path, text] of mirrors) assert.equal(readOrNull(world.path(path)), text, `${what}: ${path}`);
  for (const key of new Set(events.map(({ session }) => String(session)))) {
    const folder = folderOf(events, key);
    const name = key.replace(/^review:/, '');
    const other = folder.includes('/archive/') ? `.ocr/sessions/${name}` : `.ocr/sessions/archive/${name}`;
    assert.equal(existsSync(world.path(other)), false, `${what}: ${other} is not where it belongs`);
    for (let round = 1; round <= 12; round += 1) {
      const path = `${folder}/rounds/round-${round}/round-meta.json`;
      if (!mirrors.has(path)) assert.equal(existsSync(world.path(path)), false, `${what}: ${path} is of no event`);
    }
  }
};

const readOrNull = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null);

/** The events of all sessions, in the order in which they were stored; none where there is no store yet. */
const storedEvents = (world: TestWorld): readonly Printed[] =>
  isOnServer(world) || existsSync(world.path('.stint/stint.db')) ? listOf(dumpStore(world)['event'] ?? []) : [];

/** Asserts that what was stored once is still stored, as it was. */
const assertKept = (before: readonly Printed[], after: readonly Printed[], what: string): void =>
  assert.deepEqual(after.slice(0, before.length), before, `${what}: what was stored is stored`);

/**
 * What must hold after a verb was killed: what it acknowledged is there, what it did is there whole or not at all, and
 * nothing else has changed; the next verb brings the mirrors right; the same request again carries it out once; and no
 * litter is left then.
 */
const assertSurvived = (
  world: TestWorld,
  step: Step,
  request: string,
  killed: { readonly stdout: string; readonly json: Printed },
  before: readonly Printed[],
  nextVerb: 'list' | 'retry',
): { readonly wasAcknowledged: boolean; readonly wasCommitted: boolean } => {
  const what = `${step.args.join(' ')} (${request})`;
  const wasAcknowledged = killed.json !== undefined;
  step.left?.(world, what);
  if (nextVerb === 'list') {
    assertAnswer(world.run('list', '--json'), `${what}: the next verb`);
    assertMirrors(world, storedEvents(world), what);
  }
  const after = storedEvents(world);
  assertKept(before, after, what);
  const typesOf = (events: readonly Printed[]): readonly string[] =>
    sorted(events.slice(before.length).map(({ type, cause }) => `${type} ${cause}`));
  const whole = sorted(step.types.map((type) => (type.includes(' ') ? type : `${type} ${request}`)));
  const wasCommitted = after.length > before.length;
  if (wasCommitted) assert.deepEqual(typesOf(after), whole, `${what}: whole or not at all`);
  if (nextVerb === 'list') step.healed?.(world, wasCommitted, what);
  if (wasAcknowledged) {
    assert.equal(killed.json.error, undefined, `${what}: ${killed.stdout}`);
    assert.ok(wasCommitted, `${what} was acknowledged, so it is there`);
  }

  const retried = assertAnswer(
    world
      .with(step.input === undefined ? {} : { input: step.input })
      .run(...step.args, '--request-id', request, '--json'),
    `${what} again`,
  );
  assert.equal(retried.replayed === true, wasCommitted, `${what} again: it is carried out once`);
  if (wasAcknowledged) assert.deepEqual({ ...killed.json, replayed: true }, retried, `${what} again: the same answer`);
  const finished = storedEvents(world);
  assertKept(after, finished, what);
  assert.deepEqual(typesOf(finished), whole, `${what}: once, and whole`);
  assertMirrors(world, finished, what);
  step.healed?.(world, true, what);
  assert.deepEqual(litterIn(world), [], `${what}: no litter`);
  return { wasAcknowledged, wasCommitted };
};

/** Asserts that the mirrors are what `rebuild` makes: in a copy, where they are made anew. A folder has no copy of a server. */
const assertRebuilt = (tidying: Tidying, world: TestWorld): void => {
  if (isOnServer(world)) return;
  const copy = createWorld(tidying, { from: world });
  rmSync(copy.path('.ocr'), { recursive: true });
  assertAnswer(copy.run('rebuild', '--json'), 'rebuild');
  for (const path of mirrorsOf(storedEvents(world)).keys())
    assert.deepEqual(readFileSync(world.path(path)), readFileSync(copy.path(path)), path);
};

/** The verbs of a review with two rounds, from the begin that makes way for it to the one that follows it. */
const cycleOf = (name: string): readonly Step[] => {
  const of = ['--session', name];
  const advance = (phase: string): Step => ({ args: ['advance', phase, ...of], types: ['PhaseEntered'] });
  const note = (text: string): Step => ({ args: ['note', text, ...of], types: ['Noted'] });
  const start = ['change-context', 'analysis', 'reviews', 'aggregation'].map(advance);
  return [
    { args: ['begin', 'review', '--name', name, '--branch', name], types: ['SessionOpened', 'RoundStarted'] },
    ...start,
    note('a remark, with a "quote" and an emoji 🔥'),
    { args: ['advance', '--skip', 'discourse', '--reason', 'quick', ...of], types: ['PhaseSkipped', 'PhaseEntered'] },
    { args: ['complete-round', '-', ...of], input: json(objection), types: ['RoundCompleted'] },
    { args: ['finish', ...of], types: ['SessionClosed'] },
    { args: ['begin', 'review', '--name', name], types: ['SessionReopened', 'RoundStarted'] },
    ...start,
    advance('discourse'),
    advance('synthesis'),
    { args: ['complete-round', '-', ...of], input: json(approval), types: ['RoundCompleted'] },
    note('done'),
    { args: ['advance', 'context', '--round', '3', ...of], types: ['RoundStarted'] },
    {
      args: ['begin', 'review', '--branch', name, '--fresh'],
      types: ['SessionClosed', 'SessionOpened', 'RoundStarted'],
    },
  ];
};

/** What a campaign of kills came to. */
export interface KillSummary {
  readonly kills: number;
  /** How many were dead before they had printed their answer. */
  readonly unanswered: number;
  /** How many of those had committed all the same. */
  readonly committedUnanswered: number;
  readonly acknowledged: number;
}

/** A number between 0 and 1 for each count, evenly spread however far one counts. */
const spread = (count: number): number => (count * 0.618_033_988_749_895) % 1;

/**
 * Kills verb after verb of a growing store, after delays that are spread over the time that the verb took in this run, and
 * checks everything after each kill.
 */
export const killVerbs = async (tidying: Tidying, kills: number): Promise<KillSummary> => {
  const usual = await measure(tidying);
  // How a store is made is killed elsewhere: here there is one.
  const world = createWorld(tidying);
  world.answer('begin', 'review');
  let acknowledged = 0;
  let committedUnanswered = 0;
  let count = 0;
  for (let cycle = 1; count < kills; cycle += 1) {
    for (const step of cycleOf(`kill-${cycle}`)) {
      if (count === kills) break;
      count += 1;
      const request = `kill-${count}`;
      const before = storedEvents(world);
      const duration = usual.get(step.args[0] ?? '') ?? 100;
      const outcome = await runKilled(world, step, request, duration * spread(count) * 1.25);
      const survived = assertSurvived(world, step, request, outcome, before, count % 2 === 0 ? 'retry' : 'list');
      if (survived.wasAcknowledged) acknowledged += 1;
      else if (survived.wasCommitted) committedUnanswered += 1;
      if (step.args[0] === 'complete-round') assertRebuilt(tidying, world);
      if (count % 10 === 0) assertSound(world, request);
    }
  }
  assertSound(world, 'at the end');
  assertRebuilt(tidying, world);
  return { kills, acknowledged, unanswered: kills - acknowledged, committedUnanswered };
};

/** Kills the very first verb in a folder, when the store is being made. */
export const killFirstBegins = async (tidying: Tidying, kills: number): Promise<KillSummary> => {
  const duration = (await measure(tidying)).get('begin') ?? 100;
  let acknowledged = 0;
  let committedUnanswered = 0;
  for (let count = 1; count <= kills; count += 1) {
    const world = createWorld(tidying);
    const step = cycleOf('first')[0];
    assert.ok(step !== undefined);
    const outcome = await runKilled(world, step, 'first', duration * spread(count) * 1.25);
    // Where a server has no such project, who only reads is told so.
    const nextVerb = count % 2 === 0 || isOnServer(world) ? 'retry' : 'list';
    const survived = assertSurvived(world, step, 'first', outcome, [], nextVerb);
    if (survived.wasAcknowledged) acknowledged += 1;
    else if (survived.wasCommitted) committedUnanswered += 1;
    assertSound(world, `first begin ${count}`);
  }
  return { kills, acknowledged, unanswered: kills - acknowledged, committedUnanswered };
};

/** How long each verb takes at least as a whole process on this machine now, in milliseconds. */
const measure = async (tidying: Tidying): Promise<ReadonlyMap<string, number>> => {
  const world = createWorld(tidying);
  const shortest = new Map<string, number>();
  for (const step of cycleOf('measured')) {
    const verb = step.args[0] ?? '';
    const start = performance.now();
    assertAnswer(await startStep(world, step, 'measured').outcome, step.args);
    shortest.set(verb, Math.min(shortest.get(verb) ?? Infinity, performance.now() - start));
  }
  return shortest;
};

let requests = 0;

const startStep = (world: TestWorld, step: Step, request: string) => {
  requests += 1;
  const id = request === 'measured' ? `measured-${requests}` : request;
  return world
    .with(step.input === undefined ? {} : { input: step.input })
    .start(...step.args, '--request-id', id, '--json');
};

const runKilled = async (world: TestWorld, step: Step, request: string, delay: number): Promise<Outcome> => {
  const { child, outcome } = startStep(world, step, request);
  const timer = setTimeout(() => void child.kill('SIGKILL'), delay);
  const result = await outcome;
  clearTimeout(timer);
  return result;
};

/**
 * Kills a verb just before each single change that it makes on disk, or each `stride`th, every time in a copy of a world,
 * and checks everything after each kill. Answers how many kills there were.
 */
export const killAtEachStep = (tidying: Tidying, from: TestWorld, step: Step, stride = 1): number => {
  const run = (world: TestWorld, target: number) =>
    spawnSync(
      process.execPath,
      [
        '--no-warnings',
        '--import',
        join(import.meta.dirname, 'kill-at-step.ts'),
        command,
        ...step.args,
        '--request-id',
        'stepped',
        '--json',
      ],
      {
        cwd: world.project,
        env: { ...world.env, ...(target === 0 ? {} : { STINT_TEST_STEP: String(target) }) },
        input: step.input ?? '',
        stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        encoding: 'utf8',
      },
    );

  const counted = run(createWorld(tidying, { from }), 0);
  assert.equal(counted.status, 0, counted.stderr);
  const steps = Number(counted.output[3]);
  assert.ok(steps > 3, 'its changes were counted');
  const failures: string[] = [];
  let kills = 0;
  for (let target = 1; target <= steps; target += stride) {
    kills += 1;
    const world = createWorld(tidying, { from });
    const before = storedEvents(world);
    const { signal, stdout } = run(world, target);
    assert.equal(signal, 'SIGKILL', `killed before change ${target} of ${steps}`);
    const printed = stdout === '' ? undefined : JSON.parse(stdout);
    try {
      assertSurvived(world, step, 'stepped', { stdout, json: printed }, before, kills % 3 === 0 ? 'list' : 'retry');
      if (kills % 8 === 0) assertSound(world);
    } catch (error) {
      const reason = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
      failures.push(`killed before change ${target} of ${steps}: ${reason}`);
    }
    rmSync(world.root, { recursive: true });
  }
  assert.deepEqual(failures, []);
  return kills;
};

/** Eight processes at a time, each writing remarks; asserts that none is lost and none failed. */
export const writeNotes = async (world: TestWorld, writers: number, each: number): Promise<void> => {
  const { session } = world.answer('begin', 'review');
  const before = eventsOf(world, session).length;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let count = 0; count < each; count += 1) {
        const text = `remark ${writer}/${count}`;
        assertAnswer(await world.start('note', text, '--json').outcome, text);
      }
    }),
  );
  const texts = eventsOf(world, session)
    .slice(before)
    .map(({ data }) => String(data.text));
  for (let writer = 0; writer < writers; writer += 1) {
    assert.deepEqual(
      texts.filter((text) => text.startsWith(`remark ${writer}/`)),
      Array.from({ length: each }, (_, count) => `remark ${writer}/${count}`),
      'each writer finds its own in its order',
    );
  }
  assert.equal(texts.length, writers * each);
};

/** Several processes that complete one round at once, again and again: one completion, one answer. */
export const completeAtOnce = async (tidying: Tidying, callers: number, rounds: number): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    const world = reviewIn(tidying, 'synthesis');
    const caller = world.with({ input: json(approval) });
    const outcomes = await Promise.all(
      Array.from({ length: callers }, async () => caller.start('complete-round', '--stdin', '--json').outcome),
    );
    for (const outcome of outcomes) assertAnswer(outcome, `round ${round}`);
    assert.equal(new Set(outcomes.map(({ stdout }) => stdout)).size, 1, 'every caller gets the same answer');
    const completions = eventsOf(world, 'review:2026-03-17-main').filter(({ type }) => type === 'RoundCompleted');
    assert.equal(completions.length, 1);
    assertMirrors(world, storedEvents(world), `round ${round}`);
    assertSound(world, `round ${round}`);
    rmSync(world.root, { recursive: true });
  }
};

/**
 * Several processes that claim one session at once, again and again: one of them gets it, and the others are told who. Time
 * goes on between the rounds, so that the lease of the last winner has run out.
 */
export const raceClaims = async (tidying: Tidying, claimers: number, rounds: number): Promise<void> => {
  const world = createWorld(tidying);
  const { session } = world.answer('begin', 'review', '--name', 'raced');
  let newest = 0;
  for (let round = 0; round < rounds; round += 1) {
    const now = new Date(Date.parse('2026-03-17T12:00:00.000Z') + round * 1_800_000).toISOString();
    const outcomes = await Promise.all(
      Array.from(
        { length: claimers },
        async (_, claimer) =>
          world.with({ now, env: { STINT_ACTOR: `agent-${claimer}` } }).start('lease', 'claim', '--json').outcome,
      ),
    );
    const won = outcomes.filter(({ status }) => status === 0);
    const lost = outcomes.filter(({ status }) => status === 10);
    assert.deepEqual([won.length, lost.length], [1, claimers - 1], `round ${round}`);
    const [winner] = won;
    assert.ok(winner !== undefined);
    const { holder, token, expires_at: until } = assertAnswer(winner, `round ${round}`);
    assert.equal(holder, `agent-${outcomes.indexOf(winner)}`);
    assert.ok(token > newest, 'a token grows');
    newest = token;
    for (const { json: answer, stderr } of lost) {
      assert.equal(stderr, '');
      assert.equal(
        answer.error.message,
        `${session} is held by ${holder} on desk (worktree main) since ${now} until ${until}; whether it is alive is not known.`,
      );
    }
  }
  const events = eventsOf(world, session).filter(({ type }) => String(type).startsWith('Lease'));
  assert.deepEqual(
    events.map(({ type }) => type),
    ['LeaseClaimed', ...Array.from({ length: rounds - 1 }, () => ['LeaseLost', 'LeaseClaimed']).flat()],
  );
  assertSound(world);
};

/** What a stretch of mixed work came to. */
export interface MixedSummary {
  readonly verbs: number;
  readonly refused: number;
  readonly events: number;
}

/**
 * Workers that begin, walk, complete, close and remark on sessions that they share, for a while. They may be refused,
 * because others were faster; but never for another reason, and what they were told was done is there in the end.
 */
export const workMixed = async (world: TestWorld, workers: number, isOver: () => boolean): Promise<MixedSummary> => {
  const acknowledged = new Set<string>();
  let verbs = 0;
  let refused = 0;
  const work = async (worker: number): Promise<void> => {
    for (let count = 0; !isOver(); count += 1) {
      // Neighbours share sessions, so that they meet.
      const name = `shared-${(worker + count) % 3}`;
      const of = ['--session', name];
      const phase = ['change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis'][count % 6] ?? '';
      const choices: readonly { readonly args: readonly string[]; readonly input?: string }[] = [
        { args: ['begin', 'review', '--name', name] },
        { args: ['note', `from ${worker}`, ...of] },
        { args: ['advance', phase, ...of] },
        { args: ['complete-round', '-', ...of], input: json(approval) },
        { args: ['finish', ...of] },
        { args: ['status', ...of] },
        { args: ['advance', phase, ...of] },
        { args: ['list'] },
        { args: ['begin', 'review', '--name', `own-${worker}-${count}`, '--branch', `own-${worker}-${count}`] },
        { args: ['advance', phase, ...of] },
      ];
      const choice = choices[Math.floor(spread(worker * 7 + count) * choices.length)] ?? { args: ['list'] };
      const isWrite = choice.args[0] !== 'status' && choice.args[0] !== 'list';
      const request = `mixed-${worker}-${count}`;
      const {
        status,
        stderr,
        stdout,
        json: printed,
      } = await world
        .with(choice.input === undefined ? {} : { input: choice.input })
        .start(...choice.args, ...(isWrite ? ['--request-id', request] : []), '--json').outcome;
      verbs += 1;
      assert.ok([0, 4, 5, 6, 9].includes(status ?? 1), `${choice.args.join(' ')} -> ${status}: ${stdout}${stderr}`);
      if (status !== 0) refused += 1;
      else if (isWrite) acknowledged.add(`${request} ${printed.revision}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, async (_, worker) => work(worker)));

  const store = dumpStore(world);
  const answers = new Map(
    listOf(store['request']).map(({ id, answer }) => [String(id), JSON.parse(String(answer)).revision]),
  );
  for (const one of acknowledged) {
    const [request, revision] = one.split(' ');
    assert.equal(String(answers.get(request ?? '')), revision, `${request} was acknowledged, so it is there`);
  }
  const keys = new Set(listOf(store['event']).map(({ session }) => String(session)));
  for (const key of keys) assertLegal(key, eventsOf(world, key));
  assertMirrors(world, storedEvents(world), 'mixed work');
  assertSound(world, 'mixed work');
  return { verbs, refused, events: listOf(store['event']).length };
};

/** Asserts that the events of a review could have happened one after the other. */
const assertLegal = (key: string, events: readonly Printed[]): void => {
  let isOpen = false;
  const completed = new Set<number>();
  let round = 0;
  for (const { seq, type, data } of events) {
    const what = `${key}, event ${seq} (${type})`;
    if (type === 'SessionOpened' || type === 'SessionReopened') {
      assert.equal(isOpen, false, what);
      isOpen = true;
    } else if (type !== 'Noted') assert.equal(isOpen, true, what);
    if (type === 'SessionClosed') isOpen = false;
    if (type === 'RoundStarted') {
      assert.equal(data.round, round + 1, what);
      round = data.round;
    }
    if (type === 'RoundCompleted') {
      assert.equal(data.round, round, what);
      assert.ok(!completed.has(round), what);
      completed.add(round);
    }
  }
};
