/** What comes along in a bundle, and what does not. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { printBundle, sealBundle } from '../src/formats/bundle/bundle.ts';
import { sampleBundle2 } from '../src/formats/bundle/samples.ts';
import { objectAt } from '../src/kernel/answer.ts';
import { sha256 } from '../src/lib/sha256.ts';
import { bundleFile, bundleOf } from './support/bundles.ts';
import { as } from './support/leases.ts';
import { orchestrationIn, orchestrationKey } from './support/orchestrations.ts';
import { reviewIn } from './support/reviews.ts';
import { createWorld, fileOnly, listOf, shared, withoutShared, type Tidying, type TestWorld } from './support/world.ts';

/** A task with documents, and a checkout that knows nothing of it. */
const task = (context: Tidying) => {
  const there = createWorld(context);
  const here = createWorld(context);
  const made = there.answer(
    ...['handoff', 'new', '--task', 'Move it', '--updated-by', 'ana', '--next-owner', 'ben'],
    ...['--remaining-step', 'Import it'],
  );
  return { there, here, key: String(made.session), state: String(made.session_state) };
};

/** Exports a session to a file beside both checkouts. */
const exported = (there: TestWorld, ...flags: readonly string[]): string => {
  const file = join(there.root, 'bundle.json');
  there.answer('bundle', 'export', '--output', file, '--force', ...flags);
  return file;
};

test('documents may stay where they are: then the session is the same on both sides, and can follow', (context) => {
  const { there, here, key } = task(context);
  const taken = here.answer('bundle', 'import', '--bundle', exported(there), '--no-documents');
  assert.deepEqual([taken.landed, taken.session_state], ['new', null]);
  assert.deepEqual(here.answer('show', key).events, there.answer('show', key).events);
  there.answer('note', 'more', '--session', key);
  const more = here.answer('bundle', 'import', '--bundle', exported(there), '--no-documents');
  assert.deepEqual([more.landed, more.events], ['gone-on-with', 1]);
  assert.equal(existsSync(here.path('docs')), false);
  here.answer('resume', '--session', key);
  assert.ok(existsSync(here.path('docs/tests/session-state/CURRENT.md')));
});

test('documents that version control has brought are no obstacle, and nothing is kept beside them', (context) => {
  const { there, here, key, state } = task(context);
  const file = exported(there);
  const handover = String(there.answer('handoff', 'locate').handover);
  for (const path of [state, handover]) here.write(path.slice(there.project.length + 1), readFileSync(path, 'utf8'));
  const taken = here.answer('bundle', 'import', '--bundle', file);
  assert.deepEqual([taken.session, taken.landed], [key, 'new']);
  assert.equal(listOf(here.answer('list').sessions).length, 1);
  here.answer('handoff', 'validate');
});

test('another place is named for a handover; with another session state two files are written, and no session', (context) => {
  const { there, here } = task(context);
  const file = exported(there);
  const handover = 'docs/tests/handovers/20260401_0900_handover.md';
  const state = 'docs/tests/session-state/20260401_0900_session-state.md';
  const files = here.answer(
    'bundle',
    'import',
    '--bundle',
    file,
    '--handover-output',
    handover,
    '--session-output',
    state,
  );
  assert.deepEqual([files.session, files.landed], [null, 'files']);
  here.answer('handoff', 'validate', '--handover', handover, '--session-state', state);
  assert.deepEqual(listOf(here.answer('list').sessions), []);
  here.refusal(6, 'bundle', 'import', '--bundle', file, '--handover-output', '../elsewhere.md');
  const own = 'docs/tests/handovers/mine.md';
  assert.equal(here.answer('bundle', 'import', '--bundle', file, '--handover-output', own).handover, here.path(own));
});

test('a session without its history becomes a task that says where it stood, whatever its kind', (context) => {
  const there = reviewIn(context, 'analysis');
  const here = createWorld(context);
  const taken = here.answer('bundle', 'import', '--bundle', exported(there, '--no-history'));
  assert.deepEqual([taken.landed, String(taken.session).split(':')[0]], ['made', 'task']);
  const log = listOf(here.answer('log', '--session', taken.session).events);
  assert.deepEqual(
    log.map(({ type }) => type),
    ['SessionOpened', 'TaskBegun', 'BundleTaken', 'Noted'],
  );
  assert.match(String(log.at(-1)?.data.text), /^review:2026-03-17-main came without its history, .*analysis/);
  here.refusal(2, 'bundle', 'import', '--bundle', exported(there, '--no-history'), '--as', 'other');
});

