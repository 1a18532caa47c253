/** Signing and verifying the files of bundles: the lines of users, run as they run them. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { printBundle, readBundle, signedText } from '../src/formats/bundle/bundle.ts';
import { sampleBundle2, sampleBundle3 } from '../src/formats/bundle/samples.ts';
import { runLimited } from './support/damage.ts';
import { publicOf, signed } from './support/signed-bundles.ts';
import { createKey, keyFiles, withoutSsh } from './support/ssh.ts';
import { createWorld, lines, say, shared, withoutShared, type Printed, type TestWorld } from './support/world.ts';

const samples = { 2: sampleBundle2, 3: sampleBundle3 } as const;
const versions = [2, 3] as const;

/** A world with a bundle of each version and a secret. */
const withBundles = (context: TestContext): TestWorld => {
  const world = createWorld(context);
  for (const version of versions) world.write(`b${version}.json`, printBundle(version, samples[version]()));
  world.write('secret', 'a secret that both sides share\n');
  return world;
};

const sign = ['bundle', 'sign', '--signer', 'ana', '--key-id', 'k1'];
const withSecret = ['--secret-file', 'secret'];
const withKey = ['--scheme', 'sshsig', '--private-key-file', 'key'];
const read = (world: TestWorld, name: string): string => readFileSync(world.path(name), 'utf8');
const fingerprintOf = (world: TestWorld, name: string): string =>
  execFileSync('ssh-keygen', ['-l', '-f', world.path(name)], { encoding: 'utf8' }).split(' ')[1] ?? '';

