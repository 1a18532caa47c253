/** The process that most tests have their verbs from does what one of its own would do. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { approval, json } from './support/reviews.ts';
import { createWorld, sorted, type Outcome, type TestWorld } from './support/world.ts';

const verbs: readonly (readonly string[])[] = [
  ['begin', 'review', '--name', 'one'],
  ['advance', 'synthesis'],
  ['note', 'seen', '--json'],
  ['complete-round', '-', '--json'],
  ['advance', 'nowhere'],
  ['frobnicate'],
  ['status'],
  ['log', '--json'],
];

/** The files of a world's store, with their sizes. */
const storeFiles = ({ path }: TestWorld): readonly string[] =>
  sorted(readdirSync(path('.stint')).map((name) => `${name}: ${statSync(path('.stint', name)).size}`));

const scrubbed = ({ scrub }: TestWorld, { status, signal, stdout, stderr }: Outcome): readonly unknown[] => [
  status,
  signal,
  scrub(stdout),
  scrub(stderr),
];

test('the resident process says and leaves what a process of its own does, the log of the store as well', async (context) => {
  const [one, other] = [createWorld(context), createWorld(context)].map((world) =>
    world.with({ input: json(approval) }),
  );
  assert.ok(one !== undefined && other !== undefined);
  for (const words of verbs) {
    const whole: Outcome = await other.start(...words).outcome;
    assert.deepEqual(scrubbed(one, one.run(...words)), scrubbed(other, whole), words.join(' '));
    assert.deepEqual(storeFiles(one), storeFiles(other), words.join(' '));
  }
});
