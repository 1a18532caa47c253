/**
 * A team on a server that has a bad day: agents on three machines work on sessions that they share, and are killed; the
 * server crashes, and the line to it is cut. In the end what each agent was told is compared with what is stored.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { findBrokenLink } from '../../src/kernel/chain.ts';
import { raceClaims, writeNotes } from './campaigns.ts';
import { openProxy, type CuttableProxy } from './cuttable-proxy.ts';
import { startServer, type TestServer } from './postgres.ts';
import { approval, json } from './reviews.ts';
import { assertSound, dumpStore } from './stores.ts';
import {
  assertErrorKeys,
  createWorld,
  listOf,
  type Outcome,
  type Printed,
  type TestWorld,
  type Tidying,
} from './world.ts';

/** How long it takes. */
export interface Day {
  readonly seconds: number;
  /** How long the line is cut in the middle of it. */
  readonly cutSeconds: number;
}

/** What an agent asked for, and what it was told. */
interface Asked {
  readonly verb: string;
  readonly requestId: string | undefined;
  readonly text: string | undefined;
  /** The answer; null where it was refused for sure, undefined where nobody knows. */
  readonly answer: Printed;
}

const hosts = ['north', 'east', 'south'];
const agentsOfEachHost = 4;

/** What a verb may be refused with: everything else would be a bug, damage, or a command that is not legal. */
const legalExits = new Set([0, 4, 5, 6, 8, 9, 10]);

/** Effects that one command has once. */
const once = new Set(['Noted', 'PhaseEntered', 'RoundCompleted', 'LeaseClaimed', 'ProcessStarted', 'SessionOpened']);

/** Lives through such a day; answers what it came to. */
export const liveThroughDay = async (tidying: Tidying, { seconds, cutSeconds }: Day): Promise<string> => {
  const server = await startServer();
  const proxy = await openProxy(server.url);
  try {
    const worlds = machinesOn(tidying, proxy.url);
    const end = performance.now() + seconds * 1000;
    const isOver = (): boolean => performance.now() > end;
    const counts = { killed: 0, busy: 0, refused: 0 };
    const [lists] = await Promise.all([
      Promise.all(
        worlds.flatMap((world, host) =>
          Array.from({ length: agentsOfEachHost }, async (_, agent) =>
            workAsAgent(world, `${hosts[host]}-${agent}`, isOver, counts),
          ),
        ),
      ),
      troubleServer(server, proxy, seconds, cutSeconds),
      troubleLine(proxy, isOver),
    ]);
    const asked = lists.flat();
    // The line runs in this process, which waits for those that compare.
    const events = compare(
      worlds.map((world) => world.with({ env: { STINT_STORE: server.url } })),
      asked,
    );
    const acknowledged = asked.filter(({ answer }) => answer !== undefined && answer !== null).length;
    return `${asked.length} commands of ${lists.length} agents on ${worlds.length} machines in ${seconds} s, ${acknowledged} acknowledged, ${counts.refused} refused for good reason, ${counts.busy} busy, ${counts.killed} killed; server killed twice, line cut for ${cutSeconds} s; ${events} events, none lost, none twice`;
  } finally {
    proxy.close();
    await server.remove();
  }
};

/** Many processes that write at once, and that claim at once, on a server of their own. */
export const crowdServer = async (tidying: Tidying, each: number, rounds: number): Promise<string> => {
  const server = await startServer();
  const before = process.env['STINT_TEST_WORLDS'];
  process.env['STINT_TEST_WORLDS'] = server.url;
  try {
    const world = createWorld(tidying);
    await writeNotes(world, 8, each);
    assertSound(world);
    await raceClaims(tidying, 8, rounds);
    return `8 writers x ${each}: none lost, none failed; 8 claimers x ${rounds}: one holder each`;
  } finally {
    if (before === undefined) delete process.env['STINT_TEST_WORLDS'];
    else process.env['STINT_TEST_WORLDS'] = before;
    await server.remove();
  }
};

