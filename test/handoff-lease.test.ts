/** Who works on the documents of a hand-off: the lease, who comes and who leaves. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { sessionState } from '../src/formats/handoff/document.ts';
import { sample } from '../src/formats/handoff/samples.ts';
import { openStint } from '../src/postgres.ts';
import { current, handedOver, leaseFile, paired, root, transfer, valueIn } from './support/documents.ts';
import { storeIn } from './support/environment.ts';
import { as, leaseEvents } from './support/leases.ts';
import { assertSound } from './support/stores.ts';
import { createWorld, later, lines, listOf, noon, say, sorted, type Printed, type TestWorld } from './support/world.ts';

/** The file of a lease as another program writes it. */
const written = (holder: string, said: object = {}): string =>
  JSON.stringify({
    version: 1,
    holder,
    purpose: 'edit',
    acquired_at: '2026-03-17T11:50:00Z',
    expires_at: '2026-03-17T12:20:00Z',
    handover: 'handovers/20260312_0915_handover.md',
    session_state: 'session-state/CURRENT.md',
    ...said,
  });

const expired = { acquired_at: '2026-03-17T10:00:00Z', expires_at: '2026-03-17T10:30:00Z' };

const lease = (world: TestWorld, ...args: readonly string[]): Printed => world.answer('handoff', 'lease', ...args);

const claim = (world: TestWorld, holder: string, ...flags: readonly string[]): Printed =>
  lease(world, 'claim', '--holder', holder, '--purpose', 'edit', ...flags);

/** A verb that is refused with a report: the exit code, and the report. */
const refused = (world: TestWorld, ...args: readonly string[]): readonly [number | null, Printed] => {
  const { status, json } = world.run(...args, '--json');
  return [status, json];
};

const fileOf = (world: TestWorld): Printed => JSON.parse(readFileSync(world.path(leaseFile), 'utf8'));

const stateOf = (world: TestWorld): readonly Printed[] => {
  const { state, holder } = refused(world, 'handoff', 'lease', 'show')[1];
  return [state, holder];
};

/** What each action comes to, by who has the lease and how it stands: an exit code. */
const table: Readonly<Record<string, readonly [same: number, other: number, forced: number, ...number[]]>> = {
  // claim: the same holder, another one, forced; release: the same, another, nobody named, forced
  none: [0, 0, 0, 0, 0, 0, 0],
  active: [0, 10, 0, 0, 10, 10, 0],
  expired: [0, 0, 0, 0, 0, 10, 0],
  invalid: [7, 7, 0, 0, 0, 10, 0],
};

