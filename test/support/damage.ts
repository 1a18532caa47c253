/** Stores that are damaged at random: what is answered about them is right, or says what is missing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { leafRecords, readPages } from '../../src/store/sqlite/salvage/pages.ts';
import { randomFrom } from './random.ts';
import { approval, json, objection, phases } from './reviews.ts';
import type { LineOutcome } from './run-lines.ts';
import { assertSound } from './stores.ts';
import { command, createWorld, listOf, type Printed, type Tidying, type TestWorld } from './world.ts';

/** Runs command lines one after the other in one process of their own, which is ended where it is not over by a deadline. */
export const runLines = (
  world: TestWorld,
  lines: readonly (readonly string[])[],
  { deadline }: { readonly deadline?: number } = {},
): readonly (LineOutcome & { readonly json: Printed })[] => {
  const child = spawnSync(process.execPath, ['--no-warnings', join(import.meta.dirname, 'run-lines.ts')], {
    cwd: world.project,
    env: world.env,
    input: JSON.stringify(lines),
    maxBuffer: 1024 * 1024 * 1024,
    encoding: 'utf8',
    ...(deadline === undefined ? {} : { timeout: deadline }),
  });
  assert.equal(child.status, 0, `${child.signal}: ${child.stderr}${child.stdout.slice(0, 500)}`);
  const outcomes = JSON.parse(child.stdout) as readonly LineOutcome[];
  return outcomes.map((one) => ({ ...one, json: parsed(one.stdout) }));
};

const parsed = (text: string): Printed => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Brings everything into the file, so that the log holds what follows and nothing else. */
export const settle = (world: TestWorld): void => {
  const checkpoint = `const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    process.exit();`;
  const { status } = spawnSync(process.execPath, ['--no-warnings', '-e', checkpoint, world.path('.stint/stint.db')]);
  assert.equal(status, 0);
};

/** A verb with a limit on the size of files, in blocks of 512 bytes or a KiB, as the shell counts. */
export const runLimited = (world: TestWorld, blocks: number, ...args: readonly string[]) =>
  spawnSync('bash', ['-c', `ulimit -f ${blocks}; exec "$@"`, 'bash', process.execPath, command, ...args], {
    cwd: world.project,
    env: world.env,
    encoding: 'utf8',
  });

const nameOf = (index: number): string => `s-${String(index).padStart(2, '0')}`;

/** How many sessions the store has that is damaged. */
const sessions = 50;

const keys: readonly string[] = Array.from({ length: sessions }, (_, index) => `review:${nameOf(index)}`);

/** Makes a store of fifty reviews in all situations, the last of them in the log only. */
const makeStore = (tidying: Tidying): TestWorld => {
  const world = createWorld(tidying);
  const payload = (name: string, value: unknown): string => world.write(`../${name}.json`, json(value));
  const approved = payload('approval', approval);
  const objected = payload('objection', objection);
  const lines: string[][] = [];
  for (let index = 0; index < sessions; index += 1) {
    const of = ['--session', nameOf(index)];
    lines.push([
      'begin',
      'review',
      '--name',
      nameOf(index),
      '--branch',
      `b-${index}`,
      '--request-id',
      `begin-${index}`,
    ]);
    for (const phase of phases.slice(1, 1 + (index % 7))) lines.push(['advance', phase, ...of]);
    if (index % 3 === 0) lines.push(['note', `naïve \u{1F525} ${'words '.repeat(index)}`, ...of]);
    if (index % 10 === 1) lines.push(['note', 'x'.repeat(3000 + index * 300), ...of]);
    if (index % 4 === 0)
      lines.push([
        'process',
        'start',
        '--kind',
        'supervisor',
        '--name',
        `lead-${index}`,
        ...of,
        '--request-id',
        `p-${index}`,
      ]);
    if (index % 7 === 6) {
      lines.push(['complete-round', '--file', index % 2 === 0 ? approved : objected, ...of]);
      if (index % 2 === 0) lines.push(['finish', ...of]);
      else lines.push(['advance', 'context', '--round', '2', ...of]);
    }
    if (index % 9 === 5) lines.push(['finish', '--abort', '--reason', 'not needed', ...of]);
  }
  for (const outcome of runLines(world, lines)) assert.equal(outcome.status, 0, outcome.stderr);
  settle(world);
  for (const index of [2, 3, 10, 17, 24, 44]) world.answer('note', `late ${index}`, '--session', nameOf(index));
  world.answer('advance', 'analysis', '--session', nameOf(1));
  world.answer('finish', '--abort', '--reason', 'late', '--session', nameOf(9));
  return world;
};

