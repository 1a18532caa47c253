import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStint } from '../../src/index.ts';
import { exploreKind } from '../../src/kernel/explore.ts';
import { kind, verbs } from './release/index.ts';

test('a second phase workflow is one folder: a table, and it keeps what every kind promises', () => {
  assert.deepEqual(exploreKind(kind).faults, []);
});

test('a second phase workflow has its verbs, its words and its mirrors without another edit', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'stint-release-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const stint = openStint({ cwd, actor: 'ana', kinds: [kind], verbs, now: () => '2026-03-17T14:30:22.000Z' });
  assert.ok(stint.ok);
  t.after(stint.value.close);
  const run = async (...call: Parameters<typeof stint.value.run>) => {
    const answer = await stint.value.run(...call);
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.value;
  };

  const begun = await run('begin', { kind: 'release', name: 'spring' });
  assert.deepEqual(
    [begun['session'], begun['phase'], begun['attempt'], begun['completeness']],
    ['release:spring', 'draft', 1, 'open_no_artifact'],
  );
  await run('advance', { skip: 'check', reason: 'only the notes changed' });
  await run('ship-release', {}, { payload: { version: '1.2.3' } });
  assert.equal(readFileSync(join(cwd, 'releases/spring/attempt-1/release.json'), 'utf8'), '{"version":"1.2.3"}\n');
  assert.equal((await run('finish'))['outcome'], 'completed');
  assert.equal((await run('begin', { kind: 'release', name: 'spring' }))['attempt'], 2);

  const review = { payload: { schema_version: 1, verdict: 'APPROVE', reviewers: [] } };
  const unnamed = await stint.value.run('complete-round', {}, review);
  assert.equal(unnamed.ok ? '' : unnamed.error.refusal.code, 'not-found');
  const named = await stint.value.run('complete-round', { session: 'release:spring' }, review);
  assert.equal(named.ok ? '' : named.error.refusal.code, 'illegal-transition');
});
