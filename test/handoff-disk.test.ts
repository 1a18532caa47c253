/** What lies on disk of a hand-off, for whoever comes next: told as it is, and brought back where it is gone. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { suite, test } from 'node:test';
import { handover } from '../src/formats/handoff/document.ts';
import { archivedPair, sample } from '../src/formats/handoff/samples.ts';
import {
  asker,
  codesIn,
  current,
  done,
  handedOver,
  root,
  stateOf,
  textOf,
  transfer,
  valueIn,
} from './support/documents.ts';
import { ordinary, withoutUser } from './support/permissions.ts';
import { later, listOf } from './support/world.ts';

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
      assert.ok(listOf(answer.next_actions).includes(`stint rebuild --session ${session}`), gone);
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

suite('a pair that is archived', () => {
  test('is whole again behind repair where version control has brought an older half, in each checkout', (context) => {
    const world = handedOver(context);
    const second = join(world.root, 'second');
    world.git('add', '--all', root);
    world.git('commit', '-q', '-m', 'begun');
    world.answer('handoff', 'update', '--updated-by', 'ben', '--current-step', 'Write');
    world.answer('handoff', 'new-handover', '--updated-by', 'ana', '--force');
    world.git('add', '--all', root);
    world.git('commit', '-q', '-m', 'another');
    world.git('worktree', 'add', '-q', second, '-b', 'second');
    for (const checkout of [world, world.with({ cwd: second })]) {
      const folder = checkout === world ? world.project : second;
      const whole = readFileSync(join(folder, transfer), 'utf8');
      world.git('-C', folder, 'checkout', '-q', 'HEAD~1', '--', transfer);
      assert.notEqual(readFileSync(join(folder, transfer), 'utf8'), whole);
      const twin = join(folder, stateOf('20260312_0915'));
      const other = readFileSync(twin, 'utf8');
      rmSync(twin);
      checkout.run('handoff', 'repair', '--updated-by', 'ana', '--json');
      assert.equal(readFileSync(join(folder, transfer), 'utf8'), whole, folder);
      assert.equal(readFileSync(twin, 'utf8'), other, folder);
      // What somebody has written there is no older version, and stays.
      const edited = whole.replace('Ship it', 'Ship it today');
      writeFileSync(join(folder, transfer), edited);
      checkout.run('handoff', 'repair', '--updated-by', 'ana', '--json');
      assert.equal(readFileSync(join(folder, transfer), 'utf8'), edited, folder);
    }
  });
});

suite('a pair that is damaged', () => {
  test('is whole again behind repair, and what is left of it stays', async (context) => {
    const { world, ask } = await asker(context);
    const steps = ['Write its tests', 'Review'];
    const { session } = await done(ask, 'handoff new', {
      ...task,
      status: 'blocked',
      remaining_step: steps,
      blocker: ['no token'],
      needs: 'a token',
    });
    await done(ask, 'note', { type: 'decision', text: 'By hand' });
    const whole = textOf(world, current);
    const without = (first: string, next: string): string =>
      whole.slice(0, whole.indexOf(`## ${first}`)) + whole.slice(whole.indexOf(`## ${next}`));
    const damages: Readonly<Record<string, () => void>> = {
      'taken away': () => rmSync(world.path(current)),
      emptied: () => writeFileSync(world.path(current), ''),
      'blank with a byte order mark': () => writeFileSync(world.path(current), '\uFEFF\n \n'),
      'without a section': () => writeFileSync(world.path(current), without('Blockers', 'Decisions and assumptions')),
      'without sections': () => writeFileSync(world.path(current), without('Last completed step', 'Artifacts')),
      'without all of them': () => writeFileSync(world.path(current), '# Session State\n'),
      'in another order': () =>
        writeFileSync(
          world.path(current),
          without('Blockers', 'Decisions and assumptions') + '\n## Blockers\n- no token\n- Needed to unblock: a token',
        ),
      'with a section that says nothing': () =>
        writeFileSync(world.path(current), whole.replace('## Next owner\nben\n', '## Next owner\n')),
      'both halves': () => {
        rmSync(world.path(transfer));
        writeFileSync(world.path(current), without('Blockers', 'Artifacts'));
      },
    };
    for (const [name, damage] of Object.entries(damages)) {
      damage();
      const before = existsSync(world.path(current)) && textOf(world, current).trim() !== '';
      if (before) writeFileSync(world.path(current), `${textOf(world, current)}\n## Of mine\nkept\n`);
      const repaired = await done(ask, 'handoff repair', { updated_by: 'ana' });
      assert.equal(repaired.result, 'clean', name);
      assert.equal((await done(ask, 'handoff ready')).verdict, 'ready', name);
      if (before) assert.equal(valueIn(world, current, 'Of mine'), 'kept', name);
      assert.equal(valueIn(world, current, 'Blockers'), '- no token\n- Needed to unblock: a token', name);
      assert.equal(valueIn(world, current, 'Remaining steps'), '1. Write its tests\n2. Review', name);
      assert.equal(valueIn(world, current, 'Decisions and assumptions').split('\n')[0], '- Decision: By hand', name);
      const { entries } = await done(ask, 'journal', { session, type: ['decision'] });
      assert.equal(listOf(entries).length, 1, `${name}: nothing is said twice`);
      writeFileSync(world.path(current), textOf(world, current).replace('\n## Of mine\nkept\n', ''));
    }
  });

  test('that is emptied or taken away is written by rebuild and by any verb, and doctor tells of it', async (context) => {
    const { world, ask } = await asker(context);
    const { session } = await done(ask, 'handoff new', task);
    for (const verb of ['rebuild', 'note']) {
      writeFileSync(world.path(current), '');
      assert.match((await ask('doctor')).said, /CURRENT\.md is not there/, verb);
      await done(ask, verb, verb === 'note' ? { text: 'on' } : { session });
      assert.equal((await done(ask, 'handoff ready')).verdict, 'ready', verb);
    }
  });

  test('that was archived comes back with repair and with rebuild, as it was, and no other verb brings it', async (context) => {
    const { world, ask } = await asker(context);
    const { session } = await done(ask, 'handoff new', task);
    const first = await done(ask, 'handoff archive', { timestamp: '20260310_0900' });
    // A session names only the newest of them.
    for (let day = 11; day < 32; day += 1) await done(ask, 'handoff archive', { timestamp: `202603${day}_0900` });
    const files = [first.handover, first.session_state].map((path) => relative(world.project, String(path)));
    const texts = files.map((path) => textOf(world, path));
    for (const [bring, input, which] of [
      ['handoff repair', { updated_by: 'ana' }, [[0], [1]]],
      ['rebuild', { session }, [[0], [1], [0, 1]]],
    ] as const) {
      for (const gone of which) {
        for (const at of gone) rmSync(world.path(files[at] ?? ''));
        await done(ask, 'note', { text: 'on' });
        assert.ok(gone.every((at) => !existsSync(world.path(files[at] ?? ''))));
        await done(ask, bring, input);
        assert.deepEqual(
          files.map((path) => textOf(world, path)),
          texts,
          `${bring} ${gone.join()}`,
        );
      }
    }
  });
});
