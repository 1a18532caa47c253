/** Those who work through the library with a store on a server, in one process. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createStint, locationOf, type Stint, type StintOptions } from '../../src/surfaces/library.ts';
import { openWorkplace } from '../../src/surfaces/world.ts';
import type { Refusal } from '../../src/kernel/refusal.ts';
import { createWorld, type Printed } from './world.ts';

/** Somebody who works there. */
export interface Hand {
  /** Runs a verb that must succeed; answers what it says. */
  readonly ask: (...call: Parameters<Stint['run']>) => Promise<Printed>;
  /** Runs a verb that must be refused; answers the refusal. */
  readonly refused: (...call: Parameters<Stint['run']>) => Promise<Refusal>;
  readonly close: () => Promise<void>;
}

/** How one comes to a store: with the options of the library, and how long the server is waited for. */
export type Coming = StintOptions & { readonly patience?: number };

/** Comes to the store of a project on a server; answers the refusal where there is one. */
const comeTo = async (context: TestContext, store: string, coming: Coming = {}): Promise<Hand | Refusal> => {
  const { patience, ...given } = coming;
  const cwd = given.cwd ?? createWorld(context).project;
  const options = { cwd, store, project: 'shared', actor: 'ana', host: 'desk', ...given };
  const location = locationOf(options, { cwd, env: {} });
  assert.ok(location.ok);
  const workplace = await openWorkplace({ ...location.value, ...(patience === undefined ? {} : { patience }) }, 'make');
  if (!workplace.ok) return workplace.error;
  const stint = createStint(location.value, workplace.value, options);
  context.after(stint.close);
  return {
    ask: async (verb, ...rest) => {
      const answer = await stint.run(verb, ...rest);
      if (!answer.ok) assert.fail(`${verb}: ${answer.error.refusal.message}`);
      return answer.value;
    },
    refused: async (verb, ...rest) => {
      const answer = await stint.run(verb, ...rest);
      if (answer.ok) assert.fail(`${verb}: ${JSON.stringify(answer.value)}`);
      return answer.error.refusal;
    },
    close: stint.close,
  };
};

/** The same for somebody who must be let in. */
export const handAt = async (context: TestContext, store: string, coming: Coming = {}): Promise<Hand> => {
  const hand = await comeTo(context, store, coming);
  if ('code' in hand) assert.fail(hand.message);
  return hand;
};

/** The same for somebody who must not be let in. */
export const turnedAway = async (context: TestContext, store: string, coming: Coming = {}): Promise<Refusal> => {
  const refusal = await comeTo(context, store, coming);
  if (!('code' in refusal)) assert.fail('it was let in');
  return refusal;
};