suite('the lease of the documents', () => {
  test('is claimed and released as it stands, whoever has written it', async (context) => {
    const world = handedOver(context);
    let now = noon;
    const opened = await openStint({
      cwd: world.project,
      actor: 'eve',
      host: 'desk',
      now: () => now,
      ...storeIn(world.env),
    });
    assert.ok(opened.ok);
    const { run, close } = opened.value;
    const act = async (input: Readonly<Record<string, string | number | boolean>>): Promise<number> => {
      const outcome = await run('handoff lease', input);
      if (outcome.ok) return 0;
      assert.equal(outcome.error.report?.['result'], 'error', JSON.stringify(input));
      return { lease: 10, 'invalid-input': 7 }[outcome.error.refusal.code as string] ?? 1;
    };
    const purpose = 'edit';
    const actions = [
      { action: 'claim', holder: 'ana', purpose },
      { action: 'claim', holder: 'ben', purpose },
      { action: 'claim', holder: 'ben', purpose, force: true },
      { action: 'release', holder: 'ana' },
      { action: 'release', holder: 'ben' },
      { action: 'release' },
      { action: 'release', force: true },
    ];
    const ways: Readonly<Record<string, () => Promise<unknown>>> = {
      'none, in the store': async () => {},
      'active, in the store': async () => act({ action: 'claim', holder: 'ana', purpose }),
      'expired, in the store': async () => {
        await act({ action: 'claim', holder: 'ana', purpose, ttl_minutes: 1 });
        now = new Date(Date.parse(noon) + 120_000).toISOString();
      },
      'active, in the file': async () => world.write(leaseFile, written('ana')),
      'expired, in the file': async () => world.write(leaseFile, written('ana', expired)),
      'invalid, in the file': async () => world.write(leaseFile, '{}'),
    };
    for (const [way, bring] of Object.entries(ways)) {
      const outcomes = [];
      for (const action of actions) {
        now = noon;
        assert.equal(await act({ action: 'release', force: true }), 0);
        assert.equal(existsSync(world.path(leaseFile)), false, `${way}: the file is gone`);
        await bring();
        outcomes.push(await act(action));
      }
      assert.deepEqual(outcomes, table[way.split(',')[0] ?? ''], way);
    }
    await close();
    assertSound(world);
  });

  test('is answered under the names of the original, with its token, and its file is there as long as somebody holds it', (context) => {
    const world = handedOver(context);
    const claimed = claim(world, 'ana', '--ttl-minutes', '45');
    const { schema_version: _, lease_token: token, revision: __, ...answer } = claimed;
    assert.ok(Number.isSafeInteger(token));
    assert.deepEqual(JSON.parse(world.scrub(JSON.stringify(answer))), {
      session: 'task:2026-03-17-main',
      session_id: '2026-03-17-main',
      docs_root: 'ROOT/project/docs/tests',
      lease_path: 'ROOT/project/docs/tests/session-state/ACTIVE_LEASE.json',
      exists: true,
      state: 'active',
      holder: 'ana',
      purpose: 'edit',
      acquired_at: noon,
      expires_at: '2026-03-17T12:45:00.000Z',
      handover: 'handovers/20260312_0915_handover.md',
      session_state: 'session-state/CURRENT.md',
      warnings: [],
      errors: [],
      version: 1,
      alive: 'unknown',
      result: 'claimed',
      source: 'current-pointer',
    });
    const { holder, expires_at: until, handover: transferPath, session_state: state, version } = fileOf(world);
    assert.deepEqual(
      [holder, until, transferPath, state, version],
      ['ana', '2026-03-17T12:45:00.000Z', 'handovers/20260312_0915_handover.md', 'session-state/CURRENT.md', 1],
    );
    assert.equal(
      say(later(world, 60), 'handoff', 'lease', 'show'),
      lines(
        'Result         shown',
        'Docs root      ROOT/project/docs/tests',
        'Lease path     ROOT/project/docs/tests/session-state/ACTIVE_LEASE.json',
        'State          expired',
        'Holder         ana',
        'Purpose        edit',
        'Acquired at    2026-03-17T12:00:00.000Z',
        'Expires at     2026-03-17T12:45:00.000Z',
        'Handover       handovers/20260312_0915_handover.md',
        'Session-state  session-state/CURRENT.md',
        'Warnings:',
        '- None',
        'Errors:',
        '- None',
      ),
    );
    assert.equal(lease(world, 'release', '--holder', 'ana').state, 'none');
    assert.equal(existsSync(world.path(leaseFile)), false);
    assert.deepEqual(readdirSync(world.path(`${root}/session-state`)), ['CURRENT.md']);
  });

  test('is that of the session: what stint lease does shows, with what was renewed', (context) => {
    const world = handedOver(context);
    const ana = as(world, 'ana');
    ana.answer('lease', 'claim', '--purpose', 'round 2', '--ttl', '10m');
    assert.equal(fileOf(world).holder, 'ana');
    later(ana, 5).answer('lease', 'renew');
    const shown = lease(later(world, 12), 'show');
    assert.deepEqual([shown.state, shown.expires_at], ['active', '2026-03-17T12:15:00.000Z']);
    const [status, report] = refused(
      later(world, 12),
      'handoff',
      'lease',
      'claim',
      '--holder',
      'ben',
      '--purpose',
      'x',
    );
    assert.deepEqual([status, report.result, report.holder, report.error.code], [10, 'error', 'ana', 'lease']);
    assert.match(report.errors[0], /held by ana/);
    assert.equal(leaseEvents(world, 'task:2026-03-17-main').length, 1);
  });

  test('begins anew for its holder, with the same token, and the file says so', (context) => {
    const world = handedOver(context);
    const first = claim(world, 'ana');
    const again = claim(later(world, 10), 'ana');
    assert.equal(again.lease_token, first.lease_token);
    assert.equal(again.expires_at, '2026-03-17T12:40:00.000Z');
    assert.equal(fileOf(world).expires_at, '2026-03-17T12:40:00.000Z');
  });

  test('keeps others from the documents, whatever they write in them', (context) => {
    const world = handedOver(context);
    claim(world, 'ana');
    for (const change of [
      ['--decision', 'x'],
      ['--status', 'ready-for-review'],
      ['--current-step', 'y'],
    ])
      assert.match(world.refusal(10, 'handoff', 'update', '--updated-by', 'ben', ...change).message, /held by ana/);
    world.answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'y');
    world.answer('handoff', 'update', '--updated-by', 'ben', '--current-step', 'z', '--take-over');
    assert.deepEqual(stateOf(world), ['active', 'ben']);
    assert.equal(fileOf(world).holder, 'ben');
  });

  test('is got by one of sixteen that claim it at once, and the others are told who has it', async (context) => {
    for (const make of [handedOver, paired]) {
      const world = make(context);
      const outcomes = await Promise.all(
        Array.from(
          { length: 16 },
          async (_, at) =>
            world.start('handoff', 'lease', 'claim', '--holder', `h${at}`, '--purpose', 'edit', '--json').outcome,
        ),
      );
      const won = outcomes.filter(({ status }) => status === 0);
      assert.equal(won.length, 1);
      for (const { status, json } of outcomes.filter((one) => one.status !== 0)) {
        assert.deepEqual([status, json.result], [10, 'error'], JSON.stringify(json));
        assert.match(json.errors[0], /held by h\d+/);
      }
      assert.deepEqual(stateOf(world), ['active', won[0]?.json.holder]);
      assert.equal(fileOf(world).holder, won[0]?.json.holder);
      assert.equal(world.answer('list', '--all').sessions.length, 1);
      assertSound(world);
    }
  });

  test('is refused where it would last for ever or no time, or where a name would be more than a line', (context) => {
    const world = handedOver(context);
    const args = ['handoff', 'lease', 'claim', '--holder', 'ana', '--purpose', 'x', '--ttl-minutes'];
    for (const minutes of ['0', '-5', '10081', '99999999999']) {
      const [status, report] = refused(world, ...args, minutes);
      assert.deepEqual([status, report.state, report.result], [7, 'invalid', 'error'], minutes);
    }
    for (const [holder, purpose] of [
      ['evil\nState: none', 'x'],
      [' ', 'x'],
      ['ana', 'a\u0007b'],
    ])
      assert.equal(
        world.refusal(2, 'handoff', 'lease', 'claim', '--force', '--holder', holder ?? '', '--purpose', purpose ?? '')
          .code,
        'usage',
      );
    assert.equal(world.refusal(2, 'handoff', 'lease').code, 'usage');
    assert.equal(world.refusal(2, 'handoff', 'lease', 'claim', '--holder', 'ana').code, 'usage');
    assert.equal(existsSync(world.path(leaseFile)), false);
  });

  test('needs a pair that is worked on', (context) => {
    const world = createWorld(context);
    const [status, report] = refused(world, 'handoff', 'lease', 'claim', '--holder', 'ana', '--purpose', 'x');
    assert.deepEqual([status, report.state, report.result], [4, 'none', 'error']);
    assert.equal(lease(world, 'show').state, 'none');
    assert.equal(lease(world, 'release').result, 'released');
  });

  test('is neither written nor taken away through a link', (context) => {
    const world = handedOver(context);
    for (const target of [world.path('theirs.json'), join(world.root, 'outside.json'), world.path('not-there.json')]) {
      const isThere = !target.endsWith('not-there.json');
      if (isThere) writeFileSync(target, 'theirs');
      symlinkSync(target, world.path(leaseFile));
      for (const args of [
        ['lease', 'claim', '--holder', 'ana', '--purpose', 'x', '--force'],
        ['lease', 'release', '--force'],
        ['begin', '--holder', 'ana', '--purpose', 'x', '--force-lease'],
        ['end', '--holder', 'ana', '--release-force'],
      ])
        assert.equal(refused(world, 'handoff', ...args)[0], 6, args.join(' '));
      const { stderr } = as(world, 'ana').run('lease', 'claim');
      assert.match(stderr, /ACTIVE_LEASE\.json was not written/);
      as(world, 'ana').run('lease', 'release');
      assert.equal(isThere ? readFileSync(target, 'utf8') : existsSync(target), isThere ? 'theirs' : false);
      world.run('lease', 'release', '--take-over');
      assert.ok(readdirSync(world.path(`${root}/session-state`)).includes('ACTIVE_LEASE.json'));
      rmSync(world.path(leaseFile));
    }
  });
});

