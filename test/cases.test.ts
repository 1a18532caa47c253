/** The public cases about stores, sessions, places and rounds; the table of all cases is in support/cases.ts. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStint } from '../src/index.ts';
import { caseFile, caseLines, publicCases } from './support/cases.ts';
import { as, claim } from './support/leases.ts';
import {
  advanceTo,
  approval,
  completeRound,
  finding,
  json,
  name,
  objection,
  phases,
  reviewIn,
  session,
} from './support/reviews.ts';
import { assertSound, dumpStore, eventsOf, tamper, treeOf } from './support/stores.ts';
import {
  assertAnswer,
  createWorld,
  listOf,
  repository,
  sorted,
  withoutShared,
  type TestWorld,
} from './support/world.ts';

const skip = withoutShared('cases');

test('every public case of the table has a test that is named after it', () => {
  for (const [id, { file, also }] of Object.entries(publicCases))
    for (const one of also === undefined ? [file] : [file, also]) {
      const source = readFileSync(join(repository, 'test', one), 'utf8');
      assert.ok(new RegExp(`test\\(\\s*['"\`]${id}: `).test(source), `${id} in ${one}`);
    }
});

test('the table names only cases that there are', { skip }, () => {
  for (const id of Object.keys(publicCases)) assert.ok(existsSync(caseFile(id, 'README.md')), id);
});

/** The rows and events of one session, and its files. */
const remainsOf = (world: TestWorld, key: string) => {
  const { session: rows, event, mirror } = dumpStore(world);
  return {
    row: listOf(rows).filter((one) => one.key === key),
    events: listOf(event).filter((one) => one.session === key),
    mirrors: listOf(mirror).filter((one) => one.session === key),
    files: treeOf(world.path('.ocr/sessions', key.slice('review:'.length))),
  };
};

test('B07: every writing verb on one session leaves the rows, events and files of the others as they are', (context) => {
  const world = reviewIn(context, 'context');
  world.answer('begin', 'review', '--name', 'second', '--branch', 'second');
  world.answer('begin', 'review', '--name', 'third', '--branch', 'third');
  advanceTo(world, 'synthesis', '--session', 'third');
  completeRound(world, objection, '--session', 'third');
  const others = ['review:second', 'review:third'];
  const before = others.map((key) => remainsOf(world, key));

  advanceTo(world, 'aggregation', '--session', name);
  world.answer('note', 'a remark', '--session', name);
  world.answer('advance', '--skip', 'discourse', '--reason', 'r', '--session', name);
  completeRound(world, approval, '--session', name);
  world.answer('advance', 'context', '--round', '2', '--session', name);
  world.answer('finish', '--abort', '--reason', 'r', '--session', name);
  world.answer('begin', 'review', '--name', name);
  world.answer('begin', 'review', '--fresh');
  world.answer('rebuild', name);
  assert.deepEqual(
    others.map((key) => remainsOf(world, key)),
    before,
  );
  assert.equal(world.refusal(3, 'advance', 'change-context').code, 'ambiguous', 'nobody is guessed at');
});

test('B07: steps of two sessions at once never land in the other one', async (context) => {
  const world = reviewIn(context, 'context');
  world.answer('begin', 'review', '--name', 'second', '--branch', 'second');
  const walk = async (key: string): Promise<void> => {
    for (const phase of phases.slice(1, 7))
      assert.equal(
        assertAnswer(await world.start('advance', phase, '--session', key, '--json').outcome, 'advance').session,
        key,
      );
  };
  await Promise.all([walk(session), walk('review:second')]);
  for (const key of [session, 'review:second']) {
    assert.deepEqual(
      eventsOf(world, key)
        .slice(2)
        .map(({ data }) => data.phase),
      phases.slice(1, 7),
    );
  }
});

test('C10: a verb that stores, mirrors, closes one session and opens another does not wait for its own lock', (context) => {
  const world = reviewIn(context, 'synthesis');
  // Each would end as busy (8) if it met a lock of its own.
  completeRound(world);
  world.answer('advance', 'context', '--round', '2');
  rmSync(world.path(`.ocr/sessions/${name}/rounds/round-1/round-meta.json`));
  const { session: begun, aborted } = world.answer('begin', 'review', '--fresh');
  assert.deepEqual([begun, aborted], [`${session}-2`, session]);
  assert.deepEqual(listOf(world.answer('rebuild').sessions).length, 2);
  world.answer('finish', '--abort');
  assertSound(world);
});

