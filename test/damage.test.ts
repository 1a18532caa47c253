/** Damage of every kind: what each verb answers, what doctor says, what its repair brings back, and what stays as it was. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ok } from '../src/lib/result.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { caseFile } from './support/cases.ts';
import {
  damageStores,
  killRepairs,
  repairAtOnce,
  runLimited,
  runLines,
  settle,
  writeWhileRepaired,
} from './support/damage.ts';
import { name, reviewIn, session } from './support/reviews.ts';
import { assertSound, eventsOf, tamper, treeOf } from './support/stores.ts';
import {
  command,
  createWorld,
  listOf,
  noon,
  sorted,
  withoutShared,
  type Outcome,
  type Printed,
  type TestWorld,
} from './support/world.ts';

/** Two reviews: one with a completed round and its mirror, one with a remark. Nothing of them was copied anywhere. */
const twoReviews = (context: TestContext): TestWorld => {
  const world = reviewIn(context, 'complete');
  world.answer('begin', 'review', '--name', 'second', '--branch', 'second');
  world.answer('note', 'a remark', '--session', 'second');
  return world;
};

const keys = [session, 'review:second'];

const readings: readonly (readonly string[])[] = [
  ['list', '--all'],
  ...keys.flatMap((key) =>
    ['status', 'show', 'log', 'timeline', 'progress', 'journal'].map((verb) => [verb, '--session', key]),
  ),
  ['process', 'list', '--session', session],
];

const read = (world: TestWorld): readonly Outcome[] => readings.map((line) => world.run(...line, '--json'));

/** What lies in the store's folder and in the mirrors; what SQLite makes to read a file does not count. */
const leftOf = (world: TestWorld): Readonly<Record<string, string>> =>
  treeOf(
    world.project,
    (path) =>
      path.startsWith('.git') ||
      path.endsWith('-shm') ||
      path.endsWith('-repair') ||
      (path.endsWith('-wal') && statSync(world.path(path)).size === 0),
  );

const store = '.stint/stint.db';

const overwrite = (world: TestWorld, from: number, length: number): void =>
  writeFileSync(world.path(store), readFileSync(world.path(store)).fill('garbage', from, from + length));

/** The remark as its event holds it: the row of its session holds its text as well. */
const remark = '{"text":"a remark"}';

/** The first byte of the page of the file that holds a text. */
const pageWith = (world: TestWorld, text: string): number => {
  const at = readFileSync(world.path(store)).indexOf(text);
  assert.ok(at >= 0, `${text} is in the file`);
  return Math.floor(at / 4096) * 4096;
};

/** One way to damage a store, and what becomes of it. */
interface Situation {
  readonly name: string;
  readonly damage: (world: TestWorld) => void;
  /** What doctor says of the store. */
  readonly problem: RegExp;
  /** Sessions that come back whole, with a gap, and not at all. */
  readonly whole: readonly string[];
  readonly flawed?: Readonly<Record<string, RegExp>>;
  readonly lost?: readonly string[];
  readonly imported?: readonly string[];
  /** The first verb that meets it answers as if nothing were: only some pages are damaged. */
  readonly isPartial?: boolean;
}