/** What is reported beside a refusal. */
const refused = (world: TestWorld, exit: number, ...args: readonly string[]): Printed => {
  const outcome = world.run(...args, '--json');
  assert.equal(outcome.status, exit, `${args.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
  return outcome.json;
};

test('a bundle that is signed with a secret is verified with it, and with no other', (context) => {
  const world = withBundles(context);
  world.write('other', 'another\n');
  for (const version of versions) {
    const bundle = ['--bundle', `b${version}.json`];
    const report = world.answer(...sign, ...bundle, ...withSecret);
    assert.equal(report.result, 'signed');
    assert.equal(report.public_key_fingerprint, 'None');
    assert.equal(report.signed_at, version === 2 ? '2026-03-17T12:00:00+00:00' : '2026-03-17T12:00:00.000Z');
    const verified = world.answer('bundle', 'verify', ...bundle, ...withSecret, '--required-signer', 'ana');
    assert.equal(verified.result, 'verified');
    assert.equal(verified.vouched_by, 'secret');
    assert.equal(verified.metadata, version === 2 ? 'unauthenticated' : 'authenticated');
    assert.equal(verified.warnings.length, version === 2 ? 1 : 0);
    const broken = refused(world, 11, 'bundle', 'verify', ...bundle, '--secret-file', 'other');
    assert.equal(broken.result, 'error');
    assert.deepEqual([broken.faults.length, broken.faults[0].code], [1, 'broken']);
    const named = world.with({ env: { SIGNING: ' a secret that both sides share ' } });
    assert.equal(named.answer('bundle', 'verify', ...bundle, '--secret-env', 'SIGNING').result, 'verified');
    assert.equal(refused(world, 11, 'bundle', 'verify', ...bundle).faults[0].code, 'no-secret');
  }
});

test('nothing is written but the bundle that is signed', (context) => {
  const world = withBundles(context);
  const before = readdirSync(world.project);
  world.answer(...sign, '--bundle', 'b3.json', ...withSecret);
  const after = read(world, 'b3.json');
  world.answer('bundle', 'verify', '--bundle', 'b3.json', ...withSecret);
  refused(world, 11, 'bundle', 'verify', '--bundle', 'b2.json', ...withSecret);
  assert.equal(read(world, 'b3.json'), after);
  assert.deepEqual(readdirSync(world.project), before);
});

test('a bundle is signed once, and again where somebody says so', (context) => {
  const world = withBundles(context);
  for (const version of versions) {
    const args = [...sign, '--bundle', `b${version}.json`, ...withSecret];
    world.answer(...args);
    const after = read(world, `b${version}.json`);
    assert.match(String(refused(world, 9, ...args).errors), /--force/);
    assert.equal(read(world, `b${version}.json`), after);
    world.answer(...args, '--force');
    assert.equal(read(world, `b${version}.json`), after);
  }
});

test('what a person sees', (context) => {
  const world = withBundles(context);
  assert.equal(
    say(world, ...sign, '--bundle', 'b2.json', ...withSecret),
    lines(
      'Result                  signed',
      'Bundle                  ROOT/project/b2.json',
      'Signer                  ana',
      'Key id                  k1',
      'Scheme                  hmac-sha256',
      'Public key fingerprint  None',
      'Signed at               2026-03-17T12:00:00+00:00',
      'Warnings:',
      '- None',
      'Errors:',
      '- None',
    ),
  );
  const { status, stdout, stderr } = world.run('bundle', 'verify', '--bundle', 'b2.json');
  assert.equal(status, 11);
  assert.match(stdout, /^Result +error$/m);
  assert.match(stderr, /^ {2}try: stint bundle verify --bundle b2\.json --secret-file FILE$/m);
});

test(
  'what is signed here is, byte by byte, what the original signs',
  { skip: withoutShared('fixtures', 'handoff') },
  (context) => {
    const world = createWorld(context);
    const original = (name: string): Buffer => readFileSync(join(shared, 'fixtures/handoff', name));
    world.write('b.json', original('bundle-ready-unsigned.json'));
    world.write('secret', original('hmac-secret.txt'));
    const said = ['--signer', 'codex', '--key-id', 'primary', '--signed-at', '2026-03-13T10:45:00+01:00'];
    world.answer('bundle', 'sign', '--bundle', 'b.json', ...said, ...withSecret);
    assert.equal(read(world, 'b.json'), original('bundle-signed-hmac.json').toString());
  },
);

test('with a key of OpenSSH of each type: it needs somebody who vouches for it', { skip: withoutSsh }, (context) => {
  const world = withBundles(context);
  const types = [['ed25519'], ['ecdsa', '-b', '256'], ['ecdsa', '-b', '384'], ['ecdsa', '-b', '521'], ['rsa']] as const;
  for (const [index, [type, ...more]] of types.entries()) {
    const key = `key-${index}`;
    const line = keyFiles(world.path(key), type, ...more);
    const pin = ['--required-public-key-fingerprint', fingerprintOf(world, key)];
    world.write('allowed', `ana namespaces="handoff-bundle" ${line}`);
    world.write('strangers', `ben ${line}`);
    for (const version of versions) {
      const bundle = ['--bundle', `b${version}.json`];
      const files = ['--scheme', 'sshsig', '--private-key-file', key];
      assert.equal(world.answer(...sign, ...bundle, ...files, '--force').public_key_fingerprint, pin[1]);
      const verify = ['bundle', 'verify', ...bundle];
      assert.equal(world.answer(...verify, ...pin).vouched_by, 'fingerprint');
      assert.equal(world.answer(...verify, '--allowed-signers', 'allowed').vouched_by, 'allowed-signers');
      assert.equal(refused(world, 11, ...verify).faults[0].code, 'unvouched');
      assert.equal(refused(world, 11, ...verify, '--allowed-signers', 'strangers').faults[0].code, 'not-allowed');
      assert.equal(refused(world, 11, ...verify, pin[0] ?? '', 'SHA256:x').faults[0].code, 'required');
    }
  }
});

test('ssh-keygen verifies what was signed, as the original has it do', { skip: withoutSsh }, (context) => {
  const world = withBundles(context);
  const line = keyFiles(world.path('key'), 'ed25519');
  world.write('allowed', `ana namespaces="handoff-bundle" ${line}`);
  for (const version of versions) {
    world.answer(...sign, '--bundle', `b${version}.json`, ...withKey);
    const bundle = readBundle(read(world, `b${version}.json`));
    assert.ok(bundle.ok);
    const { signature_blob_base64: inArmor, value, ...said } = bundle.value.signature ?? {};
    const armor =
      version === 2
        ? Buffer.from(String(inArmor), 'base64').toString()
        : `-----BEGIN SSH SIGNATURE-----\n${String(value).replaceAll(/.{70}/g, '$&\n')}\n-----END SSH SIGNATURE-----`;
    const words = ['-Y', 'verify', '-f', 'allowed', '-I', 'ana', '-n', 'handoff-bundle', '-s', 'signature'];
    world.write('signature', `${armor}\n`);
    const verified = spawnSync('ssh-keygen', words, { cwd: world.project, input: signedText(bundle.value, said) });
    assert.equal(verified.status, 0, verified.stderr.toString());
  }
});

test('a key that an agent holds signs with its public file alone', { skip: withoutSsh }, (context) => {
  const world = withBundles(context);
  keyFiles(world.path('key'), 'ed25519', '-N', 'a passphrase');
  mkdirSync(world.path('elsewhere'));
  world.write('elsewhere/key.pub', read(world, 'key.pub'));
  const socket = join(world.temporary, 'agent');
  const [, pid = ''] =
    /SSH_AGENT_PID=(\d+)/.exec(execFileSync('ssh-agent', ['-a', socket], { encoding: 'utf8' })) ?? [];
  context.after(() => process.kill(Number(pid)));
  const asking = {
    ...process.env,
    SSH_AUTH_SOCK: socket,
    SSH_ASKPASS: world.write('ask', '#!/bin/sh\necho a passphrase\n'),
  };
  chmodSync(world.path('ask'), 0o755);
  const named = [...sign, '--bundle', 'b3.json', '--scheme', 'sshsig', '--public-key-file', 'elsewhere/key.pub'];
  const held = world.with({ env: { SSH_AUTH_SOCK: socket } });
  assert.match(String(refused(held, 6, ...named).errors), /No agent holds the private key of elsewhere\/key\.pub/);
  execFileSync('ssh-add', ['-q', world.path('key')], { env: { ...asking, SSH_ASKPASS_REQUIRE: 'force' } });
  assert.equal(held.answer(...named).public_key_fingerprint, fingerprintOf(world, 'key'));
});

test('what cannot be signed with is refused, and the bundle stays what it was', { skip: withoutSsh }, (context) => {
  const world = withBundles(context);
  keyFiles(world.path('key'), 'ed25519');
  keyFiles(world.path('other'), 'ed25519');
  keyFiles(world.path('locked'), 'ed25519', '-N', 'a passphrase');
  keyFiles(world.path('open'), 'ed25519');
  chmodSync(world.path('open'), 0o644);
  keyFiles(world.path('short'), 'rsa', '-b', '1024');
  world.write('bare', read(world, 'key'));
  chmodSync(world.path('bare'), 0o600);
  world.write('empty', ' \n');
  world.write('key.text', 'no key');
  const key = (name: string, ...more: readonly string[]): readonly string[] => [
    '--scheme',
    'sshsig',
    '--private-key-file',
    name,
    ...more,
  ];
  const rows: readonly (readonly [number, readonly string[], RegExp])[] = [
    [6, key('key', '--public-key-file', 'other.pub'), /made with another key than the one that it names/],
    [6, key('locked'), /private key locked has a passphrase/],
    [6, key('open'), /Others may read the private key open/],
    [7, key('short'), /RSA key of 1024 bits/],
    [7, key('key', '--public-key-file', 'key.text'), /no line of a type and a key/],
    [7, key('key', '--public-key-file', '.'), /is a folder/],
    [4, key('bare'), /bare\.pub does not exist/],
    [4, key('missing', '--public-key-file', 'key.pub'), /missing does not exist/],
    [7, key('.', '--public-key-file', 'key.pub'), /\. is no file/],
    [6, [], /There is no secret to sign with/],
    [6, ['--secret-env', 'NOT_SET'], /There is no secret to sign with/],
    [4, ['--secret-file', 'missing'], /missing does not exist/],
    [7, ['--secret-file', 'empty'], /empty is empty/],
    [7, ['--secret-file', '.'], /is a folder/],
    [6, [...withSecret, '--signed-at', '2026-03-17T12:10:00Z'], /signed in the future/],
  ];
  const before = [read(world, 'b2.json'), read(world, 'b3.json')];
  for (const version of versions)
    for (const [exit, args, problem] of rows) {
      const report = refused(world, exit, ...sign, '--bundle', `b${version}.json`, ...args);
      assert.equal(report.result, 'error');
      assert.match(report.errors[0], problem);
    }
  const usage: readonly (readonly string[])[] = [
    ['--signer', '', ...withSecret],
    ['--signer', 'ana\nSigned at: now', ...withSecret],
    ['--key-id', ' ', ...withSecret],
    ['--signed-at', 'garbage', ...withSecret],
    ['--signed-at', '2026-03-17T12:00:00', ...withSecret],
    ['--signed-at', '2026-02-30T12:00:00Z', ...withSecret],
    ['--scheme', 'none'],
    ['--scheme', 'sshsig'],
    ['--private-key-file', 'key'],
    [...withKey, ...withSecret],
  ];
  for (const args of usage) {
    const given = ['--signer', '--key-id'].flatMap((name) => (args.includes(name) ? [] : [name, 'x']));
    refused(world, 2, 'bundle', 'sign', '--bundle', 'b3.json', ...given, ...args);
  }
  assert.deepEqual([read(world, 'b2.json'), read(world, 'b3.json')], before);
});

test('without ssh-keygen a key signs nothing, and what it has signed is verified', (context) => {
  const world = withBundles(context).with({ env: { PATH: createWorld(context).temporary } });
  const key = createKey('ed25519');
  world.write('key.pub', `${key.line}\n`);
  chmodSync(world.write('key', 'a private key'), 0o600);
  const before = read(world, 'b3.json');
  const report = refused(world, 6, ...sign, '--bundle', 'b3.json', ...withKey);
  assert.match(report.errors[0], /no ssh-keygen here/);
  assert.equal(read(world, 'b3.json'), before);
  world.write('b3.json', printBundle(3, signed(sampleBundle3(), { with: key })));
  const pin = ['--required-public-key-fingerprint', publicOf(key).fingerprint];
  assert.equal(world.answer('bundle', 'verify', '--bundle', 'b3.json', ...pin).result, 'verified');
});

test('a secret that could be guessed is told', (context) => {
  const world = withBundles(context);
  world.write('short', 's3');
  assert.match(world.answer(...sign, '--bundle', 'b3.json', '--secret-file', 'short').warnings[0], /fewer than 16/);
});

test('signing on a full disk leaves the bundle as it was, and nothing beside it', (context) => {
  const world = withBundles(context);
  world.write('b3.json', printBundle(3, sampleBundle3({ texts: {}, report: { note: 'x'.repeat(20_000) } })));
  const [before, beside] = [read(world, 'b3.json'), readdirSync(world.project)];
  const { status, stdout } = runLimited(world, 8, ...sign, '--bundle', 'b3.json', ...withSecret, '--json');
  assert.equal(status, 6, stdout);
  assert.match(JSON.parse(stdout).errors[0], /larger than is allowed here/);
  assert.equal(read(world, 'b3.json'), before);
  assert.deepEqual(readdirSync(world.project), beside);
});

test('a bundle that is a link, a pipe, a folder or none is refused, and what a link names is not written', (context) => {
  const world = withBundles(context);
  const outside = world.write('../outside.json', read(world, 'b3.json'));
  symlinkSync(outside, world.path('link.json'));
  execFileSync('mkfifo', [world.path('pipe')]);
  world.write('none.json', '{}');
  const rows = [
    ['link.json', 6],
    ['pipe', 7],
    ['.', 7],
    ['none.json', 7],
    ['missing.json', 4],
  ] as const;
  for (const [name, exit] of rows) {
    const report = refused(world, exit, ...sign, '--bundle', name, ...withSecret);
    assert.equal(report.result, 'error', name);
    if (name !== 'link.json')
      assert.equal(refused(world, exit, 'bundle', 'verify', '--bundle', name, ...withSecret).result, 'error');
  }
  assert.equal(readFileSync(outside, 'utf8'), read(world, 'b3.json'));
  assert.ok(!existsSync(world.path('.stint')));
});

test('a file of allowed signers that says nothing is refused with its lines', (context) => {
  const world = withBundles(context);
  world.answer(...sign, '--bundle', 'b3.json', ...withSecret);
  world.write(
    'allowed',
    `# names and keys\nana\nben ${createKey('ed25519').line}\nzed namespaces=x ssh-ed25519 AAAA\n`,
  );
  const report = refused(world, 7, 'bundle', 'verify', '--bundle', 'b3.json', '--allowed-signers', 'allowed');
  assert.deepEqual(report.error.faults, [
    'line 2 does not begin with names and go on with a key',
    'line 4 has an option that is not known, or no public key',
  ]);
  assert.equal(refused(world, 4, 'bundle', 'verify', '--bundle', 'b3.json', '--allowed-signers', 'no').result, 'error');
});