test('documents without their history become a task of what they say', (context) => {
  const { there, here } = task(context);
  const taken = here.answer('bundle', 'import', '--bundle', exported(there, '--no-history'));
  assert.deepEqual([taken.landed, taken.status, taken.next_owner], ['made', 'in-progress', 'ben']);
  assert.equal(here.answer('status').goal, 'Move it');
  const again = here.answer('bundle', 'import', '--bundle', exported(there, '--no-history'), '--dry-run');
  assert.equal(again.result, 'preview-with-warnings', 'another bundle of the same is no replay');
});

test(
  'the bundles of the original are taken: what is ready as it is, what is not with a word of it',
  { skip: withoutShared('fixtures', 'handoff') },
  (context) => {
    const here = createWorld(context).with({ now: '2026-11-30T12:00:00.000Z' });
    const fixture = (name: string): string => join(shared, 'fixtures/handoff', name);
    const ready = here.answer('bundle', 'import', '--bundle', fixture('bundle-ready-unsigned.json'));
    assert.deepEqual([ready.result, ready.landed, ready.lease_state], ['imported', 'made', 'none']);
    assert.equal(
      here.answer('bundle', 'import', '--bundle', fixture('bundle-ready-unsigned.json')).result,
      'unchanged',
    );
    const held = ['bundle', 'import', '--bundle', fixture('bundle-active-lease.json'), '--force'];
    here.refusal(11, ...held);
    const taken = here.answer(...held, '--untrusted');
    assert.equal(taken.lease_restored, false);
    assert.ok(listOf(taken.warnings).some((text) => String(text).startsWith('LEASE: codex held it')));
    const silent = here.answer(...held, '--untrusted', '--strip-lease');
    assert.equal(
      listOf(silent.warnings).some((text) => String(text).startsWith('LEASE')),
      false,
    );
    here.answer('handoff', 'validate');
    assert.equal(existsSync(here.path('docs/tests/session-state/ACTIVE_LEASE.json')), false);
  },
);

test('a name of the original that climbs is refused before anything is written', (context) => {
  const here = createWorld(context);
  const sample = sampleBundle2();
  const bundle = sealBundle(2, {
    ...sample,
    source: { ...objectAt(sample, 'source'), handover_name: '../../victim.md' },
  });
  here.refusal(7, 'bundle', 'import', '--bundle', bundleFile(here, bundle), '--untrusted', '--force');
  assert.equal(existsSync(here.path('docs')), false);
  assert.ok(printBundle(2, bundle).includes('victim'));
});

/** A bundle with a file that comes along. */
const withFile = (there: TestWorld, key: string, path: string, text: string) =>
  bundleOf(there, key, {
    artifacts: [
      { path, sha256: sha256(text), size: text.length, content_base64: Buffer.from(text).toString('base64') },
    ],
  });

test('files that come along are written when somebody asks for it, over nothing, and never where programs look', (context) => {
  const there = reviewIn(context, 'analysis');
  const { session: key } = there.answer('status');
  const here = createWorld(context);
  const file = bundleFile(here, withFile(there, key, 'out/report.txt', 'all is well'));
  const take = ['bundle', 'import', '--bundle', file] as const;
  assert.deepEqual(here.answer(...take, '--with-artifacts', '--dry-run').artifacts_written, ['out/report.txt']);
  here.answer(...take);
  assert.equal(existsSync(here.path('out')), false);
  assert.deepEqual(here.answer(...take, '--with-artifacts').artifacts_written, ['out/report.txt']);
  assert.equal(readFileSync(here.path('out/report.txt'), 'utf8'), 'all is well');
  assert.deepEqual(here.answer(...take, '--with-artifacts').artifacts_written, [], 'it is there');
  here.write('out/report.txt', 'mine');
  here.refusal(9, ...take, '--with-artifacts');
  assert.equal(readFileSync(here.path('out/report.txt'), 'utf8'), 'mine');
  for (const path of ['.git/hooks/pre-commit', 'stint.json', '.envrc', 'docs/tests/handoff-bundle-trust-policy.json']) {
    const evil = bundleFile(here, withFile(there, key, path, 'x'), 'evil.json');
    here.refusal(9, 'bundle', 'import', '--bundle', evil, '--with-artifacts');
    assert.equal(existsSync(here.path(path)), false, path);
  }
  symlinkSync(here.root, here.path('elsewhere'));
  const linked = bundleFile(here, withFile(there, key, 'elsewhere/x.txt', 'x'), 'linked.json');
  assert.notEqual(here.run('bundle', 'import', '--bundle', linked, '--with-artifacts').status, 0);
  assert.equal(existsSync(join(here.root, 'x.txt')), false);
});