test('C10: a verb that takes a lease over, closes one session with it, opens another and mirrors does not wait for itself', (context) => {
  const world = reviewIn(context, 'synthesis');
  claim(world);
  completeRound(world);
  const bob = as(world, 'bob');
  const { aborted, taken_over: taken } = bob.answer('begin', 'review', '--fresh', '--take-over');
  assert.equal(aborted, session);
  assert.deepEqual(taken, [{ session, from: 'ana@desk', lease_token: null, lease_expires_at: null }]);
  claim(bob);
  bob.answer('finish', '--abort');
  assertSound(world);
});

test('C12: a review begun in a second worktree of the same commit is one of its own, and each shows its worktree', (context) => {
  const world = createWorld(context);
  world.git('worktree', 'add', '-q', '../second');
  const second = world.with({ cwd: join(world.root, 'second') });
  assert.equal(world.answer('begin', 'review').session, session);
  assert.equal(second.answer('begin', 'review').session, 'review:2026-03-17-second');
  assert.equal(world.answer('status').session, session, 'each sees its own first');
  assert.equal(second.answer('status').session, 'review:2026-03-17-second');
  assert.deepEqual(
    listOf(second.answer('list').sessions).map(({ session_id, worktree }) => [session_id, worktree]),
    [
      [name, 'main'],
      ['2026-03-17-second', 'second'],
    ],
  );
  assert.equal(second.answer('status', name).here, false);
  assert.equal(existsSync(join(world.root, 'second/.ocr/sessions/2026-03-17-second')), true);
  assert.equal(existsSync(world.path('.ocr/sessions/2026-03-17-second')), false);
  second.answer('advance', 'change-context');
  assert.equal(world.answer('status').current_phase, 'context');
});

test(
  'D02: an id that is not there is refused with what is near, and no session is begun for it',
  { skip },
  (context) => {
    const world = reviewIn(context, 'context');
    world.answer('begin', 'review', '--name', 'WFR-add-login-20260317-143022', '--branch', 'login');
    const before = dumpStore(world);
    for (const id of caseLines('D02', 'ids.txt')) {
      // The second line lacks the last character of a session that is there: a prefix is no other id.
      const isPrefix = 'WFR-add-login-20260317-143022'.startsWith(id);
      for (const args of [
        ['status', id],
        ['show', id],
        ['log', id],
        ['timeline', id],
        ['rebuild', id],
      ]) {
        const outcome = world.run(...args, '--json');
        if (isPrefix) assert.match(outcome.stdout, /"session":"review:WFR-add-login-20260317-143022"/);
        else assert.equal(outcome.json.error.exit, 4, args.join(' '));
      }
      if (isPrefix) continue;
      for (const args of [['note', 'x'], ['advance', 'context'], ['finish'], ['finish', '--abort']])
        assert.equal(world.refusal(4, ...args, '--session', id).code, 'not-found');
    }
    assert.deepEqual(world.refusal(4, 'status', 'WFR-add-login-20260317-143023').candidates, [
      'review:WFR-add-login-20260317-143022',
    ]);
    assert.deepEqual(dumpStore(world), before);
  },
);

test('D08: a session that was gone on with and left without doing anything is all there when another one is begun, and has no twin', (context) => {
  const world = reviewIn(context, 'reviews');
  const before = remainsOf(world, session);
  for (let count = 0; count < 3; count += 1) {
    assert.equal(world.answer('begin', 'review', '--name', name).resumed, true);
    world.answer('status', name);
  }
  assert.equal(world.answer('begin', 'review', '--name', 'another', '--branch', 'another').resumed, false);
  assert.equal(world.answer('begin', 'review', '--fresh', '--name', 'another').aborted, 'review:another');
  assert.deepEqual(
    sorted(listOf(world.answer('list', '--all').sessions).map((row) => String(row.session_id))),
    sorted([name, 'another', 'another-2']),
  );
  assert.deepEqual(remainsOf(world, session), before);
  assert.deepEqual(
    readdirSync(world.path('.stint')).filter((file) => file.endsWith('.db')),
    ['stint.db'],
  );
  assertSound(world);
});