suite('a lease that another program has written', () => {
  test('is shown with what is wrong with it, and gives way to whoever claims when it has expired', (context) => {
    const world = paired(context);
    world.write(leaseFile, '{}');
    const [status, report] = refused(world, 'handoff', 'lease', 'show');
    assert.deepEqual(
      [status, report.state, report.errors.length, report.error.code],
      [7, 'invalid', 7, 'invalid-input'],
    );
    for (const text of ['[]', '"x"', 'null', '\u00ff', written('ana', { handover: '/etc/passwd' })]) {
      world.write(leaseFile, text);
      assert.equal(refused(world, 'handoff', 'lease', 'show')[1].state, 'invalid', text);
    }
    world.write(leaseFile, Buffer.from([0x7b, 0xff, 0x7d]));
    assert.equal(refused(world, 'handoff', 'lease', 'show')[1].state, 'invalid');
    world.write(leaseFile, written('ana', expired));
    assert.deepEqual(stateOf(world), ['expired', 'ana']);
    const claimed = claim(world, 'ben');
    assert.deepEqual([claimed.state, claimed.holder, claimed.session], ['active', 'ben', 'task:2026-03-17-main']);
    assert.equal(fileOf(world).holder, 'ben');
    assert.deepEqual(readdirSync(world.path(`${root}/session-state`)), ['ACTIVE_LEASE.json', 'CURRENT.md']);
    const [event] = leaseEvents(world, 'task:2026-03-17-main');
    assert.deepEqual(
      [event.type, event.instead_of.holder, event.instead_of.state],
      ['LeaseClaimed', 'ana', 'expired'],
      'whose place it took stands in the log',
    );
  });

  test('keeps everybody else out where nobody holds the session, and has no power where somebody does', (context) => {
    const world = handedOver(context);
    world.write(leaseFile, written('zed'));
    for (const args of [
      ['lease', 'claim', '--holder', 'ana', '--purpose', 'x'],
      ['lease', 'release', '--holder', 'ana'],
      ['begin', '--holder', 'ana', '--purpose', 'x'],
      ['end', '--holder', 'ana'],
    ]) {
      const [status, report] = refused(world, 'handoff', ...args);
      assert.deepEqual([status, report.error.code], [10, 'lease'], args.join(' '));
      assert.match(report.errors[0], /held by zed/);
    }
    assert.match(world.refusal(10, 'handoff', 'update', '--updated-by', 'ana', '--current-step', 'x').message, /zed/);
    world.answer('handoff', 'update', '--updated-by', 'zed', '--current-step', 'x');
    assert.equal(claim(world, 'zed').holder, 'zed');
    world.write(leaseFile, written('mallory'));
    const shown = lease(world, 'show');
    assert.deepEqual([shown.state, shown.holder], ['active', 'zed']);
    assert.match(shown.warnings[0], /mallory/);
    assert.equal(refused(world, 'handoff', 'lease', 'release', '--holder', 'mallory')[0], 10);
    world.write(leaseFile, 'not json');
    const cleared = world.run('handoff', 'lease', 'release', '--holder', 'mallory', '--json').json;
    assert.deepEqual([cleared.result, cleared.state, cleared.holder], ['released', 'active', 'zed']);
    assert.equal(fileOf(world).holder, 'zed');
  });

  test('is an older version of ours where it was put back, and says nothing then', (context) => {
    const world = handedOver(context);
    claim(world, 'ana');
    const before = readFileSync(world.path(leaseFile), 'utf8');
    lease(world, 'release', '--holder', 'ana');
    world.write(leaseFile, before);
    assert.deepEqual(stateOf(world), ['none', 'None']);
    assert.equal(claim(world, 'ben').holder, 'ben');
  });

  test('is an older version where version control has put it: told as stale, held by nobody, taken away by who writes', (context) => {
    const world = handedOver(context);
    const second = join(world.root, 'second');
    claim(world, 'ana');
    world.git('add', '--all', 'docs');
    world.git('commit', '-q', '-m', 'held');
    lease(world, 'release', '--holder', 'ana');
    world.git('commit', '-q', '-a', '-m', 'released');
    world.git('checkout', '-q', 'HEAD~1', '--', leaseFile);
    world.git('worktree', 'add', '-q', second, '-b', 'second');
    writeFileSync(join(second, leaseFile), readFileSync(world.path(leaseFile)));
    const told = (checkout: TestWorld): Printed => checkout.run('handoff', 'ready', '--json').json;
    for (const checkout of [world, world.with({ cwd: second })]) {
      const { lease: said, reasons } = told(checkout);
      const codes = listOf(reasons).flatMap(({ code, severity }) => (severity === 'blocking' ? [code] : []));
      assert.deepEqual([said.state, codes], ['none', ['documents-stale']]);
      assert.equal(checkout.run('handoff', 'summarize', '--json').json.lease.state, 'none');
    }
    world.answer('note', 'on');
    assert.equal(existsSync(world.path(leaseFile)), false);
    assert.equal(world.answer('handoff', 'ready').lease.state, 'none');

    const there = world.with({ cwd: second });
    there.answer('resume', '--session', String(told(there).session ?? world.answer('list').sessions[0].session));
    assert.deepEqual(told(there).next_actions, []);
    assert.equal(existsSync(join(second, leaseFile)), false);

    world.write(leaseFile, written('zed'));
    world.answer('note', 'what others make there is theirs');
    assert.equal(readFileSync(world.path(leaseFile), 'utf8'), written('zed'));
  });
});

