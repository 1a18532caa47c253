import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { kind } from '../kinds/review/index.ts';
import type { Result } from '../lib/result.ts';
import type { DecidedEvent, StoredEvent } from './event.ts';
import { decideBegin, decideFinish } from './lifecycle.ts';
import { decideBind, decideEnd, decideProcess, decideStart, decideSweep, type ProcessStart } from './process-rules.ts';
import {
  callProcess,
  decideClose,
  foldProcess,
  livenessOf,
  livenessOfAll,
  processesNamed,
  processOf,
  processKinds,
  resumeOf,
  type Evidence,
  type Host,
  type Process,
} from './process.ts';
import type { Refusal } from './refusal.ts';
import { absentSession, appendEvents, applyEvent, isOpened, type OpenedSession, type Session } from './session.ts';

const noon = '2026-03-17T12:00:00.000Z';

/** A process that runs, as it was started at noon. */
const running = (id: string, more: Partial<Process> = {}): Process => ({
  id,
  session: 'review:a',
  kind: 'instance',
  role: null,
  persona: null,
  instance: null,
  name: null,
  vendor: null,
  vendorSession: null,
  model: null,
  phase: null,
  parent: null,
  host: 'desk',
  hostId: 'here',
  pid: null,
  pidStart: null,
  startedAt: noon,
  heartbeatAt: noon,
  endedAt: null,
  outcome: null,
  exitCode: null,
  note: null,
  ...more,
});

const supervisor = (id: string, more: Partial<Process> = {}): Process => running(id, { kind: 'supervisor', ...more });

const ended = (id: string, more: Partial<Process> = {}): Process =>
  running(id, { endedAt: '2026-03-17T12:05:00.000Z', outcome: 'done', ...more });

const start = (id: string, more: Partial<ProcessStart> = {}): ProcessStart => ({
  id,
  kind: 'instance',
  role: null,
  persona: null,
  instance: null,
  name: null,
  vendor: null,
  model: null,
  phase: null,
  parent: undefined,
  host: 'desk',
  hostId: 'here',
  pid: null,
  pidStart: null,
  note: null,
  ...more,
});

const eventsOf = (decided: Result<readonly DecidedEvent[], Refusal>): readonly DecidedEvent[] => {
  assert.ok(decided.ok, decided.ok ? '' : decided.error.message);
  return decided.value;
};

const refusalOf = (decided: Result<readonly DecidedEvent[], Refusal>): Refusal => {
  assert.ok(!decided.ok, 'it is refused');
  return decided.error;
};

