import type { JsonObject } from '../lib/canonical-json.ts';
import { shellWord } from '../lib/text.ts';
import type { DecidedEvent } from './event.ts';

/**
 * Refusals: every reason to say no, as data. A refusal tells what was expected, what is legal now, and what to try; it
 * is returned, never thrown. Something that is thrown is a bug of ours (exit code 1).
 */
export interface Refusal {
  readonly code: RefusalCode;
  /** One sentence for a person: what is wrong, and where. */
  readonly message: string;
  /** Whether the very same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** What would have been accepted. */
  readonly expected?: string;
  /** What is legal from here: verbs, phases, names. */
  readonly legal?: readonly string[];
  /** The command to try next. */
  readonly hint?: string;
  /** The sessions, files or names that were meant, perhaps. */
  readonly candidates?: readonly string[];
  /** The lease that stands in the way, where one does. */
  readonly lease?: JsonObject | null;
  /** The single faults, where there are several (for example one per JSON path). */
  readonly faults?: readonly string[];
  /** The values that are missing, where a person may be asked for them. */
  readonly asks?: readonly Ask[];
  /** Ways to go on among which somebody has to choose, where a person may be asked which. */
  readonly ways?: readonly Way[];
  /** What is kept of it: journal events that the first session of the order gets although it is refused. */
  readonly record?: readonly DecidedEvent[];
}

/** A value that is missing: `name=value` in the list field `field` gives it. */
export interface Ask {
  readonly field: string;
  readonly name: string;
  /** What the value is, in a line. */
  readonly description: string;
}

/** A way to go on: what it comes to, and the words of its command line behind `stint`. */
export interface Way {
  readonly text: string;
  readonly words: readonly string[];
  /** What its last flag still needs: a person is asked for it, and in a command its name stands for it. */
  readonly asks?: { readonly flag: string; readonly name: string; readonly description: string };
}

/** The command of a way, as it is typed. */
export const commandOf = ({ words, asks }: Way): string =>
  ['stint', ...words, ...(asks === undefined ? [] : [asks.flag, asks.name])].map(shellWord).join(' ');

/** The closed list of refusals with their exit codes and when each is given; help and reference are made from it. */
export const refusals = {
  usage: { exit: 2, when: 'unknown verb or flag, missing or contradictory arguments' },
  ambiguous: { exit: 3, when: 'several sessions match; they are listed' },
  'not-found': { exit: 4, when: 'no such session, kind or file; near names are listed' },
  'illegal-transition': { exit: 5, when: 'not allowed from here; legal moves are listed' },
  'invariant-unmet': { exit: 6, when: 'refused because something required is missing; it is listed' },
  'invalid-input': { exit: 7, when: 'payload or file breaks its schema; path, line and column are named' },
  busy: { exit: 8, when: 'store locked past the deadline' },
  conflict: { exit: 9, when: 'revision, request id or payload differs from what is stored' },
  lease: { exit: 10, when: 'held by another, expired, or fenced off' },
  untrusted: { exit: 11, when: 'signature or trust check failed' },
  policy: { exit: 12, when: 'refused by a checked-in policy' },
  'newer-version': { exit: 13, when: 'store or file is newer than this program' },
  damaged: { exit: 14, when: 'store or file cannot be read; what can be salvaged is named' },
} as const satisfies Record<string, { exit: number; when: string }>;

/** The name of a refusal: the `code` of a JSON error. */
export type RefusalCode = keyof typeof refusals;

/** The exit codes that are no refusals. */
export const otherExits = {
  ok: { exit: 0, when: 'including idempotent repeats' },
  internal: { exit: 1, when: 'a bug of ours, and nothing else' },
  interrupted: { exit: 130, when: 'SIGINT' },
} as const satisfies Record<string, { exit: number; when: string }>;

/** Makes a refusal; where nothing else is said only a busy store is worth the same call again. */
export const refuse = (
  code: RefusalCode,
  message: string,
  more: Omit<Refusal, 'code' | 'message' | 'retryable'> & { readonly retryable?: boolean } = {},
): Refusal => ({
  code,
  message,
  retryable: code === 'busy',
  ...more,
});

/** A payload that breaks its schema. */
export const refusePayload = (verb: string, faults: readonly string[]): Refusal =>
  refuse(
    'invalid-input',
    `The payload is not valid: ${faults[0] ?? 'no reason given'}${faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''}.`,
    {
      expected: `a payload as stint ${verb} --help describes it`,
      faults,
    },
  );

/** The JSON of a refusal, as printed under `error` (DESIGN: keys `code, exit, message, retryable, expected, legal, hint, candidates`). */
export const refusalToJson = (refusal: Refusal) => ({
  code: refusal.code,
  exit: refusals[refusal.code].exit,
  message: refusal.message,
  retryable: refusal.retryable,
  expected: refusal.expected ?? null,
  legal: refusal.legal ?? [],
  hint: refusal.hint ?? null,
  candidates: refusal.candidates ?? [],
  ...(refusal.lease === undefined ? {} : { lease: refusal.lease }),
  ...(refusal.faults === undefined ? {} : { faults: refusal.faults }),
  ...(refusal.ways === undefined
    ? {}
    : { ways: refusal.ways.map((way) => ({ text: way.text, command: commandOf(way) })) }),
  ...(refusal.asks === undefined
    ? {}
    : { asks: refusal.asks.map(({ field, name, description }) => ({ field, name, description })) }),
});
