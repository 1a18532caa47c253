import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { handover, sessionState } from '../src/formats/handoff/document.ts';
import { archivedPair, sample } from '../src/formats/handoff/samples.ts';
import { command, makeBed, takePairs, timeNode, timeRow, type Bed, type Row } from './measure.ts';

/** What looks at all documents of a hand-off, with many archived pairs against few: as whole processes. */
export const measureHandoff = async (folder: string, pairs: number, runs: number): Promise<readonly Row[]> => {
  const [many, few] = [makePairs(join(folder, 'many'), pairs), makePairs(join(folder, 'few'), 2)];
  const rows: Row[] = [];
  for (const verb of ['history', 'audit', 'report']) {
    const times = await takePairs(
      runs,
      () => timeNode(many, [command, 'handoff', verb]),
      () => timeNode(few, [command, 'handoff', verb]),
    );
    rows.push(timeRow(`handoff ${verb} of ${pairs} archived pairs: whole process`, times, 'of 2 pairs', 1.5));
  }
  return rows;
};

/** A project with a live pair and so many archived ones, an hour apart, whose documents are as long as people write them. */
const makePairs = (folder: string, count: number): Bed => {
  const bed = makeBed(folder);
  const list = Array.from({ length: 8 }, (_, at) => `- item ${at + 1}: the second reviewer waits for the build`).join(
    '\n',
  );
  const said = { 'What was done': list, 'Files touched': list, 'Remaining steps': list, 'Remaining work': list };
  const files = {
    'session-state/CURRENT.md': sample(sessionState, said),
    'handovers/20260312_0915_handover.md': sample(handover, said),
    ...Object.assign({}, ...Array.from({ length: count }, (_, at) => archivedPair(stampAt(at), said))),
  } as Readonly<Record<string, string>>;
  for (const [path, text] of Object.entries(files)) {
    const full = join(bed.project, 'docs/tests', path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }
  return bed;
};

const stampAt = (hours: number): string =>
  new Date(Date.UTC(2026, 0, 1, hours)).toISOString().slice(0, 16).replace('T', '_').replaceAll(/[-:]/g, '');
