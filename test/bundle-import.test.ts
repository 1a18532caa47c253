/** Sessions that travel in a bundle, as users take them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { killAtEachStep } from './support/campaigns.ts';
import { bundleFile, bundleOf, bundleWithDocuments } from './support/bundles.ts';
import { as, claim } from './support/leases.ts';
import { reviewIn } from './support/reviews.ts';
import { createWorld, listOf, type TestWorld } from './support/world.ts';

/** A review that was begun elsewhere, and a checkout that knows nothing of it. */
const travellers = (context: Parameters<typeof createWorld>[0]) => {
  const there = reviewIn(context, 'analysis');
  const here = createWorld(context);
  const key: string = there.answer('status').session;
  return { there, here, key };
};

const take = (here: TestWorld, there: TestWorld, key: string, ...flags: readonly string[]) =>
  here.answer('bundle', 'import', '--bundle', bundleFile(here, bundleOf(there, key)), ...flags);

test('a session lands with its events and its chain, and again nothing is new', (context) => {
  const { there, here, key } = travellers(context);
  const taken = take(here, there, key);
  assert.deepEqual([taken.result, taken.landed, taken.session], ['imported', 'new', key]);
  assert.deepEqual(here.answer('show', key).events, there.answer('show', key).events);
  assert.equal(here.answer('doctor').healthy, true);
  const again = take(here, there, key);
  assert.deepEqual([again.result, again.landed, again.events], ['unchanged', 'known', 0]);
});

test('what has gone on there is gone on with here, and back again', (context) => {
  const { there, here, key } = travellers(context);
  take(here, there, key);
  there.answer('advance', 'reviews', '--session', key);
  const taken = take(here, there, key);
  assert.deepEqual([taken.result, taken.landed, taken.events], ['imported', 'gone-on-with', 1]);
  here.answer('note', 'seen here', '--session', key);
  const back = take(there, here, key);
  assert.deepEqual([back.landed, back.events], ['gone-on-with', 1]);
  assert.deepEqual(there.answer('show', key).events, here.answer('show', key).events);
});

test('a session that has gone on in two ways is never forked: it is refused, or a duplicate lands beside it', (context) => {
  const { there, here, key } = travellers(context);
  take(here, there, key);
  there.answer('note', 'there', '--session', key);
  here.answer('note', 'here', '--session', key);
  const file = bundleFile(here, bundleOf(there, key));
  const before = here.answer('show', key);
  const error = here.refusal(9, 'bundle', 'import', '--bundle', file);
  assert.match(error.hint, /--as /);
  assert.deepEqual(here.answer('show', key), before);
  const duplicate = here.answer('bundle', 'import', '--bundle', file, '--as', 'from-there');
  assert.deepEqual([duplicate.session, duplicate.landed], ['review:from-there', 'new']);
  const log = listOf(here.answer('log', '--session', 'from-there').events);
  assert.equal(log.at(-1).type, 'BundleTaken');
  assert.equal(log.at(-1).data.of, key);
  assert.equal(log.at(-2).data.text, 'there');
  assert.equal(here.answer('doctor').healthy, true);
  assert.equal(here.answer('bundle', 'import', '--bundle', file, '--as', 'from-there').result, 'unchanged');
});

test('a lease that counts elsewhere does not count here, and its end is on record', (context) => {
  const { there, here, key } = travellers(context);
  claim(there, '--session', key, '--ttl', '1h');
  take(here, there, key);
  assert.equal(here.answer('lease', 'show', key).lease ?? null, null);
  const types = listOf(here.answer('log', '--session', key).events).map(({ type }) => type);
  assert.deepEqual(types.slice(-2), ['BundleTaken', 'LeaseLost']);
  assert.notEqual(there.answer('lease', 'show', key).state, undefined);
});

test('a session that somebody holds here is not gone on with over their head', (context) => {
  const { there, here, key } = travellers(context);
  claim(there, '--session', key, '--ttl', '1h');
  take(here, there, key);
  here.answer('advance', 'reviews', '--session', key);
  const back = bundleFile(there, bundleOf(here, key));
  as(there, 'ben').refusal(10, 'bundle', 'import', '--bundle', back);
  const taken = there.answer('bundle', 'import', '--bundle', back);
  assert.equal(taken.landed, 'gone-on-with');
  assert.equal(there.answer('show', key).session.lease, null, 'it was left behind on the way');
});

test('a rehearsal writes nothing at all', (context) => {
  const { there, here, key } = travellers(context);
  const file = bundleFile(here, bundleOf(there, key));
  const before = here.git('status', '--porcelain', '--ignored');
  const preview = here.answer('bundle', 'import', '--bundle', file, '--dry-run');
  assert.deepEqual([preview.result, preview.dry_run, preview.landed], ['preview', true, 'new']);
  assert.equal(here.git('status', '--porcelain', '--ignored'), before);
});