/** Does to an event of a session what no verb could. */
const breakEvent = (world: TestWorld, data: string): void =>
  tamper(world, (database) => {
    database.exec('DROP TRIGGER event_is_immutable');
    database.prepare('UPDATE event SET data = ? WHERE session = ? AND seq = 3').run(data, session);
  });

for (const [what, data] of [
  ['breaks its schema', '{"round":"one"}'],
  ['is no JSON', '{"round":1,'],
] as const) {
  test(`D02: a session with an event that ${what} is refused as damaged, never begun anew, and hides no other`, (context) => {
    const world = reviewIn(context, 'change-context');
    world.answer('begin', 'review', '--name', 'other', '--branch', 'other');
    breakEvent(world, data);
    const before = dumpStore(world)['event'];
    for (const args of [
      ['advance', 'analysis', '--session', name],
      ['finish', '--abort', '--session', name],
      ['begin', 'review', '--name', name],
    ]) {
      const outcome = world.run(...args);
      assert.equal(outcome.status, 14, `${args.join(' ')}: ${outcome.stderr}`);
      assert.equal(outcome.stdout, '');
    }
    assert.deepEqual(dumpStore(world)['event'], before);
    for (const args of [
      ['log', name],
      ['timeline', name],
      ['show', name],
    ]) {
      const { status, stderr } = world.run(...args);
      assert.ok(status === 0 || status === 14, `${args.join(' ')}: ${status} ${stderr}`);
    }
    world.answer('status', 'other');
    world.answer('note', 'x', '--session', 'other');
    assert.equal(world.answer('list').total, 2);
    const report = world.run('doctor', '--json');
    assert.equal(report.status, 6, report.stderr);
    assert.ok(
      listOf(report.json.findings).some(({ subject, problem }) => subject === session && String(problem).includes('3')),
    );
    assert.equal(
      listOf(report.json.findings).some(({ subject }) => subject === 'review:other'),
      false,
    );
  });
}

test('D02: a session whose row is gone is refused as damaged or made anew from its events, never begun over them', (context) => {
  const world = reviewIn(context, 'change-context');
  tamper(world, (database) => database.exec(`PRAGMA foreign_keys = OFF; DELETE FROM session WHERE key = '${session}'`));
  const before = dumpStore(world)['event'];
  const { status, stderr } = world.run('begin', 'review', '--name', name);
  assert.ok(status === 14 || status === 0, `${status}: ${stderr}`);
  assert.deepEqual(listOf(dumpStore(world)['event']).slice(0, 3), before);
  assert.equal(world.run('rebuild').status, 0);
  assert.equal(world.answer('status', name).current_phase, 'change-context', 'its events say where it stands');
});

test(
  'D05: an id that is repeated, with other line ends or with blanks is that one id, and the file does not grow',
  { skip },
  (context) => {
    const id = 'WFR-add-login-20260317-143022';
    for (const file of ['current-dup.txt', 'current-crlf.txt']) {
      const world = createWorld(context);
      const place = world.write('.stint/place', readFileSync(caseFile('D05', file)));
      const bytes = readFileSync(place);
      world.answer('begin', 'review');
      const repeats = file === 'current-dup.txt' ? 10 : 1;
      for (let count = 0; count < repeats; count += 1) world.answer('begin', 'review');
      assert.equal(eventsOf(world, session)[0].place, id);
      assert.deepEqual(readFileSync(place), bytes, 'it is as it was');
    }
  },
);

test('D05: two different ids are refused by the name of the file', { skip }, (context) => {
  const world = createWorld(context);
  const place = world.write('.stint/place', readFileSync(caseFile('D05', 'current-two.txt')));
  const error = world.refusal(14, 'begin', 'review');
  assert.equal(world.scrub(error.message), 'ROOT/project/.stint/place names 2 different places.');
  assert.deepEqual(readFileSync(place), readFileSync(caseFile('D05', 'current-two.txt')));
});

