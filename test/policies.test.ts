/** Policies as files of a checkout. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ordinary, whileProtected, withoutUser } from './support/permissions.ts';
import { createWorld, lines, repository, say, type TestWorld } from './support/world.ts';

const names = {
  trust: 'handoff-bundle-trust-policy.json',
  redaction: 'handoff-bundle-redaction-policy.json',
  ci: 'handoff-bundle-ci-policy.json',
} as const;

const textIn = (world: TestWorld, path: string): string => readFileSync(world.path(path), 'utf8');

test('what policy new-* writes policy check-* takes, and it is written over only where that is said', (context) => {
  const world = createWorld(context);
  for (const [word, file] of Object.entries(names)) {
    const path = `docs/tests/${file}`;
    const made = world.answer('policy', `new-${word}`);
    assert.deepEqual(Object.keys(made), ['schema_version', 'result', 'policy_path', 'policy', 'warnings', 'errors']);
    assert.deepEqual([made.result, made.policy_path], ['generated', world.path(path)]);
    assert.deepEqual(JSON.parse(textIn(world, path)), made.policy);
    assert.equal(world.answer('policy', `check-${word}`).result, 'valid');

    const before = textIn(world, path);
    const { json, status } = world.run('policy', `new-${word}`, '--format', 'json');
    assert.deepEqual([status, json.result, json.error.code], [9, 'error', 'conflict']);
    assert.match(json.errors[0], /^Refusing to overwrite /);
    assert.equal(textIn(world, path), before);

    world.write(path, '{}');
    world.answer('policy', `new-${word}`, '--force');
    assert.equal(textIn(world, path), before);
    assert.equal(existsSync(world.path('.stint')), false, 'no store is made for a policy');
  }
});

test('of those who write a policy at the same moment one does, and the others are told that it is there', async (context) => {
  const world = createWorld(context);
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, async () => world.start('policy', 'new-ci', '--json').outcome),
  );
  assert.equal(outcomes.filter(({ status }) => status === 0).length, 1);
  assert.equal(outcomes.filter(({ status }) => status === 9).length, 5);
});

test('a policy that is there is told also where nothing may be written beside it', { skip: withoutUser }, (context) => {
  const world = ordinary(createWorld(context));
  assert.equal(world.run('policy', 'new-ci').status, 0);
  whileProtected(world, () => assert.equal(world.refusal(9, 'policy', 'new-ci').code, 'conflict'));
});

test('a policy that is none is told whole, as text and as JSON; one that is not there is not found', (context) => {
  const world = createWorld(context);
  assert.equal(world.refusal(4, 'policy', 'check-trust').code, 'not-found');
  world.write(`docs/tests/${names.ci}`, '{"bogus": 1, "require_trust_policy": 0}');
  const { status, json } = world.run('policy', 'check-ci', '--json');
  const faults = ['$.bogus is no field of a CI policy', '$.require_trust_policy must be true or false'];
  assert.deepEqual([status, json.result, json.errors, json.error.faults], [7, 'error', faults, faults]);
  assert.equal(
    world.scrub(world.run('policy', 'check-ci').stdout),
    lines(
      'Result  error',
      `Policy  ROOT/project/docs/tests/${names.ci}`,
      'Errors:',
      ...faults.map((fault) => `- ${fault}`),
    ),
  );
  world.write('other.json', '{"require_trust_policy": true}');
  assert.equal(
    say(world, 'policy', 'check-ci', '--policy', 'other.json'),
    lines('Result  valid', 'Policy  ROOT/project/other.json', 'Errors:', '- None'),
  );
  world.write(`docs/tests/${names.trust}`, '{"profiles": {"prod": {}}}');
  const error = world.refusal(4, 'policy', 'check-trust', '--profile', 'prd');
  assert.deepEqual([error.legal, error.candidates], [['prod'], ['prod']]);
});

test('no policy is written through a link that leads out, outside of the checkout, or where it makes none', (context) => {
  const world = createWorld(context);
  const elsewhere = join(world.root, 'elsewhere');
  mkdirSync(elsewhere);
  assert.equal(world.refusal(2, 'policy', 'new-ci', '--output', '../elsewhere/x.json').code, 'usage');
  symlinkSync(elsewhere, world.path('docs'));
  assert.equal(world.refusal(2, 'policy', 'new-ci').code, 'usage');
  assert.equal(world.refusal(2, 'policy', 'new-redaction', '--extra-redaction-regex', '(').code, 'usage');
  assert.equal(world.refusal(2, 'policy', 'new-trust', '--max-age-hours', '-1').code, 'usage');
  assert.equal(existsSync(join(elsewhere, 'tests')), false);

  world.answer('policy', 'new-ci', '--output', 'ci/policy.json');
  assert.equal(world.answer('policy', 'check-ci', '--policy', 'ci/policy.json').result, 'valid');
});

test('a file of signers that a policy names has to be one', (context) => {
  const world = createWorld(context);
  world.write(`docs/tests/${names.trust}`, '{"profiles": {"prod": {"allowed_signers_file": "keys/signers"}}}');
  const problem = 'The file of the allowed signers keys/signers does not exist.';
  assert.deepEqual(world.refusal(7, 'policy', 'check-trust').faults, [problem]);
  assert.deepEqual(world.refusal(6, 'policy', 'ci', '--skip-smoke').faults, [`trust_policy: ${problem}`]);
  world.write('docs/tests/keys/signers', 'ana no-key\n');
  assert.match(world.refusal(7, 'policy', 'check-trust').message, /is no file of allowed signers/);
  world.write('docs/tests/keys/signers', '# nobody yet\n');
  assert.equal(world.answer('policy', 'check-trust', '--profile', 'prod').result, 'valid');
});

test('the policies that are shown as examples are policies', (context) => {
  const world = createWorld(context);
  for (const [word, file] of Object.entries(names)) {
    const example = join(repository, 'docs/examples', file);
    world.write('docs/tests/keys/allowed_signers', '');
    assert.equal(world.answer('policy', `check-${word}`, '--policy', example).result, 'valid');
  }
});

test('a policy that cannot be read is never taken for none', (context) => {
  const world = createWorld(context);
  world.write('docs/tests/keep', '');
  symlinkSync('nowhere.json', world.path('docs/tests', names.trust));
  assert.match(world.refusal(7, 'policy', 'check-trust').message, /is not read/);
  mkdirSync(world.path('docs/tests', names.ci));
  assert.match(world.refusal(7, 'policy', 'check-ci').message, /is a folder, not a file/);
});