const situations: readonly Situation[] = [
  {
    name: 'the beginning of the file is overwritten',
    damage: (world) => {
      settle(world);
      overwrite(world, 0, 4096);
    },
    problem: /file is not a database/,
    whole: keys,
  },
  {
    name: '4 KiB inside the file, with the events, are overwritten',
    damage: (world) => {
      settle(world);
      overwrite(world, pageWith(world, remark), 4096);
    },
    problem: /database disk image is malformed/,
    whole: [],
    lost: keys,
    imported: [session],
    isPartial: true,
  },
  {
    name: 'an index inside the file is overwritten',
    damage: (world) => {
      settle(world);
      tamper(world, (database) => {
        const root = database.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'session_name'`).get();
        world.write('../root', String(root?.['rootpage']));
      });
      overwrite(world, (Number(readFileSync(world.path('../root'), 'utf8')) - 1) * 4096, 4096);
    },
    problem: /malformed|is damaged/,
    whole: keys,
    isPartial: true,
  },
  {
    name: 'the file is cut',
    damage: (world) => {
      settle(world);
      truncateSync(world.path(store), pageWith(world, 'SessionOpened'));
    },
    problem: /malformed/,
    whole: [],
    lost: keys,
    imported: [session],
  },
  {
    name: 'the file is empty',
    damage: (world) => {
      settle(world);
      truncateSync(world.path(store), 0);
    },
    problem: /is empty; it was here before. There is no copy of it/,
    whole: [],
    lost: keys,
    imported: [session],
  },
  {
    name: 'the file is empty beside its log',
    damage: (world) => truncateSync(world.path(store), 0),
    problem: /is empty, but its log stint\.db-wal is there/,
    whole: keys,
  },
  {
    name: 'the file is gone and its log is there',
    damage: (world) => rmSync(world.path(store)),
    problem: /is missing, but its log stint\.db-wal is there/,
    whole: keys,
  },
  {
    name: 'the log is gone',
    damage: (world) => {
      settle(world);
      world.answer('note', 'late', '--session', 'second');
      rmSync(world.path(`${store}-wal`));
    },
    problem: /event 4 of review:second was answered and is not in it: its log stint.db-wal was lost or cut/,
    whole: [session],
    flawed: { 'review:second': /^damaged: event 4 is lost$|event 4 is lost/ },
  },
  {
    name: 'the end of the log is cut off',
    damage: (world) => {
      settle(world);
      world.answer('note', 'late', '--session', 'second');
      const { size } = statSync(world.path(`${store}-wal`));
      world.answer('note', 'later', '--session', 'second');
      truncateSync(world.path(`${store}-wal`), size);
    },
    problem: /event 5 of review:second was answered and is not in it/,
    whole: [session],
    flawed: { 'review:second': /event 5 is lost/ },
  },
  {
    name: 'the middle of the log is overwritten',
    damage: (world) => {
      settle(world);
      for (const text of ['one', 'two', 'three']) world.answer('note', text, '--session', 'second');
      const log = readFileSync(world.path(`${store}-wal`));
      writeFileSync(world.path(`${store}-wal`), log.fill('garbage', 32 + 24 + 100, 32 + 24 + 300));
    },
    problem: /its log breaks off after 0 of \d+ pages that were committed/,
    whole: keys,
  },
  {
    name: 'the folder was deleted and the mirrors are left',
    damage: (world) => rmSync(world.path('.stint'), { recursive: true }),
    problem: /is gone; it was here before. There is no copy of it/,
    whole: [],
    imported: [session],
  },
];

/** A text without what is only there to align it. */
const unaligned = (text: string): string => text.replaceAll(/ {2,}(?=\S)/g, '  ').replaceAll(/ +$/gm, '');

for (const situation of situations) {
  test(`${situation.name}: what is read is right or says what is missing, doctor names it, and its repair brings back what there is`, (context) => {
    const world = twoReviews(context);
    const { whole, flawed = {}, lost = [], imported = [] } = situation;
    const expected = new Map<string, Printed>();
    const collect = (): void => {
      for (const line of readings) expected.set(line.join(' '), world.run(...line, '--json').json);
    };
    collect();
    situation.damage(world);
    // What the damage itself added is not expected to be there.
    const before = leftOf(world);

    for (const [index, { status, json: answer, stderr }] of read(world).entries()) {
      const line = readings[index]?.join(' ') ?? '';
      assert.ok(status === 0 || status === 14, `${line} -> ${status}: ${stderr}`);
      if (status !== 0 || (answer.warnings !== undefined && whole.length < keys.length)) continue;
      const { warnings, ...rest } = answer;
      if (situation.isPartial !== true)
        assert.match(String(warnings), /is damaged|was here|its log stint\.db-wal is there/, line);
      if (!/log|middle/.test(situation.name)) assert.deepEqual(rest, expected.get(line), line);
    }
    assert.deepEqual(leftOf(world), before, 'reading changes nothing');

    const looked = world.run('doctor', '--json');
    assert.equal(looked.status, 14, looked.stdout);
    assert.equal(looked.json.healthy, false);
    assert.match(JSON.stringify(looked.json.findings), situation.problem);
    assert.equal(looked.json.error.hint, 'stint doctor --fix');
    const readable = listOf(looked.json.readable ?? []).map((one) => String(one.session));
    if (looked.json.readable !== undefined) assert.deepEqual(readable, [...whole].toSorted());
    for (const key of lost) assert.ok(JSON.stringify(looked.json.findings).includes(key), key);
    assert.match(world.run('doctor').stdout, /^not healthy: /);
    assert.deepEqual(leftOf(world), before, 'looking changes nothing');

    const fixed = world.answer('doctor', '--fix');
    assert.equal(fixed.healthy, true);
    assert.deepEqual(
      listOf(fixed.restored).map((one) => one.session),
      [...whole, ...Object.keys(flawed)].toSorted(),
    );
    assert.deepEqual(sorted(listOf(fixed.lost).map(String)), sorted(lost));
    assert.deepEqual(
      listOf(fixed.imported).map((one) => one.session),
      imported,
    );
    for (const [key, flaw] of Object.entries(flawed)) assert.match(world.answer('status', key).flaw, flaw);
    // Every file of the damaged store is kept, byte for byte.
    const kept = fixed.kept_aside === null ? {} : treeOf(String(fixed.kept_aside));
    for (const [path, was] of Object.entries(before)) {
      if (path.startsWith('.stint/stint.db')) assert.equal(kept[path.slice('.stint/'.length)], was, path);
    }
    const after = leftOf(world);
    for (const [path, was] of Object.entries(before)) {
      if (path.startsWith('.ocr')) assert.equal(after[path], was, path);
    }

    assertSound(world, 'after the repair');
    for (const key of whole) {
      assert.equal(world.answer('status', key).flaw, undefined);
      assert.equal(world.run('note', 'again', '--session', key).status, 0);
    }
    for (const key of imported.filter((one) => !whole.includes(one)))
      assert.equal(world.answer('status', key).status, 'closed', 'files complete nothing');
    const again = world.answer('doctor', '--fix');
    assert.deepEqual([again.kept_aside, again.restored, again.damage], [null, [], []]);
    assertSound(world);
  });
}

test('doctor says in words what is damaged, what can be read and what is lost, and its repair what became of it', (context) => {
  const world = twoReviews(context);
  settle(world);
  world.answer('note', 'late', '--session', 'second');
  rmSync(world.path(`${store}-wal`));
  const looked = world.run('doctor');
  assert.equal(
    unaligned(world.scrub(looked.stdout + looked.stderr)),
    [
      'not healthy: 2 sessions, 12 events in ROOT/project/.stint/stint.db',
      'ROOT/project/.stint/stint.db  The store ROOT/project/.stint/stint.db is damaged: event 4 of review:second was answered and is not in it: its log stint.db-wal was lost or cut.  stint doctor --fix',
      'review:second  event 4 is lost',
      `${session}  can be read in the store: 9 events`,
      'stint: The store ROOT/project/.stint/stint.db is damaged: event 4 of review:second was answered and is not in it: its log stint.db-wal was lost or cut.',
      '  try: stint doctor --fix',
      '',
    ].join('\n'),
  );
  const fixed = world.run('doctor', '--fix');
  assert.equal(
    unaligned(world.scrub(fixed.stdout + fixed.stderr)),
    [
      'healthy: 2 sessions, 13 events in ROOT/project/.stint/stint.db',
      'it was: The store ROOT/project/.stint/stint.db is damaged: event 4 of review:second was answered and is not in it: its log stint.db-wal was lost or cut.',
      `${session}  restored from the store: 9 events`,
      'review:second  restored from the store: 3 events  event 4 is lost',
      'the damaged files are kept in ROOT/project/.stint/stint.db.damaged-20260317T120000',
      '',
    ].join('\n'),
  );
});

test('a deleted store comes back from its copy, with whatever happened later named as unknown', (context) => {
  const world = twoReviews(context);
  world.answer('finish', '--session', name);
  world.answer('note', 'after the copy', '--session', 'second');
  const copies = join(world.root, 'home/.local/state/stint');
  const [id] = readdirSync(copies);
  assert.equal(readFileSync(world.path('.git/stint-id'), 'utf8').trim(), id);
  rmSync(world.path('.stint'), { recursive: true });

  const listed = world.run('list', '--all', '--json');
  assert.equal(listed.status, 0);
  assert.match(
    String(listed.json.warnings),
    /is gone; it was here before. There is a copy of 2026-03-17T12:00:00.000Z/,
  );
  assert.deepEqual(sorted(listOf(listed.json.sessions).map((row) => String(row.session))), sorted(keys));
  assert.equal(existsSync(world.path('.stint')), false, 'reading makes no store');
  assert.equal(world.refusal(14, 'begin', 'review', '--name', 'third').hint, 'stint doctor --fix');
  assert.equal(existsSync(world.path('.stint')), false, 'nothing is begun over what is missed');

  const fixed = world.answer('doctor', '--fix');
  assert.deepEqual(
    listOf(fixed.restored).map((one) => [one.source, one.flaw]),
    [0, 1].map(() => [
      'copy',
      'it comes from the copy of 2026-03-17T12:00:00.000Z: whatever happened to it later is lost',
    ]),
  );
  assert.equal(world.answer('status', name).outcome, 'completed');
  assert.match(world.answer('status', 'second').flaw, /copy of 2026-03-17/);
  assert.equal(world.run('note', 'on it goes', '--session', 'second').status, 0);
  assert.deepEqual(readdirSync(copies), [id], 'it is the same store');
  assertSound(world);
});

test('finishing keeps a copy once an hour, and one that cannot be kept is a warning', (context) => {
  const world = twoReviews(context);
  const copies = join(world.root, 'home/.local/state/stint');
  writeFileSync(join(world.root, 'home/.local'), 'no folder');
  const warned = world.run('finish', '--session', name, '--json');
  assert.equal(warned.status, 0);
  assert.match(String(warned.json.warnings), /no copy of the store was kept/);
  rmSync(join(world.root, 'home/.local'));
  for (const [time, count] of [
    ['2026-03-17T13:00:00Z', 1],
    ['2026-03-17T13:30:00Z', 1],
    ['2026-03-17T14:00:00Z', 2],
    ['2026-03-17T15:00:00Z', 3],
    ['2026-03-17T16:00:00Z', 3],
  ] as const) {
    const later = world.with({ now: time });
    const { session_id } = later.answer(
      'begin',
      'review',
      '--branch',
      'more',
      '--name',
      `n-${time.slice(11, 16).replace(':', '')}`,
    );
    later.answer('finish', '--abort', '--session', session_id);
    assert.equal(readdirSync(join(copies, readdirSync(copies)[0] ?? '')).length, count, time);
  }
});

test('where files may not grow, a writing verb is refused by name, nothing has changed, and it works once they may', (context) => {
  const world = twoReviews(context);
  const before = leftOf(world);
  const events = eventsOf(world, 'review:second');
  const refused = runLimited(world, 8, 'note', 'x'.repeat(20_000), '--session', 'second', '--json');
  assert.equal(refused.status, 6, `${refused.signal} ${refused.stdout}${refused.stderr}`);
  assert.match(JSON.parse(refused.stdout).error.message, /no room left where the store .* is; nothing was changed/);
  assert.deepEqual(eventsOf(world, 'review:second'), events);
  assert.deepEqual(leftOf(world)[store], before[store]);
  const reading = runLimited(world, 8, 'log', '--session', 'second', '--json');
  assert.equal(reading.status, 0, 'reading needs no room');
  const { warnings, ...answer } = JSON.parse(reading.stdout);
  assert.match(String(warnings), /^There is no room left .*\. This is what can be read of it \(2 sessions\)$/);
  assert.deepEqual(answer, world.answer('log', '--session', 'second'));
  assert.equal(world.run('note', 'x'.repeat(20_000), '--session', 'second').status, 0);
  assertSound(world);
});

test('a repair that has no room is refused and leaves everything as it was; with room it works', (context) => {
  const world = twoReviews(context);
  settle(world);
  overwrite(world, 0, 4096);
  const before = leftOf(world);
  const refused = runLimited(world, 8, 'doctor', '--fix', '--json');
  assert.equal(refused.status, 6, `${refused.signal} ${refused.stdout}${refused.stderr}`);
  const after = leftOf(world);
  for (const [path, was] of Object.entries(before)) assert.equal(after[path], was, path);
  assert.equal(world.answer('doctor', '--fix').healthy, true);
  assertSound(world);
});

test('a database that may not have more pages is full like a disk', async (context) => {
  const { openDatabase } = await import('../src/store/sqlite/database.ts');
  const path = join(createWorld(context, { git: false }).root, 'full.db');
  const database = openDatabase(path, { readOnly: false });
  database.exec('CREATE TABLE t (a); PRAGMA max_page_count = 3');
  assert.throws(
    () =>
      database.write(() => {
        database.run('INSERT INTO t VALUES (?)', 'x'.repeat(50_000));
        return { commit: true, value: undefined };
      }),
    /no room left where the store .*full\.db is; nothing was changed/,
  );
  assert.equal(database.get('SELECT count(*) AS count FROM t')?.['count'], 0);
  database.exec('PRAGMA max_page_count = 1000');
  database.write(() => {
    database.run('INSERT INTO t VALUES (?)', 'x'.repeat(50_000));
    return { commit: true, value: undefined };
  });
  assert.equal(database.get('SELECT count(*) AS count FROM t')?.['count'], 1);
  database.close();
});

/** Whether a file system can be mounted here, in a space of its own. */
const mounting = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', '/mnt'], {
  encoding: 'utf8',
});
const withoutMounts = mounting.status !== 0 && `nothing can be mounted here: ${mounting.stderr}`;

/** Runs a shell script in a space of its own for mounts; `stint` and `node` are there. */
const inMounts = (world: TestWorld, script: string) =>
  spawnSync('unshare', ['-rm', 'bash', '-c', `stint() { "${process.execPath}" "${command}" "$@"; }\n${script}`], {
    cwd: world.project,
    env: world.env,
    encoding: 'utf8',
  });

test(
  'A07: on a disk that is full to the brim a verb is refused by name, what was there can be read, and with room it works',
  { skip: withoutMounts },
  (context) => {
    const world = twoReviews(context);
    const { stdout, stderr, status } = inMounts(
      world,
      `mount -t tmpfs -o size=1m tmpfs /mnt || exit 70
       cp -r . /mnt/p && cd /mnt/p || exit 71
       stint log --session second --json > /tmp/before.$$
       dd if=/dev/zero of=/mnt/fill bs=1k count=2000 2>/dev/null
       stint note "$(head -c 60000 /dev/zero | tr '\\0' x)" --session second --json; echo "full $?"
       stint log --session second --json > /tmp/after.$$; echo "read $?"
       cmp /tmp/before.$$ /tmp/after.$$; echo "same $?"
       rm /tmp/before.$$ /tmp/after.$$ /mnt/fill
       stint note "$(head -c 60000 /dev/zero | tr '\\0' x)" --session second --quiet; echo "room $?"
       stint doctor --quiet; echo "doctor $?"`,
    );
    assert.equal(status, 0, stderr);
    assert.match(stdout, /There is no room left where the store/);
    assert.match(stdout, /full 6\nread 0\nsame 0\nroom 0\ndoctor 0\n$/, stdout + stderr);
  },
);

test(
  'a read-only mount is read as it is, refuses writers by name, and is healthy',
  { skip: withoutMounts },
  (context) => {
    const world = twoReviews(context);
    const before = leftOf(world);
    const { stdout, stderr } = inMounts(
      world,
      `mount --bind . . && mount -o remount,ro,bind . || exit 70
     cd "$PWD"
     stint status --session second --json > /dev/null; echo "read $?"
     stint note x --session second --json; echo "write $?"
     stint doctor --quiet; echo "doctor $?"
     stint doctor --fix --json; echo "fix $?"`,
    );
    assert.match(stdout, /read 0\n/, stderr);
    assert.match(stdout, /cannot be written|cannot be used/);
    assert.match(stdout, /write 6\n[^]*doctor 0\n[^]*fix 6\n/, stdout + stderr);
    assert.deepEqual(leftOf(world), before);
    assert.equal(
      world.run('note', 'x', '--session', 'second').status,
      0,
      'the same command works where it may be written',
    );
  },
);

test('a folder on another machine is refused by every verb, named by doctor, and nothing is made in it', (context) => {
  const world = twoReviews(context);
  const mounts = world.write(
    '../mounts',
    `25 1 8:1 / / rw - ext4 /dev/sda rw\n36 25 0:31 / ${world.root} rw - nfs4 filer:/home rw\n`,
  );
  const shared = world.with({ env: { STINT_TEST_MOUNTS: mounts } });
  const before = leftOf(world);
  const lines = [...readings, ['note', 'x', '--session', 'second'], ['doctor'], ['doctor', '--fix']];
  for (const [index, { status, json: answer }] of runLines(
    shared,
    lines.map((line) => [...line, '--json']),
  ).entries()) {
    assert.equal(status, 6, lines[index]?.join(' '));
    assert.match(answer.error.message, /is on nfs4 \(filer:\/home\): file locks and shared memory do not hold there/);
    if (lines[index]?.[0] === 'doctor') {
      assert.deepEqual(
        listOf(answer.findings).map(({ problem, fix }) => [problem, fix]),
        [[answer.error.message, null]],
      );
    }
  }
  assert.deepEqual(leftOf(world), before);
  const allowed = shared.with({ env: { STINT_UNSAFE_FILE_SYSTEM: 'allow' } });
  assert.equal(runLines(allowed, [['note', 'x', '--session', 'second']])[0]?.status, 0);
});

test('a newer schema is a finding without a repair, and everything can be read', (context) => {
  const world = twoReviews(context);
  tamper(world, (database) => database.exec('PRAGMA user_version = 99'));
  const before = leftOf(world);
  for (const outcome of read(world)) assert.equal(outcome.status, 0, outcome.stdout);
  for (const flags of [[], ['--fix']]) {
    const outcome = world.run('doctor', ...flags, '--json');
    assert.equal(outcome.status, 13, outcome.stdout);
    assert.match(outcome.json.error.message, /written by a newer stint \(schema 99/);
    assert.deepEqual(
      listOf(outcome.json.findings).map(({ problem, fix }) => [problem, fix]),
      [[outcome.json.error.message, null]],
      flags.join(''),
    );
  }
  assert.equal(world.refusal(13, 'note', 'x', '--session', 'second').code, 'newer-version');
  assert.deepEqual(leftOf(world), before);
});

test('a link for the folder that leads nowhere is a finding of doctor; once it is put right the same command works', (context) => {
  const world = twoReviews(context);
  renameSync(world.path('.stint'), join(world.root, 'elsewhere'));
  symlinkSync('../nowhere', world.path('.stint'));
  const before = leftOf(world);
  for (const line of [...readings, ['note', 'x', '--session', 'second']]) {
    assert.match(world.refusal(14, ...line).message, /\.stint is a symbolic link to nothing/, line.join(' '));
  }
  for (const flags of [[], ['--fix']]) {
    const { status, json: report } = world.run('doctor', ...flags, '--json');
    assert.equal(status, 14);
    assert.deepEqual(
      [report.healthy, report.store, listOf(report.findings).map(({ problem }) => problem)],
      [false, null, [report.error.message]],
    );
  }
  assert.match(world.run('doctor').stdout, /^not healthy: the store cannot be opened\nstore {2}/);
  assert.deepEqual(leftOf(world), before);
  rmSync(world.path('.stint'));
  symlinkSync('../elsewhere', world.path('.stint'));
  assert.equal(world.run('note', 'x', '--session', 'second').status, 0);
});

test('a link for the store is followed: what it names is used and repaired, and the link stays', (context) => {
  const world = twoReviews(context);
  settle(world);
  const elsewhere = join(world.root, 'elsewhere');
  mkdirSync(elsewhere);
  for (const file of readdirSync(world.path('.stint')).filter((one) => one.startsWith('stint.db')))
    renameSync(world.path('.stint', file), join(elsewhere, file));
  symlinkSync(join(elsewhere, 'stint.db'), world.path(store));
  world.answer('note', 'through the link', '--session', 'second');
  rmSync(join(elsewhere, 'stint.db-wal'));
  assert.match(world.refusal(14, 'note', 'x', '--session', 'second').message, /its log stint\.db-wal was lost or cut/);
  world.answer('doctor', '--fix');
  assert.ok(lstatSync(world.path(store)).isSymbolicLink());
  world.answer('note', 'and again', '--session', 'second');
  assertSound(world);

  renameSync(join(elsewhere, 'stint.db'), join(elsewhere, 'away'));
  for (const line of [['note', 'x'], ['list'], ['doctor'], ['doctor', '--fix']]) {
    const refusal = world.refusal(14, ...line);
    assert.match(refusal.message, /stint\.db is a link to nothing/, line.join(' '));
    assert.equal(refusal.hint, 'remove the link, or put back what it names', line.join(' '));
  }
  assert.ok(lstatSync(world.path(store)).isSymbolicLink());
  renameSync(join(elsewhere, 'away'), join(elsewhere, 'stint.db'));
  assertSound(world);
});

test('a pipe in the place of the store is refused, not waited for', (context) => {
  const world = createWorld(context);
  mkdirSync(world.path('.stint'));
  assert.equal(spawnSync('mkfifo', [world.path(store)]).status, 0);
  for (const line of [['begin', 'review'], ['list'], ['doctor'], ['doctor', '--fix'], ['import', 'review', store]])
    assert.match(world.refusal(14, ...line).message, /is no file/, line.join(' '));
});

test('a home in which no folder can be made costs the copy, not the verb', (context) => {
  const world = reviewIn(context, 'complete').with({ env: { HOME: '/proc' } });
  const { status, stderr } = world.run('finish');
  assert.equal(status, 0);
  assert.match(stderr, /^stint: warning: no copy of the store was kept: \/proc\/\.local/);
});

test('a store whose companions were all deleted is not taken for whole, and each of its sessions says what is not known', (context) => {
  const world = twoReviews(context);
  settle(world);
  world.answer('note', 'late', '--session', 'second');
  for (const suffix of ['-wal', '-shm', '-tip']) rmSync(world.path(store + suffix));
  assert.match(
    world.refusal(14, 'note', 'x', '--session', 'second').message,
    /^The files beside the store .* are gone/,
  );
  const { flaw } = world.run('status', '--session', 'second', '--json').json;
  assert.equal(flaw, 'whether it had events behind 3 is not known: the log is lost');
  const events = listOf(world.run('log', '--session', 'second', '--json').json.events);
  assert.equal(
    events.at(-1)?.data.text,
    'a remark',
    'what is read of a damaged store has nothing that was not written',
  );
  world.answer('doctor', '--fix');
  assert.equal(world.answer('status', '--session', 'second').flaw, flaw);
  world.answer('note', 'x', '--session', 'second');
  assertSound(world);
});

test('no copy is kept of a store that is damaged', (context) => {
  const world = twoReviews(context);
  settle(world);
  const bytes = readFileSync(world.path(store));
  bytes.write(remark.toUpperCase(), bytes.indexOf(remark));
  writeFileSync(world.path(store), bytes);
  const { status, json: answer } = world.run('finish', '--session', session, '--json');
  assert.equal(status, 0);
  assert.deepEqual(answer.warnings, ['no copy of the store was kept: it is damaged (stint doctor)']);
  const copies = treeOf(join(world.root, 'home'), (path) => !path.endsWith('.db'));
  assert.deepEqual(Object.keys(copies), []);
});

test('mirror files that cannot be read are findings, cost no verb anything, and are put right by the repair', (context) => {
  const world = twoReviews(context);
  const mirror = world.path(`.ocr/sessions/${name}/rounds/round-1/round-meta.json`);
  rmSync(mirror);
  mkdirSync(mirror);
  for (const outcome of read(world)) assert.equal(outcome.status, 0, outcome.stdout);
  const looked = world.run('doctor', '--json');
  assert.equal(looked.status, 6);
  assert.match(JSON.stringify(looked.json.findings), /round-meta\.json cannot be read/);
  assert.equal(world.run('doctor', '--fix', '--json').status, 6, 'what lies there is not taken away');
  rmSync(mirror, { recursive: true });
  world.answer('doctor', '--fix');
  assert.ok(readFileSync(mirror, 'utf8').startsWith('{'));
  assertSound(world);
});

test('one session that is damaged hides no other: each is read, and the damaged one says so', (context) => {
  const world = twoReviews(context);
  settle(world);
  const bytes = readFileSync(world.path(store));
  bytes.write(remark.toUpperCase(), bytes.indexOf(remark));
  writeFileSync(world.path(store), bytes);
  assert.equal(world.run('status', '--session', session).status, 0);
  assert.equal(world.run('list', '--all').status, 0);
  const looked = world.run('doctor', '--json');
  assert.equal(looked.status, 6);
  assert.deepEqual(
    listOf(looked.json.findings).map(({ subject, problem }) => [subject, problem]),
    [['review:second', 'the chain is broken: event 3 differs from its hash']],
  );
  const fixed = world.answer('doctor', '--fix');
  assert.deepEqual(
    listOf(fixed.restored).map((one) => [one.session, one.events, one.flaw]),
    [
      [session, 9, null],
      ['review:second', 2, 'event 3 is lost'],
    ],
  );
  assertSound(world);
});

test('reading a damaged log leaves it as it was: what can be saved of it is still there for the repair', (context) => {
  const world = twoReviews(context);
  const log = readFileSync(world.path(`${store}-wal`));
  const frames = Math.floor((log.length - 32) / 4120);
  log.fill(0, 32 + 4120 * Math.floor(frames / 2) + 500, 32 + 4120 * Math.floor(frames / 2) + 900);
  writeFileSync(world.path(`${store}-wal`), log);
  rmSync(world.path(`${store}-shm`), { force: true });
  for (let time = 0; time < 3; time += 1) {
    for (const line of [['list', '--all'], ['status', '--session', 'second'], ['doctor']]) world.run(...line);
  }
  assert.deepEqual(readFileSync(world.path(`${store}-wal`)), log);
});

// The cases are about files of other tools; here the log is the write-ahead log of the store, its lines are its frames, and
// a session's file is its rows.

test('A01: where the end of the log is cut off, what is read stands where its last whole event left it, and says what is missing', (context) => {
  const world = twoReviews(context);
  settle(world);
  for (const text of ['four', 'five', 'six', 'seven']) world.answer('note', text, '--session', 'second');
  const log = world.path(`${store}-wal`);
  truncateSync(log, statSync(log).size - 700);
  for (const line of [
    ['list', '--all'],
    ['status', '--session', 'second'],
    ['log', '--session', 'second'],
  ]) {
    const { status, json: answer } = world.run(...line, '--json');
    assert.equal(status, 0, line.join(' '));
    assert.match(
      String(answer.warnings),
      /stint\.db.*event 7 of review:second.*stint\.db-wal was lost or cut.*doctor --fix/,
    );
  }
  assert.deepEqual(
    listOf(world.run('log', '--session', 'second', '--json').json.events)
      .slice(2, 6)
      .map(({ data }) => data.text),
    ['a remark', 'four', 'five', 'six'],
  );
});

test('A01: a writer that was killed in the middle of its last record leaves nothing to warn of', (context) => {
  const world = twoReviews(context);
  const log = world.path(`${store}-wal`);
  const before = world.answer('log', '--session', 'second');
  writeFileSync(log, Buffer.concat([readFileSync(log), Buffer.alloc(2000, 1)]));
  assert.deepEqual(world.answer('log', '--session', 'second'), before);
  world.answer('note', 'on', '--session', 'second');
  assertSound(world);
});

test('A03: a run of NULs in the middle of the log hides nothing that lies behind it', (context) => {
  const world = twoReviews(context);
  settle(world);
  for (const text of ['four', 'five', 'six']) world.answer('note', text, '--session', 'second');
  const log = readFileSync(world.path(`${store}-wal`));
  const at = log.indexOf('"text":"four"');
  writeFileSync(world.path(`${store}-wal`), log.fill(0, at, at + 300));
  const { json: answer, status } = world.run('log', '--session', 'second', '--json');
  assert.equal(status, 0);
  assert.match(String(answer.warnings), /its log breaks off after \d+ of \d+ pages that were committed/);
  assert.equal(listOf(answer.events).at(-1).data.text, 'six', 'later pages hold the earlier rows once more');
  assert.equal(listOf(world.run('list', '--all', '--json').json.sessions).length, 2);
  assert.match(JSON.stringify(world.run('doctor', '--json').json.findings), /its log breaks off/);
  assert.equal(world.answer('doctor', '--fix').healthy, true);
  assert.equal(listOf(world.answer('log', '--session', 'second').events).at(-1).data.text, 'six');
});

test('A05: a session whose rows are empty is listed as damaged beside the healthy one, and refused by name', (context) => {
  const world = twoReviews(context);
  tamper(world, (database) =>
    database.exec(`DROP TRIGGER event_is_immutable; UPDATE event SET data = '' WHERE session = 'review:second';
      UPDATE session SET view = '', common = '', position = '' WHERE key = 'review:second'`),
  );
  const { status, json: answer, stderr } = world.run('list', '--all', '--json');
  assert.equal(status, 0, stderr);
  const rows = new Map(listOf(answer.sessions).map((row) => [row.session, row]));
  assert.equal(rows.get(session)?.flaw, undefined);
  assert.ok(
    rows.get('review:second')?.flaw !== undefined || String(answer.warnings).includes('1 lost'),
    `the empty one is not passed over: ${JSON.stringify(answer)}`,
  );
  assert.equal(world.run('status', '--session', session).status, 0);
  assert.doesNotMatch(world.refusal(14, 'status', '--session', 'review:second').message, / at .*\.[ct]s/);
});

test('A05: an empty file for a store is named, and the healthy store beside it is not touched by that', (context) => {
  const world = twoReviews(context);
  world.write('.stint/empty.db', '');
  writeFileSync(world.path('.stint/empty.db-wal'), readFileSync(world.path(`${store}-wal`)).subarray(0, 32));
  assert.match(world.refusal(14, 'list', '--store', '.stint/empty.db').message, /empty\.db is empty, but its log/);
  assert.equal(listOf(world.answer('list', '--all').sessions).length, 2);
});

test('A08: garbage in the middle of the file wedges nothing: it is named, read around and repaired, and the bad file is kept', (context) => {
  const world = twoReviews(context);
  settle(world);
  const file = world.path(store);
  const bytes = readFileSync(file);
  bytes.write('garbage-garbage-garbage', 4096);
  writeFileSync(file, bytes);
  const listed = world.run('list', '--all', '--json');
  assert.equal(listed.status, 0, listed.stdout);
  assert.equal(listOf(listed.json.sessions).length, 2);
  const looked = world.run('doctor', '--json');
  assert.equal(looked.status, 14);
  assert.ok(JSON.stringify(looked.json.findings).includes(file), 'the file is named');
  const fixed = world.answer('doctor', '--fix');
  assert.deepEqual(readFileSync(join(String(fixed.kept_aside), 'stint.db')), bytes);
  assert.deepEqual(
    listOf(world.answer('list', '--all').sessions).map((row) => row.flaw),
    [undefined, undefined],
  );
  assertSound(world);
});

test('A10: a record that was written half and then whole counts once', (context) => {
  const world = twoReviews(context);
  const log = world.path(`${store}-wal`);
  const before = readFileSync(log);
  world.answer('note', 'written', '--session', 'second');
  const added = readFileSync(log).subarray(before.length);
  // As if the writer had been killed: its frames, without their end.
  rmSync(`${world.path(store)}-shm`, { force: true });
  writeFileSync(log, Buffer.concat([before, added.subarray(0, added.length - 2500)]));
  rmSync(`${world.path(store)}-tip`);
  assert.equal(world.run('status', '--session', 'second').status, 0);
  world.answer('note', 'written', '--session', 'second');
  assert.equal(eventsOf(world, 'review:second').filter(({ data }) => data.text === 'written').length, 1);
  assert.equal(listOf(world.answer('list').sessions).length, 2);
  assertSound(world);
});

test(
  'B05: a home on another machine is refused by the name of its file system',
  { skip: withoutShared('cases') },
  (context) => {
    const world = twoReviews(context);
    const mounts = readFileSync(caseFile('B05', 'mountinfo.txt'), 'utf8').replace('/home/dev', world.root);
    const shared = world.with({ env: { STINT_TEST_MOUNTS: world.write('../mounts', mounts) } });
    const [list, note] = runLines(shared, [
      ['list', '--json'],
      ['note', 'x', '--session', 'second', '--json'],
    ]);
    for (const outcome of [list, note]) {
      assert.equal(outcome?.status, 6);
      assert.match(outcome.json.error.message, /is on nfs4 \(filer:\/home\)/);
    }
  },
);

const traced = spawnSync('strace', ['-f', '-o', '/dev/null', '-e', 'trace=fcntl', 'true'], { encoding: 'utf8' });
const withoutFaults = traced.status !== 0 && 'no faults can be injected here: strace is not there, or may not trace';

test(
  'B06: where locks or shared memory do not work, every verb says so by name with a way out, and nothing is written',
  { skip: withoutFaults === false ? withoutShared('cases') : withoutFaults },
  (context) => {
    const world = twoReviews(context);
    const before = leftOf(world);
    const faults: readonly Printed[] = JSON.parse(readFileSync(caseFile('B06', 'faults.json'), 'utf8'));
    for (const { op, error } of faults) {
      const call = op === 'mmap' ? 'mmap' : 'fcntl';
      const { stdout, stderr, status } = spawnSync(
        'strace',
        [
          ...['-f', '-o', '/dev/null', '-P', world.path(store), '-P', world.path(`${store}-shm`)],
          ...['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`],
          ...[process.execPath, command, 'note', 'x', '--session', 'second', '--json'],
        ],
        { cwd: world.project, env: world.env, encoding: 'utf8' },
      );
      const refusal = JSON.parse(stdout === '' ? '{}' : stdout).error;
      // ENOLCK is what a lock that is held looks like: it is waited for.
      assert.equal(status, error === 'ENOLCK' ? 8 : 6, `${op} ${error}: ${stdout}${stderr}`);
      assert.match(
        `${refusal.message} ${refusal.hint}`,
        /File locks do not work where the store|no process is seen that holds it.*file locks do not work there/,
      );
      assert.match(refusal.hint, /--store/);
    }
    assert.deepEqual(leftOf(world), before);
    assert.equal(world.run('note', 'x', '--session', 'second').status, 0, 'the same command works where locks do');
  },
);