test('D05: the file that names the place is written once', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review');
  const before = readFileSync(world.path('.stint/place'), 'utf8');
  assert.match(before, /^[0-9A-HJKMNP-TV-Z]{26}\n$/);
  for (let count = 0; count < 3; count += 1) world.answer('note', 'x');
  assert.equal(readFileSync(world.path('.stint/place'), 'utf8'), before);
});

test('D06: what several sessions begin with is ambiguous, and what none begins with is not found', (context) => {
  const world = createWorld(context);
  const ids = ['WFR-add-login-20260317-143022', 'WFR-add-logic-20260317-143022'];
  for (const id of ids) world.answer('begin', 'review', '--name', id, '--branch', id);
  assert.deepEqual(
    sorted(world.refusal(3, 'status', 'WFR-add-logi').candidates),
    sorted(ids.map((id) => `review:${id}`)),
  );
  for (const near of [
    'WFR-add-login-20260317-143021',
    'WFR-add-logim-20260317-143022',
    'WFR-add-login-20260317-1430222',
    'wfr-add-login-20260317-143022',
    'FR-add-login-20260317-143022',
    'add-login',
  ]) {
    const outcome = world.run('status', near);
    assert.equal(outcome.status, 4, near);
    assert.equal(outcome.stdout, '', 'nothing of another session is shown');
    assert.equal(world.run('note', 'x', '--session', near).status, 4);
  }
});

test('E01: of two projects whose paths look alike each has its own store', { skip }, (context) => {
  const world = createWorld(context, { git: false });
  for (const line of caseLines('E01', 'pairs.txt')) {
    const [left, right] = line.split('\t').map((path) => join(world.root, path));
    assert.ok(left !== undefined && right !== undefined);
    for (const folder of [left, right]) mkdirSync(folder, { recursive: true });
    const begun = world.with({ cwd: left }).answer('begin', 'review', '--name', 'mine');
    assert.equal(begun.resumed, false, line);
    assert.equal(world.with({ cwd: right }).answer('list', '--all').total, 0, line);
    assert.ok(existsSync(join(left, '.stint/stint.db')));
    assert.equal(world.with({ cwd: right }).answer('begin', 'review', '--name', 'mine').resumed, false, line);
    assert.equal(world.with({ cwd: left }).answer('list').total, 1, line);
  }
});

test('E03: a project that was moved keeps its sessions and events, and the old path is not made again', (context) => {
  const world = reviewIn(context, 'context');
  world.answer('note', 'before the move');
  const events = dumpStore(world)['event'];
  const moved = join(world.root, 'moved to here');
  renameSync(world.project, moved);
  const there = world.with({ cwd: moved });
  assert.equal(there.answer('begin', 'review').resumed, true);
  assert.equal(there.answer('list').sessions[0].session, session);
  assert.deepEqual(dumpStore(there, join(moved, '.stint'))['event'], events);
  assert.equal(there.answer('note', 'after the move').seq, 4);
  there.answer('doctor');
  assert.equal(existsSync(world.project), false);
  assert.deepEqual(sorted(readdirSync(world.root)), ['home', 'moved to here', 'tmp']);
});

test('E04: begun through a link, found through the real path, and the other way round', (context) => {
  const world = createWorld(context);
  symlinkSync('project', join(world.root, 'link'));
  const linked = world.with({ cwd: join(world.root, 'link') });
  linked.answer('begin', 'review', '--name', 'through-the-link');
  assert.equal(world.answer('status').session, 'review:through-the-link');
  world.answer('begin', 'review', '--name', 'through-the-path', '--branch', 'b');
  assert.equal(linked.answer('status', 'through-the-path').here, true);
  assert.equal(linked.answer('list').total, 2);
});

