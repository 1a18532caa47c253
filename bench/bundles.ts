import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { handover, sessionState } from '../src/formats/handoff/document.ts';
import { sample } from '../src/formats/handoff/samples.ts';
import { command, makeBed, median, milliseconds, takePairs, timeNode, timeRow, type Bed, type Row } from './measure.ts';
import { makeSession } from './sizes.ts';

/** Exporting a large document, how large the bundle is then, and a long log: as whole processes. */
export const measureBundles = async (folder: string, runs: number): Promise<readonly Row[]> => {
  const large = makeDocument(join(folder, 'large'), 10_000_000);
  const few = Math.min(runs, 10);
  const target = join(folder, 'bundle.json');
  const exporting = (bed: Bed) => (): number =>
    timeNode(bed, [command, 'bundle', 'export', '--output', target, '--force', '--quiet']);
  const inspecting = (bed: Bed) => (): number =>
    timeNode(bed, [command, 'bundle', 'inspect', '--bundle', target, '--quiet']);
  const { measured, against } = await takePairs(few, exporting(large), inspecting(large));
  const [document, bundle] = [statSync(documentIn(large)).size, statSync(target).size];
  const long = await makeSession(makeBed(join(folder, 'long')), 100_000);
  const events = await takePairs(few, exporting(long), inspecting(long));
  return [
    {
      what: 'bundle export of a document of 10 MB: whole process',
      measured: milliseconds(median(measured)),
      against: `${milliseconds(median(against))} bundle inspect`,
      ratio: null,
      pairwise: null,
      budget: '<= 2000 ms',
      met: median(measured) <= 2000,
    },
    {
      what: 'bundle of it: size',
      measured: `${(bundle / 1e6).toFixed(2)} MB`,
      against: `${(document / 1e6).toFixed(2)} MB the document`,
      ratio: bundle / document,
      pairwise: null,
      budget: '<= 1.3x',
      met: bundle <= document * 1.3,
    },
    timeRow('bundle export of 100,000 events: whole process', events, 'bundle inspect'),
  ];
};

const documentIn = (bed: Bed): string => join(bed.project, 'docs/tests/session-state/CURRENT.md');

/** A project with a pair of which one document is so large: text as people write it, taken in by the session. */
const makeDocument = (folder: string, size: number): Bed => {
  const bed = makeBed(folder);
  const line =
    '- the second reviewer waits for the build, and src/login.ts is looked at again with the token of a step\n';
  for (const [path, text] of [
    [documentIn(bed), sample(sessionState)],
    [join(bed.project, 'docs/tests/handovers/20260312_0915_handover.md'), sample(handover)],
  ] as const) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  timeNode(bed, [command, 'handoff', 'update', '--updated-by', 'ana', '--current-step', 'One']);
  const notes = line.repeat(Math.ceil(size / line.length));
  writeFileSync(documentIn(bed), `${readFileSync(documentIn(bed), 'utf8')}\n## Notes\n${notes}`);
  timeNode(bed, [command, 'handoff', 'update', '--updated-by', 'ana', '--current-step', 'Two']);
  return bed;
};
