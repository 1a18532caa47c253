import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bare, command, makeBed, median, peakOfNode, reviewMoves, takePairs, timeNode, timeRow } from './measure.ts';
import type { Bed, Pairs, Row } from './measure.ts';

/** Budgets of DESIGN: as a multiple of a bare Node, in time and in memory. */
const budget = 1.3;

/** An everyday verb: the command line of its next run. Moves are legal once, so each run has its own. */
interface Everyday {
  readonly name: string;
  readonly next: () => readonly string[];
}

/** The everyday verbs on one open session, which they share the way a day's work does. */
const everydayVerbs = (): readonly Everyday[] => {
  const moves = reviewMoves();
  let current = 'context';
  const move = (): readonly string[] => {
    const { phase, round } = moves.next().value;
    current = phase;
    return ['advance', phase, ...(round === undefined ? [] : ['--round', String(round)])];
  };
  return [
    { name: 'note', next: () => ['note', 'the second reviewer waits for the build'] },
    { name: 'advance, the same phase', next: () => ['advance', current] },
    { name: 'advance, a move', next: move },
    { name: 'status', next: () => ['status'] },
    { name: 'begin, an open session', next: () => ['begin', 'review'] },
  ];
};

/** Milliseconds for the runs of one verb, so that two full measurements stay below a minute. */
const limit = 5000;

/** Everyday verbs as whole processes, each run beside a bare Node of the same version. */
export const measureVerbs = async (folder: string, runs: number): Promise<readonly Row[]> => {
  const bed = openSession(folder);
  const rows: Row[] = [];
  for (const { name, next } of everydayVerbs()) {
    const pairs: Pairs = await takePairs(
      runs,
      () => timeNode(bed, [command, ...next()]),
      () => timeNode(bed, bare),
      limit,
    );
    rows.push(timeRow(`${name}: whole process`, pairs, 'bare node', budget));
  }
  return rows;
};

/** The most memory that everyday verbs have, against a bare Node. */
export const measureMemory = (folder: string, runs: number): readonly Row[] => {
  const bed = openSession(folder);
  const most = (parameters: () => readonly string[]): number | undefined => {
    const peaks = Array.from({ length: runs }, () => peakOfNode(bed, parameters())).filter(
      (peak) => peak !== undefined,
    );
    return peaks.length === 0 ? undefined : median(peaks);
  };
  const against = most(() => bare);
  return everydayVerbs()
    .filter(({ name }) => !name.includes('same'))
    .map(({ name, next }) => {
      const measured = most(() => [command, ...next()]);
      const ratio = measured === undefined || against === undefined ? null : measured / against;
      return {
        what: `${name}: peak memory`,
        measured: measured === undefined ? 'n/a' : `${measured.toFixed(1)} MiB`,
        against: against === undefined ? 'n/a' : `${against.toFixed(1)} MiB bare node`,
        ratio,
        pairwise: null,
        budget: `<= ${budget}x`,
        met: ratio === null ? null : ratio <= budget,
      };
    });
};

/** KiB of the file that every verb loads: what is in it is paid for by each of them. */
const sizeBudget = 178;

/** How big the file is that is loaded for everyday verbs. */
export const measureSize = (): Row => {
  const size = statSync(join(dirname(command), 'command/main.cjs')).size / 1024;
  return {
    what: 'what every verb loads: size',
    measured: `${size.toFixed(0)} KiB`,
    against: '',
    ratio: null,
    pairwise: null,
    budget: `<= ${sizeBudget} KiB`,
    met: size <= sizeBudget,
  };
};

const openSession = (folder: string): Bed => {
  const bed = makeBed(folder);
  timeNode(bed, [command, 'begin', 'review']);
  return bed;
};