/** A task with documents that was begun elsewhere. */
const task = (context: Parameters<typeof createWorld>[0]) => {
  const there = createWorld(context);
  const here = createWorld(context);
  const made = there.answer(
    'handoff',
    'new',
    '--task',
    'Move it',
    '--updated-by',
    'ana',
    '--next-owner',
    'ben',
    '--remaining-step',
    'Import',
  );
  return { there, here, key: String(made.session), handover: String(made.handover) };
};

test('documents come along, and name the files here', (context) => {
  const { there, here, key } = task(context);
  const file = bundleFile(here, bundleWithDocuments(there, key));
  const preview = here.answer('bundle', 'import', '--bundle', file, '--dry-run');
  assert.equal(preview.would_write.session_state, here.path('docs/tests/session-state/CURRENT.md'));
  const taken = here.answer('bundle', 'import', '--bundle', file);
  assert.deepEqual([taken.session, taken.status, taken.next_owner], [key, 'in-progress', 'ben']);
  here.answer('handoff', 'validate');
  const text = readFileSync(taken.session_state, 'utf8');
  assert.match(text, /\.\.\/handovers\//);
  assert.equal(text.includes(there.root), false);
  assert.equal(here.answer('bundle', 'import', '--bundle', file).result, 'unchanged');
  assert.equal(here.answer('doctor').healthy, true);
});

test('documents that are there are not lost: refused without --force, archived with it', (context) => {
  const { there, here, key } = task(context);
  const yesterday = here.with({ now: '2026-03-16T12:00:00.000Z' });
  const own = yesterday.answer('handoff', 'new', '--task', 'Own', '--updated-by', 'cy', '--next-owner', 'cy');
  const file = bundleFile(here, bundleWithDocuments(there, key));
  const before = readFileSync(own.session_state, 'utf8');
  const preview = here.answer('bundle', 'import', '--bundle', file, '--dry-run');
  assert.equal(preview.result, 'preview-with-warnings');
  assert.ok(listOf(preview.would_overwrite).length > 0);
  here.refusal(9, 'bundle', 'import', '--bundle', file);
  assert.equal(readFileSync(own.session_state, 'utf8'), before);
  const taken = here.answer('bundle', 'import', '--bundle', file, '--force');
  assert.match(readFileSync(taken.session_state, 'utf8'), /Move it/);
  here.answer('handoff', 'validate');
  assert.equal(here.answer('handoff', 'audit').result, 'clean');
  assert.equal(listOf(here.answer('list').sessions).length, 2);
});

// Every fifth change, to keep this short.
test('kill -9 before single changes on disk of an import: the session is there whole, or not at all', (context) => {
  const { there, here, key } = task(context);
  const file = bundleFile(there, bundleWithDocuments(there, key));
  const written = listOf(there.answer('show', key).events).map(({ type, cause }) => `${type} ${cause}`);
  const kills = killAtEachStep(
    context,
    here,
    { args: ['bundle', 'import', '--bundle', file], types: [...written, 'BundleTaken', 'DocumentEdited'] },
    5,
  );
  context.diagnostic(`${kills} kills`);
});

test('what is not trusted is refused with every reason, and taken only when somebody says so, on the record', (context) => {
  const { there, here, key } = travellers(context);
  const says = { verdict: 'not-ready', task: 'None', status: 'in-progress', next_owner: 'ben' };
  const file = bundleFile(here, bundleOf(there, key, { readiness: says }));
  const { status, json: refused } = here.run('bundle', 'import', '--bundle', file, '--json');
  assert.deepEqual([status, refused.result, refused.trust.result], [11, 'error', 'untrusted']);
  assert.ok(listOf(refused.errors).some((text) => String(text).includes('not-ready')));
  here.refusal(4, 'show', key);
  here.refusal(2, 'bundle', 'import', '--bundle', file, '--trusted-only', '--untrusted');
  const taken = here.answer('bundle', 'import', '--bundle', file, '--untrusted');
  assert.deepEqual([taken.result, taken.landed], ['imported-with-warnings', 'new']);
  const last = listOf(here.answer('log', '--session', key).events).at(-1);
  assert.deepEqual([last.type, last.data.verdict, last.data.untrusted.length > 0], ['BundleTaken', 'untrusted', true]);
});

test('a policy that is checked in counts for what is taken, and is not widened without a reason', (context) => {
  const { there, here, key } = travellers(context);
  here.write('docs/tests/handoff-bundle-trust-policy.json', JSON.stringify({ require_signature: true }));
  const file = bundleFile(here, bundleOf(there, key));
  here.refusal(11, 'bundle', 'import', '--bundle', file);
  here.refusal(12, 'bundle', 'import', '--bundle', file, '--no-policy-file');
  const taken = here.answer('bundle', 'import', '--bundle', file, '--no-policy-file', '--override', 'by phone');
  assert.equal(taken.trust.override.reason, 'by phone');
  assert.equal(here.answer('show', key).bundles[0].override, 'by phone');
});
