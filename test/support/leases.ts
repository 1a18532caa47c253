/** Sessions that somebody holds, and who works on them. */
import assert from 'node:assert/strict';
import { createWorld, type Printed, type Tidying, type TestWorld } from './world.ts';

/** The kinds that every rule of leases is shown with. */
export const heldKinds = ['review', 'map'] as const;

/** A world with an open session of a kind, called `held`, and its key. */
export const sessionOf = (tidying: Tidying, kind: string): { readonly world: TestWorld; readonly key: string } => {
  const world = createWorld(tidying);
  world.answer('begin', kind, '--name', 'held');
  return { world, key: `${kind}:held` };
};

/** The same world for somebody else. */
export const as = (
  world: TestWorld,
  actor: string,
  env: Readonly<Record<string, string | undefined>> = {},
): TestWorld => world.with({ env: { STINT_ACTOR: actor, ...env } });

/** Claims the session; answers the token. */
export const claim = (world: TestWorld, ...flags: readonly string[]): number => {
  const { token } = world.answer('lease', 'claim', ...flags);
  assert.ok(Number.isSafeInteger(token), 'a token is a whole number');
  return token;
};

/** What the log says of leases, newest last: the type and the data of each event. */
export const leaseEvents = (world: TestWorld, key: string): readonly Printed[] => {
  const { events }: { events: readonly Printed[] } = world.answer('log', key);
  return events.filter(({ type }) => String(type).startsWith('Lease')).map(({ type, data }) => ({ type, ...data }));
};

/** A call that shows a token. */
export const showing = (token: number): readonly string[] => ['--lease-token', String(token)];
