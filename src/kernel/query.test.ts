import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { kind } from '../kinds/review/index.ts';
import type { NewEvent, StoredEvent } from './event.ts';
import type { SessionRow } from './ports.ts';
import type { Evidence, Host, Process } from './process.ts';
import { activityOf, nextActionOf, statusToJson } from './query.ts';
import { absentSession, appendEvents, type Session } from './session.ts';
import { spansOf } from './spans.ts';

const opened: readonly NewEvent[] = [
  { type: 'SessionOpened', v: 1, data: { branch: 'main', worktree: 'main' } },
  { type: 'RoundStarted', v: 1, data: { round: 1, phase: 'context', phase_number: 1 } },
];
const entered = (phase: string, number: number): NewEvent => ({
  type: 'PhaseEntered',
  v: 1,
  data: { round: 1, phase, phase_number: number },
});
const closed: NewEvent = { type: 'SessionClosed', v: 1, data: { outcome: 'aborted' } };
const reopened: NewEvent = { type: 'SessionReopened', v: 1, data: { after: 'aborted' } };
const noted: NewEvent = { type: 'Noted', v: 1, data: { text: 'x' } };

const at = (seconds: number): string => new Date(Date.UTC(2026, 2, 29, 0, 59, 0) + seconds * 1000).toISOString();

const history = (...steps: readonly (readonly [number, readonly NewEvent[]])[]): readonly StoredEvent[] => {
  let session: Session = absentSession(kind, 'review:a');
  return steps.flatMap(([seconds, decided], index) => {
    const appended = appendEvents(session, decided, {
      now: at(seconds),
      actor: 'ana',
      place: 'here',
      cause: `c${index}`,
    });
    ({ session } = appended);
    return appended.events;
  });
};

const spans = (events: readonly StoredEvent[], now: number) =>
  spansOf(kind, 'review:a', events, at(now)).map(({ position, ms, to }) => [
    position.split(' ')[0],
    ms / 1000,
    to === null,
  ]);

test('each stretch at one position is one span, and the last one lasts until now', () => {
  const events = history(
    [0, opened],
    [10, [entered('change-context', 2)]],
    [10, [noted]],
    [40, [entered('analysis', 3)]],
  );
  assert.deepEqual(spans(events, 100), [
    ['context', 10, false],
    ['change-context', 30, false],
    ['analysis', 60, true],
  ]);
});

test('the time between a close and a reopening belongs to no span', () => {
  const events = history([0, opened], [10, [closed]], [1000, [reopened]]);
  assert.deepEqual(spans(events, 1005), [
    ['context', 10, false],
    ['context', 5, true],
  ]);
  assert.deepEqual(spans(history([0, opened], [10, [closed]]), 9999), [['context', 10, false]]);
});

test('a clock that went back makes no negative time', () => {
  assert.deepEqual(spans(history([50, opened]), 10), [['context', 0, true]]);
});

test('spans follow each other without overlap, and their sum is the time that the session was open', () => {
  const phase = fc.constantFrom(entered('change-context', 2), entered('analysis', 3), entered('reviews', 4));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(5000), phase), { maxLength: 30 }), (steps) => {
      let clock = 0;
      const moves = steps.map(([pause, event]): readonly [number, readonly NewEvent[]] => {
        clock += pause;
        return [clock, [event]];
      });
      const found = spansOf(kind, 'review:a', history([0, opened], ...moves), at(clock + 7));
      found.slice(1).forEach((span, index) => assert.equal(found[index]?.to, span.from));
      assert.equal(
        found.reduce((total, { ms }) => total + ms, 0),
        (clock + 7) * 1000,
      );
    }),
  );
});

const row: SessionRow = {
  key: 'review:a',
  kind: 'review',
  name: 'a',
  status: 'active',
  outcome: null,
  branch: 'main',
  place: 'here',
  worktree: 'main',
  position: 'reviews',
  startedAt: '2026-03-17T12:00:00.000Z',
  updatedAt: '2026-03-17T12:00:00.000Z',
  closedAt: null,
  pausedAt: null,
  archivedAt: null,
  seq: 3,
  revision: 3,
  interruptedAt: null,
  flaw: null,
  lease: null,
};
const closedRow: SessionRow = { ...row, status: 'closed', outcome: 'aborted', closedAt: '2026-03-17T12:10:00.000Z' };

/** A process of which nobody knows more than that it was heard of at `12:<minutes>`. */
const process = (id: string, minutes = 0, more: Partial<Process> = {}): Process => ({
  id,
  session: 'review:a',
  kind: 'instance',
  role: null,
  persona: null,
  instance: null,
  name: id,
  vendor: null,
  vendorSession: null,
  model: null,
  phase: null,
  parent: null,
  host: 'desk',
  hostId: 'here',
  pid: null,
  pidStart: null,
  startedAt: '2026-03-17T12:00:00.000Z',
  heartbeatAt: `2026-03-17T12:${String(minutes).padStart(2, '0')}:00.000Z`,
  endedAt: null,
  outcome: null,
  exitCode: null,
  note: null,
  ...more,
});

