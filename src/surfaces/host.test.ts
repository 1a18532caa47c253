import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Evidence, Process } from '../kernel/process.ts';
import { createHost, type System } from './host.ts';

/** What a machine says of itself. */
interface Machine {
  readonly name: string;
  readonly machineId?: string;
  readonly boot?: string;
  /** The number of its process table. */
  readonly table?: string;
  /** `/proc/<pid>/stat` by pid. */
  readonly stats?: Readonly<Record<number, string>>;
  /** What happens where a pid is probed; by default there is none. */
  readonly probe?: (pid: number) => void;
}

/** The number of the process table of a whole machine, and of two containers. */
const whole = '4026531836';
const [container, otherContainer] = ['4026532201', '4026532202'];

const failure = (code: string): Error => Object.assign(new Error(code), { code });

const systemOf = (machine: Machine): System => ({
  read: (path) => {
    const pid = /^\/proc\/(\d+)\/stat$/.exec(path)?.[1];
    if (pid !== undefined) return machine.stats?.[Number(pid)];
    if (path === '/etc/machine-id') return machine.machineId === undefined ? undefined : `${machine.machineId}\n`;
    return machine.boot === undefined ? undefined : `${machine.boot}\n`;
  },
  link: () => (machine.table === undefined ? undefined : `pid:[${machine.table}]`),
  hostname: () => machine.name,
  probe:
    machine.probe ??
    (() => {
      throw failure('ESRCH');
    }),
});

const hostOf = (machine: Machine, named?: string) => createHost(named, systemOf(machine));

const bootA = '11111111-2222-3333-4444-555555555555';
const bootB = '99999999-8888-7777-6666-555555555555';
const desk: Machine = { name: 'desk', machineId: 'aaaa', boot: bootA, table: whole };

/** A line of `/proc/<pid>/stat` of a process that was started then. */
const stat = (start: string, name = 'node', state = 'S'): string =>
  `42 (${name}) ${state} 1 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 11 0 ${start} 1000 200 18446744073709551615 0 0 0`;

/** A process as it was recorded on a machine. */
const recorded = (machine: Machine, more: Partial<Process> = {}, named?: string): Process => {
  const host = hostOf(machine, named);
  return {
    id: 'x',
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
    host: host.name,
    hostId: host.id,
    pid: 42,
    pidStart: '7000',
    startedAt: '2026-03-17T12:00:00.000Z',
    heartbeatAt: '2026-03-17T12:00:00.000Z',
    endedAt: null,
    outcome: null,
    exitCode: null,
    note: null,
    ...more,
  };
};

/** What a machine says of a process that was recorded on a machine. */
const judge = (on: Machine, from: Machine, more: Partial<Process> = {}, named: readonly string[] = []): Evidence =>
  hostOf(on, named[1]).observe(recorded(from, more, named[0]));

suite('when a pid was started', () => {
  test('it is field 22, whatever the program is called', () => {
    for (const name of ['node', 'a b', 'a) S 1 2 3', '((', ')', '', 'x (y) Z', ') Z 1 (', '名前', 'a\nb'])
      assert.equal(hostOf({ ...desk, stats: { 42: stat('7000', name) } }).startOf(42), '7000', name);
  });

  test('a zombie is not there, whoever has not asked for its exit code yet', () => {
    for (const state of ['Z', 'X'])
      assert.equal(hostOf({ ...desk, stats: { 42: stat('7000', 'node', state) } }).startOf(42), undefined, state);
    for (const state of ['R', 'S', 'D', 'T', 't', 'I'])
      assert.equal(hostOf({ ...desk, stats: { 42: stat('7000', 'node', state) } }).startOf(42), '7000', state);
  });

  test('a process that the system does not describe is there if it can be probed, or may not be touched', () => {
    const probing = (code: string | undefined) =>
      hostOf({
        ...desk,
        probe: () => {
          if (code !== undefined) throw failure(code);
        },
      }).startOf(42);
    assert.equal(probing(undefined), null);
    assert.equal(probing('EPERM'), null);
    assert.equal(probing('ESRCH'), undefined);
    assert.equal(probing('EINVAL'), null, 'what is not known to be gone is not gone');
  });

  test('a line that is cut off tells no start', () => {
    assert.equal(hostOf({ ...desk, stats: { 42: '42 (node) S 1 42' } }).startOf(42), null);
    assert.equal(hostOf({ ...desk, stats: { 42: '' } }).startOf(42), null);
  });
});

suite('on the same machine, in the same boot', () => {
  test('a pid that is there and was started then is alive, and one that is gone is dead', () => {
    assert.equal(judge({ ...desk, stats: { 42: stat('7000') } }, desk), 'alive');
    assert.equal(judge(desk, desk), 'dead');
    assert.equal(judge({ ...desk, stats: { 42: stat('7000', 'node', 'Z') } }, desk), 'dead');
  });

  test('6.11: a pid that was given to another program is dead, however close they were started', () => {
    assert.equal(judge({ ...desk, stats: { 42: stat('7001') } }, desk), 'dead');
  });

  test('a pid of which nobody knows when it was started is not judged by that', () => {
    assert.equal(judge({ ...desk, stats: { 42: stat('7001') } }, desk, { pidStart: null }), 'alive');
    assert.equal(judge(desk, desk, { pidStart: null }), 'dead', 'that it is gone is known all the same');
    const there: Machine = { ...desk, probe: () => undefined };
    assert.equal(judge(there, desk), 'unknown', 'it may be another program');
    assert.equal(judge(there, desk, { pidStart: null }), 'alive');
  });

  test('nothing is known of a process without a pid', () => {
    assert.equal(judge(desk, desk, { pid: null, pidStart: null }), 'unknown');
  });

  test('another host name makes no other machine', () => {
    assert.equal(judge({ ...desk, name: 'renamed' }, desk), 'dead');
  });
});

