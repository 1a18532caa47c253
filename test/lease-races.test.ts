/** Leases under races and for holders that come back: real processes, stopped and continued. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { as, claim, leaseEvents, sessionOf } from './support/leases.ts';
import { startProcess } from './support/processes.ts';
import { raceClaims } from './support/campaigns.ts';
import type { Calls, Codes } from './support/stopped-agent.ts';
import { assertSound, dumpStore, eventsOf, tamper } from './support/stores.ts';
import {
  fileOnly,
  later,
  noon,
  repository,
  runWholeProcesses,
  sorted,
  type Printed,
  type TestWorld,
} from './support/world.ts';

runWholeProcesses();

test('C01: of 8 processes that claim one session at once exactly one gets it, 50 times over, and the seven others are told who', async (context) => {
  await raceClaims(context, 8, 50);
});

test('of 8 processes that take over, renew, release, move and claim at once nobody without the lease gets on, and the record has no gap', async (context) => {
  const { world, key } = sessionOf(context, 'review');
  for (let round = 0; round < 5; round += 1) {
    const first = claim(as(world, 'ana'), '--take-over');
    const racing = [
      ['ana', 'lease', 'renew', '--lease-token', String(first)],
      ['ana', 'note', 'x', '--session', 'held', '--lease-token', String(first)],
      ['ana', 'lease', 'release', '--lease-token', String(first)],
      ['bob', 'lease', 'claim', '--take-over'],
      ['eve', 'lease', 'claim', '--take-over'],
      ['bob', 'lease', 'claim'],
      ['eve', 'lease', 'renew'],
      ['ana', 'lease', 'claim', '--lease-token', String(first)],
    ] as const;
    const before = eventsOf(world, key).length;
    const outcomes = await Promise.all(
      racing.map(async ([actor, ...args]) => as(world, actor).start(...args, '--json').outcome),
    );
    for (const [index, { status, stdout }] of outcomes.entries())
      assert.ok(status === 0 || status === 10, `${racing[index]?.join(' ')}: ${stdout}`);
    // Who holds it after each event: nobody ever gets it while somebody else has it.
    let holder: number | null = first;
    let newest = first;
    for (const { type, data } of eventsOf(world, key).slice(before)) {
      if (type === 'LeaseClaimed') {
        assert.equal(holder, null, `round ${round}`);
        assert.ok(data.token > newest, 'a token grows');
        newest = data.token;
        holder = data.token;
      } else if (type === 'LeaseLost' || type === 'LeaseReleased') {
        assert.equal(data.token, holder, `round ${round}`);
        holder = null;
      }
    }
    assert.equal(world.answer('lease', 'show').token ?? null, holder);
  }
  assertSound(world);
});

/** An agent that runs, holds the session since noon for ten seconds, and does what it is told. */
interface Agent {
  readonly token: number;
  readonly stop: () => void;
  readonly goOn: () => void;
  /** Carries out calls with its token; what it was told while it was stopped it does when it goes on. */
  readonly does: (calls: Calls, how?: 'anew') => Promise<Codes>;
  /** Sets its clock. */
  readonly sees: (now: string) => void;
}

