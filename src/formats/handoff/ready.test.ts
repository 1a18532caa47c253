import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectAt, objectsAt, textAt } from '../../kernel/answer.ts';
import type { Entry } from '../../kernel/journal.ts';
import { handover, sessionState } from './document.ts';
import { readyToJson, type ReadyFacts, type SessionSaid } from './ready.ts';
import { reportToJson } from './report.ts';
import { archivedPair, lookAt, sample } from './samples.ts';
import { currentPath, examine, leaseIn, locatePair } from './workspace.ts';

const now = '2026-03-12T10:00:00.000Z';
const transfer = 'handovers/20260312_0915_handover.md';

type Files = Readonly<Record<string, string>>;

/** A pair in which both say the same, and what only one of them has. */
const pairOf = (said: Files = {}, more: Files = {}): Files => ({
  [currentPath]: sample(sessionState, said),
  [transfer]: sample(handover, said),
  ...more,
});

const factsOf = (files: Files, more: Partial<ReadyFacts> = {}): ReadyFacts => {
  const look = lookAt(files);
  const pair = locatePair(look);
  return {
    root: look.root,
    report: reportToJson(look, now, 3),
    handover: pair === undefined ? undefined : examine(look, handover, pair.handover),
    sessionState: pair === undefined ? undefined : examine(look, sessionState, pair.sessionState),
    leaseFile: leaseIn(look, now),
    session: undefined,
    changedAt: (path) => (path === 'src/a.ts' ? 0 : undefined),
    secrets: [],
    stale: [],
    tree: undefined,
    required: new Set(),
    now,
    actor: 'ana',
    where: { root: '', pair: '' },
    ...more,
  };
};

const judged = (facts: ReadyFacts) => {
  const answer = readyToJson(facts);
  const reasons = objectsAt(answer, 'reasons');
  return {
    verdict: answer['verdict'],
    codes: reasons.filter((one) => one['severity'] !== 'note').map((one) => textAt(one, 'code')),
    notes: reasons.filter((one) => one['severity'] === 'note').map((one) => textAt(one, 'code')),
    commands: reasons.map((one) => textAt(one, 'command')),
    texts: reasons.map((one) => textAt(one, 'text')),
  };
};

const codesOf = (files: Files, more: Partial<ReadyFacts> = {}) => judged(factsOf(files, more)).codes;

const said = (more: Partial<SessionSaid> = {}): SessionSaid => ({
  key: 'task:ship',
  lease: undefined,
  blockers: [],
  doubts: [],
  validation: undefined,
  hasOtherEvidence: false,
  files: [],
  awaited: [],
  archived: [],
  edits: [],
  ...more,
});

const validated = (more: Partial<Entry> = {}): Entry => ({
  id: 7,
  type: 'validation',
  at: '2026-03-12T09:00:00.000Z',
  actor: 'ana',
  text: 'npm test',
  exitCode: 0,
  wasRun: true,
  ...more,
});

test('a sound pair is ready whatever its status, and what nobody validated is told', () => {
  for (const status of ['not-started', 'in-progress', 'ready-for-review'])
    assert.deepEqual(judged(factsOf(pairOf({ Status: status }))), {
      verdict: 'ready',
      codes: [],
      notes: ['validation-missing'],
      commands: ['stint handoff update --updated-by ana && stint note validation --run -- COMMAND'],
      texts: ['nothing says what was validated'],
    });
  const done = { Status: 'done', 'Next owner': 'None', 'Session-state pointer': 'None' };
  assert.deepEqual(codesOf(pairOf(done)), []);
});