const readsOf = (key: string): readonly (readonly string[])[] => [
  ['status', '--session', key, '--json'],
  ['show', '--session', key, '--json'],
  ['log', '--session', key, '--limit', '1000', '--json'],
];

/** What an undamaged store answers, and where its sessions lie. */
interface Whole {
  readonly world: TestWorld;
  readonly rows: ReadonlyMap<string, Printed>;
  readonly answers: ReadonlyMap<string, readonly Printed[]>;
  /** The images of pages that hold the rows of a session as they are now: `p3` in the file, `f4` in the log. */
  readonly images: ReadonlyMap<string, ReadonlySet<string>>;
  readonly database: Buffer;
  readonly log: Buffer;
}

const survey = (world: TestWorld): Whole => {
  const copy = (name: string): Buffer => readFileSync(world.path(`.stint/${name}`));
  const database = copy('stint.db');
  const log = copy('stint.db-wal');
  const [list, ...answers] = runLines(world, [['list', '--all', '--json'], ...keys.flatMap(readsOf)]);
  assert.equal(list?.status, 0, list?.stderr);
  const rows = new Map(listOf(list.json.sessions).map((row) => [String(row.session), row]));
  assert.equal(rows.size, sessions);
  for (const answer of answers) assert.equal(answer.status, 0, answer.stderr);
  return {
    world,
    rows,
    answers: new Map(keys.map((key, index) => [key, answers.slice(index * 3, index * 3 + 3).map((one) => one.json)])),
    images: imagesOf(database, log),
    database,
    log,
  };
};

/** Rows of the newest image of each page alone: what an older one holds is not what is. */
const imagesOf = (database: Buffer, log: Buffer): ReadonlyMap<string, ReadonlySet<string>> => {
  const pages = readPages(database, log);
  const found = new Map<string, Set<string>>();
  for (const { values, images } of leafRecords(pages)) {
    const key = keys.find((one) => one === values[0] || one === values[1]);
    if (key === undefined || !images.every((image) => pages.imagesByPage.get(image.page)?.at(-1) === image)) continue;
    const known = found.get(key) ?? new Set();
    for (const { page, frame } of images) known.add(frame === 0 ? `p${page}` : `f${frame}`);
    found.set(key, known);
  }
  return found;
};

/** A way to damage a file: the bytes from `from` to `to` are not any more what they were. */
interface Harm {
  readonly file: 'stint.db' | 'stint.db-wal';
  readonly what: string;
  readonly from: number;
  readonly to: number;
  readonly apply: (bytes: Buffer) => Buffer;
}

