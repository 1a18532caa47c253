/** Processes that work on one run at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runFolder, runKey, templateOf, work, writeTemplate } from './support/runs.ts';
import { assertSound, eventsOf } from './support/stores.ts';
import { createWorld, outcomeOfChild, repository, runWholeProcesses, sorted, type Printed } from './support/world.ts';

runWholeProcesses();

test('eight processes that claim and complete, 24 batches of eight: each node once, none lost, and every file right', async (context) => {
  const [workers, rounds] = [8, 24];
  const world = createWorld(context);
  const rows = Array.from({ length: rounds }, (_, row) =>
    Array.from({ length: workers }, (__, column) => work(`N-${row}-${column}`)),
  );
  writeTemplate(world, 'flow', templateOf(rows));
  world.answer('run', 'flow', '--name', 'flow');
  // The clock is the real one: claims are kept by who is seen alive.
  const { STINT_NOW: _, ...env } = world.env;
  const outcomes = await Promise.all(
    Array.from({ length: workers }, async (__, worker) =>
      outcomeOfChild(
        spawn(
          process.execPath,
          [join(repository, 'test/support/run-worker.ts'), world.project, runKey, `agent-${worker}`],
          { env, cwd: world.project, stdio: 'pipe' },
        ),
      ),
    ),
  );
  for (const { status, stderr } of outcomes) assert.equal(status, 0, stderr);

  const events = eventsOf(world, runKey);
  const ids = rows.flat().map(({ id }) => id);
  for (const type of ['StepClaimed', 'StepCompleted'])
    assert.deepEqual(
      sorted(events.filter((event) => event.type === type).map(({ data }) => String(data.step))),
      sorted(ids),
      `${type}: each node once`,
    );
  assert.deepEqual(
    [...new Set(events.map(({ type }) => String(type)))].toSorted((a, b) => (a < b ? -1 : 1)),
    ['RunPlanned', 'SessionClosed', 'SessionOpened', 'StepClaimed', 'StepCompleted'],
    'nobody was refused or interrupted',
  );
  // Nothing of a batch is handed out before the one before it is done.
  let done = 0;
  for (const { type, data } of events) {
    if (type === 'StepCompleted') done += 1;
    if (type === 'StepClaimed') assert.ok(done >= workers * Number(String(data.step).split('-')[1]), String(data.step));
  }
  const state: Printed = JSON.parse(readFileSync(world.path(runFolder, 'session-state.json'), 'utf8'));
  assert.equal(state.status, 'completed');
  const completed = events.filter(({ type }) => type === 'StepCompleted');
  for (const { actor, data } of completed) {
    const { status, output_path: path } = state.node_states[data.step];
    assert.equal(status, 'completed');
    assert.equal(readFileSync(world.path(String(path)), 'utf8'), `${data.step} by ${actor}`);
  }
  assert.equal(readdirSync(world.path(runFolder, 'artifacts')).length, workers * rounds);
  assertSound(world);
});
