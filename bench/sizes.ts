import { join } from 'node:path';
import { openStint, type Stint } from '../src/index.ts';
import { decideBegin, decideCommand } from '../src/kernel/lifecycle.ts';
import type { NewEvent } from '../src/kernel/event.ts';
import type { Refusal } from '../src/kernel/refusal.ts';
import type { Session } from '../src/kernel/session.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import type { Store } from '../src/kernel/ports.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { ok, type Result } from '../src/lib/result.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { command, makeBed, median, milliseconds, ratiosOf, takePairs, timeNode, timeRow } from './measure.ts';
import type { Bed, Row } from './measure.ts';

/** `status` of a session with many events against one with few: as whole processes, and within one. */
export const measureStatus = async (folder: string, events: number, runs: number): Promise<readonly Row[]> => {
  const big = await makeSession(makeBed(join(folder, 'big')), events);
  const small = await makeSession(makeBed(join(folder, 'small')), 10);
  const what = `status of ${events.toLocaleString('en')} events`;
  const against = 'of 10 events';
  const whole = await takePairs(
    runs,
    () => timeNode(big, [command, 'status']),
    () => timeNode(small, [command, 'status']),
  );
  const bigStint = open(big);
  const smallStint = open(small);
  const within = await takePairs(
    runs * 5,
    () => timeVerb(bigStint, 'status', {}),
    () => timeVerb(smallStint, 'status', {}),
  );
  await bigStint.close();
  await smallStint.close();
  return [
    timeRow(`${what}: whole process`, whole, against, 1.5),
    timeRow(`${what}: in process`, within, against, 1.5),
  ];
};

/** `list` of many sessions within one process. */
export const measureList = async (folder: string, sessions: number, runs: number): Promise<readonly Row[]> => {
  const bed = makeBed(folder);
  await makeSessions(bed, sessions);
  const stint = open(bed);
  const { measured, against } = await takePairs(
    runs,
    () => timeVerb(stint, 'list', {}),
    () => timeVerb(stint, 'list', { all: true }),
  );
  await stint.close();
  return [
    ['list', measured] as const,
    ['list --all', against] as const,
  ].map(([verb, times]) => ({
    what: `${verb} of ${sessions.toLocaleString('en')} sessions: in process`,
    measured: milliseconds(median(times)),
    against: `${milliseconds(Math.max(...times))} the slowest`,
    ratio: null,
    pairwise: null,
    budget: '<= 50 ms',
    met: median(times) <= 50,
  }));
};

const open = (bed: Bed): Stint => {
  const stint = openStint({ cwd: bed.project, actor: 'bench' });
  if (!stint.ok) throw new Error(stint.error.message);
  return stint.value;
};

const timeVerb = async (stint: Stint, verb: string, input: JsonObject): Promise<number> => {
  const start = performance.now();
  const answer = await stint.run(verb, input);
  const time = performance.now() - start;
  if (!answer.ok) throw new Error(answer.error.refusal.message);
  return time;
};
