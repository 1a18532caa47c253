/** Processes that hand work out to agents of one orchestration at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileIn, orchestrationIn, orchestrationKey } from './support/orchestrations.ts';
import { assertSound, eventsOf } from './support/stores.ts';
import { listOf, outcomeOfChild, repository, runWholeProcesses, sorted } from './support/world.ts';

runWholeProcesses();

const atOnce = 4;

test('16 processes start and complete 400 agents: each once, none lost, and never more at work than the mode allows', async (context) => {
  const [workers, all] = [16, 400];
  const world = orchestrationIn(context, '--mode', 'optimize');
  const ids = Array.from({ length: all }, (_, index) => `agent-${index}`);
  // Two want the same ones, from both ends.
  const share = (worker: number): readonly string[] => {
    const half = ids.filter((_, index) => index % (workers / 2) === worker % (workers / 2));
    return worker < workers / 2 ? half : half.toReversed();
  };
  // The clock is the real one.
  const { STINT_NOW: _, ...env } = world.env;
  const outcomes = await Promise.all(
    Array.from({ length: workers }, async (__, worker) =>
      outcomeOfChild(
        spawn(
          process.execPath,
          [
            join(repository, 'test/support/agent-worker.ts'),
            ...[world.project, orchestrationKey, `worker-${worker}`, ...share(worker)],
          ],
          { env, cwd: world.project, stdio: 'pipe' },
        ),
      ),
    ),
  );
  for (const { status, stderr } of outcomes) assert.equal(status, 0, stderr);
  const limited = outcomes.reduce((sum, { stdout }) => sum + Number(stdout), 0);
  context.diagnostic(`${limited} starts were refused because ${atOnce} were at work`);
  assert.ok(limited > 0, 'the limit was met');

  const events = eventsOf(world, orchestrationKey);
  for (const type of ['AgentPrepared', 'StepClaimed', 'StepStarted', 'StepCompleted'])
    assert.deepEqual(
      sorted(events.filter((event) => event.type === type).map(({ data }) => String(data.step ?? data.agent))),
      sorted(ids),
      `${type}: each agent once`,
    );
  assert.deepEqual(
    sorted(new Set(events.map(({ type }) => String(type)))),
    [
      'AgentPrepared',
      'OrchestrationBegun',
      'SessionOpened',
      'StepClaimed',
      'StepCompleted',
      'StepStarted',
      'WaveEnded',
    ],
    'nobody was refused a result, or interrupted',
  );
  const working = new Set<unknown>();
  let most = 0;
  for (const { type, seq, data } of events) {
    if (type === 'StepClaimed') working.add(data.step);
    if (type === 'StepCompleted') working.delete(data.step);
    most = Math.max(most, working.size);
    assert.ok(working.size <= atOnce, `event ${seq}: ${working.size} at work`);
  }
  assert.deepEqual([most, working.size], [atOnce, 0]);

  const { agents, agents_total: total, status } = fileIn(world);
  assert.deepEqual([total, status], [all, 'in_progress']);
  const by = new Map(
    events.filter(({ type }) => type === 'StepCompleted').map(({ actor, data }) => [data.step, actor]),
  );
  for (const agent of listOf(agents))
    assert.deepEqual([agent.status, agent.result_summary], ['complete', `${agent.id} by ${by.get(agent.id)}`]);
  assert.equal(world.answer('report').counts.complete, all);
  assertSound(world);
  world.answer('finish');
});
