/** Reviews in a state from which a test goes on, and the payloads with which rounds are completed. */
import assert from 'node:assert/strict';
import { createWorld, type Tidying, type TestWorld } from './world.ts';

/** The phases of a review, in order. */
export const phases = [
  'context',
  'change-context',
  'analysis',
  'reviews',
  'aggregation',
  'discourse',
  'synthesis',
  'complete',
] as const;

/** One finding. */
export const finding = (title: string, category = 'suggestion', summary = 'As found by reading.') => ({
  title,
  category,
  severity: 'medium',
  summary,
  file_path: 'src/queue.ts',
  line_start: 12,
});

/** A round that approves. */
export const approval = {
  schema_version: 1,
  verdict: 'APPROVE',
  reviewers: [
    { type: 'principal', instance: 1, findings: [finding('Name the queue limit once')] },
    { type: 'security', instance: 1, findings: [] },
  ],
};

/** A round that asks for changes. */
export const objection = {
  schema_version: 1,
  verdict: 'REQUEST CHANGES',
  reviewers: [
    {
      type: 'quality',
      instance: 1,
      findings: [finding('The lock is given back too early', 'blocker'), finding('Use one name for it', 'style')],
    },
  ],
};

/** A payload as it is given on standard input. */
export const json = (payload: unknown): string => JSON.stringify(payload);

/** Enters phase after phase until the session stands in `phase`. */
export const advanceTo = (world: TestWorld, phase: (typeof phases)[number], ...flags: readonly string[]): void => {
  const standing = world.answer('status', ...flags).current_phase;
  for (const next of phases.slice(phases.indexOf(standing) + 1, phases.indexOf(phase) + 1)) {
    assert.equal(world.answer('advance', next, ...flags).phase, next);
  }
};

/** Completes the round with a payload. */
export const completeRound = (world: TestWorld, payload: unknown = approval, ...flags: readonly string[]): void => {
  world.with({ input: json(payload) }).answer('complete-round', '--stdin', ...flags);
};

/** The name and the key of the review that `reviewIn` makes. */
export const name = '2026-03-17-main';
export const session = `review:${name}`;

const templates = new Map<string, TestWorld>();
const untilExit: Tidying = { after: (action) => void process.once('exit', action) };

/** A world with a review of its branch that stands in a phase, begun at noon: a copy of one that was walked there once. */
export const reviewIn = (tidying: Tidying, phase: (typeof phases)[number]): TestWorld => {
  const known = templates.get(phase);
  if (known !== undefined) return createWorld(tidying, { from: known });
  const index = phases.indexOf(phase);
  const before = phases[index - 1];
  const template = before === undefined ? createWorld(untilExit) : reviewIn(untilExit, before);
  if (before === undefined) template.answer('begin', 'review');
  else if (phase === 'complete') completeRound(template);
  else template.answer('advance', phase);
  templates.set(phase, template);
  return createWorld(tidying, { from: template });
};
