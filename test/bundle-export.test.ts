/** A session as one file that may leave: what it holds, what it does not, where it lies. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { assertVersion2 } from './support/version-2.ts';
import { caseFile } from './support/cases.ts';
import { orchestrationIn } from './support/orchestrations.ts';
import { ordinary, withoutUser } from './support/permissions.ts';
import { reviewIn } from './support/reviews.ts';
import { templateOf, work, writeTemplate } from './support/runs.ts';
import { secretsOf } from './support/secrets.ts';
import { treeOf } from './support/stores.ts';
import {
  assertAnswer,
  createWorld,
  later,
  listOf,
  shared,
  withoutShared,
  type Printed,
  type TestWorld,
} from './support/world.ts';

const current = 'docs/tests/session-state/CURRENT.md';
const policyPath = 'docs/tests/handoff-bundle-redaction-policy.json';

/** A project whose documents tell of a task. */
const taskIn = (context: TestContext): TestWorld => {
  const world = createWorld(context);
  world.answer('handoff', 'new', '--task', 'Ship it', '--updated-by', 'ana', '--next-owner', 'ben');
  return world;
};

/** Exports into a file that no other test knows; answers what was said of it and what it holds. */
const exported = (world: TestWorld, ...args: readonly string[]): { answer: Printed; text: string; bundle: Printed } => {
  const path = join(world.root, `out-${Math.random().toString(36).slice(2)}.json`);
  const answer = world.answer('bundle', 'export', '--output', path, ...args);
  const text = readFileSync(path, 'utf8');
  assert.equal(world.run('bundle', 'inspect', '--bundle', path).status, 0);
  return { answer, text, bundle: JSON.parse(text) };
};

/** The texts of a list in one. */
const textOf = (list: Printed): string => listOf(list).join('\n');

/** Writes something into a section of a document, as a person would. */
const edit = (world: TestWorld, section: string, body: string, path = current): void => {
  const text = readFileSync(world.path(path), 'utf8');
  const at = text.indexOf(`## ${section}\n`);
  const next = text.indexOf('\n## ', at);
  writeFileSync(world.path(path), `${text.slice(0, at)}## ${section}\n${body}\n${next === -1 ? '' : text.slice(next)}`);
};