const begin = (world: TestWorld, ...args: readonly string[]): Printed =>
  world.answer('handoff', 'begin', '--holder', 'ana', '--purpose', 'Dig', ...args);

suite('whoever comes to work', () => {
  test('claims the pair and says so in it, in one commit, and is told where it stands', (context) => {
    const world = handedOver(context, '--status', 'not-started');
    const revision = world.answer('status').revision;
    const answer = begin(later(world, 1), '--ttl-minutes', '45');
    assert.deepEqual(
      [answer.result, answer.action, answer.source, answer.status, answer.next_owner, answer.warnings, answer.errors],
      ['ok', 'updated', 'current-pointer', 'in-progress', 'ana', [], []],
    );
    assert.deepEqual(answer.lease, { holder: 'ana', purpose: 'Dig', expires_at: '2026-03-17T12:46:00.000Z' });
    assert.ok(answer.revision > revision);
    for (const path of [current, transfer])
      assert.deepEqual(
        ['Status', 'Next owner', 'Current step', 'Updated by'].map((name) => valueIn(world, path, name)),
        ['in-progress', 'ana', 'Dig', 'ana'],
      );
    // What it reports is what the next verb finds.
    const { schema_version: _, error: __, ...report } = refused(later(world, 1), 'handoff', 'report')[1];
    assert.deepEqual(answer.report, report);
    const causes = listOf(world.answer('log', answer.session).events).filter((event) => event.at > noon);
    assert.equal(new Set(causes.map((event) => event.cause)).size, 1);
  });

  test('makes the pair where there is none, and has to say the task', (context) => {
    const world = createWorld(context);
    const [status, report] = refused(world, 'handoff', 'begin', '--holder', 'ana', '--purpose', 'Dig');
    assert.deepEqual([status, report.action, report.result], [6, 'none', 'error']);
    assert.match(report.error.expected, /--task/);
    const answer = begin(world, '--task', 'Ship it', '--remaining-step', 'Go', '--decision', 'in Rust');
    assert.deepEqual(
      [answer.action, answer.status, answer.next_owner, answer.report.summary.current_step, answer.report.lease.holder],
      ['created', 'in-progress', 'ana', 'Dig', 'ana'],
    );
    assert.equal(world.scrub(answer.handover), 'ROOT/project/docs/tests/handovers/20260317_1200_handover.md');
    assert.match(readFileSync(world.path(current), 'utf8'), /- Decision: in Rust/);
    assert.equal(fileOf(world).holder, 'ana');
    assert.equal(world.answer('handoff', 'validate').valid, true);
  });

  test('finds what another program has left, and what is broken beside it keeps nobody from working', (context) => {
    const world = paired(context, { Task: 'Ship it', 'Task summary': 'Ship it', Status: 'not-started' });
    world.write(`${root}/handovers/junk.md`, '# Handover\n');
    const answer = begin(world);
    assert.deepEqual([answer.result, answer.action, answer.status], ['ok', 'updated', 'in-progress']);
    assert.ok(answer.warnings.length > 0);
    assert.equal(world.answer('status', 'task:2026-03-17-main').goal, 'Ship it');
  });

  test('is refused while somebody else is at it, and takes over only on purpose', (context) => {
    const world = handedOver(context);
    claim(world, 'zed');
    const before = readFileSync(world.path(current), 'utf8');
    const outcome = world.run('handoff', 'begin', '--holder', 'ana', '--purpose', 'Dig');
    assert.equal(outcome.status, 10);
    assert.match(outcome.stdout, /^Action +none$/m);
    assert.match(outcome.stdout, /^Lease holder +zed$/m);
    assert.match(outcome.stdout, /^- task:\S+ is held by zed on desk /m);
    assert.equal(readFileSync(world.path(current), 'utf8'), before);
    assert.equal(begin(world, '--force-lease').action, 'updated');
    assert.deepEqual(
      leaseEvents(world, 'task:2026-03-17-main').map(({ type, because }) => [type, because]),
      [
        ['LeaseClaimed', undefined],
        ['LeaseLost', 'taken over'],
        ['LeaseClaimed', undefined],
      ],
    );
  });

  test('begins another task beside one that is done, under a handover of its own', (context) => {
    const world = handedOver(context);
    world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'ready-for-review');
    world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'done');
    const [status, report] = refused(world, 'handoff', 'begin', '--holder', 'ana', '--purpose', 'Dig');
    assert.deepEqual([status, report.action], [5, 'none']);
    assert.match(report.error.hint, /--task TASK/);
    world.write(`${root}/handovers/20260317_1200_handover.md`, 'precious');
    const answer = begin(world, '--task', 'Another one');
    assert.deepEqual(
      [answer.action, answer.status, answer.session, answer.superseded],
      ['created', 'in-progress', 'task:2026-03-17-main-2', 'task:2026-03-17-main'],
    );
    assert.equal(readFileSync(world.path(`${root}/handovers/20260317_1200_handover.md`), 'utf8'), 'precious');
    assert.equal(world.answer('status', 'task:2026-03-17-main').status, 'closed');
    assert.match(readFileSync(world.path(transfer), 'utf8'), /## Status\ndone/);
    assert.equal(answer.report.audit.totals.snapshot_pairs, 1);
  });
});

