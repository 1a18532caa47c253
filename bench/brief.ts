import { join } from 'node:path';
import { command, makeBed, takePairs, timeNode, timeRow, type Bed, type Row } from './measure.ts';
import { makeJournal, openBed, timeVerb } from './sizes.ts';

/** `brief` of a session with many entries in its journal against one with few: as whole processes, and within one. */
export const measureBrief = async (folder: string, entries: number, runs: number): Promise<readonly Row[]> => {
  const bed = async (name: string, count: number): Promise<Bed> => makeJournal(makeBed(join(folder, name)), count);
  const [big, small] = [await bed('big', entries), await bed('small', 10)];
  const what = `brief of ${entries.toLocaleString('en')} entries`;
  const against = 'of 10 entries';
  const whole = await takePairs(
    runs,
    () => timeNode(big, [command, 'brief']),
    () => timeNode(small, [command, 'brief']),
  );
  const bigStint = openBed(big);
  const smallStint = openBed(small);
  const within = await takePairs(
    runs,
    () => timeVerb(bigStint, 'brief', {}),
    () => timeVerb(smallStint, 'brief', {}),
  );
  await bigStint.close();
  await smallStint.close();
  return [timeRow(`${what}: whole process`, whole, against, 2), timeRow(`${what}: in process`, within, against, 2)];
};