/** The damage that belongs to a seed. */
const harmOf = (seed: number, { database, log }: { readonly database: Buffer; readonly log: Buffer }): Harm => {
  const random = randomFrom(seed);
  const file = seed % 3 === 2 ? 'stint.db-wal' : 'stint.db';
  const size = (file === 'stint.db' ? database : log).length;
  const whole = (below: number): number => Math.floor(random() * below);
  const over = (from: number, length: number, what: string, fill: (byte: number) => number): Harm => ({
    file,
    what: `${file}: ${what} at ${from}`,
    from,
    to: Math.min(size, from + length),
    apply: (bytes) => {
      const harmed = Buffer.from(bytes);
      for (let at = from; at < Math.min(size, from + length); at += 1) harmed[at] = fill(harmed[at] ?? 0);
      return harmed;
    },
  });
  // Every tenth hits the beginning of the file, where one bit decides about everything.
  const place = seed % 10 === 7 ? whole(Math.min(size, 200)) : whole(size);
  switch (Math.floor(seed / 3) % 6) {
    case 0:
    case 1: {
      const bit = 1 << whole(8);
      return over(place, 1, `bit ${bit}`, (byte) => byte ^ bit);
    }
    case 2: {
      const length = 1 + whole(64);
      return over(place, length, `${length} bytes`, () => whole(256));
    }
    case 3: {
      const to = seed % 2 === 0 ? whole(size) : whole(Math.ceil(size / 512)) * 512;
      return { file, what: `${file}: cut to ${to}`, from: to, to: size, apply: (bytes) => bytes.subarray(0, to) };
    }
    case 4:
      return over(Math.floor(place / 4096) * 4096, 4096, 'a block of zeros', () => 0);
    default:
      return over(seed % 2 === 0 ? Math.floor(place / 4096) * 4096 : place, 4096, 'a random block', () => whole(256));
  }
};

/** The images of pages that a damage hits. */
const hitBy = ({ file, from, to }: Harm): ((image: string) => boolean) => {
  const [kind, header, step] = file === 'stint.db' ? (['p', 0, 4096] as const) : (['f', 32, 4120] as const);
  return (image) => {
    if (!image.startsWith(kind)) return false;
    const start = header + (Number(image.slice(1)) - 1) * step;
    return from < start + step && to > start;
  };
};

/** What a campaign of damage came to. */
interface DamageSummary {
  readonly cases: number;
  /** After how many everything was answered as before. */
  readonly unharmed: number;
  /** After how many every session was there again, whole. */
  readonly whole: number;
  /** Sessions with a gap, and sessions of which nothing was left, over all cases. */
  readonly flawed: number;
  readonly lost: number;
  readonly failures: readonly string[];
}

/**
 * Damages copies of a store with fifty sessions, a seed for each, and asks them everything: never a failure of ours, never
 * something wrong given as right, and what was not hit survives the repair.
 */
export const damageStores = (
  tidying: Tidying,
  seeds: readonly number[],
  runs: (seed: number) => 'lines' | 'processes',
): DamageSummary => {
  const whole = survey(makeStore(tidying));
  const failures: string[] = [];
  const summary = { unharmed: 0, whole: 0, flawed: 0, lost: 0 };
  for (const seed of seeds) {
    const harm = harmOf(seed, whole);
    const world = createWorld(tidying, { from: whole.world });
    try {
      const came = damageOne(world, whole, harm, seed, runs(seed));
      if (came.unharmed) summary.unharmed += 1;
      if (came.flawed + came.lost === 0) summary.whole += 1;
      summary.flawed += came.flawed;
      summary.lost += came.lost;
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      failures.push(`seed ${seed} (${harm.what}): ${error.message.slice(0, 1500)}`);
    }
    rmSync(world.root, { recursive: true, force: true });
  }
  return { cases: seeds.length, ...summary, failures };
};