test('F01: nothing is swept: sessions and files of 400 days ago are there after many other verbs, and lists show what can be opened', (context) => {
  const world = createWorld(context);
  const old = world.with({ now: '2025-02-10T12:00:00Z' });
  old.answer('begin', 'review', '--name', 'old', '--branch', 'old');
  old.answer('finish', '--abort', '--session', 'old');
  spawnSync('find', ['.', '-type', 'f', '-not', '-path', './.git/*', '-exec', 'touch', '-d', '2025-02-10', '{}', '+'], {
    cwd: world.project,
  });
  for (let count = 1; count <= 30; count += 1) {
    world.answer('list');
    world.answer('begin', 'review', '--name', `n${count}`, '--branch', `b${count}`);
  }
  const listed = listOf(world.answer('list', '--all').sessions).map((row) => String(row.session));
  assert.equal(listed.length, 31);
  assert.ok(listed.includes('review:old'));
  for (const key of listed) assert.equal(world.run('status', '--session', key).status, 0, key);
  assert.equal(listOf(world.answer('log', '--session', 'old').events)[0].at, '2025-02-10T12:00:00.000Z');
  assertSound(world);
});

test('L01: a log of 100,000 events, some of them large, is read in a moment: the newest of it, and where it stands', async (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'big', '--branch', 'big');
  const { kinds } = await import('../src/kinds/registry.gen.ts');
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const large = openSqliteStore(world.path(store), byName, { create: false });
  const origin = { now: noon, actor: 'ana', place: 'here', cause: 'generated' };
  const total = 100_000;
  const batch = 5000;
  for (let from = 0; from < total; from += batch) {
    const events = Array.from({ length: batch }, (_, index) => ({
      type: 'Noted',
      v: 1,
      // One in a hundred of gen.py holds 200 kB: here it is a tenth of that, so that the test is not about the disk.
      data: { text: (from + index) % 100 === 0 ? 'x'.repeat(20_000) : `n ${from + index}` },
    }));
    const committed = await large.commit({
      keys: ['review:big'],
      guards: [],
      origin,
      request: { id: `g-${from}`, verb: 'note', digest: '', given: false },
      journalOnly: true,
      expectRevision: undefined,
      dryRun: false,
      decide: () => ok(new Map([['review:big', events]])),
      answer: () => ({}),
    });
    assert.ok(committed.ok);
  }
  await large.close();
  for (const line of [
    ['status'],
    ['log', '--limit', '50'],
    ['journal', '--limit', '50'],
    ['progress', '--once'],
    ['list', '--all'],
  ]) {
    const { peak, seconds, status, stdout } = measured(
      world,
      line[0] === 'list' ? line : [...line, '--session', 'big'],
    );
    assert.equal(status, 0, stdout.slice(0, 300));
    assert.ok(seconds < 10, `${line.join(' ')} took ${seconds} s`);
    assert.ok(peak < 300 * 1024, `${line.join(' ')} took ${peak} KiB`);
  }
  assert.equal(world.answer('status', '--session', 'big').events, total + 2);
});