/** Who ends how, by the events. */
const endsOf = (events: readonly DecidedEvent[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(events.map(({ data }) => [data['process'], data['outcome']]));

/** A host that knows this about processes, by their ids; of the others it knows nothing. */
const hostKnowing = (evidence: Readonly<Record<string, Evidence>>): Host => ({
  name: 'desk',
  id: 'here',
  startOf: () => null,
  observe: (sign) => ('id' in sign ? evidence[String(sign.id)] : undefined) ?? 'unknown',
  offsetAt: () => 0,
});

suite('start', () => {
  const parentOf = (started: Result<readonly DecidedEvent[], Refusal>): unknown => eventsOf(started)[0]?.data['parent'];

  test('given supervisors that run, an instance goes down with the newest one, or with the one that it names', () => {
    const both = [supervisor('s1'), running('i1'), supervisor('s2'), running('u1', { kind: 'utility' })];
    assert.equal(parentOf(decideStart(both, start('x'))), 's2');
    assert.equal(parentOf(decideStart(both, start('x', { parent: 's1' }))), 's1');
  });

  test('given a supervisor, a tool that is started beside its work goes down with it only where it says so', () => {
    const one = [supervisor('s1')];
    assert.equal(parentOf(decideStart(one, start('x', { kind: 'utility' }))), undefined);
    assert.equal(parentOf(decideStart(one, start('x', { kind: 'utility', parent: 's1' }))), 's1');
  });

  test('given no supervisor, an instance stands for itself; a supervisor goes down with another one only where it says so', () => {
    assert.equal(parentOf(decideStart([running('i1')], start('x'))), undefined);
    const one = [supervisor('s1')];
    assert.equal(parentOf(decideStart(one, start('x', { kind: 'supervisor' }))), undefined);
    assert.equal(parentOf(decideStart(one, start('x', { kind: 'supervisor', parent: 's1' }))), 's1');
  });

  test('given a parent that is no supervisor that runs, it is refused with those that are', () => {
    const all = [supervisor('s1'), running('i1')];
    for (const parent of ['i1', 'gone', '']) {
      const { code, candidates } = refusalOf(decideStart(all, start('x', { parent })));
      assert.deepEqual([code, candidates], ['not-found', ['s1']]);
    }
  });

  test('what is not known is not stored', () => {
    const [event] = eventsOf(decideStart([], start('x', { hostId: null })));
    assert.deepEqual(event?.data, { process: 'x', kind: 'instance', host: 'desk' });
  });
});

suite('bind', () => {
  test('a process is bound once: the same id again changes nothing, another one is a conflict', () => {
    const [event] = eventsOf(decideBind(running('x'), 'v-1'));
    assert.deepEqual(event?.data, { process: 'x', vendor_session: 'v-1' });
    const bound = running('x', { vendorSession: 'v-1' });
    assert.deepEqual(eventsOf(decideBind(bound, 'v-1')), []);
    assert.equal(refusalOf(decideBind(bound, 'v-2')).code, 'conflict');
  });

  test('given a process that has ended, the id that it is bound to changes nothing, and a first one is refused', () => {
    assert.deepEqual(eventsOf(decideBind(ended('x', { vendorSession: 'v-1' }), 'v-1')), []);
    assert.equal(refusalOf(decideBind(ended('x', { vendorSession: 'v-1' }), 'v-2')).code, 'conflict');
    const { code, hint } = refusalOf(decideBind(ended('x'), 'v-1'));
    assert.deepEqual([code, hint], ['illegal-transition', 'stint process start --kind instance --session review:a']);
  });

  test('being bound is a sign of life, and takes no later one back', () => {
    const bind = (heartbeatAt: string): string | undefined => {
      const at = '2026-03-17T12:10:00.000Z';
      const [decided] = eventsOf(decideBind(running('x'), 'v-1'));
      assert.ok(decided !== undefined);
      const stored = { ...decided, session: 'review:a', seq: 3, at, actor: 'ana', place: 'p', cause: 'c', hash: '' };
      return foldProcess(running('x', { heartbeatAt }), stored)?.heartbeatAt;
    };
    assert.equal(bind(noon), '2026-03-17T12:10:00.000Z');
    assert.equal(bind('2026-03-17T12:20:00.000Z'), '2026-03-17T12:20:00.000Z');
  });
});

suite('end', () => {
  const done = { outcome: 'done', exitCode: null, note: null } as const;

  test('an exit code that nobody knows is not stored', () => {
    const [unknown] = eventsOf(decideEnd(running('x'), [], { ...done, outcome: 'crashed' }));
    assert.deepEqual(unknown?.data, { process: 'x', outcome: 'crashed' });
    const [known] = eventsOf(decideEnd(running('x'), [], { ...done, exitCode: 0, note: 'n' }));
    assert.deepEqual(known?.data, { process: 'x', outcome: 'done', exit_code: 0, note: 'n' });
  });

  test('given a process that has ended, saying the same changes nothing, and saying something else is a conflict', () => {
    const crashed = ended('x', { outcome: 'crashed', exitCode: 137 });
    assert.deepEqual(eventsOf(decideEnd(crashed, [], { outcome: 'crashed', exitCode: 137, note: 'again' })), []);
    assert.deepEqual(eventsOf(decideEnd(crashed, [], { outcome: 'crashed', exitCode: null, note: null })), []);
    for (const other of [
      { outcome: 'crashed', exitCode: 1, note: null },
      { outcome: 'done', exitCode: 137, note: null },
      { outcome: 'cancelled', exitCode: null, note: null },
    ] as const) {
      const { code, message } = refusalOf(decideEnd(crashed, [], other));
      assert.equal(code, 'conflict');
      assert.equal(message, 'The process x ended at 2026-03-17T12:05:00.000Z: crashed, exit code 137.');
    }
    // What nobody knew cannot be known later either: the log says when it was said.
    assert.equal(
      refusalOf(decideEnd(ended('x', { outcome: 'crashed' }), [], { outcome: 'crashed', exitCode: 1, note: null }))
        .code,
      'conflict',
    );
  });

  test('a supervisor that crashed or was cancelled takes its dependents along, one that is done leaves them at work', () => {
    const all = [
      supervisor('s1'),
      supervisor('s2', { parent: 's1' }),
      running('i1', { parent: 's1' }),
      running('i2', { parent: 's2' }),
      running('i3'),
      supervisor('s3'),
      running('i4', { parent: 's3' }),
    ];
    const end = (outcome: 'done' | 'crashed' | 'cancelled') =>
      endsOf(eventsOf(decideEnd(supervisor('s1'), all, { ...done, outcome })));
    assert.deepEqual(end('done'), { s1: 'done' });
    for (const outcome of ['crashed', 'cancelled'] as const)
      assert.deepEqual(end(outcome), { s1: outcome, s2: 'cancelled', i1: 'cancelled', i2: 'cancelled' });
    assert.deepEqual(endsOf(eventsOf(decideEnd(running('i3'), all, { ...done, outcome: 'crashed' }))), {
      i3: 'crashed',
    });
  });
});

suite('sweep', () => {
  const all = [
    supervisor('s1', { heartbeatAt: '2026-03-17T12:01:00.000Z' }),
    supervisor('s2', { parent: 's1' }),
    running('i1', { parent: 's1', heartbeatAt: '2026-03-17T12:02:00.000Z' }),
    running('i2', { parent: 's2' }),
    running('i3'),
  ];

  test('the dead are orphaned, who depends on them is cancelled, and everybody else is left', () => {
    assert.deepEqual(endsOf(eventsOf(decideSweep(all, new Map([['s1', 'pid 7 is gone']])))), {
      s1: 'orphaned',
      s2: 'cancelled',
      i1: 'cancelled',
      i2: 'cancelled',
    });
    assert.deepEqual(endsOf(eventsOf(decideSweep(all, new Map([['s2', 'pid 8 is gone']])))), {
      s2: 'orphaned',
      i2: 'cancelled',
    });
  });

  test('a dead dependent of a dead supervisor was found dead itself, and ends once', () => {
    const dead = new Map(['s1', 'i1'].map((id) => [id, 'its pid is gone']));
    const events = eventsOf(decideSweep(all, dead));
    assert.deepEqual(endsOf(events), { s1: 'orphaned', i1: 'orphaned', s2: 'cancelled', i2: 'cancelled' });
    assert.equal(events.length, 4);
  });

  test('who is dead and not running any more changes nothing', () => {
    assert.deepEqual(eventsOf(decideSweep(all, new Map([['gone', 'pid 9 is gone']]))), []);
    assert.deepEqual(eventsOf(decideSweep([], new Map([['s1', 'pid 7 is gone']]))), []);
  });

  test('it is written down why it counts as dead, and when it was last heard of; no exit code is made up', () => {
    const [first, , third] = eventsOf(decideSweep(all, new Map([['s1', 'pid 7 is gone on desk']])));
    assert.deepEqual(first?.data, {
      process: 's1',
      outcome: 'orphaned',
      note: 'found dead: pid 7 is gone on desk',
      heard_of_at: '2026-03-17T12:01:00.000Z',
    });
    assert.equal(third?.data['heard_of_at'], '2026-03-17T12:02:00.000Z', 'who is cancelled with it, too');
  });
});

test('a session that is closed cancels who works on it, but neither who closes it nor a supervisor', () => {
  const all = [
    supervisor('s1'),
    running('i1', { parent: 's1' }),
    running('i2'),
    running('u1', { kind: 'utility' }),
    ended('i3'),
  ];
  assert.deepEqual(endsOf(decideClose(all, undefined)), { i1: 'cancelled', i2: 'cancelled', u1: 'cancelled' });
  assert.deepEqual(endsOf(decideClose(all, 'i1')), { i2: 'cancelled', u1: 'cancelled' });
  assert.deepEqual(endsOf(decideClose(all, 's1')), { i1: 'cancelled', i2: 'cancelled', u1: 'cancelled' });
});

suite('liveness', () => {
  const at = (minutes: number, ms = 0): string => new Date(Date.parse(noon) + minutes * 60_000 + ms).toISOString();

  test('what can be seen counts before any heartbeat, however old', () => {
    assert.equal(livenessOf(running('x'), hostKnowing({ x: 'alive' }), at(1_000_000)), 'alive');
    assert.equal(livenessOf(running('x'), hostKnowing({ x: 'dead' }), at(0)), 'dead');
    assert.equal(livenessOf(ended('x'), hostKnowing({ x: 'alive' }), at(0)), 'ended');
  });

  test('an old heartbeat alone means quiet, after 15 minutes, and never dead', () => {
    const look = (now: string): string => livenessOf(running('x'), hostKnowing({}), now);
    assert.equal(look(at(15)), 'unknown');
    assert.equal(look(at(15, 1)), 'quiet');
    assert.equal(look(at(60 * 24 * 365)), 'quiet');
    assert.equal(look(at(-60)), 'unknown', 'a heartbeat from a clock that is ahead is a heartbeat');
  });

  test('who depends on the dead is gone with them, as a sweep will record it', () => {
    const all = [
      supervisor('s1'),
      supervisor('s2', { parent: 's1' }),
      running('i1', { parent: 's2' }),
      running('i2'),
      ended('i3', { parent: 's1' }),
    ];
    assert.deepEqual(Object.fromEntries(livenessOfAll(all, hostKnowing({ s1: 'dead', i2: 'alive' }), noon)), {
      s1: 'dead',
      s2: 'dead',
      i1: 'dead',
      i2: 'alive',
      i3: 'ended',
    });
    const seen = running('i1', { parent: 's1' });
    assert.equal(
      livenessOfAll([running('s1', { kind: 'supervisor' }), seen], hostKnowing({ s1: 'dead', i1: 'alive' }), noon).get(
        'i1',
      ),
      'alive',
      'who is seen alive is not called dead',
    );
    const orphaned = ended('s1', { kind: 'supervisor' });
    assert.equal(
      livenessOfAll([orphaned, running('i1', { parent: 's1' })], hostKnowing({ s1: 'dead' }), noon).get('i1'),
      'unknown',
      'a supervisor that has ended is not dead',
    );
  });
});

test('a process is called by its name, else by persona and number, its role, or what it is', () => {
  assert.equal(callProcess(running('x', { name: 'Ada', persona: 'principal', instance: 2 })), 'Ada');
  assert.equal(callProcess(running('x', { persona: 'principal', instance: 2, role: 'reviewer' })), 'principal-2');
  assert.equal(callProcess(running('x', { role: 'reviewer' })), 'reviewer');
  assert.equal(callProcess(running('x')), 'instance');
});

test('an id names the process that has it, else all that begin with it, from four characters on', () => {
  const all = [running('01AB'), running('01ABC'), running('01ABD')];
  assert.deepEqual(
    processesNamed(all, '01AB').map(({ id }) => id),
    ['01AB'],
  );
  assert.deepEqual(processesNamed(all.slice(1), '01AB').length, 2);
  assert.deepEqual(processesNamed(all.slice(1), '01A'), []);
  assert.deepEqual(processesNamed(all, ''), []);
});

suite('resume', () => {
  const commandFor = (vendor: string | null, vendorSession: string): unknown =>
    resumeOf([running('x', { vendor, vendorSession })])?.['command'];

  test('each vendor whose program is known is resumed by its own command', () => {
    assert.deepEqual(
      ['claude', 'claude-code', 'codex', 'copilot', 'cursor', 'gemini', 'gemini-cli', 'opencode'].map((vendor) =>
        commandFor(vendor, 'v-1'),
      ),
      [
        'claude --resume v-1',
        'claude --resume v-1',
        'codex resume v-1',
        'copilot --resume v-1',
        'cursor-agent --resume v-1',
        'gemini --resume v-1',
        'gemini --resume v-1',
        'opencode --session v-1',
      ],
    );
  });

  test('no command is made of a vendor that is not known, whatever it is called', () => {
    for (const vendor of [null, '', 'acme', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])
      assert.equal(commandFor(vendor, 'v-1'), null, String(vendor));
  });

  test('no command is made of an id that is not safe in a shell, wherever it came from', () => {
    for (const id of ['$(touch x)', 'a b', '-x', 'a;b', 'a\nb', "a'b", '', 'ü', 'a'.repeat(257)])
      assert.equal(commandFor('claude', id), null, id);
  });

  test('the newest process that was bound is gone on with, also when it has ended; without one there is none', () => {
    const bound = (id: string, more: Partial<Process> = {}): Process =>
      running(id, { vendor: 'codex', vendorSession: `v-${id}`, ...more });
    assert.equal(resumeOf([running('a'), ended('b')]), null);
    const all = [bound('a'), bound('b', { endedAt: noon, outcome: 'orphaned' }), running('c', { vendor: 'claude' })];
    assert.deepEqual(resumeOf(all), {
      process: 'b',
      vendor: 'codex',
      vendor_session_id: 'v-b',
      command: 'codex resume v-b',
    });
  });
});

/** What may be done with the processes of one session; processes are meant by their number, modulo how many there are. */
type Step =
  | { readonly does: 'start'; readonly kind: (typeof processKinds)[number]; readonly parent: number | null }
  | { readonly does: 'bind'; readonly process: number; readonly to: string }
  | {
      readonly does: 'end';
      readonly process: number;
      readonly outcome: 'done' | 'crashed' | 'cancelled';
      readonly code: number | null;
    }
  | { readonly does: 'sweep'; readonly dead: readonly number[] }
  | { readonly does: 'finish'; readonly caller: number | null }
  | { readonly does: 'begin' };

const number = fc.nat({ max: 30 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('start' as const),
        kind: fc.constantFrom(...processKinds),
        parent: fc.option(number),
      }),
    },
    fc.record({ does: fc.constant('bind' as const), process: number, to: fc.constantFrom('v-1', 'v-2') }),
    fc.record({
      does: fc.constant('end' as const),
      process: number,
      outcome: fc.constantFrom('done' as const, 'crashed' as const, 'cancelled' as const),
      code: fc.option(fc.constantFrom(0, 1)),
    }),
    fc.record({ does: fc.constant('sweep' as const), dead: fc.array(number, { maxLength: 3 }) }),
    fc.record({ does: fc.constant('finish' as const), caller: fc.option(number) }),
    fc.record({ does: fc.constant('begin' as const) }),
  ),
  { maxLength: 40 },
);

