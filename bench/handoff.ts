import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { handover, sessionState } from '../src/formats/handoff/document.ts';
import { archivedPair, sample } from '../src/formats/handoff/samples.ts';
import { bare, command, makeBed, takePairs, timeNode, timeProgram, timeRow, type Bed, type Row } from './measure.ts';

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
  return [...rows, ...(await measureAgainstScript(join(folder, 'script'), runs))];
};

/** The verbs that work on the pair, against a script in Python that reads and writes the same two files; none without Python. */
const measureAgainstScript = async (folder: string, runs: number): Promise<readonly Row[]> => {
  // What is called so may be a program that looks for the interpreter first.
  const { status, stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  if (status !== 0) return [];
  const python = stdout.trim();
  const bed = makeBed(folder);
  const handoff = (verb: string, ...more: readonly string[]): number =>
    timeNode(bed, [command, 'handoff', verb, ...more]);
  const begin = (): number =>
    handoff(
      'begin',
      '--holder',
      'codex',
      '--purpose',
      'work',
      '--task',
      'Stabilise the login spec',
      '--next-owner',
      'qa',
    );
  const end = (): number =>
    handoff('end', '--holder', 'codex', '--status', 'ready-for-review', '--current-step', 'Run the suite');
  const script = join(import.meta.dirname, 'handoff.py');
  const copy = join(folder, 'copy');
  const plain = (verb: string) => (): number =>
    timeProgram(bed, python, [script, verb, copy, '--step', 'Run the suite']);
  let step = 0;
  begin();
  end();
  // A copy: what the script writes would be an edit by hand, which the next verb takes in.
  cpSync(join(bed.project, 'docs/tests'), copy, { recursive: true });
  const timed: Readonly<Record<string, () => number>> = {
    update: () => handoff('update', '--updated-by', 'codex', '--current-step', `Step ${(step += 1)}`),
    ready: () => handoff('ready'),
    begin: () => {
      const time = begin();
      end();
      return time;
    },
    end: () => {
      begin();
      return end();
    },
  };
  // What no verb can be faster than.
  const floor = await takePairs(runs, () => timeNode(bed, bare), plain('update'));
  const rows: Row[] = [timeRow('a bare Node: whole process', floor, 'a script in Python')];
  for (const [verb, time] of Object.entries(timed)) {
    const times = await takePairs(runs, time, plain(verb));
    rows.push(timeRow(`handoff ${verb}: whole process`, times, 'a script in Python', 0.7));
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
