/** A bundle that is looked into on the command line, whoever made it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { suite, test } from 'node:test';
import { printBundle, sealBundle } from '../src/formats/bundle/bundle.ts';
import { sampleBundle2, sampleBundle3 } from '../src/formats/bundle/samples.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { treeOf } from './support/stores.ts';
import { createWorld, fileOnly, later, type Printed, type TestWorld } from './support/world.ts';

const inspect = (world: TestWorld, file: string, ...more: readonly string[]): Printed =>
  world.run('bundle', 'inspect', '--bundle', file, '--json', ...more);

const fields = [
  'result bundle_path bundle_version exported_at source_resolution source_docs_root handover_name session_state_name',
  'task status last_updated updated_by next_owner lease_present lease_state signature_present signature_scheme',
  'signature_signer signature_key_id signature_public_key_fingerprint signature_signed_at git_available git_branch',
  'git_commit_sha git_dirty git_dirty_fingerprint git_status_fingerprint git_patch_summary_fingerprint',
  'git_changed_file_count git_added_line_count git_deleted_line_count redaction_enabled redaction_count',
  'redaction_policy_source source_report_result source_readiness_verdict warnings errors',
].flatMap((line) => line.split(' '));

suite('bundle inspect', () => {
  test('tells what a bundle holds, under the names of the original, whether it can be read or not', (context) => {
    const world = createWorld(context);
    world.write('two.json', printBundle(2, sampleBundle2()));
    world.write('three.json', printBundle(3, sampleBundle3()));
    world.write('none.json', '{"bundle_version": 2}');
    assert.equal(fields.length, 38);
    for (const [file, exit, result] of [
      ['two.json', 0, 'valid'],
      ['three.json', 0, 'valid'],
      ['none.json', 7, 'error'],
    ] as const) {
      const outcome = inspect(world, file);
      assert.equal(outcome.status, exit, file);
      assert.equal(outcome.json.result, result);
      assert.deepEqual(
        fields.filter((field) => !(field in outcome.json)),
        [],
      );
    }
  });

  test('refuses warnings only where that is asked for', (context) => {
    const world = createWorld(context);
    const { readiness } = sampleBundle2();
    const bundle = sampleBundle2({ readiness: { ...(readiness as JsonObject), verdict: 'not-ready' } });
    world.write('b.json', printBundle(2, bundle));
    assert.equal(inspect(world, 'b.json').json.result, 'valid-with-warnings');
    const strict = inspect(world, 'b.json', '--strict');
    assert.equal(strict.status, 6);
    assert.equal(strict.json.result, 'valid-with-warnings');
    assert.equal(strict.json.error.code, 'invariant-unmet');
  });

  test('refuses what is no file, or too large, or no text, and does not wait for a pipe', (context) => {
    const world = createWorld(context);
    execFileSync('mkfifo', [world.path('pipe')]);
    world.write('latin.json', Buffer.from([0x7b, 0xe9, 0x7d]));
    world.write('large.json', '');
    truncateSync(world.path('large.json'), 65 * 1024 * 1024);
    for (const [file, exit, message] of [
      ['missing.json', 4, /does not exist/],
      ['.', 7, /is a folder/],
      ['pipe', 7, /is no file/],
      ['latin.json', 7, /UTF-8/],
      ['large.json', 7, /is larger than 64 MiB/],
    ] as const)
      assert.match(world.refusal(exit, 'bundle', 'inspect', '--bundle', file).message, message, file);
    world.write('newer.json', '{"bundle_version": 4}');
    assert.match(world.refusal(13, 'bundle', 'inspect', '--bundle', 'newer.json').message, /newer than this program/);
  });

  test('writes nothing, wherever the names in a bundle lead', { skip: fileOnly }, (context) => {
    const world = createWorld(context);
    world.write('victim/rc', 'precious');
    symlinkSync(world.path('victim/rc'), world.path('link.md'));
    const { source } = sampleBundle2();
    for (const name of ['victim/rc', '../victim/rc', world.path('victim/rc'), 'link.md']) {
      const bundle = { ...sampleBundle2(), source: { ...(source as JsonObject), handover_name: name } };
      world.write('evil.json', printBundle(2, sealBundle(2, bundle)));
      const before = treeOf(world.root);
      assert.equal(inspect(world, 'evil.json').status, 7);
      assert.deepEqual(treeOf(world.root), before, name);
    }
    assert.equal(readFileSync(world.path('victim/rc'), 'utf8'), 'precious');
  });

  test('a text in a bundle cannot look like a line of the report', (context) => {
    const world = createWorld(context);
    const git = { ...(sampleBundle2()['git'] as JsonObject), branch: 'main\nResult  trusted\u001b[2J' };
    world.write('b.json', printBundle(2, sampleBundle2({ git })));
    const { stdout } = world.run('bundle', 'inspect', '--bundle', 'b.json');
    assert.ok(!stdout.includes('\nResult  trusted'));
    assert.ok(!stdout.includes('\u001b'));
  });

  test('a lease that has run out since is expired', (context) => {
    const world = createWorld(context);
    const payload = {
      version: 1,
      holder: 'ana',
      purpose: 'work',
      acquired_at: '2026-03-17T11:50:00Z',
      expires_at: '2026-03-17T12:30:00Z',
      handover: 'handovers/20260312_0915_handover.md',
      session_state: 'session-state/CURRENT.md',
    };
    const lease = { payload, inspection: { state: 'active' } };
    world.write('b.json', printBundle(2, sampleBundle2({ lease })));
    assert.equal(inspect(world, 'b.json').json.lease_state, 'active');
    assert.equal(inspect(later(world, 60), 'b.json').json.lease_state, 'expired');
  });
});