/** What each step may be refused with, and nothing else. */
const legalRefusals: Readonly<Record<Step['does'], readonly string[]>> = {
  start: ['not-found', 'illegal-transition'],
  bind: ['conflict', 'illegal-transition'],
  end: ['conflict'],
  sweep: [],
  finish: [],
  begin: [],
};

const decide = (session: OpenedSession, step: Step): Result<readonly DecidedEvent[], Refusal> => {
  const all = [...session.processes.values()];
  const idOf = (index: number): string => all[index % all.length]?.id ?? 'nobody';
  switch (step.does) {
    case 'start': {
      const wish = start(`p${all.length}`, {
        kind: step.kind,
        parent: step.parent === null ? undefined : idOf(step.parent),
      });
      return decideProcess(session, (those) => decideStart(those, wish), { mustBeOpen: true });
    }
    case 'bind':
      return decideProcess(session, (_, of) => decideBind(of(idOf(step.process)), step.to));
    case 'end': {
      const end = { outcome: step.outcome, exitCode: step.code, note: null };
      return decideProcess(session, (those, of) => decideEnd(of(idOf(step.process)), those, end));
    }
    case 'sweep':
      return decideProcess(session, (those) =>
        decideSweep(those, new Map(step.dead.map((index) => [idOf(index), 'its pid is gone']))),
      );
    case 'finish': {
      const process = step.caller === null ? undefined : idOf(step.caller);
      return decideFinish(session, { abort: true, reason: null, process });
    }
    case 'begin':
      return decideBegin(session, { branch: null, worktree: 'main' });
  }
};