test('whoever makes a pair where another program has left one keeps that, as a session of its own', (context) => {
  for (const args of [
    ['new', '--force', '--updated-by', 'ana', '--next-owner', 'ben'],
    ['begin', '--holder', 'ana', '--purpose', 'Dig'],
  ]) {
    const world = paired(context, { Status: 'done', Task: 'Ship it', 'Task summary': 'Ship it', 'Next owner': 'None' });
    const answer = world.answer('handoff', ...args, '--task', 'Another one');
    assert.deepEqual(
      [answer.session, answer.superseded, answer.status],
      ['task:2026-03-17-main-2', 'task:2026-03-17-main', 'in-progress'],
    );
    assert.equal(valueIn(world, current, 'Task'), 'Another one');
    assert.match(readFileSync(world.path(transfer), 'utf8'), /## Task summary\nShip it/);
    assert.equal(world.answer('status', 'task:2026-03-17-main').status, 'closed');
    assert.equal(world.answer('handoff', 'audit').result, 'clean');
    assert.deepEqual(
      readdirSync(world.path(`${root}/session-state`)).filter((name) => name.includes('kept')),
      [],
    );
  }
});

suite('whoever leaves', () => {
  test('writes the pair and gives it back in one commit, and is told whether it is ready', (context) => {
    const world = handedOver(context);
    begin(world);
    const answer = later(world, 5).answer(
      'handoff',
      'end',
      '--holder',
      'ana',
      '--status',
      'ready-for-review',
      '--next-owner',
      'ben',
    );
    assert.deepEqual(
      [answer.result, answer.action, answer.status, answer.next_owner, answer.errors, answer.lease],
      ['ok', 'updated-and-released', 'ready-for-review', 'ben', [], { state: 'none' }],
    );
    const { schema_version: _, ...ready } = later(world, 5).answer('handoff', 'ready');
    assert.deepEqual(answer.readiness, ready);
    assert.deepEqual(answer.report, ready.report);
    assert.equal(existsSync(world.path(leaseFile)), false);
    assert.equal(valueIn(world, current, 'Current step'), 'Dig', 'what is not said stays');
    const again = world.answer('handoff', 'end', '--holder', 'ana');
    assert.deepEqual([again.action, again.next_owner, again.warnings[0]], ['updated', 'ana', 'nobody held it']);
  });

  test('is told in text too why nothing was done', (context) => {
    const world = createWorld(context);
    const none = world.run('handoff', 'end', '--holder', 'ana', '--status', 'ready-for-review', '--format', 'text');
    assert.equal(none.status, 4);
    assert.match(none.stdout, /^Result +error$/m);
    const held = handedOver(context);
    claim(held, 'zed');
    const outcome = held.run('handoff', 'end', '--holder', 'ana');
    assert.equal(outcome.status, 10);
    assert.match(outcome.stdout, /held by zed/);
    assert.equal(held.answer('handoff', 'end', '--holder', 'ana', '--release-force').action, 'updated-and-released');
  });

  test('does not leave as done what is not, and keeps the lease then', (context) => {
    const world = handedOver(context, '--remaining-step', 'Test it');
    begin(world);
    world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'ready-for-review');
    const [status, report] = refused(world, 'handoff', 'end', '--holder', 'ana', '--status', 'done');
    assert.deepEqual([status, report.action, report.result], [6, 'none', 'error']);
    assert.match(report.errors[0], /step 1 is left/);
    assert.deepEqual(stateOf(world), ['active', 'ana']);
    const done = ['--remaining-step', 'None', '--status', 'done'];
    const answer = world.answer('handoff', 'end', '--holder', 'ana', ...done);
    assert.deepEqual([answer.status, answer.next_owner, answer.readiness.verdict], ['done', 'None', 'ready']);
    assert.equal(existsSync(world.path(leaseFile)), false);
  });

  test('has left all the same where the work is not ready, and is told what is missing', (context) => {
    const world = handedOver(context);
    begin(world);
    const [status, report] = refused(world, 'handoff', 'end', '--holder', 'ana', '--file-touched', 'gone.ts');
    assert.deepEqual(
      [status, report.result, report.action, report.error.code],
      [6, 'not-ready', 'updated-and-released', 'invariant-unmet'],
    );
    assert.match(report.errors[0], /gone\.ts/);
    assert.equal(existsSync(world.path(leaseFile)), false);
    assert.match(readFileSync(world.path(current), 'utf8'), /gone\.ts/);
  });

  test('is told of a document that is not written because nothing can be taken from it, as whoever comes is', (context) => {
    const marks = '<<<<<<< HEAD\nana\n=======\nben\n>>>>>>> other\n';
    for (const [text, problem] of [
      [`${sample(sessionState)}${marks}`, /a merge has left a conflict/],
      ['# State\n', /does not begin with "# Session State"/],
      [Buffer.from([0xff, 0xfe, 0x23, 0]), /UTF-16/],
    ] as const) {
      const world = handedOver(context);
      writeFileSync(world.path(current), text);
      const { json: come } = world.run('handoff', 'begin', '--holder', 'ana', '--purpose', 'Dig', '--json');
      assert.match(listOf(come.documents).join('\n'), problem);
      assert.match(listOf(come.warnings).join('\n'), /session-state\/CURRENT\.md/);
      const [status, report] = refused(world, 'handoff', 'end', '--holder', 'ana');
      assert.deepEqual([status, report.result, report.readiness.verdict], [6, 'not-ready', 'not-ready']);
      assert.match(listOf(report.documents).join('\n'), problem);
      const { json: update } = world.run('handoff', 'update', '--updated-by', 'ana', '--json');
      assert.match(update.error.message, problem, 'and so is whoever writes');
      assert.deepEqual(readFileSync(world.path(current)), Buffer.from(text));
    }
  });

  test('takes along the lease that another program has written for them', (context) => {
    const world = paired(context);
    world.write(leaseFile, written('ana'));
    assert.equal(
      world.answer('handoff', 'end', '--holder', 'ana', '--next-owner', 'ben').action,
      'updated-and-released',
    );
    assert.equal(existsSync(world.path(leaseFile)), false);
    world.write(leaseFile, '{}');
    assert.equal(refused(world, 'handoff', 'end', '--holder', 'ana')[0], 7);
  });
});

test('the folders of the documents are made where that is asked, in this checkout', (context) => {
  const world = createWorld(context);
  world.answer('handoff', 'root');
  assert.equal(existsSync(world.path(root)), false);
  assert.equal(world.answer('handoff', 'root', '--ensure', 'handover').exists, true);
  assert.deepEqual(readdirSync(world.path(root)), ['handovers']);
  assert.equal(say(world, 'handoff', 'root', '--ensure', 'both'), 'ROOT/project/docs/tests\n');
  assert.deepEqual(sorted(readdirSync(world.path(root))), ['handovers', 'session-state']);
  assert.equal(existsSync(world.path('.stint')), false);
  mkdirSync(join(world.root, 'elsewhere'));
  symlinkSync(join(world.root, 'elsewhere'), world.path('linked'));
  for (const outside of ['linked/docs', join(world.root, 'elsewhere')])
    assert.equal(world.refusal(2, 'handoff', 'root', '--root', outside, '--ensure', 'both').code, 'usage');
  assert.deepEqual(readdirSync(join(world.root, 'elsewhere')), []);
});