suite('bundle export', () => {
  test('makes one file of a session of any kind, with its whole log', (context) => {
    const task = taskIn(context);
    const orchestration = orchestrationIn(context);
    const review = reviewIn(context, 'context');
    const map = createWorld(context);
    map.answer('begin', 'map', '--name', 'login');
    const run = createWorld(context);
    writeTemplate(run, 'flow', templateOf([[work('a')], [work('b')]]));
    run.answer('run', 'flow', '--name', 'flow');
    for (const [kind, world] of Object.entries({ task, orchestration, review, map, run })) {
      const { answer, bundle } = exported(world);
      assert.equal(bundle.bundle_version, 3, kind);
      assert.deepEqual(answer.warnings, [], kind);
      assert.equal(bundle.source.kind, kind);
      const log = world.answer('log', '--session', answer.session);
      assert.equal(answer.events, log.total);
      assert.deepEqual(
        listOf(bundle.events).map(({ seq, type }: Printed) => [seq, type]),
        listOf(log.events).map(({ seq, type }: Printed) => [seq, type]),
      );
      assert.equal(bundle.session.revision, world.answer('status', '--session', answer.session).revision);
      assert.equal(bundle.documents === null, kind !== 'task', kind);
      // What an event of the log says is left as it is.
      const { events: _events, texts: _texts, ...others } = bundle;
      assert.ok(!JSON.stringify(others).includes(world.root), `${kind}: no path of this machine`);
    }
  });

  test('of version 2 is the bundle of the original, to the letter', (context) => {
    const world = taskIn(context);
    assertVersion2(exported(world, '--format-version', '2').text);
    world.git('add', '.');
    world.git('commit', '-qm', 'documents');
    assertVersion2(exported(world, '--format-version', '2').text);
    edit(world, 'Current step', 'Grüße 😀 \u007f');
    world.write('new.txt', 'x');
    world.answer('handoff', 'lease', 'claim', '--holder', 'ana', '--purpose', 'work');
    const { git, lease } = assertVersion2(exported(world, '--format-version', '2').text);
    assert.equal(lease.payload.holder, 'ana');
    const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
    const status = world.git('status', '--short').trim();
    const diff = world.git('diff', '--no-ext-diff', '--no-color', 'HEAD', '--').trim();
    assert.equal(git.dirty_fingerprint, sha256(`STATUS\n${status}\nDIFF\n${diff}`));
    assert.equal(git.status_fingerprint, sha256(status));
    const plain = createWorld(context, { git: false });
    plain.answer('handoff', 'new', '--task', 'Ship it', '--updated-by', 'ana', '--next-owner', 'ben');
    assertVersion2(exported(plain, '--format-version', '2').text);
    const review = reviewIn(context, 'context');
    const without = review.run('bundle', 'export', '--format-version', '2', '--json');
    assert.equal(without.status, 4);
    assert.equal(without.json.result, 'error');
    assert.match(textOf(without.json.errors), /holds a handover/);
  });

  test('lies where git does not see it, under the next free minute, and is found whole or not at all', (context) => {
    const world = taskIn(context);
    world.git('add', '.');
    world.git('commit', '-qm', 'documents');
    const paths = [1, 2].map(() => world.answer('bundle', 'export').bundle_path);
    assert.deepEqual(
      paths.map((path: string) => path.slice(world.path('docs/tests/').length)),
      ['handoff-bundles/20260317_1200_handoff-bundle.json', 'handoff-bundles/20260317_1201_handoff-bundle.json'],
    );
    assert.equal(world.git('status', '--porcelain', '--untracked-files=all'), '');
    assert.deepEqual(readdirSync(world.path('docs/tests/handoff-bundles')).toSorted(), [
      '.gitignore',
      '20260317_1200_handoff-bundle.json',
      '20260317_1201_handoff-bundle.json',
    ]);
    const review = reviewIn(context, 'context');
    assert.match(review.answer('bundle', 'export').bundle_path, /\/\.stint\/handoff-bundles\//);
    assert.equal(review.git('status', '--porcelain', '--untracked-files=all', '--', ':!.ocr'), '');
    world.write('docs/tests/handoff-bundles/.gitignore', '!*\n');
    assert.match(textOf(world.answer('bundle', 'export').warnings), /GIT: .* does not keep bundles from git/);
  });

  test('replaces nothing that is not a file, and a file only where that is said', (context) => {
    const world = taskIn(context);
    const before = treeOf(world.project, (path) => path.startsWith('.stint'));
    world.write('there.json', 'precious');
    symlinkSync(world.path('there.json'), world.path('link.json'));
    mkdirSync(world.path('folder'));
    const refused = (output: string, ...more: readonly string[]): Printed =>
      world.run('bundle', 'export', '--output', output, '--json', ...more).json;
    const there = refused('there.json');
    assert.equal(there.error.code, 'conflict');
    assert.match(textOf(there.errors), /^Refusing to overwrite/);
    assert.equal(there.result, 'error');
    assert.equal(refused('link.json', '--force').error.code, 'invariant-unmet');
    assert.equal(refused('folder').error.code, 'usage');
    assert.equal(readFileSync(world.path('there.json'), 'utf8'), 'precious');
    world.answer('bundle', 'export', '--output', 'there.json', '--force');
    const after = treeOf(world.project, (path) => /^(?:\.stint|there|link|folder)/.test(path));
    assert.deepEqual(after, before);
  });

  test('is not written where a link in the checkout leads', (context) => {
    const world = taskIn(context);
    const outside = join(world.root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, '.gitignore'), '*\n');
    symlinkSync(outside, world.path('docs/tests/handoff-bundles'));
    assert.equal(world.run('bundle', 'export').status, 6);
    assert.deepEqual(readdirSync(outside), ['.gitignore']);
  });

  test('reads only: what was written in documents is exported as it stands, and stays to be taken in', (context) => {
    const world = taskIn(context);
    edit(world, 'Current step', 'Something else');
    const before = treeOf(world.project, (path) => path.startsWith('.stint'));
    const events = world.answer('log', '--session', 'task:2026-03-17-main').total;
    const { bundle } = exported(world);
    assert.match(bundle.documents.session_state_markdown, /Something else/);
    assert.equal(bundle.events.length, events);
    assert.match(textOf(bundle.readiness.blocking_reasons), /is not known to/);
    assert.deepEqual(
      treeOf(world.project, (path) => path.startsWith('.stint')),
      before,
    );
  });

  test('takes the changes of the checkout and the bytes of artifacts along where that is asked for', (context) => {
    const world = taskIn(context);
    world.git('add', '.');
    world.git('commit', '-qm', 'documents');
    world.write('a.txt', 'one\n');
    world.git('add', 'a.txt');
    world.write('out/app.bin', Buffer.from([0, 255, 1]));
    world.write('out/env.txt', `${['pass', 'word'].join('')}=hunter2hunter2\n`);
    const session = 'task:2026-03-17-main';
    world.answer('note', 'artifact', 'out/app.bin', '--session', session);
    world.answer('note', 'artifact', 'out/env.txt', '--session', session);
    const plain = exported(world).bundle;
    assert.equal(plain.git.patch, null);
    assert.deepEqual(
      listOf(plain.artifacts).map(({ path, size, content_base64: content }: Printed) => [path, size, content]),
      [
        ['out/app.bin', 3, null],
        ['out/env.txt', 24, null],
      ],
    );
    const { bundle, answer } = exported(world, '--with-patch', '--with-artifacts');
    assert.match(bundle.git.patch, /^\+one$/m);
    assert.deepEqual(
      listOf(bundle.artifacts).map(({ content_base64: content }: Printed) => content),
      ['AP8B', null],
    );
    assert.match(textOf(answer.warnings), /out\/env\.txt goes without its content: it holds a secret/);
    assert.equal(exported(world, '--no-history').bundle.events, null);
  });

  test('does without git, and tells a documentation that is none', (context) => {
    const world = taskIn(context);
    const bin = join(world.root, 'bin');
    mkdirSync(bin);
    const { bundle } = exported(world.with({ env: { PATH: bin } }));
    assert.equal(bundle.git.available, false);
    assert.match(bundle.git.error, /not installed/);
    const broken = createWorld(context);
    broken.write('docs/tests', 'a file');
    assert.match(broken.refusal(6, 'bundle', 'export').message, /is a file, and the documentation is a folder/);
    assert.equal(createWorld(context).refusal(4, 'bundle', 'export').code, 'not-found');
    chmodSync(bin, 0o755);
  });

  test('does not write what could not be read again', (context) => {
    const world = taskIn(context);
    edit(world, 'Status', 'nearly');
    const outcome = world.run('bundle', 'export', '--json');
    assert.equal(outcome.status, 6);
    assert.equal(outcome.json.result, 'error');
    assert.match(textOf(outcome.json.errors), /status is none of the five/);
    assert.ok(!readdirSync(world.path('docs/tests')).includes('handoff-bundles'));
  });

  test('tells a lease as it stands, and gives no token away', (context) => {
    const world = taskIn(context);
    world.answer('handoff', 'lease', 'claim', '--holder', 'ana', '--purpose', 'work');
    const { answer, bundle } = exported(world);
    assert.equal(answer.lease_state, 'active');
    assert.equal(answer.readiness_verdict, 'not-ready');
    assert.equal(bundle.lease.payload.holder, 'ana');
    assert.ok(!('token' in bundle.session.state.lease));
    const expired = exported(later(world, 60));
    assert.equal(expired.answer.lease_state, 'expired');
    const broken = taskIn(context);
    broken.write('docs/tests/session-state/ACTIVE_LEASE.json', 'ana');
    const { answer: told, bundle: without } = exported(broken);
    assert.match(textOf(told.warnings), /ACTIVE_LEASE\.json holds no JSON object, and does not come along/);
    assert.equal(without.lease.payload, null);
  });
});