test('E04: a store folder that is a link serves all worktrees; one that leads nowhere or in a circle is refused by name', (context) => {
  const world = createWorld(context);
  mkdirSync(join(world.root, 'elsewhere'));
  symlinkSync('../elsewhere', world.path('.stint'));
  world.git('worktree', 'add', '-q', '../second');
  const second = world.with({ cwd: join(world.root, 'second') });
  world.answer('begin', 'review');
  second.answer('begin', 'review');
  assert.equal(world.answer('list').total, 2);
  assert.equal(second.answer('list').total, 2);
  assert.ok(existsSync(join(world.root, 'elsewhere/stint.db')));

  for (const [target, problem] of [
    ['nowhere', 'is a symbolic link to nothing'],
    ['.stint', 'is a loop of symbolic links'],
  ] as const) {
    rmSync(world.path('.stint'));
    symlinkSync(target, world.path('.stint'));
    for (const args of [['list'], ['begin', 'review']])
      assert.equal(world.scrub(world.refusal(14, ...args).message), `ROOT/project/.stint ${problem}.`);
  }
});

test('E07: no path of this machine is stored, and a path in a finding stays as it was given', (context) => {
  const world = reviewIn(context, 'synthesis');
  const verbatim = String.raw`\\?\C:\Users\dev\p\out\plan.md`;
  const payload = {
    ...approval,
    reviewers: [{ type: 'a', instance: 1, findings: [{ ...finding('A path with a prefix'), file_path: verbatim }] }],
  };
  completeRound(world, payload);
  const stored = eventsOf(world, session).find(({ type }) => type === 'RoundCompleted');
  assert.equal(stored.data.payload.reviewers[0].findings[0].file_path, verbatim);
  assert.ok(!JSON.stringify(dumpStore(world)).includes(world.root));
  assert.equal(world.refusal(2, 'begin', 'review', '--name', verbatim).code, 'usage');
});

test('E08: blanks, percent signs, quotes and shell characters in the path of a project are plain text', (context) => {
  const world = createWorld(context, { git: false });
  for (const folder of ['My App', 'a%20b', 'a b', 'c%3A', `it's "here"`, '$(touch pwned)', '`id`', 'ümläut 修复']) {
    const project = join(world.root, folder);
    mkdirSync(project);
    const there = world.with({ cwd: project });
    assert.equal(there.answer('begin', 'review', '--name', 'mine').resumed, false, folder);
    assert.equal(there.answer('doctor').store, join(project, '.stint/stint.db'));
    assert.equal(there.answer('list').total, 1, folder);
    assert.ok(existsSync(join(project, '.ocr/sessions/mine')), folder);
  }
  assert.equal(existsSync(join(world.root, 'pwned')), false);
});

test('E08: a folder given as a URI is decoded once, and a path that looks encoded is a path', async (context) => {
  const world = createWorld(context, { git: false });
  const named = new Map([
    ['file://ROOT/My%20App', 'My App'],
    ['ROOT/a%20b', 'a%20b'],
    ['file://ROOT/a%2520b', 'a%20b'],
    [`ROOT/it's "here"`, `it's "here"`],
    ['ROOT/$(touch pwned)', '$(touch pwned)'],
  ]);
  for (const folder of named.values()) mkdirSync(join(world.root, folder), { recursive: true });
  for (const [text, folder] of named) {
    const opened = openStint({ cwd: text.replace('ROOT', world.root), actor: 'ana' });
    assert.ok(opened.ok, text);
    const begun = await opened.value.run('begin', { kind: 'review', name: 'mine' });
    assert.ok(begun.ok, text);
    await opened.value.close();
    assert.ok(existsSync(join(world.root, folder, '.stint/stint.db')), text);
    const uri = `file://${join(world.root, encodeURIComponent(folder))}/.stint`;
    assert.equal(world.answer('list', '--store', uri).total, 1, uri);
  }
});

