import type { PhaseCommand } from '../../kernel/phase-table.ts';

/** Payloads that complete a round: one that found nothing that blocks, and one that found a blocker. */
export const payloads = () => ({
  approval: {
    schema_version: 1,
    verdict: 'APPROVE',
    reviewers: [
      {
        type: 'principal',
        instance: 1,
        findings: [
          {
            title: 'Name the retry limit',
            category: 'suggestion',
            severity: 'low',
            summary: 'The limit of 5 is repeated in two files.',
            file_path: 'src/retry.ts',
            line_start: 12,
            line_end: 14,
          },
        ],
      },
      { type: 'security', instance: 1, findings: [] },
    ],
  },
  changesRequested: {
    schema_version: 1,
    verdict: 'REQUEST CHANGES',
    reviewers: [
      {
        type: 'quality',
        instance: 1,
        findings: [
          {
            title: 'The lock is released too early',
            category: 'blocker',
            severity: 'critical',
            summary: 'A second writer gets in between the check and the write.',
            file_path: 'src/store.ts',
            line_start: 88,
          },
        ],
      },
    ],
    synthesis_counts: { blockers: 1, should_fix: 0, suggestions: 0 },
  },
});

/** Made when they are asked for: this kind is loaded with the program, and no verb needs them. */
export const examples = (): readonly PhaseCommand[] => {
  const { approval, changesRequested } = payloads();
  return [
    { type: 'begin' },
    { type: 'continue', after: 'completed' },
    { type: 'continue', after: 'aborted' },
    { type: 'advance', phase: 'change-context' },
    { type: 'advance', phase: 'analysis' },
    { type: 'advance', phase: 'reviews' },
    { type: 'advance', phase: 'aggregation' },
    { type: 'advance', phase: 'discourse' },
    { type: 'advance', phase: 'synthesis' },
    { type: 'advance', skip: 'discourse', reason: 'quick review' },
    { type: 'advance', phase: 'context', round: 2 },
    { type: 'complete', payload: approval, digest: 'a' },
    { type: 'complete', payload: changesRequested, digest: 'b', round: 1, final: true },
  ];
};
