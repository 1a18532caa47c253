/** Worlds with the documents of a hand-off, and somebody who asks about them. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { handover, sessionState } from '../../src/formats/handoff/document.ts';
import { sample } from '../../src/formats/handoff/samples.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { openStint } from '../../src/postgres.ts';
import { storeIn } from './environment.ts';
import { createWorld, listOf, noon, type Printed, type Tidying, type TestWorld } from './world.ts';

/** Where documents lie. */
export const root = 'docs/tests';
export const current = `${root}/session-state/CURRENT.md`;
export const leaseFile = `${root}/session-state/ACTIVE_LEASE.json`;
export const transferOf = (stamp: string): string => `${root}/handovers/${stamp}_handover.md`;
export const stateOf = (stamp: string): string => `${root}/session-state/${stamp}_session-state.md`;

/** The handover of the pair that is there. */
export const transfer = transferOf('20260312_0915');

/** A project with a sound pair that another program has left. */
export const paired = (context: Tidying, said: Readonly<Record<string, string>> = {}): TestWorld => {
  const world = createWorld(context);
  world.write(current, sample(sessionState, said));
  world.write(transfer, sample(handover, said));
  return world;
};

/** A project with a task and its documents. */
export const handedOver = (context: Tidying, ...flags: readonly string[]): TestWorld => {
  const world = createWorld(context);
  const said = ['--task', 'Ship it', '--updated-by', 'ana', '--next-owner', 'ben', '--handover-output', transfer];
  world.answer('handoff', 'new', ...said, ...flags);
  return world;
};

export const textOf = (world: TestWorld, path: string): string => readFileSync(world.path(path), 'utf8');

/** What stands in a section of a file, up to a blank line. */
export const valueIn = (world: TestWorld, path: string, section: string): string =>
  (textOf(world, path).split(`\n## ${section}\n`)[1] ?? '').split('\n\n')[0]?.trim() ?? '';

/** The reasons that say why work is ready or not, by their codes. */
export const codesIn = (document: Printed): readonly Printed[] => listOf(document.reasons).map(({ code }) => code);

/** What a verb has come to: its answer, or its refusal. */
export interface Came {
  readonly isDone: boolean;
  /** The code of the refusal; empty where it was done. */
  readonly code: string;
  /** All that it said, as one text. */
  readonly said: string;
  readonly answer: Printed;
}

export type Ask = (verb: string, input?: JsonObject) => Promise<Came>;

/** Somebody in a project without any history, who asks in this process; what is thrown is a bug. */
export const asker = async (
  context: TestContext,
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<{ readonly world: TestWorld; readonly ask: Ask }> => {
  const world = createWorld(context, { git: false });
  mkdirSync(world.path('.git'));
  for (const [path, text] of Object.entries(files)) world.write(path, text);
  return { world, ask: await askIn(context, world, noon) };
};

/** Somebody who asks in a project that is there; without a time by the clock. */
export const askIn = async (context: TestContext, world: TestWorld, now?: string): Promise<Ask> => {
  const time = now === undefined ? {} : { now: () => now };
  const opened = await openStint({ cwd: world.project, ...storeIn(world.env), actor: 'ana', ...time });
  assert.ok(opened.ok);
  context.after(() => void opened.value.close());
  return async (verb, input = {}) => {
    const outcome = await opened.value.run(verb, input);
    const said = JSON.stringify(outcome.ok ? outcome.value : outcome.error);
    return outcome.ok
      ? { isDone: true, code: '', said, answer: outcome.value }
      : { isDone: false, code: outcome.error.refusal.code, said, answer: outcome.error.report ?? {} };
  };
};

/** A verb that must be done. */
export const done = async (ask: Ask, verb: string, input: JsonObject = {}): Promise<Printed> => {
  const { isDone, said, answer } = await ask(verb, input);
  assert.ok(isDone, `${verb} ${JSON.stringify(input)}: ${said}`);
  return answer;
};