test('those who export at the same moment have a file each; a name that is given is written by one of them', async (context) => {
  const world = taskIn(context);
  const atOnce = async (...args: readonly string[]) =>
    Promise.all(Array.from({ length: 6 }, async () => world.start('bundle', 'export', '--json', ...args).outcome));
  const paths = (await atOnce()).map((outcome) => assertAnswer(outcome, 'bundle export').bundle_path);
  assert.equal(new Set(paths).size, 6, paths.join('\n'));
  for (const path of paths) assert.equal(world.run('bundle', 'inspect', '--bundle', path).status, 0);
  const named = await atOnce('--output', join(world.root, 'out.json'));
  assert.equal(named.filter(({ status }) => status === 0).length, 1);
  assert.equal(named.filter(({ status }) => status === 9).length, 5);
});

test(
  'where a folder of bundles may not be read, none is written over, and it is told',
  { skip: withoutUser },
  (context) => {
    const world = ordinary(taskIn(context));
    const { bundle_path: path } = world.answer('bundle', 'export');
    const before = readFileSync(path, 'utf8');
    chmodSync(dirname(path), 0o300);
    const { status, json } = world.run('bundle', 'export', '--json');
    assert.deepEqual([status, json.error.code], [9, 'conflict']);
    chmodSync(dirname(path), 0o700);
    assert.equal(readFileSync(path, 'utf8'), before);
    assert.equal(readdirSync(dirname(path)).filter((name) => name.endsWith('.tmp')).length, 0);
  },
);

