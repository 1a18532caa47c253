/** Orchestrations whose orchestrator is killed at some moment, and what must hold when another one has finished them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { workFile, type Report } from './orchestrator.ts';
import { fileIn, historyFile, orchestrationIn, orchestrationKey } from './orchestrations.ts';
import { randomFrom } from './random.ts';
import { assertSound, eventsOf } from './stores.ts';
import { createWorld, listOf, sorted, type Printed, type Tidying, type TestWorld } from './world.ts';

const agents = Array.from({ length: 8 }, (_, index) => `part-${index + 1}`);

/** How many lines an orchestrator says before the last agent works: one for its brief, and five for each of the others. */
const linesOfMost = 1 + 5 * (agents.length - 1);

/** What a campaign came to. */
export interface Summary {
  readonly kills: number;
  /** Agents in doubt, and those of them that had done their work. */
  readonly doubts: number;
  readonly done: number;
}

/** Kills the orchestrators of so many orchestrations, each at a random moment, and lets another one finish each. */
export const killOrchestrators = async (tidying: Tidying, seed: number, times: number): Promise<Summary> => {
  const random = randomFrom(seed);
  const base = orchestrationIn(tidying, '--mode', 'optimize').with({ env: { STINT_NOW: undefined } });
  for (const agent of agents) base.answer('todo', 'add', agent);
  const moments = Array.from({ length: times }, () => ({
    line: 1 + Math.floor(random() * linesOfMost),
    // At once, or in the midst of the verb that follows.
    seconds: Math.max(0, random() * 0.06 - 0.03),
  }));
  const summaries: Summary[] = [];
  const killNext = async (): Promise<void> => {
    for (let moment = moments.pop(); moment !== undefined; moment = moments.pop()) {
      const world = createWorld(tidying, { from: base }).with({ env: { STINT_NOW: undefined } });
      assert.equal((await live(world, 'first', moment)).signal, 'SIGKILL');
      const second = await live(world, 'second');
      assert.deepEqual([second.status, second.signal], [0, null], second.stderr);
      summaries.push(assertFinished(world, second.reports));
    }
  };
  await Promise.all(Array.from({ length: 4 }, killNext));
  const sum = (field: keyof Summary): number => summaries.reduce((total, one) => total + one[field], 0);
  return { kills: sum('kills'), doubts: sum('doubts'), done: sum('done') };
};

/** What became of an orchestrator. */
interface Life {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly reports: readonly Report[];
}

/** Runs an orchestrator, until it is killed some time after a line, or to its end. */
const live = async (
  world: TestWorld,
  actor: string,
  kill?: { readonly line: number; readonly seconds: number },
): Promise<Life> => {
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'orchestrator.ts'),
      ...(kill === undefined ? [] : [`${kill.line}`, kill.seconds.toFixed(3)]),
    ],
    {
      cwd: world.project,
      env: { ...world.env, STINT_ACTOR: actor },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const reports: Report[] = [];
  createInterface(child.stdout).on('line', (line) => {
    reports.push(JSON.parse(line));
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({ status, signal, stderr, reports }));
  });
};

/** Asserts that all is done, and nothing twice, and that whoever has finished it was told of all that was in doubt. */
const assertFinished = (world: TestWorld, reports: readonly Report[]): Summary => {
  const log = eventsOf(world, orchestrationKey);
  const of = (type: string, agent: string): readonly Printed[] =>
    log.filter((event) => event.type === type && event.data.step === agent);
  for (const agent of agents) {
    const lines = readFileSync(world.path(workFile(agent)), 'utf8')
      .trimEnd()
      .split('\n');
    assert.equal(lines.length, 1, `${agent}: its work was done once`);
    const ends = [...of('StepCompleted', agent), ...of('StepSettled', agent).filter(({ data }) => data.as === 'done')];
    assert.equal(ends.length, 1, `${agent}: it has one end`);
    const later = of('StepClaimed', agent).filter(({ seq }) => seq > ends[0].seq);
    assert.deepEqual(later, [], `${agent}: what is finished is not done again`);
  }

  const [told] = reports;
  assert.ok(told?.at === 'resumed');
  const { answer } = told;
  const interrupted = log.filter(({ type, data }) => type === 'StepInterrupted' && data.in_doubt === true);
  const doubtful = interrupted.map(({ data }) => String(data.step));
  assert.deepEqual(sorted(listOf(answer.in_doubt)), sorted(doubtful), 'what is in doubt is told');
  const facts = listOf(answer.brief.sections).flatMap(({ name, facts: all }) =>
    name === 'in_doubt' ? listOf(all) : [],
  );
  assert.deepEqual(
    sorted(facts.map(({ text }) => String(text).replace(/(?: \(attempt \d+\))?:.*$/s, ''))),
    sorted(doubtful),
    'the brief reports it',
  );
  const settled = log.filter(({ type }) => type === 'StepSettled');
  assert.deepEqual(sorted(settled.map(({ data }) => String(data.step))), sorted(doubtful), 'each is settled once');
  const goesOn = log.find(({ type, actor }) => type === 'StepClaimed' && actor === 'second');
  for (const { seq } of settled) assert.ok(goesOn === undefined || seq < goesOn.seq, 'before it goes on');
  for (const { step, result } of log.filter(({ type }) => type === 'StepCompleted').map(({ data }) => data))
    assert.equal(readFileSync(world.path(workFile(step)), 'utf8'), `${result.summary}\n`, 'what is said of it is so');

  const { status, agents: shown, pending_tasks: left, completed_work: work } = fileIn(world, historyFile('ship'));
  assert.deepEqual(
    [status, listOf(shown).map((agent) => agent.status), left, listOf(work).length],
    ['complete', agents.map(() => 'complete'), [], agents.length],
  );
  assertSound(world);
  return { kills: 1, doubts: doubtful.length, done: settled.filter(({ data }) => data.as === 'done').length };
};