/** Runs a verb and looks at the most memory that it had, in KiB. */
const measured = (world: TestWorld, args: readonly string[]) => {
  const program = `
    process.on('exit', () => require('node:fs').writeFileSync(3, String(process.resourceUsage().maxRSS)));
    process.argv.splice(1, 1);
    require(process.argv[1]);`;
  const start = performance.now();
  const child = spawnSync(process.execPath, ['-e', program, 'x', command, ...args, '--json'], {
    cwd: world.project,
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    maxBuffer: 256 * 1024 * 1024,
    encoding: 'utf8',
  });
  return {
    status: child.status,
    stdout: child.stdout + child.stderr,
    peak: Number(child.output[3]),
    seconds: (performance.now() - start) / 1000,
  };
};

// Every fifth change; the soak takes each one.
test('kill -9 before single changes on disk of a repair: what is read is right, and the next repair brings everything back', (context) => {
  context.diagnostic(`${killRepairs(context, 5)} kills`);
});

test('eight repairs at once are one repair, and a remark that is written meanwhile is refused or stays', async (context) => {
  await repairAtOnce(context, 8, 3);
});

test('what is written to a sound session while the store is made anew around a damaged one is there afterwards', async (context) => {
  context.diagnostic(`${await writeWhileRepaired(context, 3)} remarks`);
});