/** A host that can see these, at 12:30. */
const seeing = (evidence: Readonly<Record<string, Evidence>>, caller?: string) => {
  const host: Host = {
    name: 'desk',
    id: 'here',
    startOf: () => null,
    observe: (sign) => ('id' in sign ? evidence[String(sign.id)] : undefined) ?? 'unknown',
    offsetAt: () => 0,
  };
  const here = { id: 'here', root: '/project', worktree: 'main', branch: 'main', label: 'project' };
  return {
    host,
    caller: {
      now: '2026-03-17T12:30:00.000Z',
      process: caller,
      actor: 'ana',
      agent: null,
      user: () => 'ana',
      leaseToken: undefined,
    },
    places: { here, claim: () => ({ ok: true, value: 'here' }) as const, homeOf: () => here },
    files: {
      list: () => [],
      exists: () => false,
      holds: () => false,
      text: () => ({ ok: false as const, error: { problem: 'does not exist', isMissing: true } }),
      isFolder: () => false,
      read: () => null,
      digest: () => undefined,
      tree: () => [],
      tables: async () => ({ ok: true, value: {} }) as const,
    },
  };
};

suite('activity', () => {
  const activity = (
    processes: readonly Process[],
    evidence: Readonly<Record<string, Evidence>> = {},
    of: SessionRow = row,
  ): readonly (string | null)[] => Object.values(activityOf(of, processes, seeing(evidence)));

  test('a session is running while anybody is alive, or may be', () => {
    assert.deepEqual(activity([process('a'), process('b')], { a: 'dead', b: 'alive' }), ['running', null]);
    assert.deepEqual(activity([process('a'), process('b', 20)], { a: 'dead' }), ['running', null]);
    assert.deepEqual(activity([process('b', 20)], {}, closedRow), ['running', null]);
  });

  test('it is quiet where nobody was heard of for a while, since the last one was, and nobody is known to live', () => {
    const quiet = [process('a', 3), process('b', 7), process('c', 20)];
    assert.deepEqual(activity(quiet, { c: 'dead' }), ['quiet', '2026-03-17T12:07:00.000Z']);
  });

  test('it is interrupted where all are dead, since the last one of them was heard of', () => {
    const all = [process('a', 3, { kind: 'supervisor' }), process('b', 20, { parent: 'a' })];
    assert.deepEqual(activity(all, { a: 'dead' }), ['interrupted', '2026-03-17T12:20:00.000Z']);
    assert.deepEqual(activity(all, { a: 'dead' }, closedRow), ['none', null], 'a closed one is not');
  });

  test('it stays interrupted since then when the dead are on record', () => {
    const lost = { ...row, interruptedAt: '2026-03-17T12:20:00.000Z' };
    assert.deepEqual(activity([], {}, lost), ['interrupted', '2026-03-17T12:20:00.000Z']);
    assert.deepEqual(activity([process('a', 3)], { a: 'dead' }, lost), ['interrupted', '2026-03-17T12:20:00.000Z']);
    assert.deepEqual(activity([process('a', 25)], { a: 'dead' }, lost), ['interrupted', '2026-03-17T12:25:00.000Z']);
    assert.deepEqual(activity([]), ['none', null]);
  });

  test('who was found dead was lost when it was last heard of, and a new start or a step ends the interruption', () => {
    const started = (id: string): NewEvent => ({
      type: 'ProcessStarted',
      v: 1,
      data: { process: id, kind: 'instance' },
    });
    const ended = (data: NewEvent['data']): NewEvent => ({
      type: 'ProcessEnded',
      v: 1,
      data: { process: 'x', ...data },
    });
    const interrupted = (...events: readonly NewEvent[]): string | null | undefined => {
      let session: Session = absentSession(kind, 'review:a');
      for (const [index, event] of [...opened, started('x'), ...events].entries()) {
        const origin = { now: at(index), actor: 'ana', place: 'here', cause: `c${index}` };
        ({ session } = appendEvents(session, [event], origin));
      }
      return session.common?.interruptedAt;
    };
    const [early, late] = [at(-100), at(-50)];
    assert.equal(interrupted(ended({ outcome: 'orphaned', heard_of_at: early })), early);
    assert.equal(interrupted(ended({ outcome: 'cancelled', heard_of_at: early })), early, 'with its supervisor');
    assert.equal(interrupted(ended({ outcome: 'crashed' })), at(3), 'who says so itself says it now');
    for (const outcome of ['done', 'cancelled']) assert.equal(interrupted(ended({ outcome })), null, outcome);
    const both = [late, early].map((heard) => ended({ outcome: 'orphaned', heard_of_at: heard }));
    assert.equal(interrupted(...both), late);
    assert.equal(interrupted(...both, started('y')), null);
    assert.equal(interrupted(...both, entered('change-context', 2)), null);
    assert.equal(interrupted(...both, noted), late, 'a remark is no work');
    assert.equal(
      interrupted(closed, ended({ outcome: 'orphaned', heard_of_at: early })),
      null,
      'what is closed is not',
    );
  });
});