/** Three machines, each with a home and a clone of its own. */
const machinesOn = (tidying: Tidying, url: string): readonly TestWorld[] => {
  const origin = createWorld(tidying);
  return hosts.map((host) => {
    const world = createWorld(tidying, { git: false }).with({
      env: { STINT_HOST: host, STINT_STORE: url, STINT_PROJECT: 'team', STINT_NOW: undefined },
    });
    world.git('clone', '-q', origin.project, '.');
    return world;
  });
};

/** Kills the server after a quarter and three quarters of the day, and cuts the line at noon. */
const troubleServer = async (
  server: TestServer,
  proxy: CuttableProxy,
  seconds: number,
  cutSeconds: number,
): Promise<void> => {
  const crash = async (): Promise<void> => {
    await server.kill();
    await server.start();
  };
  await pause(seconds * 250);
  await crash();
  await pause(seconds * 250);
  proxy.refuse(true);
  proxy.cut();
  await pause(cutSeconds * 1000);
  proxy.refuse(false);
  await pause(seconds * 250 - cutSeconds * 1000);
  await crash();
};

/** Every second something happens to the line: all connections are lost, or one in its commit. */
const troubleLine = async (proxy: CuttableProxy, isOver: () => boolean): Promise<void> => {
  for (let count = 0; !isOver(); count += 1) {
    await pause(1000);
    if (count % 4 === 0) proxy.cut();
    else proxy.meetCommit(count % 2 === 0 ? 'lost' : 'unheard');
  }
};

/** One agent: works, is killed now and then, and asks again for what it does not know where it can. */
const workAsAgent = async (
  machine: TestWorld,
  name: string,
  isOver: () => boolean,
  counts: { killed: number; busy: number; refused: number },
): Promise<readonly Asked[]> => {
  const asked: Asked[] = [];
  const world = machine.with({ env: { STINT_ACTOR: name } });
  for (let count = 0; !isOver(); count += 1) {
    const { verb, args, input, text } = commandOf(name, count);
    const requestId = Math.random() < 0.6 ? `${name}-${count}` : undefined;
    const run = async (mayBeKilled: boolean): Promise<Outcome> => {
      const { child, outcome } = world
        .with(input === undefined ? {} : { input })
        .start(...args, ...(requestId === undefined ? [] : ['--request-id', requestId]), '--json');
      const timer =
        mayBeKilled && Math.random() < 0.15
          ? setTimeout(() => void child.kill('SIGKILL'), Math.random() * 600)
          : undefined;
      const result = await outcome;
      clearTimeout(timer);
      return result;
    };
    let answer = learn(await run(true), args, counts);
    // Whatever it does not know it asks again under the same id, until it knows; without one it leaves it at that.
    if (requestId !== undefined)
      for (let tries = 0; answer === undefined && tries < 20; tries += 1)
        answer = learn(await run(false), args, counts);
    asked.push({ verb, requestId, text, answer });
  }
  return asked;
};

/** What an outcome says: the answer, null where nothing was done, undefined where nobody knows. */
const learn = (
  { status, signal, stdout, stderr, json: printed }: Outcome,
  args: readonly string[],
  counts: { killed: number; busy: number; refused: number },
): Printed => {
  const what = `${args.join(' ')} -> ${status}: ${stdout}${stderr}`;
  if (signal !== null) {
    counts.killed += 1;
    // What was printed before the kill counts.
    return printed?.error === undefined ? printed : null;
  }
  assert.ok(legalExits.has(status ?? 1), what);
  assert.equal(stderr, '', what);
  if (status === 0) return printed;
  assertRefusal(printed, what);
  if (status !== 8) {
    counts.refused += 1;
    return null;
  }
  counts.busy += 1;
  return String(printed.error.message).includes('nobody knows') ? undefined : null;
};