/** What must hold between the processes before and after one step. */
const assertStep = (before: OpenedSession, after: OpenedSession, step: Step): void => {
  const processes = [...after.processes.values()];
  for (const earlier of before.processes.values()) {
    const later = after.processes.get(earlier.id);
    assert.ok(later !== undefined, 'no process is forgotten');
    if (earlier.endedAt !== null) assert.deepEqual(later, earlier, 'nothing that has ended changes');
    if (earlier.vendorSession !== null) assert.equal(later.vendorSession, earlier.vendorSession);
    assert.equal(later.parent, earlier.parent);
  }
  for (const { parent } of processes)
    if (parent !== null) assert.equal(after.processes.get(parent)?.kind, 'supervisor', 'who is depended on supervises');

  const endedNow = processes.filter(
    ({ id, endedAt }) => endedAt !== null && before.processes.get(id)?.endedAt === null,
  );
  const stillRuns = processes.filter(({ endedAt }) => endedAt === null);
  const isGone = (id: string | null): boolean =>
    endedNow.some((one) => one.id === id && one.kind === 'supervisor' && one.outcome !== 'done');
  if (step.does === 'end' || step.does === 'sweep') {
    for (const { parent } of stillRuns) assert.ok(!isGone(parent), 'dependents follow');
    for (const one of endedNow)
      if (one.outcome === 'cancelled' && step.does === 'sweep') assert.ok(isGone(one.parent), 'nobody else follows');
  }
  if (step.does === 'finish' && before.common.status === 'active') {
    const all = [...before.processes.values()];
    const caller = step.caller === null ? undefined : all[step.caller % all.length]?.id;
    for (const { id, kind: is } of stillRuns) assert.ok(is === 'supervisor' || id === caller, 'who works is cancelled');
    for (const { id, kind: is, outcome } of endedNow) {
      assert.ok(is !== 'supervisor' && id !== caller, 'supervisors and the caller are spared');
      assert.equal(outcome, 'cancelled');
    }
  }
  if (step.does === 'start' || step.does === 'bind' || step.does === 'begin') assert.deepEqual(endedNow, []);
  if (step.does !== 'finish' && step.does !== 'begin')
    assert.equal(after.common.revision, before.common.revision, 'what processes do does not move the session');
};

