/** Orchestrations: how one is begun, what is said of its agents, and what its files say. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createWorld, listOf, type Printed, type Tidying, type TestWorld } from './world.ts';

/** The file of the open session, and that of one that is over. */
export const currentFile = '.claude/orchestrator-session.json';
export const historyFile = (name: string): string => `.claude/orchestrator-history/${name}.json`;

/** The session that `orchestrationIn` begins. */
export const orchestrationKey = 'orchestration:ship';

/** A world with an open orchestration. */
export const orchestrationIn = (tidying: Tidying, ...flags: readonly string[]): TestWorld => {
  const world = createWorld(tidying);
  world.answer('begin', 'orchestration', '--name', 'ship', '--goal', 'Ship it', ...flags);
  return world;
};

/** Starts agents; answers what is answered for the last one. */
export const startAgents = (world: TestWorld, ...ids: readonly string[]): Printed =>
  ids.map((id) => world.answer('agent', 'start', id, '--type', 'code', '--task', `Do ${id}`)).at(-1);

/** Says that agents have completed. */
export const completeAgents = (world: TestWorld, ...ids: readonly string[]): void => {
  for (const id of ids) world.answer('agent', 'complete', id, '--summary', `${id} is done`);
};

/** A file of an orchestration, as another program reads it. */
export const fileIn = (world: TestWorld, path = currentFile): Printed =>
  JSON.parse(readFileSync(world.path(path), 'utf8'));

/** What each agent is in. */
export const standingsIn = (world: TestWorld): Readonly<Record<string, string>> =>
  Object.fromEntries(listOf(world.answer('agent', 'list').agents).map(({ id, status }) => [id, status]));

/** What stands for a word of the caller's own in a command that is shown. */
const words: Readonly<Record<string, string>> = {
  SUMMARY: 'done',
  ERROR: 'broken',
  TYPE: 'code',
  TASK: 'work',
  GOAL: 'other',
};

/** Asserts that each command which a refusal calls legal is taken: each in a world of its own, as it is after the refusal. */
export const assertLegal = (tidying: Tidying, world: TestWorld, error: Printed): void => {
  const commands = listOf(error.legal).map(String);
  assert.ok(commands.length > 0, `${error.message}: something is legal`);
  for (const command of commands) {
    const [program, ...args] = command.split(' ').map((word) => words[word] ?? word);
    assert.equal(program, 'stint', command);
    const copy = createWorld(tidying, { from: world }).with({ now: world.env['STINT_NOW'] ?? '' });
    const { status, stderr } = copy.run(...args);
    assert.equal(status, 0, `${error.message}: ${command}: ${stderr}`);
  }
};
