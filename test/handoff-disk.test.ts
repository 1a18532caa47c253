/** What lies on disk of a hand-off, for whoever comes next: told as it is, and brought back where it is gone. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { suite, test } from 'node:test';
import { handover } from '../src/formats/handoff/document.ts';
import { archivedPair, sample } from '../src/formats/handoff/samples.ts';
import { asker, codesIn, current, done, handedOver, root, transfer } from './support/documents.ts';
import { ordinary, withoutUser } from './support/permissions.ts';
import { later } from './support/world.ts';

const task = { task: 'Ship it', updated_by: 'ana', next_owner: 'ben', handover_output: transfer };

suite('ready', () => {
  test(
    'is what lies there for whoever comes next, and not what is still to be written',
    { skip: withoutUser },
    (context) => {
      const world = ordinary(handedOver(context));
      const folders = ['handovers', 'session-state'].map((name) => world.path(root, name));
      for (const folder of folders) chmodSync(folder, 0o555);
      world.run('handoff', 'update', '--updated-by', 'ana', '--current-step', 'Write');
      const unready = later(world, 1).run('handoff', 'ready', '--json');
      assert.deepEqual([unready.status, unready.json.verdict], [6, 'not-ready']);
      assert.deepEqual(codesIn(unready.json).slice(0, 2), ['documents-stale', 'documents-stale']);
      for (const folder of folders) chmodSync(folder, 0o755);
      const [command = ''] = unready.json.next_actions;
      assert.equal(command, 'stint rebuild --session task:2026-03-17-main');
      world.answer(...command.split(' ').slice(1));
      assert.equal(world.answer('handoff', 'ready').verdict, 'ready');
    },
  );

  test('is no work whose files are gone, and what brings them back is said', async (context) => {
    const { world, ask } = await asker(context);
    const { session } = await done(ask, 'handoff new', task);
    for (const gone of [current, root]) {
      rmSync(world.path(gone), { recursive: true });
      const { code, answer } = await ask('handoff ready');
      assert.equal(code, 'invariant-unmet', gone);
      assert.ok(!codesIn(answer).includes('pair-missing'), gone);
      assert.ok(answer.next_actions.includes(`stint rebuild --session ${session}`), gone);
      await done(ask, 'rebuild', { session });
      assert.equal((await done(ask, 'handoff ready')).verdict, 'ready', gone);
    }
  });
});

suite('a CURRENT.md that is broken', () => {
  test('is the one that is meant, and no pair that was archived stands for it', async (context) => {
    const archived = Object.entries(archivedPair('20260401_0900')).map(([path, text]) => [`${root}/${path}`, text]);
    for (const broken of ['', '# Nonsense\n', '<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n', undefined]) {
      const { world, ask } = await asker(context, Object.fromEntries([...archived, [transfer, sample(handover)]]));
      if (broken === undefined) mkdirSync(world.path(current), { recursive: true });
      else world.write(current, broken);
      const { code, said, answer } = await ask('handoff validate');
      assert.equal(code, 'invalid-input', `${broken}: ${said}`);
      assert.equal(answer.session_state, world.path(current));
    }
  });
});
