/** What every verb has: request ids, expected revisions, dry runs, ways to say things, and what it leaves unsaid. */
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { approval, completeRound, json, name, objection, reviewIn, session } from './support/reviews.ts';
import { dumpStore, eventsOf, isOnServer, treeOf } from './support/stores.ts';
import { createWorld, listOf, type TestWorld } from './support/world.ts';

/** A world with a review in its first phase. */
const begun = (context: TestContext): TestWorld => reviewIn(context, 'context');

/** The same, blocked. */
const blocked = (context: TestContext): TestWorld => {
  const world = begun(context);
  world.answer('block', 'no database');
  return world;
};

/** Every writing verb, each from a state in which it changes something. */
const writes: readonly {
  readonly verb: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly from: (context: TestContext) => TestWorld;
}[] = [
  { verb: 'begin', args: ['review'], from: (context) => createWorld(context) },
  { verb: 'begin', args: ['review', '--fresh'], from: begun },
  { verb: 'advance', args: ['change-context'], from: begun },
  { verb: 'note', args: ['a remark'], from: begun },
  { verb: 'note', args: ['decision', 'a decision', '--rationale', 'a reason', '--alternative', 'none'], from: begun },
  { verb: 'block', args: ['no database', '--needs', 'ops'], from: begun },
  { verb: 'unblock', args: ['3', '--how', 'it is back'], from: blocked },
  {
    verb: 'complete-round',
    args: ['--stdin'],
    input: json(approval),
    from: (context) => reviewIn(context, 'synthesis'),
  },
  { verb: 'finish', args: ['--abort'], from: begun },
];

for (const { verb, args, input, from } of writes) {
  test(`the same request again is answered with what was answered first: ${verb} ${args.join(' ')}`, (context) => {
    const world = from(context);
    const caller = world.with({ ...(input === undefined ? {} : { input }) });
    const request = [verb, ...args, '--request-id', 'once'];
    const first = caller.answer(...request);
    const before = dumpStore(world);
    assert.deepEqual(caller.answer(...request), { ...first, replayed: true });
    assert.equal(
      caller
        .run(...request)
        .stdout.split('\n')
        .at(-2),
      'this request was carried out before: this is what was answered then',
    );
    assert.deepEqual(dumpStore(world), before, 'nothing was stored again');
  });

  test(`a dry run answers as if, and changes nothing: ${verb} ${args.join(' ')}`, (context) => {
    const world = from(context);
    const caller = world.with({ ...(input === undefined ? {} : { input }) });
    const rehearsal = createWorld(context, { from: world }).with({ ...(input === undefined ? {} : { input }) });
    const before = isOnServer(world) || existsSync(world.path('.stint/stint.db')) ? dumpStore(world) : undefined;
    const files = treeOf(world.project, (path) => path.startsWith('.stint') || path.startsWith('.git/'));
    const answer = caller.answer(verb, ...args, '--dry-run', '--request-id', 'dry');
    assert.equal(answer.dry_run, true);
    assert.match(caller.run(verb, ...args, '--dry-run').stdout, /\ndry run: nothing was changed\n$/);
    if (before === undefined) assert.equal(existsSync(world.path('.stint')), false, 'no store was made');
    else assert.deepEqual(dumpStore(world), before);
    assert.deepEqual(
      treeOf(world.project, (path) => path.startsWith('.stint') || path.startsWith('.git/')),
      files,
      'no file was made',
    );
    const { dry_run: _, ...rest } = answer;
    assert.deepEqual(rest, rehearsal.answer(verb, ...args), 'it answers what the verb itself answers');
  });
}

test('a dry run heals no mirror either', (context) => {
  const world = reviewIn(context, 'complete');
  const mirror = world.path(`.ocr/sessions/${name}/rounds/round-1/round-meta.json`);
  rmSync(mirror);
  world.answer('note', 'x', '--dry-run');
  assert.equal(existsSync(mirror), false);
  world.answer('note', 'x');
  assert.equal(existsSync(mirror), true);
});

test('a request id that was used for another input, by another actor or by another verb is a conflict', (context) => {
  const world = begun(context);
  world.answer('note', 'one', '--request-id', 'r1');
  const before = dumpStore(world);
  const conflict = `The request r1 was used before: note by ana@desk at 2026-03-17T12:00:00.000Z.`;
  assert.equal(world.refusal(9, 'note', 'two', '--request-id', 'r1').message, conflict);
  assert.equal(world.refusal(9, 'note', 'one', '--request-id', 'r1', '--actor', 'bo').message, conflict);
  assert.equal(
    world.with({ env: { STINT_ACTOR: 'bo' } }).refusal(9, 'note', 'one', '--request-id', 'r1').message,
    conflict,
  );
  assert.equal(world.refusal(9, 'advance', 'change-context', '--request-id', 'r1').message, conflict);
  assert.equal(world.refusal(9, 'note', 'one', '--session', name, '--request-id', 'r1').message, conflict);
  assert.deepEqual(dumpStore(world), before);
});

