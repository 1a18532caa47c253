/** Runs that build a small project, with a driver and programs that are killed, and what must hold afterwards. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { randomFrom } from './random.ts';
import { effectsIn, type Report } from './run-driver.ts';
import type { Effect } from './run-step.ts';
import { assertSound, eventsOf } from './stores.ts';
import { createWorld, listOf, type Printed, type TestWorld, type Tidying } from './world.ts';

const session = 'run:ship';

/** What the nodes do, in their order; the three in the middle side by side. */
const nodes = ['build', 'lint', 'test', 'sums', 'pack', 'verify'] as const;
type NodeName = (typeof nodes)[number];

/** A world with a project and the template that builds it. */
const createProject = (tidying: Tidying): TestWorld => {
  const world = createWorld(tidying).with({ env: { STINT_NOW: undefined } });
  world.write('package.json', JSON.stringify({ name: 'shapes', version: '1.0.0', type: 'module' }));
  world.write(
    'src/index.js',
    `// What it offers.\nexport { area } from './area.js';\nexport { sum } from './sum.js';\n`,
  );
  world.write('src/area.js', `// The area of a rectangle. \nexport const area = ([a, b]) => a * b;\n`);
  world.write('src/sum.js', `// The sum of numbers.\nexport const sum = (all) => all.reduce((a, b) => a + b, 0);\n`);
  world.write(
    'test/shapes.test.js',
    `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { area, sum } from '../dist/package/index.js';
test('a rectangle has an area', () => assert.equal(area([3, 4]), 12));
test('numbers have a sum', () => assert.equal(sum([3, 4]), 7));
`,
  );
  const work = (id: NodeName, more: object = {}) => ({
    id,
    name: id,
    type: 'command',
    executor: 'node',
    args_template: id,
    ...more,
  });
  const checks = { parallel_group: 'checks', on_fail: 'retry' };
  world.write(
    '.workflow/templates/ship.json',
    JSON.stringify({
      template_id: 'wft-ship',
      name: 'Ship',
      context_schema: {},
      nodes: [
        work('build'),
        work('lint', checks),
        work('test', checks),
        work('sums', checks),
        { id: 'CP-01', name: 'checked', type: 'checkpoint', auto_continue: true },
        work('pack'),
        work('verify'),
      ],
      edges: [
        ...['lint', 'test', 'sums'].flatMap((check) => [
          { from: 'build', to: check },
          { from: check, to: 'CP-01' },
        ]),
        { from: 'CP-01', to: 'pack' },
        { from: 'pack', to: 'verify' },
      ],
    }),
  );
  world.answer('run', 'ship', '--name', 'ship');
  return world;
};

/** Who is killed in the life of a driver, and when. */
export type Kill =
  /**
   * At their own lines: `driver claimed build` is the driver, just after it has claimed that node; `node done build` the
   * node's program, just after its effect.
   */
  | { readonly moments: readonly string[] }
  /** After a part of the time that a whole run takes; a program is killed that much earlier as nodes are shorter. */
  | { readonly who: 'driver' | 'node' | 'both'; readonly after: number };

/** What became of a driver. */
interface Life {
  readonly signal: NodeJS.Signals | null;
  /** How many were killed in it. */
  readonly kills: number;
}