suite('what may not leave', () => {
  test(
    'the texts of documents that were edited, the log, the changes and names: no secret of M01 is in a bundle',
    {
      skip: withoutShared('cases'),
    },
    (context) => {
      const text = Buffer.from(readFileSync(caseFile('M01', 'secrets.b64'), 'utf8'), 'base64').toString();
      const lines = text.split('\n').filter((one) => one !== '');
      const hidden = secretsOf(lines);
      const world = taskIn(context);
      world.git('add', '.');
      world.git('commit', '-qm', 'documents');
      const session = 'task:2026-03-17-main';
      world.answer('note', text, '--session', session, '--no-redact');
      world.write('a.txt', text);
      world.write('out.txt', text);
      world.git('add', 'a.txt');
      world.answer('note', 'artifact', 'out.txt', '--session', session);
      edit(world, 'Artifacts', `- x\n${text}`);
      edit(world, 'Commands to resume', lines.map((one) => `- ${one}`).join('\n'));
      for (const args of [
        ['--with-patch', '--with-artifacts'],
        ['--format-version', '2'],
      ]) {
        const { text: file, answer } = exported(world, ...args);
        for (const secret of hidden) assert.ok(!file.includes(secret), `${args.join(' ')} holds ${secret.slice(0, 6)}`);
        assert.ok(answer.redaction_count > 0);
        assert.match(textOf(answer.warnings), /REDACTION: \d+ secrets were taken out/);
      }
      const { bundle } = exported(world);
      assert.equal(
        bundle.redaction.rechained_from,
        listOf(bundle.events).find(({ type }: Printed) => type === 'Noted').seq,
      );
      const raw = exported(world, '--no-redact-secrets');
      assert.ok(raw.text.includes(hidden[0] ?? 'nothing'));
      assert.equal(raw.answer.redaction_count, 0);
      assert.equal(raw.bundle.redaction.enabled, false);
    },
  );

  test(
    'no token of any family is in a bundle, wherever it stood',
    { skip: withoutShared('handoff-pack') },
    (context) => {
      // The mark keeps tokens of tests from looking like real ones.
      const scenarios: Printed = JSON.parse(
        readFileSync(join(shared, 'handoff-pack/scenarios.json'), 'utf8').replaceAll('§', ''),
      );
      const { steps }: Printed = listOf(scenarios).find(({ id }: Printed) => id === 'S21i');
      const [, , ...hidden] = listOf(listOf(steps).find(([step]: Printed) => step === 'hasnt')).map(String);
      const said = listOf(steps)
        .filter(([step]: Printed) => step === 'set' || step === 'body')
        .map(([, , , text]: Printed) => String(text));
      assert.ok(hidden.length > 20);
      const world = taskIn(context);
      world.git('add', '.');
      world.git('commit', '-qm', 'documents');
      world.write('a.txt', said.join('\n'));
      world.write('out.txt', said.join('\n'));
      world.git('add', 'a.txt');
      const session = 'task:2026-03-17-main';
      for (const text of said) world.answer('note', `x ${text}`, '--session', session, '--no-redact');
      world.answer('note', 'artifact', 'out.txt', '--session', session);
      edit(world, 'Commands to resume', said[0] ?? '');
      edit(world, 'Artifacts', said[1] ?? '');
      for (const args of [
        ['--with-patch', '--with-artifacts'],
        ['--format-version', '2'],
      ]) {
        const { text } = exported(world, ...args);
        for (const token of hidden) assert.ok(!text.includes(token), `${args.join(' ')}: ${token.slice(0, 6)}`);
      }
    },
  );

  test('what others have to find again stays, whatever a policy denies', (context) => {
    const world = taskIn(context);
    world.answer('handoff', 'lease', 'claim', '--holder', 'ana', '--purpose', 'work');
    for (const version of ['2', '3'])
      for (const path of [
        'bundle.lease',
        'bundle.source',
        'bundle.source.handover_name',
        'bundle.documents',
        'bundle.documents.handover_markdown',
        'bundle.report',
        'bundle.readiness',
        'bundle.git',
        'bundle.exported_at',
        'bundle.session',
      ]) {
        const { bundle } = exported(world, '--format-version', version, '--deny-redaction-path', path);
        assert.equal(bundle.lease.payload.handover, `handovers/${bundle.source.handover_name}`, path);
        assert.equal(bundle.readiness.verdict, 'not-ready');
      }
    const { text, bundle } = exported(world, '--deny-redaction-path', 'bundle.documents');
    assert.ok(!text.includes('Skills and subskills used\\n- None'), 'the log does not tell what was denied');
    assert.match(bundle.documents.handover_markdown, /## Status\nin-progress\n/);
    assert.match(
      world.refusal(12, 'bundle', 'export', '--deny-redaction-path', 'bundle.events*').message,
      /takes out what event \d+ of task:2026-03-17-main is made of/,
    );
    exported(world, '--deny-redaction-path', '*', '--no-history');
  });

  test('a caller takes out more than a policy that is checked in, and less only with a reason, on the record', (context) => {
    const world = taskIn(context);
    const session = 'task:2026-03-17-main';
    world.answer('note', 'zz-hidden, carry-this and that-too', '--session', session);
    world.write(
      policyPath,
      JSON.stringify({
        allow_paths: ['bundle.git.branch'],
        deny_paths: ['bundle.source.docs_root'],
        extra_redaction_regexes: ['zz-[a-z]+'],
      }),
    );
    const tight = exported(
      world,
      '--extra-redaction-regex',
      'carry-\\w+',
      '--deny-redaction-path',
      'bundle.git.branch',
    );
    assert.ok(!/zz-hidden|carry-this/.test(tight.text));
    assert.ok(tight.text.includes('that-too'));
    assert.equal(tight.bundle.source.docs_root, '[REDACTED]');
    assert.equal(tight.bundle.redaction.policy_source, policyPath);
    assert.equal(tight.bundle.redaction.extra_redaction_regex_count, 2);
    for (const loosened of [
      ['--no-redaction-policy-file'],
      ['--no-redact-secrets'],
      ['--allow-redaction-path', 'bundle.events*'],
    ]) {
      assert.match(world.refusal(12, 'bundle', 'export', ...loosened).message, /is checked in, and this loosens it/);
      const { text, answer, bundle } = exported(world, ...loosened, '--override', 'they have the right');
      assert.ok(text.includes('zz-hidden'), loosened.join(' '));
      assert.equal(bundle.redaction.override.reason, 'they have the right');
      assert.equal(answer.revision, bundle.session.revision);
      const { events } = world.answer('log', '--session', session);
      assert.match(listOf(events).at(-1).data.text, /exported against the redaction policy: they have the right/);
    }
    // Another root of documents has its own policy, and that of the project counts there too.
    world.answer(
      'handoff',
      'new',
      '--root',
      'test-docs',
      '--task',
      'zz-hidden',
      '--updated-by',
      'ana',
      '--next-owner',
      'b',
    );
    assert.ok(!exported(world, '--root', 'test-docs').text.includes('zz-hidden'));
    world.write('test-docs/handoff-bundle-redaction-policy.json', '{"allow_paths": ["*"]}');
    assert.match(world.refusal(12, 'bundle', 'export', '--root', 'test-docs').message, /would be allowed/);
    world.write(policyPath, '{"deny_paths": 7}');
    assert.match(world.refusal(7, 'bundle', 'export').message, /redaction policy/);
    world.write(policyPath, '{}');
    assert.match(
      world.refusal(2, 'bundle', 'export', '--extra-redaction-regex', '(a+)+\\1').message,
      /--extra-redaction-regex 1 holds/,
    );
  });

  test('a keyword of a policy applies to texts too, and a log that it changes is chained anew', (context) => {
    const world = taskIn(context);
    const session = 'task:2026-03-17-main';
    world.answer('note', 'resume_code=carry-on', '--session', session);
    const { text, bundle } = exported(world, '--extra-sensitive-keyword', 'resume_code');
    assert.ok(!text.includes('carry-on'));
    const changed = listOf(bundle.events).findLast(({ type }: Printed) => type === 'Noted');
    assert.equal(bundle.redaction.rechained_from, changed.seq);
    assert.equal(bundle.session.hash, listOf(bundle.events).at(-1).hash);
    assert.notEqual(changed.hash, world.answer('log', '--session', session).events[changed.seq - 1].hash);
  });
});