test('G07: a round that was completed is completed: the same payload gets the same receipt, another one a conflict', (context) => {
  const world = reviewIn(context, 'synthesis');
  const first = world.with({ input: json(objection) }).answer('complete-round', '-');
  const meta = readFileSync(world.path(first.meta_path), 'utf8');
  const later = world.with({ input: json(objection), now: '2026-03-18T12:00:00Z' });
  assert.deepEqual(later.answer('complete-round', '-'), first);
  const other = world.with({ input: json(approval) });
  assert.equal(other.refusal(9, 'complete-round', '-').code, 'conflict');
  assert.equal(eventsOf(world, session).filter(({ type }) => type === 'RoundCompleted').length, 1);
  assert.equal(readFileSync(world.path(first.meta_path), 'utf8'), meta, 'the first one is kept');
  world.answer('finish');
  assert.deepEqual(later.answer('complete-round', '-', '--session', name).verdict, first.verdict);
  assert.equal(other.refusal(9, 'complete-round', '-', '--session', name).code, 'conflict');
});

test('G07: a round is started once, also by two at the same moment', async (context) => {
  const world = reviewIn(context, 'complete');
  const start = ['advance', 'context', '--round', '2', '--json'];
  const outcomes = await Promise.all([0, 1].map(async () => world.start(...start).outcome));
  for (const outcome of outcomes) assert.equal(assertAnswer(outcome, 'advance').round, 2);
  world.answer('advance', 'context', '--round', '2');
  assert.deepEqual(
    eventsOf(world, session)
      .filter(({ type }) => type === 'RoundStarted')
      .map(({ data }) => data.round),
    [1, 2],
  );
});

test('G07: a payload of another tool is refused by its faults', { skip }, (context) => {
  const world = reviewIn(context, 'synthesis');
  for (const file of ['round-meta.json', 'round-meta-different.json']) {
    const { faults } = world.refusal(7, 'complete-round', '--file', caseFile('G07', file));
    assert.ok(listOf(faults).some((fault) => String(fault).startsWith('$.verdict ')));
  }
  assert.equal(world.answer('status').completeness, 'open_no_artifact');
});

test('H02: from no phase is complete entered by a step, nor a phase passed over, and finish names what is missing', (context) => {
  for (const [index, phase] of phases.slice(0, 7).entries()) {
    const world = reviewIn(context, phase);
    assert.match(world.refusal(5, 'advance', 'complete').message, /^complete is reached only by complete-round\.$/);
    const [far, back] = [phases[index + 2], phases[index - 1]];
    for (const other of [far, back]) if (other !== undefined) world.refusal(5, 'advance', other);
    const missing = world.refusal(6, 'finish').faults[0];
    for (const later of phases.slice(index + 1, 7))
      if (index < 6) assert.ok(String(missing).includes(later), `${phase}: ${missing}`);
    assert.equal(world.answer('status').current_phase, phase);
  }
});

test('H02: a closed review is reopened for a new round, and the old one is all there', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  const before = world.answer('show', name);
  assert.equal(world.answer('begin', 'review', '--name', name).round, 2);
  const after = world.answer('show', name);
  assert.deepEqual(listOf(after.events).slice(0, before.events.length), before.events);
  assert.deepEqual(after.session.rounds[0], before.session.rounds[0]);
});

test(
  'H04: what a payload claims falsely completes no round, and each claim that does not hold is named',
  { skip },
  (context) => {
    const world = reviewIn(context, 'synthesis');
    const final = 'rounds/round-1/final.md';
    const folder = `.ocr/sessions/${name}`;
    const digest = createHash('sha256').update('# Final\n').digest('hex');
    world.write(`${folder}/rounds/round-1/empty.md`, '');
    world.write('outside.md', 'outside\n');
    const claimed = (claims: object) => world.with({ input: json({ ...approval, ...claims }) });
    const before = dumpStore(world);
    for (const [claims, fault] of [
      [{ artifacts: [final] }, /artifacts\[0\] \("rounds\/round-1\/final.md"\) is not there/],
      [{ artifacts: [{ path: 'rounds/round-1/empty.md' }] }, /is empty/],
      [{ artifacts: ['../../../outside.md'] }, /leads out of the folder/],
      [{ artifacts: [7] }, /artifacts\[0\] names no path/],
      [{ gates: [{ type: 'hash_stable_v9' }] }, /gates\[0\] is a check "hash_stable_v9"/],
    ] as const) {
      const error = claimed(claims).refusal(6, 'complete-round', '-');
      assert.match(error.message, fault);
      assert.equal(listOf(error.faults).length, 1);
    }
    world.write(`${folder}/${final}`, '# Final\n');
    const other = { artifacts: [{ path: final, sha256: '0'.repeat(64) }], gates: ['x'] };
    assert.equal(listOf(claimed(other).refusal(6, 'complete-round', '-').faults).length, 2);
    // The collection's own file is no payload of a review at all.
    const file = caseFile('H04', 'round-meta.json');
    assert.equal(world.refusal(7, 'complete-round', '--file', file).code, 'invalid-input');
    assert.deepEqual(dumpStore(world), before);
    const right = claimed({ artifacts: [{ path: final, sha256: digest }] });
    assert.equal(right.answer('complete-round', '-').phase, 'complete');
    // What is complete stays so, whatever becomes of the file.
    rmSync(world.path(folder, final));
    assert.equal(right.answer('complete-round', '-').phase, 'complete');
  },
);

