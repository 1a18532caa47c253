/** What continuous integration is told of a checkout. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { selfCheck } from '../src/surfaces/self-check.ts';
import { smoke } from '../src/surfaces/smoke.ts';
import { reviewIn } from './support/reviews.ts';
import { createWorld, fileOnly, listOf, type Printed, type TestWorld } from './support/world.ts';

const files = {
  trust: 'docs/tests/handoff-bundle-trust-policy.json',
  redaction: 'docs/tests/handoff-bundle-redaction-policy.json',
  ci: 'docs/tests/handoff-bundle-ci-policy.json',
} as const;

const ci = (world: TestWorld, ...flags: readonly string[]): Printed => {
  const { status, json, stderr } = world.run('policy', 'ci', '--skip-smoke', '--json', ...flags);
  assert.equal(stderr, '');
  return { exit: status, ...json };
};

/** The checks that did not pass, with what became of them. */
const notPassed = (answer: Printed): readonly string[] =>
  listOf(answer.checks).flatMap(({ name, result }) => (result === 'passed' ? [] : [`${name} ${result}`]));

test('the program finds itself whole, and leaves nothing of its rehearsal behind', async (context) => {
  assert.deepEqual(await selfCheck(), []);
  assert.deepEqual(await smoke(), []);
  const world = createWorld(context);
  const answer = world.answer('policy', 'ci');
  assert.deepEqual(listOf(answer.checks), [
    { name: 'self_check', result: 'passed' },
    { name: 'trust_policy', result: 'not-present' },
    { name: 'ci_policy', result: 'not-present' },
    { name: 'redaction_policy', result: 'not-present' },
    { name: 'smoke', result: 'passed' },
    { name: 'stores', result: 'passed' },
    { name: 'documents', result: 'passed' },
  ]);
  assert.deepEqual(Object.keys(answer), [
    'schema_version',
    'result',
    'docs_root',
    'ci_policy_path',
    'checks',
    'errors',
    'override',
    'annotations',
  ]);
  assert.deepEqual(readdirSync(world.project), ['.git']);
  assert.deepEqual(readdirSync(world.temporary), []);
});

test('a policy that is required, by the CI policy or by a flag, has to be there', (context) => {
  const world = createWorld(context);
  const required = ci(world, '--require-ci-policy', '--require-redaction-policy');
  assert.deepEqual([required.exit, required.errors.length, required.error.code], [12, 2, 'policy']);
  world.write(files.ci, '{"require_portable_bundle_policies": true}');
  const both = ci(world);
  assert.deepEqual([both.exit, both.result, both.errors.length], [12, 'error', 2]);
  assert.deepEqual(notPassed(both), ['trust_policy not-present', 'redaction_policy not-present', 'smoke skipped']);
  world.write(files.trust, '{}');
  world.write(files.redaction, '{}');
  assert.deepEqual(notPassed(ci(world, '--require-ci-policy')), ['smoke skipped']);
});

test('what the CI policy requires no flag takes away without a reason, and with one it is reported', (context) => {
  const world = createWorld(context);
  world.write(files.trust, '{}');
  world.write(files.ci, '{"require_trust_policy": true}');
  world.write('lax.json', '{}');
  for (const flags of [['--skip-policy'], ['--no-ci-policy-file'], ['--ci-policy-file', 'lax.json']]) {
    const refused = ci(world, ...flags);
    assert.deepEqual([refused.exit, refused.result, refused.errors.length], [12, 'error', 1], flags.join(' '));
    const { exit, override } = ci(world, ...flags, '--override', 'it is moved');
    assert.deepEqual([exit, override], [0, { reason: 'it is moved', loosened: ['require_trust_policy is left out'] }]);
  }
  assert.equal(ci(world, '--no-ci-policy-file', '--require-trust-policy').exit, 0, 'it is required all the same');
  assert.equal(ci(world, '--skip-redaction-policy').override, null);
  const elsewhere = ci(world, '--root', 'elsewhere');
  assert.deepEqual([elsewhere.exit, notPassed(elsewhere)], [0, ['redaction_policy not-present', 'smoke skipped']]);
  world.write('elsewhere/handoff-bundle-ci-policy.json', '{}');
  assert.equal(ci(world, '--root', 'elsewhere').exit, 12, 'another root is no way around it');
  world.write(files.ci, '{');
  assert.equal(ci(world).exit, 6);
  assert.equal(ci(world, '--no-ci-policy-file').exit, 12);
});

test('every check is made, and each error has its file and line for GitHub, where that is asked', (context) => {
  const world = createWorld(context);
  world.write(files.trust, '{\n  "default_profile": "a,b",\n  "bogus\\n:%": 1\n}');
  world.write(files.redaction, '{"extra_redaction_regexes": ["("]}');
  world.write('docs/tests/session-state/CURRENT.md', '# Session State\n');
  const answer = ci(world);
  assert.deepEqual([answer.exit, answer.annotations], [6, []]);
  assert.deepEqual(notPassed(answer), [
    'trust_policy failed',
    'ci_policy not-present',
    'redaction_policy failed',
    'smoke skipped',
    'documents failed',
  ]);
  const annotations = listOf(ci(world, '--annotations').annotations).map(String);
  assert.equal(annotations.length, answer.errors.length);
  assert.ok(annotations.every((line) => /^::error file=docs\/tests\/[\w/.-]+(?:,line=\d+)?::[^\n\r]+$/.test(line)));
  assert.ok(
    annotations.some((line) => line.startsWith(`::error file=${files.trust},line=3::trust_policy: $["bogus\\n:%25"]`)),
  );
  const onGitHub = world.with({ env: { GITHUB_ACTIONS: 'true' } }).run('policy', 'ci', '--skip-smoke');
  for (const line of annotations) assert.ok(onGitHub.stdout.includes(`\n${line}\n`), line);
});

test('a damaged store, and one that is not reached, are told beside everything else', { skip: fileOnly }, (context) => {
  const damaged = reviewIn(context, 'context');
  damaged.write(files.trust, '{}');
  assert.deepEqual(notPassed(ci(damaged)), ['ci_policy not-present', 'redaction_policy not-present', 'smoke skipped']);
  writeFileSync(damaged.path('.stint/stint.db'), 'x'.repeat(20_000));
  assert.ok(notPassed(ci(damaged)).includes('stores failed'));
  const away = createWorld(context);
  away.write('stint.json', '{"store": "env:TEAM_STORE", "project": "shop"}');
  const answer = ci(away);
  assert.deepEqual([answer.exit, notPassed(answer).includes('stores failed')], [6, true]);
  assert.equal(ci(away, '--skip-stores').exit, 0);
  assert.equal(existsSync(away.path('.stint')), false);
});
