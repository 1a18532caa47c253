/** Leases of which what is kept beside the log was changed by hand: the events say who holds what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runLines } from './support/damage.ts';
import { as, claim, sessionOf, showing } from './support/leases.ts';
import { assertSound, litterIn, tamper } from './support/stores.ts';
import { createWorld, later, listOf, noon, type Printed } from './support/world.ts';

/** A way to damage it, and what is made of that. */
interface Harm {
  readonly sql: string;
  /** What doctor says of it. */
  readonly problem: string | RegExp;
  /** What it says that makes it whole. */
  readonly fix: string;
  /** Whether it is still known that the lease was renewed. */
  readonly keepsRenewal: boolean;
}

const rebuild = 'stint rebuild --session review:held';

const renewalIs = (change: string): Harm => ({
  sql: `UPDATE lease SET ${change}`,
  problem: 'what was renewed of its leases was damaged',
  fix: rebuild,
  keepsRenewal: false,
});

const columnIs = (value: string): Harm => ({
  sql: `UPDATE session SET lease = ${value}`,
  problem: 'its row differs from its events',
  fix: rebuild,
  keepsRenewal: true,
});

const storeIs = (sql: string, problem: RegExp): Harm => ({
  sql,
  problem,
  fix: 'stint doctor --fix',
  keepsRenewal: false,
});

const harms: readonly Harm[] = [
  renewalIs(`expires_at = 'zzz'`),
  renewalIs('expires_at = NULL'),
  renewalIs(`expires_at = '9999-12-31T00:00:00.000Z'`),
  renewalIs(`renewed_at = 'zzz'`),
  renewalIs(`expires_at = renewed_at, renewed_at = expires_at`),
  storeIs('UPDATE lease SET token = 9007199254740993', /is damaged: a number in it is none of ours\.$/),
  storeIs('DROP TABLE lease', /is damaged: no such table: lease\.$/),
  columnIs(`'{"token":1}'`),
  columnIs('NULL'),
  columnIs(`'{'`),
  columnIs('5'),
  columnIs(`replace(lease, 'ana@desk', 'bob')`),
  columnIs(`replace(lease, '"token":', '"token":9007199254740993,"was":')`),
];

/** Verbs that only look. */
const looks: readonly (readonly string[])[] = [
  ['lease', 'show'],
  ['status'],
  ['list'],
  ['next'],
  ['begin', 'review', '--read-only'],
  ['log'],
  ['progress'],
  ['process', 'list'],
];

/** Verbs that write, for the holder; they are rehearsed. */
const writes: readonly (readonly string[])[] = [
  ['lease', 'claim'],
  ['lease', 'renew'],
  ['lease', 'release'],
  ['advance', 'change-context'],
  ['note', 'x'],
  ['process', 'sweep'],
  ['reconcile'],
];

/** Verbs that the lease keeps somebody else from. */
const others: readonly (readonly string[])[] = [
  ['lease', 'claim', '--session', 'held'],
  ['lease', 'renew', '--session', 'held'],
  ['advance', 'change-context', '--session', 'held'],
  ['begin', 'review', '--name', 'held'],
];

test('whatever becomes of a lease beside the log: nothing breaks, its holder is who the events name, doctor tells of it, and what it suggests makes it whole', (context) => {
  const { world: whole } = sessionOf(context, 'review');
  const token = claim(whole, '--ttl', '10m', '--purpose', 'round 1');
  const claimed = later(whole, 6).answer('lease', 'show');
  later(whole, 5).answer('lease', 'renew');
  const renewed = later(whole, 6).answer('lease', 'show');
  for (const { sql, problem, fix, keepsRenewal } of harms)
    for (const repair of new Set([fix, 'stint doctor --fix'])) {
      const world = later(createWorld(context, { from: whole }), 6);
      const what = `${sql}, ${repair}`;
      tamper(world, (database) => database.exec(sql));
      const outcomes = runLines(world, [
        ...looks.map((args) => [...args, '--json']),
        ...writes.map((args) => [...args, '--dry-run', '--json']),
        ...others.map((args) => [...args, '--actor', 'bob', '--json']),
        ['doctor', '--json'],
      ]);
      const answers = outcomes.map(({ status, stdout, stderr }, index) => {
        assert.ok(status !== null && status !== 1, `${what}, line ${index}: ${stderr}${stdout}`);
        return status;
      });
      assert.deepEqual(
        answers.slice(0, looks.length),
        looks.map(() => 0),
        what,
      );
      const isOfStore = fix === 'stint doctor --fix';
      for (const status of answers.slice(looks.length, looks.length + writes.length))
        assert.ok(status === 0 || (isOfStore && status === 14), what);
      assert.deepEqual(
        answers.slice(looks.length + writes.length, -1),
        others.map(() => (isOfStore ? 14 : 10)),
        what,
      );
      const shown = outcomes[0]?.json;
      const { warnings, ...lease } = shown;
      assert.equal(warnings !== undefined, isOfStore, 'what is left of a store is told as such');
      const expected = keepsRenewal ? renewed : claimed;
      assert.deepEqual(untouched(lease), untouched(expected), what);
      const [finding, ...more] = listOf(outcomes.at(-1)?.json.findings);
      assert.deepEqual([more, answers.at(-1), finding.subject, finding.fix], [[], 6, 'review:held', fix], what);
      if (typeof problem === 'string') assert.equal(finding.problem, problem, what);
      else assert.match(finding.problem, problem, what);

      const [repaired, sound, known, refused, moved] = runLines(world, [
        [...repair.split(' ').slice(1), '--json'],
        ['doctor', '--json'],
        ['lease', 'show', '--json'],
        ['advance', 'change-context', '--session', 'held', '--actor', 'bob'],
        ['advance', 'change-context', ...showing(token)],
      ]);
      assert.deepEqual(
        [repaired, sound, known, refused, moved].map((outcome) => outcome?.status),
        [0, 0, 0, 10, 0],
        `${what}: ${repaired?.stdout}`,
      );
      assert.deepEqual(untouched(known?.json), untouched(expected), what);
      assert.deepEqual(litterIn(world), [], what);
    }
});

/** A lease as it is shown, without what is counted of others. */
const untouched = ({ refused, last_refused_at: at, ...lease }: Printed): Printed => {
  assert.equal(typeof refused, 'number');
  assert.equal(at === null, refused === 0);
  return lease;
};

test('a damaged count of those who were refused begins anew, and keeps nobody from anything', (context) => {
  for (const change of [
    'refused_token = 9007199254740993',
    'refused = 9223372036854775807',
    'refused = -1',
    'refused_token = NULL',
  ]) {
    const { world } = sessionOf(context, 'review');
    const bob = as(world, 'bob');
    claim(world);
    bob.refusal(10, 'advance', 'change-context', '--session', 'held');
    tamper(world, (database) => database.exec(`UPDATE lease SET ${change}`));
    const counted = (): Printed => {
      const { refused, last_refused_at: at, warnings } = world.answer('lease', 'show');
      return [refused, at, warnings];
    };
    assert.deepEqual(counted(), [0, null, undefined], change);
    bob.refusal(10, 'advance', 'change-context', '--session', 'held');
    assert.deepEqual(counted(), [1, noon, undefined], change);
    assertSound(world, change);
  }
});
