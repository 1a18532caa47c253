import { spawn } from 'node:child_process';
import { openStint } from '../src/index.ts';
import { command, makeBed, timeNode, type Bed, type Row } from './measure.ts';

/** Eight chains of whole processes that write to one session at once; afterwards every answer is looked up in the log. */
export const measureWriters = async (folder: string, verbs: number): Promise<readonly Row[]> => {
  const bed = makeBed(folder);
  timeNode(bed, [command, 'begin', 'review']);
  const start = performance.now();
  const chains = await Promise.all(Array.from({ length: 8 }, (_, writer) => writeAll(bed, writer, verbs)));
  const seconds = (performance.now() - start) / 1000;
  const answers = chains.flat();

  const stint = openStint({ cwd: bed.project });
  if (!stint.ok) throw new Error(stint.error.message);
  const log = await stint.value.run('log');
  await stint.value.close();
  if (!log.ok) throw new Error(log.error.refusal.message);
  const events = Array.isArray(log.value['events']) ? log.value['events'] : [];
  const textBySeq = new Map(events.map((event) => [event['seq'], event['data']['text']]));
  const lost = answers.filter(({ seq, text }) => seq !== undefined && textBySeq.get(seq) !== text).length;
  const failed = answers.filter(({ seq }) => seq === undefined);
  const extra = events.filter(({ type }) => type === 'Noted').length - (answers.length - failed.length);
  if (failed[0] !== undefined) process.stderr.write(`bench: a writer failed: ${failed[0].problem}\n`);
  return [
    {
      what: `8 processes at once, ${verbs} verbs each`,
      measured: `${lost} lost, ${failed.length} failed${extra === 0 ? '' : `, ${extra} unanswered`}`,
      against: `${Math.round(answers.length / seconds)} verbs/s`,
      ratio: null,
      pairwise: null,
      budget: '0 lost, 0 failed',
      met: lost === 0 && failed.length === 0 && extra === 0,
    },
  ];
};

interface Answer {
  readonly text: string;
  /** The number of the event that was acknowledged; undefined where the verb failed. */
  readonly seq: number | undefined;
  readonly problem: string;
}

const writeAll = async (bed: Bed, writer: number, verbs: number): Promise<readonly Answer[]> => {
  const answers: Answer[] = [];
  for (let verb = 0; verb < verbs; verb += 1) answers.push(await writeOne(bed, `remark ${verb} of writer ${writer}`));
  return answers;
};

const writeOne = async (bed: Bed, text: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command, 'note', text, '--json'], {
      cwd: bed.project,
      env: bed.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let problem = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      problem += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0) return resolve({ text, seq: undefined, problem: `exit ${code}: ${output}${problem}` });
      const { seq }: { seq: number } = JSON.parse(output);
      return resolve({ text, seq, problem });
    });
  });