const damageOne = (
  world: TestWorld,
  whole: Whole,
  harm: Harm,
  seed: number,
  manner: 'lines' | 'processes',
): { readonly unharmed: boolean; readonly flawed: number; readonly lost: number } => {
  const path = world.path('.stint', harm.file);
  rmSync(world.path('.stint/stint.db-shm'), { force: true });
  writeFileSync(world.path('.stint/stint.db'), whole.database);
  writeFileSync(world.path('.stint/stint.db-wal'), whole.log);
  writeFileSync(path, harm.apply(readFileSync(path)));

  const ask = (lines: readonly (readonly string[])[]): readonly (LineOutcome & { readonly json: Printed })[] => {
    const outcomes =
      manner === 'lines'
        ? runLines(world, lines)
        : lines.map((line) => {
            const { status, signal, stdout, stderr, json: document } = world.run(...line);
            assert.equal(signal, null, line.join(' '));
            return { status: status ?? 1, stdout, stderr, json: document };
          });
    for (const [index, { status, stdout, stderr, json: document }] of outcomes.entries()) {
      assert.notEqual(status, 1, `${lines[index]?.join(' ')}: ${stderr}`);
      assert.ok(document !== undefined, `${lines[index]?.join(' ')} -> ${status}: ${stdout}${stderr}`);
    }
    return outcomes;
  };

  // Before anything is repaired.
  const asked = [0, 1, 2].map((step) => keys[(seed * 7 + step * 17) % sessions] ?? '');
  const noted = asked[0] ?? '';
  const first = ask([['list', '--all', '--json'], ...asked.flatMap(readsOf), ['doctor', '--json']]);
  const [list, ...more] = first;
  const wrongList = differencesInList(list, whole, new Set());
  assert.deepEqual(wrongList, [], 'list before the repair');
  for (const [index, key] of asked.entries()) {
    for (const [at, outcome] of more.slice(index * 3, index * 3 + 3).entries())
      checkAnswer(outcome, whole.answers.get(key)?.[at], `${readsOf(key)[at]?.join(' ')} before the repair`);
  }
  const looked = more.at(-1);
  const saysHealthy = looked?.status === 0;

  const [note] = ask([['note', 'kept', '--session', noted, '--json']]);
  assert.ok([0, 14, 13, 6].includes(note?.status ?? 1), `note: ${note?.stdout}`);
  const wasNoted = note?.status === 0;
  const [fixed] = ask([['doctor', '--fix', '--json']]);
  assert.equal(fixed?.status, 0, `doctor --fix: ${fixed?.stdout}`);
  const lost = new Set(listOf(fixed.json.lost ?? []).map(String));
  const imported = new Set(listOf(fixed.json.imported ?? []).map((one) => String(one.session)));

  const after = ask([['doctor', '--json'], ['list', '--all', '--json'], ...keys.flatMap(readsOf)]);
  const [verdict, rows, ...answers] = after;
  assert.equal(verdict?.status, 0, `doctor after the repair: ${verdict?.stdout}`);
  const hit = hitBy(harm);
  const found = new Map(listOf(rows?.json.sessions).map((row) => [String(row.session), row]));
  let flawed = 0;
  for (const [index, key] of keys.entries()) {
    const own = answers.slice(index * 3, index * 3 + 3);
    const isUntouched = ![...(whole.images.get(key) ?? [])].some(hit);
    const row = found.get(key);
    if (row === undefined) {
      assert.ok(lost.has(key), `${key} is gone without a word`);
      assert.ok(!isUntouched, `${key} was not hit, and is lost`);
      continue;
    }
    if (imported.has(key)) {
      assert.equal(row.status, 'closed', `${key} was taken over from files, which complete nothing`);
      assert.ok(!isUntouched, `${key} was not hit`);
      continue;
    }
    if (row.flaw !== undefined) flawed += 1;
    if (isUntouched) assert.equal(row.flaw, undefined, `${key} was not hit`);
    if (row.flaw === undefined && !(wasNoted && key === noted)) {
      for (const [at, outcome] of own.entries())
        assert.deepEqual(outcome.json, whole.answers.get(key)?.[at], `${readsOf(key)[at]?.join(' ')} after the repair`);
    }
    if (wasNoted && key === noted) {
      const texts = listOf(own[2]?.json.events).map(({ data }) => data.text);
      assert.ok(texts.includes('kept'), `${key}: what was acknowledged is there`);
    }
  }
  const [again] = ask([['note', 'again', '--session', [...found.keys()][0] ?? '', '--json']]);
  if (found.size > 0) assert.equal(again?.status, 0, `a note after the repair: ${again?.stdout}`);
  const unharmed = saysHealthy && flawed === 0 && lost.size === 0;
  if (saysHealthy) assert.ok(unharmed || wasNoted, 'what doctor called healthy was whole');
  return { unharmed, flawed, lost: lost.size };
};