suite('on the same machine, in another boot', () => {
  const restarted: Machine = { ...desk, boot: bootB };

  test('nothing of a whole machine runs any more, also where a program has the pid now', () => {
    assert.equal(judge(restarted, desk), 'dead');
    assert.equal(judge({ ...restarted, stats: { 42: stat('7000') } }, desk), 'dead');
  });

  test('nothing is known where a container is involved: what looks like the same machine may be another one', () => {
    assert.equal(judge({ ...restarted, table: container }, desk), 'unknown');
    assert.equal(judge(restarted, { ...desk, table: container }), 'unknown');
    assert.equal(judge({ ...restarted, table: container }, { ...desk, table: container }), 'unknown');
  });

  test('nothing is known where the name differs: the id may have been copied with the disk', () => {
    assert.equal(judge({ ...restarted, name: 'renamed' }, desk), 'unknown');
  });
});

suite('elsewhere', () => {
  test('a process of another machine, or beside this container, is not judged by its pid', () => {
    const others: readonly Machine[] = [
      { ...desk, machineId: 'bbbb' },
      { ...desk, machineId: 'bbbb', boot: bootB },
      { ...desk, table: container },
      { name: 'desk' },
    ];
    for (const other of others) {
      assert.equal(judge(desk, other), 'unknown');
      assert.equal(judge(other, desk), 'unknown');
    }
    assert.equal(judge({ ...desk, table: container }, { ...desk, table: otherContainer }), 'unknown');
  });

  test('STINT_HOST makes another machine, and the same one where it is the same', () => {
    assert.equal(judge(desk, desk, {}, ['build-b', 'build-a']), 'unknown');
    assert.equal(hostOf(desk, 'build-a').observe(recorded(desk)), 'unknown');
    assert.equal(hostOf(desk).observe(recorded(desk, {}, 'build-b')), 'unknown');
    assert.equal(judge(desk, desk, {}, ['build-a', 'build-a']), 'dead');
    assert.equal(
      hostOf({ ...desk, boot: bootB }, 'build-a').observe(recorded(desk, {}, 'build-b')),
      'unknown',
      'nor was it restarted',
    );
  });

  test('a process of which the machine is not known is judged by nobody', () => {
    assert.equal(judge(desk, desk, { hostId: null }), 'unknown');
    for (const hostId of ['', '.', '..', 'x', 'x.y', `..${whole}`])
      assert.equal(judge(desk, desk, { hostId }), 'unknown', hostId);
    const withoutBoot = String(hostOf(desk).id).replace(/\..*\./, '..');
    assert.equal(judge(desk, desk, { hostId: withoutBoot }), 'unknown', 'in which boot it ran is not known');
  });
});

suite('where the system does not tell everything', () => {
  test('a machine that hides its boot or its process table judges nobody', () => {
    for (const hidden of ['boot', 'table'] as const) {
      const machine: Machine = { ...desk, [hidden]: undefined };
      assert.equal(hostOf(machine).id, null);
      assert.equal(judge(machine, machine), 'unknown');
      assert.equal(judge(machine, desk), 'unknown');
      assert.equal(judge(desk, machine), 'unknown');
    }
  });

  test('containers of one image have one machine id: without the rest their names tell them apart', () => {
    const [one, two]: readonly Machine[] = [
      { name: 'one', machineId: 'image' },
      { name: 'two', machineId: 'image' },
    ];
    assert.ok(one !== undefined && two !== undefined);
    assert.equal(judge(two, one), 'unknown');
    assert.equal(judge(one, one), 'dead');
  });

  test('a machine without an id of its own goes by its name, too', () => {
    const { machineId: _, ...nameless } = desk;
    assert.equal(judge(nameless, nameless), 'dead');
    assert.equal(judge({ ...nameless, name: 'lap' }, nameless), 'unknown');
  });

  test('without any id the name tells machines apart', () => {
    assert.equal(judge({ name: 'desk' }, { name: 'desk' }), 'dead');
    assert.equal(judge({ name: 'desk' }, { name: 'lap' }), 'unknown');
    assert.equal(judge({ name: 'desk', probe: () => undefined }, { name: 'desk' }, { pidStart: null }), 'alive');
  });
});

test('the id of a machine does not give its machine id away, and is asked for once', () => {
  let reads = 0;
  const system = systemOf(desk);
  const host = createHost(undefined, {
    ...system,
    read: (path) => {
      reads += 1;
      return system.read(path);
    },
  });
  assert.equal(reads, 0, 'a verb that does not ask does not pay');
  assert.match(String(host.id), /^[0-9a-f]{12}\.11111111-2222\.4026531836$/);
  assert.ok(!String(host.id).includes('aaaa'));
  const before = reads;
  assert.equal(host.id, host.id);
  assert.equal(reads, before);
});

test('this machine knows this very process', () => {
  const host = createHost(undefined);
  const pidStart = host.startOf(process.pid);
  assert.notEqual(pidStart, undefined);
  const here = { pid: process.pid, pidStart: pidStart ?? null, host: host.name, hostId: host.id };
  const expected = host.id === null ? 'unknown' : 'alive';
  assert.equal(host.observe({ ...recorded(desk), ...here }), expected);
});