test('each reason has its severity, and a command that begins with a program', () => {
  const files = pairOf(
    {
      Status: 'blocked',
      'Last updated': '2999-01-01T00:00:00Z',
      Blockers: '- no token',
      'Files touched': '- gone.ts',
      'Resume instructions': '- First file to open: `gone.md`',
    },
    {
      'session-state/20260310_0900_session-state.md': sample(sessionState, { Status: 'blocked' }),
      'session-state/ACTIVE_LEASE.json': '{}',
    },
  );
  const session = said({
    doubts: ['N-1'],
    edits: ['something was written'],
    validation: validated({ exitCode: 1 }),
    hasOtherEvidence: true,
  });
  const answer = readyToJson(
    factsOf(files, { session, secrets: [{ path: currentPath, section: 'Task', line: 3, rules: ['jwt'] }] }),
  );
  const reasons = objectsAt(answer, 'reasons');
  assert.deepEqual(
    reasons.map((one) => textAt(one, 'code')),
    [
      ...Array.from({ length: 7 }, () => 'lease-invalid'),
      'edit-not-taken',
      'step-in-doubt',
      'blocker-without-needs',
      'file-not-there',
      'first-file-not-there',
      'validation-other-evidence',
      'clock-ahead',
      'clock-ahead',
      'secret',
      'audit-warning',
      'validation-failed',
    ],
  );
  for (const reason of reasons) assert.match(textAt(reason, 'command'), /^(?:(?:stint|git|mv) |\$\{EDITOR:-vi\} )\S/);
});

test('what the audit finds broken blocks, wherever it is, and its warnings warn', () => {
  const broken = judged(factsOf(pairOf({}, archivedPair('20260310_0900', { Status: 'finished' }))));
  assert.deepEqual([broken.verdict, broken.codes], ['not-ready', ['doc-status', 'doc-status']]);
  assert.deepEqual(broken.commands.slice(0, 2), [
    '${EDITOR:-vi} /docs/handovers/20260310_0900_handover.md',
    '${EDITOR:-vi} /docs/session-state/20260310_0900_session-state.md',
  ]);
  const differs = { ...pairOf(), [currentPath]: sample(sessionState, { 'Next owner': 'cleo' }) };
  assert.deepEqual(judged(factsOf(differs)).commands[0], 'stint handoff reconcile --updated-by ana');
  const orphan = judged(factsOf(pairOf({}, { 'session-state/20260310_0900_session-state.md': sample(sessionState) })));
  assert.deepEqual([orphan.verdict, orphan.codes], ['ready-with-warnings', ['audit-warning']]);
  assert.deepEqual(judged(factsOf({})).codes, ['pair-missing']);
  assert.deepEqual(codesOf(pairOf({}, { 'handovers/README.md': 'read me' })), []);
});

const leaseFile = (expires: string): Files => ({
  'session-state/ACTIVE_LEASE.json': JSON.stringify({
    version: 1,
    holder: 'ana',
    purpose: 'edit',
    acquired_at: '2026-03-12T09:00:00Z',
    expires_at: expires,
    handover: transfer,
    session_state: currentPath,
  }),
});

test('a lease that is held or was left behind blocks: that of the session, and where it has none that of the file', () => {
  const held = judged(factsOf(pairOf({}, leaseFile('2026-03-12T11:00:00Z'))));
  assert.deepEqual([held.verdict, held.codes], ['not-ready', ['lease-held']]);
  assert.equal(held.texts[0], 'the lease is held by holder ana until 2026-03-12T11:00:00Z, for: edit');
  assert.equal(held.commands[0], 'stint handoff lease release --holder ana');
  assert.deepEqual(codesOf(pairOf({}, leaseFile('2026-03-12T09:30:00Z'))), ['lease-stale']);
  const lease = {
    state: 'stale',
    holder: 'ben',
    host: 'desk',
    purpose: null,
    acquiredAt: '2026-03-12T09:00:00Z',
    expiresAt: '2026-03-12T11:00:00Z',
  } as const;
  const facts = factsOf(pairOf({}, leaseFile('2026-03-12T11:00:00Z')), { session: said({ lease }) });
  assert.deepEqual(judged(facts).codes, ['lease-stale']);
  assert.match(judged(facts).texts[0] ?? '', /holder ben on desk .* whoever held it is gone/);
  assert.deepEqual(objectAt(readyToJson(facts), 'lease'), {
    state: 'stale',
    holder: 'ben',
    purpose: 'None',
    acquired_at: '2026-03-12T09:00:00Z',
    expires_at: '2026-03-12T11:00:00Z',
  });
  const active = { ...lease, state: 'active' } as const;
  assert.deepEqual(codesOf(pairOf(), { session: said({ lease: active }) }), ['lease-held']);
});