/** That a refusal has the keys that are documented; one in doubt may be asked again only under its id. */
const assertRefusal = (printed: Printed, what: string): void => {
  assert.ok(printed?.error !== undefined, what);
  if (!String(printed.error.message).includes('nobody knows')) assertErrorKeys(printed);
};

const phasesInTurn = ['change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis'];

/** What an agent does next: on sessions that all share, and on one of its own. */
const commandOf = (
  name: string,
  count: number,
): { readonly verb: string; readonly args: readonly string[]; readonly input?: string; readonly text?: string } => {
  const session = Math.random() < 0.3 ? `own-${name}` : `shared-${Math.floor(Math.random() * 3)}`;
  const of = ['--session', session];
  const text = `${name} #${count}`;
  const phase = phasesInTurn[Math.floor(Math.random() * phasesInTurn.length)] ?? '';
  const choices = [
    { verb: 'begin', args: ['begin', 'review', '--name', session, '--branch', session] },
    ...Array.from({ length: 5 }, () => ({ verb: 'note', args: ['note', text, ...of], text })),
    { verb: 'advance', args: ['advance', phase, ...of] },
    { verb: 'advance', args: ['advance', phase, ...of] },
    { verb: 'complete-round', args: ['complete-round', '-', ...of], input: json(approval) },
    { verb: 'finish', args: ['finish', ...of] },
    { verb: 'lease claim', args: ['lease', 'claim', '--ttl', '10s', ...of] },
    { verb: 'process start', args: ['process', 'start', '--kind', 'instance', ...of] },
  ];
  // At first there is nothing to work on.
  return choices[count === 0 ? 0 : Math.floor(Math.random() * choices.length)] ?? { verb: 'list', args: ['list'] };
};

/** Compares what agents were told with what is stored; answers how many events there are. */
const compare = (worlds: readonly TestWorld[], asked: readonly Asked[]): number => {
  const [world] = worlds;
  assert.ok(world !== undefined);
  const dump = dumpStore(world);
  const events = listOf(dump['event']).map((event) => ({ ...event, data: JSON.parse(String(event.data)) }));
  const answers = new Map(listOf(dump['request']).map(({ id, answer }) => [String(id), JSON.parse(String(answer))]));

  const bySession = Map.groupBy(events, ({ session }) => String(session));
  for (const [session, own] of bySession) {
    assert.deepEqual(
      own.map(({ seq }) => seq),
      own.map((_, index) => index + 1),
      `${session}: every number once, in order`,
    );
    assert.equal(findBrokenLink(own), undefined, `${session}: the chain holds`);
  }
  for (const [cause, own] of Map.groupBy(events, (event) => `${event.cause} ${event.session} ${event.type}`))
    if (once.has(String(own[0].type))) assert.equal(own.length, 1, `${cause}: its effect is there once`);

  for (const { verb, requestId, text, answer } of asked) {
    const what = `${verb} ${requestId ?? ''} ${text ?? ''}: ${JSON.stringify(answer)}`;
    if (text !== undefined) {
      const stored = events.filter(({ type, data }) => type === 'Noted' && data.text === text);
      if (answer === undefined) assert.ok(stored.length <= 1, `${what} is there once at most`);
      else assert.equal(stored.length, answer === null ? 0 : 1, `${what} is there as often as it was acknowledged`);
      if (stored.length === 1 && answer !== undefined) assert.equal(answer.seq, stored[0].seq, what);
    }
    if (requestId === undefined || answer === undefined) continue;
    const { replayed, warnings, ...said } = answer ?? {};
    void replayed;
    void warnings;
    assert.deepEqual(
      answer === null ? undefined : { ...said, schema_version: undefined },
      answers.has(requestId) ? { ...answers.get(requestId), schema_version: undefined } : undefined,
      `${what} is stored as it was said`,
    );
  }
  for (const machine of worlds) {
    const report = machine.run('doctor', '--json');
    assert.equal(report.status, 0, `doctor: ${report.stdout}${report.stderr}`);
  }
  return events.length;
};