test('a request that is known is answered before any session is looked for, and before it is compared', (context) => {
  const world = begun(context);
  const first = world.answer('note', 'one', '--request-id', 'r1', '--expect-revision', '2');
  world.answer('advance', 'change-context');
  const replay = { ...first, replayed: true };
  assert.deepEqual(world.answer('note', 'one', '--request-id', 'r1', '--expect-revision', '2'), replay);
  assert.deepEqual(
    world.with({ env: { STINT_SESSION: 'no-such-session' } }).answer('note', 'one', '--request-id', 'r1'),
    replay,
  );
  world.answer('begin', 'review', '--name', 'second', '--branch', 'second');
  assert.deepEqual(world.answer('note', 'one', '--request-id', 'r1'), replay, 'though now two sessions are open');
  world.answer('finish', '--abort', '--session', name);
  world.answer('finish', '--abort', '--session', 'second');
  assert.deepEqual(world.answer('note', 'one', '--request-id', 'r1'), replay, 'though now none is open');
  assert.equal(eventsOf(world, session).filter(({ type }) => type === 'Noted').length, 1);
});

test('a request that was refused is not remembered: with the same id it is carried out once it can be', (context) => {
  const world = reviewIn(context, 'synthesis');
  world.refusal(6, 'finish', '--request-id', 'end');
  completeRound(world);
  const finished = world.answer('finish', '--request-id', 'end');
  assert.equal(finished.replayed, undefined);
  assert.equal(finished.outcome, 'completed');
});

test('a request id names the events that it has caused', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--request-id', 'the-first');
  assert.deepEqual(
    eventsOf(world, session).map(({ cause }) => cause),
    ['the-first', 'the-first'],
  );
});

test('the payload belongs to the request: another one under its id is a conflict, the same one in other spelling is not', (context) => {
  const world = reviewIn(context, 'synthesis');
  const complete = ['complete-round', '-', '--request-id', 'r1'];
  const first = world.with({ input: json(approval) }).answer(...complete);
  const { reviewers, ...rest } = approval;
  const spelled = JSON.stringify({ reviewers, ...rest }, null, 4);
  assert.deepEqual(world.with({ input: spelled }).answer(...complete), { ...first, replayed: true });
  world.with({ input: json(objection) }).refusal(9, ...complete);
});

test('an expected revision is compared with that of the newest lifecycle event: remarks do not move it', (context) => {
  const world = begun(context);
  world.answer('note', 'one');
  world.answer('note', 'two', '--expect-revision', '2');
  assert.equal(world.answer('advance', 'change-context', '--expect-revision', '2').revision, 5);
  const error = world.refusal(9, 'advance', 'analysis', '--expect-revision', '2');
  assert.equal(error.message, `${session} is at revision 5, not 2: somebody else has moved it.`);
  assert.equal(error.expected, 'revision 5');
  world.answer('begin', 'review', '--name', 'new', '--branch', 'new', '--expect-revision', '0');
  world.refusal(9, 'begin', 'review', '--name', 'newer', '--branch', 'newer', '--expect-revision', '1');
});

test('STINT_SESSION names the session where no flag does, and a flag goes before it', (context) => {
  const world = begun(context);
  world.answer('begin', 'review', '--name', 'other', '--branch', 'other');
  const named = world.with({ env: { STINT_SESSION: 'review:other' } });
  assert.equal(named.answer('note', 'x').session, 'review:other');
  assert.equal(named.answer('status').session, 'review:other');
  assert.equal(named.answer('note', 'x', '--session', name).session, session);
  assert.equal(world.with({ env: { STINT_SESSION: 'othe' } }).answer('status').session, 'review:other');
  assert.equal(world.with({ env: { STINT_SESSION: '' } }).refusal(3, 'status').code, 'ambiguous');
  assert.equal(world.with({ env: { STINT_SESSION: 'nothing' } }).refusal(4, 'status').code, 'not-found');
  assert.equal(world.with({ env: { STINT_SESSION: '../other' } }).refusal(2, 'note', 'x').code, 'usage');
});

test('a session is named in full, by its bare name, or by a prefix of at least 4 characters that only it has', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'login', '--branch', 'one');
  world.answer('begin', 'review', '--name', 'login-page', '--branch', 'two');
  assert.equal(world.answer('status', 'login').session, 'review:login', 'a whole name is no prefix');
  assert.equal(world.answer('status', 'review:login').session, 'review:login');
  assert.equal(world.answer('status', 'login-').session, 'review:login-page');
  assert.equal(world.answer('status', 'review:login-p').session, 'review:login-page');
  assert.equal(world.refusal(3, 'status', 'logi').code, 'ambiguous');
  assert.equal(world.refusal(4, 'status', 'log').code, 'not-found');
});