// The soak takes the whole campaign.
test('stores that are damaged at random: never a failure of ours, never something wrong given as right, and what was not hit survives', (context) => {
  const seeds = [2, 4, 6, 9, 10, 11, 12, 15, 27, 51];
  const { failures, ...summary } = damageStores(context, seeds, (seed) => (seed % 8 === 4 ? 'processes' : 'lines'));
  assert.deepEqual(failures, []);
  context.diagnostic(JSON.stringify(summary));
});

test('of workflow runs the files are named that the store knows nothing of any more, and they can be taken over', (context) => {
  const world = createWorld(context);
  world.write(
    '.workflow/templates/tea.json',
    JSON.stringify({
      template_id: 'wft-tea-1',
      name: 'Tea',
      context_schema: {},
      nodes: [{ id: 'boil', name: 'Boil', type: 'command', executor: 'kettle', args_template: 'on' }],
      edges: [],
    }),
  );
  world.answer('run', 'tea', '--name', 'release-1');
  world.write('.workflow/sessions/other/session-state.json', '{');
  assert.equal(world.answer('doctor').importable, undefined);
  rmSync(world.path('.stint'), { recursive: true });
  const path = '.workflow/sessions/release-1/session-state.json';
  assert.deepEqual(world.answer('doctor', '--fix').importable, [path]);
  assert.match(
    world.run('doctor').stdout,
    /^\.workflow\/sessions\/release-1\/session-state\.json {2}is of a run .*: stint import workflow-run$/m,
  );
  world.answer('import', 'workflow-run');
  assert.equal(world.answer('doctor', '--fix').importable, undefined);
});