const startAgent = async (context: TestContext, world: TestWorld, process_: string): Promise<Agent> => {
  const clock = join(world.root, 'clock');
  writeFileSync(clock, noon);
  const program = join(repository, 'test/support/stopped-agent.ts');
  const child = spawn(process.execPath, [program, world.project, clock, process_], {
    env: world.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  context.after(() => void child.kill('SIGKILL'));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Printed> => {
    const { value, done } = await answers.next();
    assert.ok(done !== true, 'the agent answers');
    return JSON.parse(value);
  };
  const token = await next();
  return {
    token,
    stop: () => assert.ok(child.kill('SIGSTOP')),
    goOn: () => assert.ok(child.kill('SIGCONT')),
    does: async (calls, how) => {
      child.stdin.write(`${how === undefined ? '' : `${how} `}${JSON.stringify(calls)}\n`);
      return next();
    },
    sees: (now) => writeFileSync(clock, now),
  };
};

/** Everything that an agent may want to write, the session and its own process. */
const everything = (id: string): Calls => [
  ['advance', { phase: 'change-context', session: 'held' }],
  ['note', { text: 'still here', session: 'held' }],
  ['process beat', { id }],
  ['process start', { kind: 'instance', session: 'held' }],
  ['process bind', { id, vendor_session: 'v-1' }],
  ['process end', { id }],
  ['lease renew', { session: 'held' }],
  ['lease claim', { session: 'held' }],
  ['lease release', { session: 'held' }],
  ['begin', { kind: 'review', name: 'held' }],
  ['finish', { abort: true, session: 'held' }],
];

/** A session that ana held and was stopped with, and that bob holds now, eleven seconds later. */
const takenFromStopped = async (context: TestContext) => {
  const { world, key } = sessionOf(context, 'review');
  const id = startProcess(world, 'supervisor', '--session', 'held');
  const agent = await startAgent(context, world, id);
  assert.deepEqual(
    await agent.does([
      ['note', { text: 'at work', session: 'held' }],
      ['process beat', { id }],
    ]),
    ['ok', 'ok'],
  );
  // What brings a lost store back: a copy in which ana holds it.
  world.answer('begin', 'review', '--name', 'other', '--branch', 'other');
  world.answer('finish', '--abort', '--session', 'other');
  agent.stop();
  const bob = as(later(world, 11 / 60), 'bob');
  as(later(world, 9 / 60), 'bob').refusal(10, 'lease', 'claim', '--session', 'held');
  const token = claim(bob, '--session', 'held', '--ttl', '1h');
  assert.ok(token > agent.token);
  assert.equal(leaseEvents(world, key).at(-2)?.because, 'expired', 'it is alive, and its time is over');
  return { world, key, id, agent, bob, token };
};

/** Lets the agent go on with everything that it wants: nothing of it is written, whatever its clock shows. */
const assertKeptOut = async (
  { world, key, id, agent }: Awaited<ReturnType<typeof takenFromStopped>>,
  how: 'anew' | undefined,
  what: string,
): Promise<void> => {
  const calls = everything(id);
  for (const now of [noon, '2026-03-17T12:00:12.000Z', '2026-03-17T18:00:00.000Z']) {
    agent.sees(now);
    const before = { ...dumpStore(world), lease: [] };
    const doing = agent.does(calls, how);
    agent.goOn();
    assert.deepEqual(
      await doing,
      calls.map(() => 'lease'),
      `${what}, ${now}`,
    );
    assert.deepEqual({ ...dumpStore(world), lease: [] }, before, what);
    agent.stop();
  }
  assert.ok(eventsOf(world, key).every(({ data }) => data.text !== 'still here'));
};

test('C05: whoever was stopped for longer than its lease and is continued writes nothing with its token, while its successor goes on', async (context) => {
  const taken = await takenFromStopped(context);
  await assertKeptOut(taken, undefined, 'the store that it has open');
  await assertKeptOut(taken, 'anew', 'the store opened anew');
  const { bob, token, world } = taken;
  bob.answer('advance', 'change-context', '--session', 'held', '--lease-token', String(token));
  await assertKeptOut(taken, undefined, 'after its successor has written');
  assert.equal(bob.answer('lease', 'show', 'held').refused > 0, true);
  bob.answer('lease', 'release', '--session', 'held');
  await assertKeptOut(taken, undefined, 'after its successor has let go');
  assertSound(world);
});

test('whoever was stopped is kept out also after a rebuild of everything', { skip: fileOnly }, async (context) => {
  const taken = await takenFromStopped(context);
  tamper(taken.world, (database) => database.exec(`UPDATE session SET view = '{}', common = '{}', lease = NULL`));
  taken.bob.answer('rebuild');
  assert.equal(taken.bob.answer('lease', 'show', 'held').token, taken.token);
  await assertKeptOut(taken, undefined, 'rebuilt');
});

/** The store that the agent still has open was replaced: nothing gets in through it either. */
const assertReplaced = async ({ id, agent }: Awaited<ReturnType<typeof takenFromStopped>>): Promise<void> => {
  const doing = agent.does(everything(id));
  agent.goOn();
  for (const code of await doing) assert.notEqual(code, 'ok');
  agent.stop();
};

/** Which events of the session are damaged: 4 is the claim of ana, 6 its end, 7 the claim of bob, 8 and 9 what he did. */
const damages: Readonly<Record<string, readonly [number, number]>> = {
  'the claim of its successor': [7, 7],
  'its own end and the claim of its successor': [6, 7],
  'everything since the claim of its successor': [7, 9],
  'everything but the beginning, of which there is a copy': [3, 9],
};

for (const [lost, [from, to]] of Object.entries(damages))
  test(
    `whoever was stopped is kept out also after a repair of a store that has lost ${lost}`,
    { skip: fileOnly },
    async (context) => {
      const taken = await takenFromStopped(context);
      const { world, key, bob, token } = taken;
      bob.answer('note', 'mine', '--session', 'held');
      bob.answer('advance', 'change-context', '--session', 'held');
      assert.deepEqual(
        eventsOf(world, key).map(({ type }) => type),
        [
          ...['SessionOpened', 'RoundStarted', 'ProcessStarted', 'LeaseClaimed', 'Noted', 'LeaseLost'],
          ...['LeaseClaimed', 'Noted', 'PhaseEntered'],
        ],
      );
      tamper(world, (database) => {
        database.exec('DROP TRIGGER event_is_immutable');
        database.prepare(`UPDATE event SET data = '{' WHERE session = ? AND seq BETWEEN ? AND ?`).run(key, from, to);
        // Else the log would still hold what it was.
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      });
      assert.match(bob.answer('doctor', '--fix').restored[0].flaw, /lost/);
      assert.equal(bob.answer('lease', 'show', 'held').state, 'none', 'who has claimed it since is not known');
      await assertKeptOut(taken, 'anew', lost);
      await assertReplaced(taken);
      bob.refusal(10, 'note', 'x', '--session', 'held', '--lease-token', String(token));
      assert.ok(claim(bob, '--session', 'held') > token);
      await assertKeptOut(taken, 'anew', 'claimed again');
    },
  );

const copyOf = (world: TestWorld): string => {
  const copies = join(world.root, 'home/.local/state/stint');
  const folder = join(copies, readFileSync(world.path('.git/stint-id'), 'utf8').trim());
  const [name, ...more] = readdirSync(folder);
  assert.ok(name !== undefined && more.length === 0);
  return join(folder, name);
};

test(
  'whoever was stopped is kept out also after the store was deleted and came back from a copy in which it held the session',
  { skip: fileOnly },
  async (context) => {
    const taken = await takenFromStopped(context);
    const { world, bob, token, agent } = taken;
    rmSync(world.path('.stint'), { recursive: true });
    bob.answer('doctor', '--fix');
    assert.equal(bob.answer('lease', 'show', 'held').state, 'none', 'who has claimed it since is not known');
    await assertKeptOut(taken, 'anew', 'from the copy');
    await assertReplaced(taken);
    bob.refusal(10, 'note', 'x', '--session', 'held', '--lease-token', String(token));
    assert.ok(claim(bob, '--session', 'held') > Math.max(token, agent.token));
    await assertKeptOut(taken, 'anew', 'claimed again');
  },
);

/** How a copy is put into the place of the store by hand: as the guide says it, and as it should not be done. */
const waysBack: Readonly<Record<string, (world: TestWorld, copy: string) => void>> = {
  'into a folder of its own': (world, copy) => {
    renameSync(world.path('.stint'), join(world.root, 'aside'));
    mkdirSync(world.path('.stint'), { mode: 0o700 });
    cpSync(copy, world.path('.stint/stint.db'));
  },
  'beside the log of the old store': (world, copy) => cpSync(copy, world.path('.stint/stint.db')),
  'with what tells of its events': (world, copy) => {
    for (const suffix of ['-wal', '-shm']) rmSync(world.path(`.stint/stint.db${suffix}`));
    cpSync(copy, world.path('.stint/stint.db'));
    writeFileSync(world.path('.stint/stint.db-tip'), '');
  },
  'without the log of the old store': (world, copy) => {
    for (const suffix of ['-wal', '-shm']) rmSync(world.path(`.stint/stint.db${suffix}`));
    cpSync(copy, world.path('.stint/stint.db'));
  },
};

for (const [way, putBack] of Object.entries(waysBack))
  test(
    `whoever was stopped is kept out also after a copy in which it held the session was put back by hand, ${way}`,
    { skip: fileOnly },
    async (context) => {
      const taken = await takenFromStopped(context);
      const { world, bob } = taken;
      putBack(world, copyOf(world));
      assert.equal(
        bob.refusal(14, 'note', 'x', '--session', 'held').hint,
        'stint doctor --fix',
        'it is not taken for whole',
      );
      bob.answer('doctor', '--fix');
      await assertKeptOut(taken, 'anew', way);
    },
  );

test('8 processes that claim after a holder was killed replace it once', async (context) => {
  const { world, key } = sessionOf(context, 'review');
  const agent = await startAgent(context, world, startProcess(world, 'supervisor'));
  agent.stop();
  const { pid } = world.answer('lease', 'show');
  process.kill(pid, 'SIGKILL');
  const claiming = Array.from(
    { length: 8 },
    async (_, racer) => as(world, `racer-${racer}`).start('lease', 'claim', '--json').outcome,
  );
  const outcomes = await Promise.all(claiming);
  const codes = sorted(outcomes.map(({ status }) => String(status)));
  assert.deepEqual(codes, ['0', '10', '10', '10', '10', '10', '10', '10']);
  assert.deepEqual(
    leaseEvents(world, key).map(({ type, because }) => [type, because]),
    [
      ['LeaseClaimed', undefined],
      ['LeaseLost', 'gone'],
      ['LeaseClaimed', undefined],
    ],
  );
});