/** Runs a driver until it is killed, or the run is over. */
const live = async (world: TestWorld, number: number, kill: Kill | undefined, whole: number): Promise<Life> => {
  const deaths = kill !== undefined && 'moments' in kill ? kill.moments : [];
  const program = join(import.meta.dirname, 'run-driver.ts');
  // In a group of its own, so that all of it can be killed at once.
  const child = spawn(process.execPath, [program, session, world.path('effects.jsonl'), ...deaths], {
    cwd: world.project,
    env: { ...world.env, STINT_ACTOR: `driver-${number}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  const working = new Map<string, number>();
  let kills = 0;
  let timer: NodeJS.Timeout | undefined;
  const strike = (target: number): void => {
    try {
      process.kill(target, 'SIGKILL');
      kills += 1;
    } catch (error) {
      // It was over before.
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    }
  };
  const { pid } = child;
  assert.ok(pid !== undefined);
  if (kill !== undefined && 'who' in kill && kill.who !== 'node')
    timer = setTimeout(() => strike(kill.who === 'both' ? -pid : pid), kill.after * whole);
  createInterface(child.stdout).on('line', (line) => {
    const report: Report = JSON.parse(line);
    if (report.at === 'told') working.set(report.node, report.pid);
    if (report.at === 'ended' || report.at === 'killed') working.delete(report.node);
    if (report.at === 'killed' && deaths.length > 0) kills += 1;
    if (report.at === 'told' && kill !== undefined && 'who' in kill && kill.who === 'node')
      timer ??= setTimeout(
        () => {
          const [one] = working.values();
          if (one !== undefined) strike(one);
        },
        (kill.after * whole) / 8,
      );
  });
  const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, by) => {
      clearTimeout(timer);
      if (by === null && status !== 0) reject(new Error(`the driver has failed: ${said}`));
      else resolve(by);
    });
  });
  return { signal, kills: kills + (deaths.length > 0 && signal !== null ? 1 : 0) };
};

/** What a campaign came to. */
export interface Summary {
  readonly runs: number;
  readonly kills: number;
  /** How many attempts were in doubt, and how many of them were said to be done. */
  readonly doubts: number;
  readonly done: number;
  /** How many attempts were taken from another driver: by a result that their program had left. */
  readonly adopted: number;
}

/** A run with these lives of drivers, and one more that comes to its end; every kill must strike. */
export const driveThroughMoments = async (
  tidying: Tidying,
  lives: readonly (readonly string[])[],
): Promise<Summary> => {
  const world = createProject(tidying);
  for (const [number, moments] of lives.entries()) {
    const { kills } = await live(world, number, { moments }, 0);
    assert.equal(kills, moments.length, `everybody is killed where it was said: ${moments.join(', ')}`);
  }
  return driveToEnd(world, lives.length, lives.flat().length);
};

/** Runs in which drivers and programs are killed at moments that a seed chooses, until so many have been. */
export const driveThroughKills = async (tidying: Tidying, seed: number, kills: number): Promise<Summary> => {
  const random = randomFrom(seed);
  const world = createProject(tidying);
  const start = performance.now();
  let total = await driveToEnd(world, 0, 0);
  const whole = performance.now() - start;
  while (total.kills < kills) {
    const here = createProject(tidying);
    let [struck, drivers, isOver] = [0, 0, false];
    // A run that is always killed early would never end.
    for (; drivers < 12 && !isOver && total.kills + struck < kills; drivers += 1) {
      const who = (['driver', 'node', 'both'] as const)[Math.floor(random() * 3)] ?? 'both';
      const life = await live(here, drivers, { who, after: random() * 0.25 }, whole);
      struck += life.kills;
      isOver = life.signal === null;
    }
    const run = await driveToEnd(here, drivers, struck);
    total = {
      runs: total.runs + run.runs,
      kills: total.kills + run.kills,
      doubts: total.doubts + run.doubts,
      done: total.done + run.done,
      adopted: total.adopted + run.adopted,
    };
  }
  return total;
};

/** Starts a driver that nobody disturbs, and checks the whole run. */
const driveToEnd = async (world: TestWorld, drivers: number, kills: number): Promise<Summary> => {
  assert.equal((await live(world, drivers, undefined, 0)).signal, null);
  const log = assertExactlyOnce(world);
  const ofType = (type: string): readonly Printed[] => log.filter((event) => event.type === type);
  const claims = ofType('StepClaimed');
  const isOfAnother = ({ actor, data }: Printed): boolean =>
    claims.some(
      (claim) => claim.data.step === data.step && claim.data.attempt === data.attempt && claim.actor !== actor,
    );
  return {
    runs: 1,
    kills,
    doubts: ofType('StepInterrupted').filter(({ data }) => data.in_doubt === true).length,
    done: ofType('StepSettled').filter(({ data }) => data.as === 'done').length,
    adopted: ofType('StepCompleted').filter(isOfAnother).length,
  };
};

/** Asserts that nothing was done twice silently, nothing is lost, and the files say what the log says. Answers the log. */
const assertExactlyOnce = (world: TestWorld): readonly Printed[] => {
  const effects = effectsIn(world.path('effects.jsonl'));
  const log = eventsOf(world, session);
  for (const node of nodes)
    assertNode(
      node,
      effects.filter((one) => one.node === node),
      log,
    );
  assertFiles(world, log);
  assertSound(world);
  return log;
};

const assertNode = (node: NodeName, effects: readonly Effect[], log: readonly Printed[]): void => {
  const of = (type: string, attempt?: number): readonly Printed[] =>
    log.filter(
      (event) =>
        event.type === type && event.data.step === node && (attempt === undefined || event.data.attempt === attempt),
    );
  const attempts = of('StepClaimed').map(({ data }) => data.attempt);
  assert.deepEqual(
    attempts,
    Array.from(attempts, (_, index) => index + 1),
    `${node}: its attempts have no gap`,
  );
  assert.equal(effects.filter(({ what }) => what === 'done').length, 1, `${node}: its effect happened exactly once`);

  const begun = effects.filter(({ what }) => what === 'begun');
  for (const { id, attempt } of begun) {
    assert.equal(begun.filter((one) => one.attempt === attempt).length, 1, `${id}: each attempt was begun once`);
    assert.equal(of('StepStarted', attempt).length, 1, `${id} is on record before it begins`);
  }
  for (const [index, attempt] of attempts.entries()) {
    const ends = [...of('StepCompleted', attempt), ...of('StepFailed', attempt), ...of('StepInterrupted', attempt)];
    assert.equal(ends.length, 1, `${node}, attempt ${attempt}: it has one end`);
    const [end] = ends;
    const next = of('StepClaimed', attempt + 1)[0];
    const settled = of('StepSettled').find(({ seq }) => seq > end.seq && (next === undefined || seq < next.seq));
    const isLast: boolean = index === attempts.length - 1;
    if (isLast)
      assert.ok(end.type === 'StepCompleted' || settled?.data.as === 'done', `${node}: its last attempt is done`);
    else if (end.type !== 'StepFailed')
      assert.equal(settled?.data.as, 'again', `${node}, attempt ${attempt}: nobody does it again silently`);
    const what = effects.findLast((effect) => effect.attempt === attempt)?.what;
    assert.equal(what === 'done', isLast, `${node}, attempt ${attempt}: what is said of it is what it has done`);
  }
};

/** The state as another program reads it, made anew from the log. */
const assertFiles = (world: TestWorld, log: readonly Printed[]): void => {
  const folder = world.path('.workflow/sessions/ship');
  const document = JSON.parse(readFileSync(join(folder, 'session-state.json'), 'utf8'));
  const timeOf = (at: string | undefined): string | null => at?.replace('.000Z', 'Z') ?? null;
  for (const node of nodes) {
    const of = log.filter(({ data }) => data.step === node);
    const last = of.findLast(({ type }) => type === 'StepCompleted' || type === 'StepSettled');
    const claimed = of.findLast(({ type }) => type === 'StepClaimed');
    const started = of.find(({ type, data }) => type === 'StepStarted' && data.attempt === claimed?.data.attempt);
    const state = document.node_states[node];
    const told = last?.data.result;
    assert.deepEqual(
      [state.status, state.started_at, state.completed_at, state.error, state.artifacts],
      ['completed', timeOf((started ?? claimed)?.at), timeOf(last?.at), null, told?.artifacts ?? []],
      node,
    );
    if (told?.output !== undefined)
      assert.equal(readFileSync(join(folder, `artifacts/${node}-output.md`), 'utf8'), told.output, node);
  }
  const closed = log.at(-1);
  assert.deepEqual(
    [closed?.type, document.status, document.current_node, document.last_checkpoint, document.completed_at],
    ['SessionClosed', 'completed', null, 'CP-01', timeOf(closed?.at)],
  );
  assert.equal(JSON.parse(readFileSync(join(folder, 'checkpoints/CP-01.json'), 'utf8')).next_node, 'pack');
  assert.equal(listOf(document.execution_plan).length, 5);
};