test('blocked with what it needs is ready, blocked by who knows what is not', () => {
  const blocked = (blockers: string) => codesOf(pairOf({ Status: 'blocked', Blockers: blockers }));
  assert.deepEqual(blocked('- no token\n- Needed to unblock: a token from ops'), []);
  assert.deepEqual(blocked('- no token'), ['blocker-without-needs']);
  assert.deepEqual(blocked('- no token\n- Needed to unblock: none'), ['blocker-without-needs']);
  assert.deepEqual(blocked('- no token\n- Needed to unblock: ops\n- no disk'), ['blocker-without-needs']);
  assert.deepEqual(blocked('- None'), ['blocked-by-nothing']);
  const open = { id: 4, at: now, actor: 'ana', reason: 'no token' };
  const facts = (needs: string | null) =>
    factsOf(pairOf({ Status: 'blocked', Blockers: '- no token' }), {
      session: said({ blockers: [{ ...open, needs }] }),
    });
  assert.deepEqual(judged(facts('ops')).codes, []);
  const both = said({
    blockers: [
      { ...open, needs: null },
      { ...open, id: 5, needs: 'ops' },
    ],
  });
  assert.deepEqual(codesOf(pairOf({ Status: 'blocked', Blockers: '- no token' }), { session: both }), []);
  assert.deepEqual(
    judged(facts(null)).commands[0],
    "stint block 'no token' --needs WHAT --session task:ship && stint unblock 4 --session task:ship",
  );
});

test('a done with anything left, in either document, is not done', () => {
  const done = { Status: 'done', 'Next owner': 'None', 'Session-state pointer': 'None' };
  assert.deepEqual(codesOf(pairOf({ ...done, 'Remaining steps': '1. Review' })), ['done-with-steps']);
  assert.deepEqual(codesOf(pairOf({ ...done, 'Remaining work': '1. Review' })), ['done-with-steps']);
  assert.deepEqual(codesOf(pairOf({ ...done, Blockers: '- no token\n- Needed to unblock: ops' })), [
    'done-with-blockers',
  ]);
  assert.deepEqual(
    codesOf(pairOf({ ...done, 'Blockers and decisions': '- Blockers:\n  no token\n- Decisions:\n  None' })),
    ['done-with-blockers'],
  );
  assert.deepEqual(codesOf(pairOf({ ...done, 'Remaining steps': '1. None' })), []);
});

test('files that are named are there, or are said to be gone', () => {
  const touched = (item: string) => codesOf(pairOf({ 'Files touched': `- ${item}` }));
  for (const item of [
    'src/a.ts',
    '`src/a.ts`: the parser',
    'gone.ts (deleted)',
    'gone/*.ts',
    'https://gone.example/x.ts',
    'gone with the wind',
  ])
    assert.deepEqual(touched(item), [], item);
  for (const item of ['gone.ts', '`src/a.ts` and `gone.ts`', 'gone.ts:12', 'gone.ts - the parser', '[it](gone.ts)'])
    assert.deepEqual(touched(item), ['file-not-there'], item);
  const { commands } = judged(factsOf(pairOf({ 'Files touched': '- src/a.ts\n- gone.ts' })));
  assert.equal(commands[0], 'stint handoff update --updated-by ana --file-touched src/a.ts');
  const first = (path: string) => codesOf(pairOf({ 'Resume instructions': `- First file to open: \`${path}\`` }));
  assert.deepEqual([first('src/a.ts'), first('gone.ts'), first('None')], [[], ['first-file-not-there'], []]);
  assert.deepEqual(codesOf(pairOf(), { session: said({ files: ['gone.ts', 'src/a.ts'] }) }), ['file-not-there']);
});

