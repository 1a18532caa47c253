import { createRedactionPolicy, type RedactionPolicy } from '../src/lib/redaction-policy.ts';
import { redact } from '../src/lib/redact.ts';
import { median, milliseconds, takePairs, type Row } from './measure.ts';

const size = 1_000_000;

/** A text of a million characters. */
const filled = (unit: string): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

/** The same numbers in every run. */
const createRandom = (): (() => number) => {
  let state = 20_260_317;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 16;
  };
};

const random = createRandom();
const base64 = (length: number): string =>
  Buffer.from(Uint8Array.from({ length }, () => random() & 0xff)).toString('base64');

const key = ['PRIVATE', 'KEY'].join(' ');

const texts: readonly (readonly [what: string, text: string])[] = [
  ['prose', filled('The token is checked twice, and the password is never written to a file; see the key points. ')],
  [
    'code',
    filled(
      'const token = await getToken(session.key, { auth: options.auth });\nif (!token) throw new Error("none");\n',
    ),
  ],
  [
    'JSON',
    filled('{"id":"9f2c1e7a4b6d8e0f","token_count":12,"key":"cache-key-1","url":"https://host.invalid/a?b=c"},'),
  ],
  ['base64', filled(`${base64(6000)}\n`)],
  ['secrets', filled(`password=hunter2 https://me:hunter2@host ${['gh', 'p_'].join('')}${'a1B2'.repeat(9)}\n`)],
  ['names without values', filled('password=')],
  ['headers of keys', filled(`-----BEGIN ${key}-----`)],
  ['keys without an end', filled(`-----BEGIN ${key}-----\na b c `)],
  ['quotes that are never closed', filled('key="token=\\"')],
  ['addresses without an end', filled('://a:b')],
  ['commands', filled('curl -u ')],
  ['marks', filled('token=[REDACTED]')],
];

const plainScan = (text: string): number => {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum + text.charCodeAt(at)) | 0;
  return sum;
};

const timed = (call: () => unknown): number => {
  const start = performance.now();
  call();
  return performance.now() - start;
};

/** A million characters of anything through the redaction, against one look at each character; without and with a policy. */
export const measureRedaction = async (runs: number): Promise<readonly Row[]> => {
  const policy = createRedactionPolicy({
    keywords: ['resume_code'],
    patterns: ['zz-[a-z]+', String.raw`(?i)\bcase-\d{4,8}\b`, String.raw`[\w.]+@[\w.]+`, '(a|a)*b'],
  });
  if (!policy.ok) throw new Error('a pattern is refused');
  const rows: Row[] = [];
  for (const [what, text] of texts) {
    const ways: readonly (readonly [string, RedactionPolicy['redact']])[] = [
      [what, redact],
      [`${what}, 4 patterns`, policy.value.redact],
    ];
    for (const [name, way] of ways) {
      const { measured, against } = await takePairs(
        Math.min(runs, 5),
        () => timed(() => way(text)),
        () => timed(() => plainScan(text)),
      );
      const time = median(measured);
      rows.push({
        what: `redact 1 MB of ${name}`,
        measured: milliseconds(time),
        against: `${milliseconds(median(against))} to look at it`,
        ratio: time / median(against),
        pairwise: null,
        budget: '<= 1 s',
        met: time <= 1000,
      });
    }
  }
  return rows;
};
