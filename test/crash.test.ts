import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { killAtEachStep, killFirstBegins, killVerbs } from './support/campaigns.ts';
import { currentFile, historyFile, orchestrationIn } from './support/orchestrations.ts';
import { approval, json, reviewIn } from './support/reviews.ts';
import { checkpoint, flowIn, runFolder, work } from './support/runs.ts';
import { createWorld, type Printed, type TestWorld } from './support/world.ts';

test('kill -9 at any moment of any verb: what was acknowledged is there, what was not is whole or absent, and the mirror is right', async (context) => {
  const { kills, acknowledged, unanswered } = await killVerbs(context, 60);
  assert.equal(acknowledged + unanswered, kills);
  assert.ok(unanswered > 0, 'some were dead before they could answer');
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

test('kill -9 at any moment of the very first verb: the next one makes the store, and leaves no litter', async (context) => {
  const { kills, unanswered } = await killFirstBegins(context, 8);
  assert.ok(unanswered > 0);
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

// Every other change, to keep this short; the soak takes each one.
test('kill -9 before single changes on disk of the very first verb leaves nothing that the next one does not put right', (context) => {
  const begin = { args: ['begin', 'review'], types: ['SessionOpened', 'RoundStarted'] };
  const kills = killAtEachStep(context, createWorld(context), begin, 2);
  context.diagnostic(`${kills} kills`);
});

test('kill -9 before single changes on disk of a completion leaves nothing that the next verb does not put right', (context) => {
  const complete = { args: ['complete-round', '-'], input: json(approval), types: ['RoundCompleted'] };
  const kills = killAtEachStep(context, reviewIn(context, 'synthesis'), complete, 2);
  context.diagnostic(`${kills} kills`);
});

test('kill -9 before single changes on disk of a node’s result: no state names a file that is not there, and the next verb heals all of them', async (context) => {
  const { world, ana } = await flowIn(context, [[work('A')], [checkpoint('CP-01', true)], [work('B')]]);
  const { token } = await ana.claim();
  const files = ['session-state.json', 'checkpoints/CP-01.json', 'artifacts/A-output.md'];
  const filesIn = ({ path }: TestWorld): readonly (string | null)[] =>
    files.map((file) => (existsSync(path(runFolder, file)) ? readFileSync(path(runFolder, file), 'utf8') : null));
  const args = ['complete', 'A', '--attempt', '1', '--token', String(token), '--output', 'it is done'];
  const whole = createWorld(context, { from: world });
  whole.answer(...args);
  const [before, after] = [filesIn(world), filesIn(whole)];
  assert.ok(!after.includes(null));
  const complete = {
    args,
    types: ['StepCompleted', 'CheckpointReached'],
    left: ({ path }: TestWorld, what: string): void => {
      const state: Printed = JSON.parse(readFileSync(path(runFolder, 'session-state.json'), 'utf8'));
      for (const named of [state.node_states.A.output_path, state.node_states['CP-01'].snapshot_path])
        if (named !== null) assert.ok(existsSync(path(String(named))), `${what}: ${String(named)} is named`);
      for (const file of files.slice(1))
        if (existsSync(path(runFolder, file))) assert.ok(readFileSync(path(runFolder, file), 'utf8').length > 0, what);
    },
    healed: (killed: TestWorld, wasCommitted: boolean, what: string): void =>
      assert.deepEqual(filesIn(killed), wasCommitted ? after : before, what),
  };
  const kills = killAtEachStep(context, world, complete, 2);
  context.diagnostic(`${kills} kills`);
});

test('kill -9 before single changes on disk of a new orchestration: the one that makes way is lost at no moment, and lies in one place when the next verb has run', (context) => {
  const world = orchestrationIn(context);
  world.answer('todo', 'add', 'tests');
  const paths = [currentFile, historyFile('ship'), historyFile('next')];
  const filesIn = ({ path }: TestWorld): readonly (string | null)[] =>
    paths.map((file) =>
      existsSync(path(file)) ? readFileSync(path(file), 'utf8').replaceAll(/world-\w+/g, 'W') : null,
    );
  const args = ['new', '--goal', 'Another goal', '--name', 'next'];
  const whole = createWorld(context, { from: world });
  whole.answer(...args);
  const [before, after] = [filesIn(world), filesIn(whole)];
  assert.deepEqual(
    [before, after].map((files) => files.map((file) => (file === null ? null : JSON.parse(file).session_id))),
    [
      ['ship', null, null],
      ['next', 'ship', null],
    ],
  );
  const anew = {
    args,
    types: ['SessionClosed', 'SessionArchived', 'SessionOpened', 'OrchestrationBegun'],
    left: (killed: TestWorld, what: string): void => {
      const ids = filesIn(killed).flatMap((file): readonly unknown[] =>
        file === null ? [] : [JSON.parse(file).session_id],
      );
      assert.ok(ids.includes('ship'), `${what}: no file of it is there`);
    },
    healed: (killed: TestWorld, wasCommitted: boolean, what: string): void =>
      assert.deepEqual(filesIn(killed), wasCommitted ? after : before, what),
  };
  const kills = killAtEachStep(context, world, anew, 2);
  context.diagnostic(`${kills} kills`);
});