test('whatever is done in whatever order: a process ends once, dependents follow, nothing ended changes, finish spares', () => {
  fc.assert(
    fc.property(steps, (given) => {
      let session: Session = absentSession(kind, 'review:a');
      const log: StoredEvent[] = [];
      const append = (events: readonly DecidedEvent[]): void => {
        const now = new Date(Date.parse(noon) + log.length * 1000).toISOString();
        const appended = appendEvents(session, events, { now, actor: 'ana', place: 'here', cause: `c${log.length}` });
        ({ session } = appended);
        log.push(...appended.events);
      };
      append(eventsOf(decideBegin(session, { branch: null, worktree: 'main' })));
      for (const step of given) {
        const before = session;
        assert.ok(isOpened(before));
        if (before.processes.size === 0 && (step.does === 'bind' || step.does === 'end')) continue;
        const decided = decide(before, step);
        if (!decided.ok) {
          assert.ok(legalRefusals[step.does].includes(decided.error.code), `${step.does}: ${decided.error.message}`);
          continue;
        }
        if (step.does === 'start') assert.equal(before.common.status, 'active', 'nothing starts on a closed session');
        append(decided.value);
        assert.ok(isOpened(session));
        assertStep(before, session, step);
        const again = decide(session, step);
        if (step.does === 'end' || step.does === 'bind' || step.does === 'sweep' || step.does === 'finish')
          assert.deepEqual(again, { ok: true, value: [] }, 'saying it again changes nothing');
      }
      const ends = log.filter(({ type }) => type === 'ProcessEnded').map(processOf);
      assert.equal(new Set(ends).size, ends.length, 'one end for each process');
      const replayed = log.reduce<Session>(applyEvent, absentSession(kind, 'review:a'));
      assert.deepEqual(replayed.processes, session.processes, 'a replay knows the same');
    }),
    { numRuns: 300 },
  );
});