test('who acts is said by a flag, by STINT_ACTOR, by the agent that runs the verb, else by user and host', (context) => {
  const world = begun(context);
  const actorOf = (env: Readonly<Record<string, string | undefined>>, ...flags: readonly string[]): string => {
    world.with({ env }).answer('note', 'x', ...flags);
    return eventsOf(world, session).at(-1).actor;
  };
  assert.equal(actorOf({}), 'ana@desk');
  assert.equal(actorOf({ STINT_ACTOR: 'bo' }), 'bo');
  assert.equal(actorOf({ STINT_ACTOR: 'bo' }, '--actor', 'cy'), 'cy');
  assert.equal(actorOf({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'abc' }), 'claude-code/abc');
  assert.equal(actorOf({ CLAUDECODE: '1' }), 'claude-code');
  assert.equal(actorOf({ CODEX_SANDBOX: '1', CODEX_THREAD_ID: 't-1' }), 'codex/t-1');
});

test('quiet prints nothing but refusals; JSON that was asked for is printed', (context) => {
  const world = begun(context);
  for (const args of [['status'], ['list'], ['log'], ['note', 'x'], ['advance', 'change-context'], ['doctor']]) {
    const outcome = world.run(...args, '--quiet');
    assert.deepEqual([outcome.status, outcome.stdout, outcome.stderr], [0, '', ''], args.join(' '));
  }
  assert.equal(world.answer('status', '--quiet').session, session);
  const refused = world.run('finish', '--quiet');
  assert.deepEqual([refused.status, refused.stdout], [6, '']);
  assert.match(refused.stderr, /^stint: .* is not complete/);
});

test('no escape code goes into a pipe, whatever the environment asks for', (context) => {
  const world = begun(context);
  for (const env of [{}, { NO_COLOR: '1' }, { FORCE_COLOR: '3', TERM: 'xterm-256color', CLICOLOR_FORCE: '1' }]) {
    const caller = world.with({ env });
    for (const args of [
      ['status'],
      ['list'],
      ['log'],
      ['timeline'],
      ['show'],
      ['doctor'],
      ['--help'],
      ['finish'],
      ['bgin'],
    ]) {
      const { stdout, stderr } = caller.run(...args);
      assert.ok(!`${stdout}${stderr}`.includes('\u001b'), args.join(' '));
    }
  }
});

test('a payload comes from standard input by - or --stdin, or from a file, and all three are the same', (context) => {
  const world = reviewIn(context, 'synthesis');
  world.write('findings.json', json(approval));
  const first = world.with({ input: json(approval) }).answer('complete-round', '-');
  assert.deepEqual(world.with({ input: json(approval) }).answer('complete-round', '--stdin'), first);
  assert.deepEqual(world.answer('complete-round', '--file', 'findings.json'), first);
  assert.deepEqual(world.answer('complete-round', `--file=${world.path('findings.json')}`), first);
  assert.equal(eventsOf(world, session).filter(({ type }) => type === 'RoundCompleted').length, 1);
});

test('text that begins with a hyphen is given behind -- or with =', (context) => {
  const world = begun(context);
  world.answer('note', '--text=-1 is the limit');
  assert.equal(world.run('note', '--', '--json').status, 0);
  assert.deepEqual(
    eventsOf(world, session)
      .slice(2)
      .map(({ data }) => data.text),
    ['-1 is the limit', '--json'],
  );
});

test('the store is named by a flag, by STINT_STORE, else it is that of the checkout', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--store', 'by-flag.db', '--name', 'flag');
  world.with({ env: { STINT_STORE: world.path('by-variable.db') } }).answer('begin', 'review', '--name', 'variable');
  world.answer('begin', 'review', '--name', 'checkout');
  const namesIn = (...flags: readonly string[]): readonly string[] =>
    listOf(world.answer('list', ...flags).sessions).map(({ session_id }) => session_id);
  assert.deepEqual(namesIn(), ['checkout']);
  assert.deepEqual(namesIn('--store', 'by-flag.db'), ['flag']);
  assert.deepEqual(namesIn('--store', 'by-variable.db'), ['variable']);
});

test('reading makes no store where there is none', (context) => {
  const world = createWorld(context);
  for (const args of [['list'], ['list', '--all'], ['doctor']])
    assert.equal(world.run(...args).status, 0, args.join(' '));
  for (const args of [['status'], ['show'], ['log'], ['timeline']])
    assert.equal(world.run(...args).status, 4, args.join(' '));
  assert.equal(existsSync(world.path('.stint')), false);
  assert.equal(world.git('status', '--porcelain'), '');
});

test('a repeat of a step that was taken changes nothing and stores nothing', (context) => {
  const world = reviewIn(context, 'reviews');
  const repeats = [
    ['begin', 'review'],
    ['advance', 'reviews'],
    ['advance', 'reviews', '--round', '1'],
  ];
  const before = dumpStore(world);
  for (const args of repeats) world.answer(...args);
  assert.deepEqual(dumpStore(world), before);
});