test('H06: eleven rounds are listed in the order of their numbers, and their files lie where they belong', async (context) => {
  const world = createWorld(context);
  let minute = 0;
  const now = (): string => new Date(Date.parse('2026-03-17T12:00:00Z') + minute * 60_000).toISOString();
  const opened = openStint({ cwd: world.project, actor: 'ana', now });
  assert.ok(opened.ok);
  const run = async (...[verb, input, call]: Parameters<typeof opened.value.run>): Promise<void> => {
    minute += 1;
    assert.ok((await opened.value.run(verb, input, call)).ok, verb);
  };
  for (let round = 1; round <= 11; round += 1) {
    if (round === 1) await run('begin', { kind: 'review', name: 'many' });
    else await run('advance', { phase: 'context', round });
    for (const phase of phases.slice(1, 7)) await run('advance', { phase });
    await run('complete-round', {}, { payload: approval });
  }
  await opened.value.close();

  const status = world.answer('status');
  assert.equal(status.current_round, 11);
  const numbers = Array.from({ length: 11 }, (_, index) => index + 1);
  assert.deepEqual(
    listOf(status.rounds).map(({ round }) => round),
    numbers,
  );
  for (const round of numbers)
    assert.ok(existsSync(world.path(`.ocr/sessions/many/rounds/round-${round}/round-meta.json`)));
  const spans = listOf(world.answer('timeline').spans).map(({ position }) => String(position));
  assert.deepEqual(
    spans.filter((position) => position.startsWith('context')),
    numbers.map((round) => `context (1/8), round ${round}`),
  );
  assertSound(world);
});

test('H06: folders that are found are neither sessions nor rounds, whatever their names', { skip }, (context) => {
  const world = reviewIn(context, 'reviews');
  const before = dumpStore(world);
  cpSync(caseFile('H06', 'sessions'), world.path('.ocr/sessions'), { recursive: true });
  for (const folder of ['round-x', 'round-03', 'round-2'])
    mkdirSync(world.path(`.ocr/sessions/${name}/rounds/${folder}`), { recursive: true });
  for (const args of [['list', '--all'], ['status'], ['show'], ['log'], ['timeline']]) world.answer(...args);
  assert.equal(world.answer('list', '--all').total, 1);
  assert.equal(world.answer('status').current_round, 1);
  assert.equal(world.answer('status').current_phase, 'reviews');
  assert.deepEqual(dumpStore(world), before);
  world.answer('rebuild');
  world.answer('doctor');
  assert.deepEqual(dumpStore(world), before);
});

test('H11: a session that is finished twice, also at once, has one end, and counts once', async (context) => {
  const world = reviewIn(context, 'complete');
  const finish = ['finish', '--session', name];
  const first = world.answer(...finish);
  const later = world.with({ now: '2026-03-18T12:00:00Z' });
  assert.deepEqual(later.answer(...finish), first, 'the same end');
  const outcomes = await Promise.all([0, 1].map(async () => later.start(...finish, '--json').outcome));
  for (const outcome of outcomes) assert.deepEqual(assertAnswer(outcome, 'finish'), first);
  assert.equal(eventsOf(world, session).filter(({ type }) => type === 'SessionClosed').length, 1);
  assert.equal(world.answer('list', '--all').total, 1);
});
