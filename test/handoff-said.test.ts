/** What is said to a verb about documents is done, or refused with the way to it: nothing is dropped without a word. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { asker, askIn, current, done, root, textOf, transfer, valueIn } from './support/documents.ts';
import { listOf, noon, type TestWorld } from './support/world.ts';

const by = { updated_by: 'ana' };
const task = { task: 'Ship it', ...by, next_owner: 'ben', handover_output: transfer };

test('nothing is written over what a merge has left: both sides are told, and all stays', async (context) => {
  for (const path of [current, transfer]) {
    const { world, ask } = await asker(context);
    await done(ask, 'handoff new', task);
    const marked = `${textOf(world, path)}<<<<<<< HEAD\nours\n||||||| base\nold\n=======\ntheirs\nmore\n>>>>>>> other\n`;
    writeFileSync(world.path(path), marked);
    for (const [verb, input] of [
      ['handoff update', { ...by, current_step: 'Write' }],
      ['handoff new-handover', by],
      ['handoff archive', {}],
      ['handoff reconcile', by],
    ] as const) {
      const { code, said } = await ask(verb, input);
      assert.equal(code, 'conflict', `${verb}: ${said}`);
      assert.ok(said.includes(String.raw`\"ours\" or \"theirs\\nmore\"`), `${verb}: ${said}`);
      assert.equal(textOf(world, path), marked, verb);
    }
    writeFileSync(world.path(path), marked.slice(0, marked.indexOf('<<<<<<<')));
    await done(ask, 'handoff update', { ...by, current_step: 'Write' });
    assert.equal(valueIn(world, current, 'Current step'), 'Write');
  }
});

test('who is to act next is kept, or refused where nobody can be', async (context) => {
  const { world, ask } = await asker(context);
  await done(ask, 'handoff new', task);
  const named = async (verb: string, owner: string, more: object = {}): Promise<string> =>
    (await ask(verb, { ...by, next_owner: owner, ...more })).code;
  for (const verb of ['handoff update', 'handoff reconcile', 'handoff new-handover'])
    assert.equal(await named(verb, 'None'), 'invalid-input', verb);
  assert.equal(valueIn(world, current, 'Next owner'), 'ben');
  for (const status of ['ready-for-review', 'done'])
    assert.equal(await named('handoff update', 'zoe', { status }), '', status);
  assert.equal(await named('handoff update', 'zoe'), 'invalid-input', 'it is done');
  assert.equal(await named('handoff update', 'None'), '', 'it is done');
  await done(ask, 'begin', { kind: 'review', name: 'look' });
  assert.match(textOf(world, current), /Discover the project/);
  for (const verb of ['handoff update', 'handoff reconcile', 'handoff new-handover'])
    assert.equal(await named(verb, 'zoe'), 'invalid-input', `${verb} of a review`);
  await done(ask, 'handoff begin', { holder: 'zoe', purpose: 'Look', updated_by: 'ana' });
});

test('a task that is over takes no status, and the way back is said', async (context) => {
  const { world, ask } = await asker(context);
  const { session } = await done(ask, 'handoff new', task);
  await done(ask, 'finish', { session, abort: true });
  for (const status of ['in-progress', 'ready-for-review', 'done']) {
    const { code, said } = await ask('handoff update', { ...by, status });
    assert.equal(code, 'illegal-transition', said);
    assert.ok(said.includes('"hint":"stint '), said);
  }
  assert.equal(valueIn(world, current, 'Status'), 'blocked');
  await done(ask, 'reopen', { session });
  await done(ask, 'handoff update', { ...by, status: 'ready-for-review' });
});

test('a handover of what a session says needs no word but who writes it', async (context) => {
  const { world, ask } = await asker(context);
  assert.equal((await ask('handoff new-handover', by)).code, 'usage', 'no session says it');
  await done(ask, 'handoff new', task);
  const made = await done(ask, 'handoff new-handover', by);
  assert.deepEqual([made.status, made.next_owner], ['in-progress', 'ben']);
  assert.equal(valueIn(world, String(made.handover).slice(world.path('').length + 1), 'Task summary'), 'Ship it');
  assert.equal(
    (await ask('handoff new-handover', { ...by, output: `${root}/handovers/x.md`, session_state_pointer: 'y.md' }))
      .code,
    'usage',
  );
});

test('whoever is kept out is told the flag that their own verb has', async (context) => {
  const { world, ask } = await asker(context);
  await done(ask, 'handoff new', task);
  await done(ask, 'handoff begin', { holder: 'zoe', purpose: 'Write' });
  const soon = await askIn(context, world, noon);
  for (const [verb, input, way] of [
    [
      'handoff begin',
      { holder: 'ben', purpose: 'Look around' },
      "stint handoff begin --holder ben --purpose 'Look around' --force-lease",
    ],
    ['handoff end', { holder: 'ben' }, 'stint handoff end --holder ben --release-force'],
    [
      'handoff lease',
      { action: 'claim', holder: 'ben', purpose: 'Look' },
      'stint handoff lease claim --holder ben --purpose Look --force',
    ],
  ] as const) {
    const { code, said } = await soon(verb, input);
    assert.equal(code, 'lease', verb);
    assert.deepEqual(listOf(JSON.parse(said).refusal.legal).slice(1), [way]);
    assert.ok(!said.includes('--take-over'), said);
  }
});

test('files that are named are told as files, and those that work is yet to leave are not missed', async (context) => {
  const { world, ask } = await asker(context);
  await done(ask, 'handoff new', task);
  world.write('there.ts', 'x');
  const files = ['`there.ts` and `gone.ts`', '`other.ts`: the parser', 'A sentence.'];
  await done(ask, 'handoff update', { ...by, file_touched: files });
  const { contradictions } = await done(ask, 'handoff reconcile', by);
  assert.deepEqual(contradictions, ['gone.ts is named, and is not there', 'other.ts is named, and is not there']);
  const { answer } = await ask('handoff ready');
  assert.ok(String(listOf(answer.next_actions)[0]).includes('--file-touched there.ts'), answer.next_actions);
  await done(ask, 'begin', { kind: 'review', name: 'look' });
  assert.match(textOf(world, current), /discovered-standards\.md/);
  assert.equal((await done(ask, 'handoff ready')).verdict, 'ready');
  assert.deepEqual((await done(ask, 'handoff reconcile', by)).contradictions, []);
});

test('a secret that somebody has said to keep is no edit of the documents that tell it', async (context) => {
  const { world, ask } = await asker(context);
  const { session } = await done(ask, 'handoff new', task);
  const secret = 'AKIAIOSFODNN7EXAMPLE';
  world.answer('note', 'decision', `use ${secret} for tests`, '--no-redact', '--session', String(session));
  assert.ok(textOf(world, current).includes(secret));
  assert.equal(world.run('note', 'plain', '--session', String(session)).stderr, '');
  const before = listOf(world.answer('journal', '--session', String(session))['entries']).length;
  const said = await done(ask, 'handoff update', { ...by, current_step: 'Write' });
  assert.equal(said['documents'], undefined);
  // What somebody writes beside it is all that is taken in.
  writeFileSync(world.path(current), textOf(world, current).replace('Write', 'Write more'));
  const edited = await done(ask, 'handoff update', { ...by, last_completed_step: 'Read' });
  assert.match(JSON.stringify(edited['documents']), /was taken in/);
  assert.equal(listOf(world.answer('journal', '--session', String(session))['entries']).length, before);
  assert.equal(valueIn(world, current, 'Current step'), 'Write more');
  assert.ok(textOf(world, current).includes(secret));
  // Whoever takes over is to know of it.
  assert.equal(world.run('handoff', 'ready').status, 6);
});

/** A world whose documents hold a secret that somebody has said to keep. */
const withSecret = async (context: TestContext, secret: string): Promise<TestWorld> => {
  const { world } = await asker(context);
  const about = ['--task', 'Move it', '--updated-by', 'ana', '--next-owner', 'ben', '--remaining-step', 'Import'];
  world.answer('handoff', 'new', ...about, '--current-step', `Use ${secret}`, '--no-redact');
  assert.equal(valueIn(world, current, 'Current step'), `Use ${secret}`);
  return world;
};