suite('next action', () => {
  const next = { kind: 'advance', text: 'Go on.', command: 'stint advance x' } as const;
  const view = {
    position: 'reviews',
    where: {},
    fields: {},
    remaining: [],
    missing: ['x'],
    next,
    evidence: [],
    completeness: 'open_no_artifact',
  } as const;
  const ask = (
    processes: readonly Process[],
    evidence: Readonly<Record<string, Evidence>> = {},
    caller?: string,
    of: SessionRow = row,
  ) => {
    const read = { row: of, common: { goal: null, reason: null, pause: null, notes: 0 }, view, unreadable: undefined };
    return statusToJson(
      read,
      { processes, renewal: undefined, atWork: { working: 0, heardAt: null }, abandoned: [], sampled: {} },
      seeing(evidence, caller),
      'work/a',
    );
  };
  const nextOf = (...asked: Parameters<typeof ask>) => {
    const action: unknown = ask(...asked)['next_action'];
    return action;
  };

  test('while instances are at work the next action is to wait for them, quiet or not', () => {
    const all = [process('ada', 0), process('bea', 29), process('eve', 29, { kind: 'utility' })];
    assert.deepEqual(nextOf(all), {
      kind: 'wait',
      text: 'Wait for ada, bea. Then: Go on.',
      command: 'stint process list --session review:a',
    });
    assert.equal(ask(all)['completeness_state'], 'in_flight');
  });

  test('nobody waits for himself, for a supervisor, for the dead, or on a closed session', () => {
    const lead = process('lead', 29, { kind: 'supervisor' });
    const ada = process('ada-1', 29);
    assert.deepEqual(nextOf([lead], { lead: 'alive' }), next);
    assert.deepEqual(nextOf([lead, ada], { lead: 'alive' }, 'ada-1'), next);
    assert.deepEqual(nextOf([lead, ada], { lead: 'alive' }, 'ada-'), next, 'by the first characters of its id, too');
    assert.deepEqual(nextOf([ada], {}, undefined, closedRow), next);
    assert.deepEqual(nextOf([process('old', 29, { endedAt: row.updatedAt, outcome: 'done' })]), next);
    const gone = 'Gone without a word: ada-1 (stint process sweep records it). Go on.';
    assert.deepEqual(nextOf([ada], { 'ada-1': 'dead' }), { ...next, text: gone });
  });

  test('characters with which several ids begin name none of them', () => {
    const all = [process('ada-1', 29), process('ada-2', 29)];
    assert.deepEqual(nextOf(all, {}, 'ada-'), nextOf(all));
  });

  test('what was left is claimed where it is handed out again; of what is not, whoever resumes says what came of it', () => {
    const left = (...steps: readonly (readonly [string, boolean])[]) =>
      nextActionOf(
        { row, view },
        {
          processes: [],
          renewal: undefined,
          atWork: { working: 0, heardAt: null },
          abandoned: steps.map(([id, comesBack]) => ({ id, comesBack })),
          sampled: {},
        },
        seeing({}),
      );
    const claim = 'stint next --claim --session review:a';
    assert.deepEqual(
      [left(['a', true]), left(['a', true], ['b', false], ['c', true])],
      [
        { kind: 'claim', text: 'Claim: 1 step was left by whoever had it.', command: claim },
        { kind: 'claim', text: 'Claim: 2 steps were left by whoever had them.', command: claim },
      ],
    );
    const command = 'stint resume --session review:a';
    assert.deepEqual(
      [left(['a', false]), left(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => [id, false] as const))],
      [
        { kind: 'settle', text: 'a was left by whoever had it: resume, then say what it has done.', command },
        {
          kind: 'settle',
          text: 'a, b, c, d, e and 2 more were left by whoever had them: resume, then say what they have done.',
          command,
        },
      ],
    );
  });

  test('of many processes those that run are named before those that have ended', () => {
    const old = process('old', 29);
    const ended = Array.from({ length: 30 }, (_, index) =>
      process(`e${index}`, 0, { endedAt: row.updatedAt, outcome: 'done' }),
    );
    const { processes, processes_total: total } = ask([old, ...ended]);
    assert.ok(Array.isArray(processes));
    assert.equal(total, 31);
    assert.deepEqual(
      processes.map(({ id }) => id),
      ['old', ...ended.slice(-19).map(({ id }) => id)],
    );
  });
});
