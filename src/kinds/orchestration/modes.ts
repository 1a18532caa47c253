import type { Mode } from '../../formats/orchestrator/document.ts';

/** How an orchestration is done: what its mode allows, and when somebody is asked. */

/** What agents can fail of. */
export const errorClasses = ['transient', 'resource', 'configuration', 'logical', 'permanent'] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** What a mode allows. */
export interface Limits {
  /** Most agents at once. */
  readonly agents: number;
  /** When somebody is asked whether it goes on: when no agent is at work any more, or after every one. */
  readonly checkpoints: 'wave' | 'agent';
  /** Whether it goes on by itself where nothing has failed. */
  readonly goesOn: boolean;
  /** How often an agent that has failed is started again. */
  readonly retries: number;
  /** The failures of which somebody is told at once, whoever else is at work. */
  readonly escalates: readonly ErrorClass[];
  /** The part of the context, in per cent, from which it is to be compressed. */
  readonly compressAt: number;
}

/** What each mode allows. A permanent error is the only one that counts as critical. */
export const limits: Readonly<Record<Mode, Limits>> = {
  default: {
    agents: 2,
    checkpoints: 'wave',
    goesOn: false,
    retries: 3,
    escalates: ['permanent'],
    compressAt: 70,
  },
  debug: {
    agents: 1,
    checkpoints: 'agent',
    goesOn: false,
    retries: 5,
    escalates: errorClasses,
    compressAt: 90,
  },
  optimize: {
    agents: 4,
    checkpoints: 'wave',
    goesOn: true,
    retries: 2,
    escalates: ['permanent'],
    compressAt: 60,
  },
  release: {
    agents: 4,
    checkpoints: 'agent',
    goesOn: false,
    retries: 1,
    escalates: errorClasses,
    compressAt: 85,
  },
};

/** A context is compressed from here on, whatever the mode allows; and somebody is warned so many points before. */
const mostUsed = 95;
const warning = 15;

/** An agent that fails so often in a row is left alone for a while; then it is tried once more. */
export const circuit = { failures: 3, restMs: 60_000 };

/** How many seconds one waits before an agent that has failed so often, once or more, is started again. */
export const backoffSeconds = (failures: number): number => [0, 2, 4, 8][failures - 1] ?? 16;

/** How large a context is where nobody says it, in tokens. */
export const usualWindow = 128_000;

/** What was used of a context. */
export interface Usage {
  readonly tokens: number;
  /** Of the context, in per cent. */
  readonly percentage: number;
}

/** What may be said beside it. */
export interface UsageSigns {
  /** Exchanges since the last compression. */
  readonly exchanges?: number | undefined;
  /** Tokens of the largest single reply. */
  readonly reply?: number | undefined;
}

/** How it stands with a context. */
export interface UsageLevel {
  readonly level: 'ok' | 'warn' | 'compress';
  readonly compressAt: number;
  readonly warnAt: number;
  readonly reasons: readonly string[];
}

/** How it stands with a context in a mode. Long talks and large replies are reasons to warn, no more. */
export const levelOf = (
  mode: Mode,
  { percentage }: Usage,
  { exchanges = 0, reply = 0 }: UsageSigns = {},
): UsageLevel => {
  const compressAt = Math.min(limits[mode].compressAt, mostUsed);
  const warnAt = compressAt - warning;
  const signs = [
    ...(exchanges > 20 ? [`${exchanges} exchanges since it was compressed`] : []),
    ...(reply > 3000 ? [`a reply of ${reply} tokens`] : []),
  ];
  if (percentage >= compressAt)
    return { level: 'compress', compressAt, warnAt, reasons: [`${percentage} % of the context is used`, ...signs] };
  const used = percentage >= warnAt ? [`${percentage} % of the context is used`] : [];
  const reasons = [...used, ...signs];
  return { level: reasons.length === 0 ? 'ok' : 'warn', compressAt, warnAt, reasons };
};