/** An answer is what it was, or refused as damage, or says that something is missing. */
const checkAnswer = (outcome: LineOutcome & { readonly json: Printed }, expected: Printed, what: string): void => {
  if (outcome.status !== 0) {
    assert.ok([14, 13, 6].includes(outcome.status), `${what} -> ${outcome.stdout}`);
    return;
  }
  const { warnings, ...answer } = outcome.json;
  if (warnings !== undefined && flawIn(answer)) return;
  assert.deepEqual(answer, expected, what);
};

const flawIn = (answer: Printed): boolean => [answer.flaw, answer.session?.flaw].some((flaw) => flaw !== undefined);

const differencesInList = (
  list: (LineOutcome & { readonly json: Printed }) | undefined,
  whole: Whole,
  ignore: ReadonlySet<string>,
): readonly string[] => {
  if (list === undefined || list.status !== 0) {
    return [14, 13, 6].includes(list?.status ?? 1) ? [] : [`list -> ${list?.stdout}`];
  }
  const { warnings } = list.json;
  const rows = new Map(listOf(list.json.sessions).map((row) => [String(row.session), row]));
  return keys.flatMap((key) => {
    const row = rows.get(key);
    if (ignore.has(key)) return [];
    if (row === undefined) return /\d+ lost/.test(String(warnings)) ? [] : [`${key} is not listed`];
    if (row.flaw !== undefined) return warnings === undefined ? [`${key} has a flaw without a warning`] : [];
    return JSON.stringify(row) === JSON.stringify(whole.rows.get(key)) ? [] : [`${key}: ${JSON.stringify(row)}`];
  });
};

/** A store whose file is damaged, so that all of it can be brought back, with what its sessions say. */
const damagedStore = (
  tidying: Tidying,
): { readonly world: TestWorld; readonly events: readonly (readonly Printed[])[] } => {
  const world = createWorld(tidying);
  const events: (readonly Printed[])[] = [];
  for (const key of ['first', 'second']) world.answer('begin', 'review', '--name', key, '--branch', key);
  settle(world);
  for (const key of ['first', 'second']) {
    world.answer('note', `of ${key}`, '--session', key);
    events.push(listOf(world.answer('log', '--session', key).events));
  }
  const file = world.path('.stint/stint.db');
  writeFileSync(file, readFileSync(file).fill('garbage', 0, 4096));
  rmSync(world.path('.stint/stint.db-shm'), { force: true });
  return { world, events };
};

const assertBack = (world: TestWorld, events: readonly (readonly Printed[])[], what: string): void => {
  for (const [index, key] of ['first', 'second'].entries())
    assert.deepEqual(listOf(world.answer('log', '--session', key).events), events[index], `${what}: ${key}`);
  assertSound(world, what);
};

/**
 * Kills the repair of a damaged store just before each change that it makes on disk, or each `stride`th: what is read then is
 * right, and the next repair brings everything back.
 */
export const killRepairs = (tidying: Tidying, stride = 1): number => {
  const { world: damaged, events } = damagedStore(tidying);
  const run = (world: TestWorld, target: number) =>
    spawnSync(
      process.execPath,
      ['--no-warnings', '--import', join(import.meta.dirname, 'kill-at-step.ts'), command, 'doctor', '--fix', '--json'],
      {
        cwd: world.project,
        env: { ...world.env, ...(target === 0 ? {} : { STINT_TEST_STEP: String(target) }) },
        stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        encoding: 'utf8',
      },
    );
  const counted = run(createWorld(tidying, { from: damaged }), 0);
  assert.equal(counted.status, 0, counted.stderr);
  const steps = Number(counted.output[3]);
  assert.ok(steps > 20, 'its changes were counted');
  const failures: string[] = [];
  let kills = 0;
  for (let target = 1; target <= steps; target += stride) {
    kills += 1;
    const world = createWorld(tidying, { from: damaged });
    try {
      assert.equal(run(world, target).signal, 'SIGKILL');
      const listed = world.run('list', '--all', '--json');
      assert.equal(listed.status, 0, `list: ${listed.stdout}`);
      assert.equal(listOf(listed.json.sessions).length, 2);
      assert.ok(listOf(listed.json.sessions).every((row) => row.flaw === undefined));
      // A verb that writes is refused, or what it wrote is there.
      const noted = world.run('note', 'in between', '--session', 'first', '--json');
      assert.ok(noted.status === 0 || noted.status === 14, `note: ${noted.stdout}`);
      world.answer('doctor', '--fix');
      if (noted.status === 0) {
        const log = listOf(world.answer('log', '--session', 'first').events);
        assert.equal(log.at(-1)?.data.text, 'in between');
        assert.deepEqual(log.slice(0, -1), events[0]);
        assertSound(world);
      } else assertBack(world, events, 'after the next repair');
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      failures.push(`killed before change ${target} of ${steps}: ${error.message.slice(0, 600)}`);
    }
    rmSync(world.root, { recursive: true, force: true });
  }
  assert.deepEqual(failures, []);
  return kills;
};