const [firstSecret, secondSecret] = ['AKIAIOSFODNN7EXAMPLE', 'AKIAI44QH8DHBEXAMPLE'];

test('a secret that somebody changes where the session holds one stays in the file, and is told until both say the same', async (context) => {
  const world = await withSecret(context, firstSecret);
  writeFileSync(world.path(current), textOf(world, current).replace(firstSecret, secondSecret));
  for (const step of ['Read', 'Write']) {
    const told = world.run('handoff', 'update', '--updated-by', 'ana', '--last-completed-step', step);
    assert.equal(told.status, 0);
    assert.match(told.stderr, /session-state\/CURRENT\.md was edited where task:\S+ holds a secret/);
    assert.equal(valueIn(world, current, 'Current step'), `Use ${secondSecret}`);
    assert.equal(valueIn(world, current, 'Last completed step'), step);
  }
  const same = ['handoff', 'update', '--updated-by', 'ana', '--no-redact', '--current-step', `Use ${secondSecret}`];
  assert.equal(world.run(...same).stderr, '');
  assert.equal(world.run('handoff', 'update', '--updated-by', 'ana', '--last-completed-step', 'Test').stderr, '');
  assert.equal(valueIn(world, current, 'Current step'), `Use ${secondSecret}`);
});

test('a secret that is told in the place of another one comes into the documents', async (context) => {
  const world = await withSecret(context, firstSecret);
  const other = ['handoff', 'update', '--updated-by', 'ana', '--no-redact', '--current-step', `Use ${secondSecret}`];
  assert.equal(world.run(...other).stderr, '');
  assert.equal(valueIn(world, current, 'Current step'), `Use ${secondSecret}`);
});