test('a validation says nothing of a file that was changed since, or whose evidence is another one', () => {
  const files = pairOf({ 'Files touched': '- src/a.ts\n- docs/tests/session-state/CURRENT.md' });
  const changedAt = (time: string) => () => Date.parse(time);
  const after = changedAt('2026-03-12T09:30:00Z');
  const before = changedAt('2026-03-12T08:30:00Z');
  const session = said({ validation: validated() });
  assert.deepEqual(codesOf(files, { session, changedAt: before }), []);
  const old = judged(factsOf(files, { session, changedAt: after }));
  assert.deepEqual([old.codes, old.verdict], [['validation-old'], 'not-ready']);
  assert.equal(old.texts[0], '"npm test" was validated 1 hour ago, and since then changed: src/a.ts');
  assert.equal(old.commands[0], 'stint note validation --run --session task:ship -- npm test');
  const other = {
    session: said({ validation: validated({ path: 'test.log' }), hasOtherEvidence: true }),
    changedAt: before,
  };
  assert.deepEqual(codesOf(files, other), ['validation-other-evidence']);
  const failed = { session: said({ validation: validated({ exitCode: 1 }) }), changedAt: before };
  assert.deepEqual([codesOf(files, failed), judged(factsOf(files, failed)).notes], [[], ['validation-failed']]);
  assert.deepEqual(codesOf(pairOf({ Status: 'ready-for-review' }), failed), ['validation-failed']);
});

test('where only the documents tell of a validation, files that changed after them are a warning', () => {
  const files = pairOf({ 'Files touched': '- src/a.ts', 'Validation snapshot': '- Passed:\n  npm test' });
  const at = (time: string) => judged(factsOf(files, { changedAt: () => Date.parse(time) }));
  assert.deepEqual([at('2026-03-12T09:15:01Z').verdict, at('2026-03-12T09:15:01Z').notes], ['ready', []]);
  assert.deepEqual(
    [at('2026-03-12T09:16:00Z').verdict, at('2026-03-12T09:16:00Z').codes],
    ['ready-with-warnings', ['validation-perhaps-old']],
  );
});

test('a time that has not come blocks, one of long ago is told', () => {
  const at = (time: string) => judged(factsOf(pairOf({ 'Last updated': time })));
  assert.deepEqual(at('2026-03-12T10:01:59Z').codes, []);
  assert.deepEqual(at('2026-03-12T10:02:01Z').codes, ['clock-ahead', 'clock-ahead']);
  assert.deepEqual(at('2999-01-01T00:00:00Z').verdict, 'not-ready');
  assert.deepEqual(
    [at('1999-01-01T00:00:00Z').verdict, at('1999-01-01T00:00:00Z').notes],
    ['ready', ['validation-missing', 'state-old']],
  );
});

test('what is not validated, and a tree that is not clean, are told, and block where the project requires them', () => {
  const tree = {
    known: true,
    head: null,
    commits: null,
    dirty: { total: 2, paths: ['a.ts', 'b.ts'] },
    changedSinceValidation: null,
  } as const;
  const facts = (more: Partial<ReadyFacts>) => judged(factsOf(pairOf(), more));
  assert.deepEqual(facts({ tree }).notes, ['validation-missing', 'tree-dirty']);
  assert.deepEqual(facts({ tree, required: new Set(['validation', 'clean-tree']) }).codes, [
    'validation-missing',
    'tree-dirty',
  ]);
  const clean = { ...tree, dirty: { total: 0, paths: [] } };
  assert.deepEqual(facts({ tree: clean }).notes, ['validation-missing']);
  const unknown = { known: false, because: 'git is not installed here' } as const;
  assert.deepEqual(
    facts({ tree: unknown, required: new Set(['clean-tree']) }).texts[0],
    'whether the working tree is clean is not known: git is not installed here',
  );
  assert.deepEqual(facts({ required: new Set(['clean-tree']) }).codes, ['tree-dirty']);
});

test('commands name the root again where it was named', () => {
  const where = { root: ' --root other', pair: ' --session-state other/session-state/CURRENT.md' };
  const { commands } = judged(
    factsOf(pairOf({ Status: 'blocked' }, { 'session-state/ACTIVE_LEASE.json': '[]' }), { where }),
  );
  assert.deepEqual(commands.slice(0, 2), [
    'stint handoff lease release --holder ana --root other',
    'stint handoff update --updated-by ana --blocker WHAT --needs WHAT --session-state other/session-state/CURRENT.md',
  ]);
});
