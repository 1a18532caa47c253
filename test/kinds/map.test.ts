import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStint } from '../../src/index.ts';
import { mapped } from '../../src/kinds/map/examples.ts';
import { payloads } from '../../src/kinds/review/examples.ts';

test('a review and a map of one name lie side by side, and neither completes the other', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'stint-map-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const stint = openStint({ cwd, actor: 'ana', now: () => '2026-03-17T14:30:22.000Z' });
  assert.ok(stint.ok);
  t.after(stint.value.close);
  const run = async (...call: Parameters<typeof stint.value.run>) => {
    const answer = await stint.value.run(...call);
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.value;
  };

  for (const kind of ['review', 'map']) await run('begin', { kind, name: 'a' });
  for (const phase of ['change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis'])
    await run('advance', { phase, session: 'review:a' });
  for (const phase of ['topology', 'flow-analysis', 'requirements-mapping', 'synthesis'])
    await run('advance', { phase, session: 'map:a' });

  for (const [verb, session, payload] of [
    ['complete-map', 'review:a', mapped],
    ['complete-round', 'map:a', payloads().approval],
  ] as const) {
    const crossed = await stint.value.run(verb, { session }, { payload });
    assert.equal(crossed.ok ? '' : crossed.error.refusal.code, 'illegal-transition');
  }

  await run('complete-map', {}, { payload: mapped });
  await run('complete-round', {}, { payload: payloads().approval });
  for (const file of ['map/runs/run-1/map-meta.json', 'rounds/round-1/round-meta.json'])
    assert.ok(existsSync(join(cwd, '.ocr/sessions/a', file)), file);
  for (const session of ['review:a', 'map:a']) assert.equal((await run('finish', { session }))['outcome'], 'completed');
  assert.equal((await run('begin', { kind: 'map', name: 'a' }))['map_run'], 2);
});