/** Several repairs at once, and writers among them: one repair is made, and nothing that was answered is lost. */
export const repairAtOnce = async (tidying: Tidying, repairs: number, writers: number): Promise<void> => {
  const { world, events } = damagedStore(tidying);
  const writing = Array.from({ length: writers }, async (_, writer) => {
    const texts: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const text = `${writer}/${count}`;
      const { status, stdout } = await world.start('note', text, '--session', 'first', '--json').outcome;
      assert.ok(status === 0 || status === 14 || status === 8, `note: ${status} ${stdout}`);
      if (status === 0) texts.push(text);
    }
    return texts;
  });
  const outcomes = await Promise.all(
    Array.from({ length: repairs }, async () => world.start('doctor', '--fix', '--json').outcome),
  );
  const texts = (await Promise.all(writing)).flat();
  for (const { status, stdout, stderr } of outcomes) assert.equal(status, 0, stdout + stderr);
  assert.equal(outcomes.filter(({ json: answer }) => answer.kept_aside !== null).length, 1, 'one repair');
  const log = listOf(world.answer('log', '--session', 'first', '--limit', '1000').events);
  assert.deepEqual(log.slice(0, events[0]?.length), events[0]);
  assert.deepEqual(
    log
      .slice(events[0]?.length)
      .map(({ data }) => String(data.text))
      .toSorted(),
    texts.toSorted(),
  );
  assertSound(world);
};

/**
 * One session is damaged, so that the others can be written while the store is made anew: a remark that was answered is
 * there afterwards.
 */
export const writeWhileRepaired = async (tidying: Tidying, writers: number): Promise<number> => {
  const world = createWorld(tidying);
  for (const key of ['first', 'second']) world.answer('begin', 'review', '--name', key, '--branch', key);
  world.answer('note', 'a remark', '--session', 'second');
  settle(world);
  const file = world.path('.stint/stint.db');
  const bytes = readFileSync(file);
  bytes.write('A', bytes.indexOf('"text":"a remark"') + 8);
  writeFileSync(file, bytes);
  const state = { isRepaired: false };
  const writing = Array.from({ length: writers }, async (_, writer) => {
    const texts: string[] = [];
    for (let count = 0; count < 3 || (!state.isRepaired && count < 200); count += 1) {
      const text = `${writer}/${count}`;
      const { status, stdout } = await world.start('note', text, '--session', 'first', '--json').outcome;
      assert.ok(status === 0 || status === 14 || status === 8, `note: ${status} ${stdout}`);
      if (status === 0) texts.push(text);
    }
    return texts;
  });
  const repaired = await world.start('doctor', '--fix', '--json').outcome;
  state.isRepaired = true;
  const texts = (await Promise.all(writing)).flat();
  assert.equal(repaired.status, 0, repaired.stdout);
  const log = listOf(world.answer('log', '--session', 'first', '--limit', '1000').events);
  assert.deepEqual(
    log
      .slice(2)
      .map(({ data }) => String(data.text))
      .toSorted(),
    texts.toSorted(),
  );
  assertSound(world);
  return texts.length;
};