test('a log that holds a secret is not taken, unless somebody wants it as it is', (context) => {
  const there = reviewIn(context, 'analysis');
  const { session: key } = there.answer('status');
  // Put together here, so that nobody takes it for a real one.
  const secret = `ghp_${'A1b2C3d4'.repeat(4)}abcd`;
  there.answer('note', `it is ${secret}`, '--session', key, '--no-redact');
  const here = createWorld(context);
  const file = bundleFile(here, bundleOf(there, key));
  const error = here.refusal(6, 'bundle', 'import', '--bundle', file);
  assert.match(error.message, /holds secrets/);
  assert.equal(JSON.stringify(error).includes(secret), false);
  assert.equal(here.answer('bundle', 'import', '--bundle', exported(there)).landed, 'new');
  assert.equal(here.refusal(9, 'bundle', 'import', '--bundle', file, '--no-redact').code, 'conflict');
  const other = createWorld(context);
  assert.equal(other.answer('bundle', 'import', '--bundle', file, '--no-redact').landed, 'new');
});

test('documents that somebody else works with are not taken from them, and their lease stays', (context) => {
  const { there, here } = task(context);
  const yesterday = here.with({ now: '2026-03-16T12:00:00.000Z' });
  const own = yesterday.answer('handoff', 'new', '--task', 'Own', '--updated-by', 'cy', '--next-owner', 'cy');
  here.answer('handoff', 'lease', 'claim', '--holder', 'cy', '--purpose', 'writing');
  const [text, lease] = [own.session_state, here.path('docs/tests/session-state/ACTIVE_LEASE.json')];
  const before = [readFileSync(text, 'utf8'), readFileSync(lease, 'utf8')];
  as(here, 'ben').refusal(10, 'bundle', 'import', '--bundle', exported(there), '--force', '--strip-lease');
  assert.deepEqual([readFileSync(text, 'utf8'), readFileSync(lease, 'utf8')], before);
});

test('documents that are not sound change nothing of what is there, with --force and --untrusted neither', (context) => {
  const here = createWorld(context);
  const own = here.answer('handoff', 'new', '--task', 'Own', '--updated-by', 'cy', '--next-owner', 'cy');
  const before = readFileSync(own.session_state, 'utf8');
  const sample = sampleBundle2();
  const documents = objectAt(sample, 'documents');
  const broken = String(documents['session_state_markdown']).replace(
    /## Last updated\n.*\n/,
    '## Last updated\nyesterday\n',
  );
  const file = bundleFile(
    here,
    sealBundle(2, { ...sample, documents: { ...documents, session_state_markdown: broken } }),
  );
  here.refusal(7, 'bundle', 'import', '--bundle', file, '--force', '--untrusted');
  assert.equal(readFileSync(own.session_state, 'utf8'), before);
  here.answer('handoff', 'validate');
});

// On a server it is worked on elsewhere still, and has its file there.
test('a kind that has one open session at a time gets no second one', { skip: fileOnly }, (context) => {
  const there = orchestrationIn(context);
  const here = createWorld(context);
  here.answer('begin', 'orchestration', '--name', 'own', '--goal', 'Own');
  const file = bundleFile(here, bundleOf(there, orchestrationKey));
  assert.match(here.refusal(9, 'bundle', 'import', '--bundle', file).message, /one at a time/);
  here.answer('finish', '--abort', '--session', 'own');
  assert.equal(here.answer('bundle', 'import', '--bundle', file).landed, 'new');
});

test('what somebody had written in documents and no verb had taken in comes along, and only that is new', (context) => {
  const { there, here, key, state } = task(context);
  const typesBehind = (world: TestWorld): readonly string[] =>
    listOf(world.answer('log', '--session', key).events)
      .slice(listOf(there.answer('log', '--session', key).events).length)
      .map(({ type }) => String(type));
  const plain = createWorld(context);
  plain.answer('bundle', 'import', '--bundle', exported(there));
  assert.deepEqual(typesBehind(plain), ['BundleTaken', 'DocumentEdited']);
  const text = readFileSync(state, 'utf8');
  writeFileSync(
    state,
    text.replace('1. Import it', '1. Import it\n2. Look at it').replace('- Decision: None', '- Decision: by hand'),
  );
  const accepting = ['--allow-source-not-ready', '--allow-inspection-warnings'];
  const taken = here.answer('bundle', 'import', '--bundle', exported(there), ...accepting);
  assert.ok(typesBehind(here).length > 2);
  assert.match(readFileSync(taken.session_state, 'utf8'), /2\. Look at it[^]*- Decision: by hand/);
  assert.equal(listOf(here.answer('journal', '--session', key, '--type', 'decision').entries)[0].text, 'by hand');
  here.answer('handoff', 'validate');
  assert.equal(here.answer('doctor').healthy, true);
});
