import { checkRoundMeta, printRoundMeta } from '../../formats/ocr/round-meta.ts';
import type { Kind } from '../../kernel/kind.ts';
import type { PhaseWorkflow } from '../../kernel/phase-table.ts';
import { definePhaseWorkflow } from '../../kernel/phases.ts';
import { examples } from './examples.ts';

/** The headings under which a reviewer writes a finding. The plural is the heading of a section. */
const findings = { label: 'findings', pattern: String.raw`^ {0,3}#{2,6}[ \t]+(?:finding|issue|suggestion)\b` };

/** The phases of a code review, their numbers and files: those of the Open Code Review workflow. */
export const workflow: PhaseWorkflow = {
  name: 'review',
  summary:
    'a code review in rounds: reviewers work side by side, their findings are aggregated, discussed and synthesized',
  everyday: true,
  phases: [
    {
      name: 'context',
      label: 'Discover the project and its standards',
      evidence: [{ label: 'standards of the project', path: 'discovered-standards.md' }],
    },
    {
      name: 'change-context',
      label: 'Gather the context of the change',
      evidence: [{ label: 'context of the change', path: 'context.md' }],
    },
    { name: 'analysis', label: 'Analyse the change and guide the reviewers' },
    {
      name: 'reviews',
      label: 'Let the reviewers work side by side',
      evidence: [{ label: 'reviews', path: 'rounds/round-{round}/reviews', atLeast: 2, counts: findings }],
    },
    { name: 'aggregation', label: 'Aggregate the findings' },
    {
      name: 'discourse',
      label: 'Let the reviewers discuss the findings',
      evidence: [{ label: 'discourse', path: 'rounds/round-{round}/discourse.md' }],
      skippable: true,
    },
    {
      name: 'synthesis',
      label: 'Write the final review',
      evidence: [{ label: 'final review', path: 'rounds/round-{round}/final.md' }],
    },
    { name: 'complete', label: 'The round is complete' },
  ],
  cycle: { field: 'round', currentField: 'current_round', startedField: 'round_started_at' },
  completion: {
    verb: 'complete-round',
    summary: 'Complete a review round with what it found.',
    details: `Takes the round's findings as JSON (schema_version 1) from standard input or a file: verdict (APPROVE, REQUEST CHANGES or NEEDS DISCUSSION), reviewers with type, instance and findings (title of at least 8 characters; category blocker, should_fix, suggestion or style; severity critical, high, medium, low or info; summary; where known file_path, line_start, line_end, evidence and flagged_by), and where it helps synthesis_counts or synthesis_findings. An APPROVE has no blocker, a REQUEST CHANGES at least one. Files of the session's folder may be claimed as artifacts, each a path or an object with path and sha256: they must be there, not empty, and as they are said to be; other checks (gates) are none of this program's (6). Keys that are not named here are kept. Every fault is named by its JSON path (7).

The round must be in synthesis (6). In one transaction the findings are stored and the round is complete; round-meta.json is written from what was stored. The same payload again changes nothing, another one is a conflict (9).`,
    examples: [
      'stint complete-round --file round-meta.json',
      'stint complete-round --stdin --require-final --json < findings.json',
    ],
    payload: 'the findings of the round, as round-meta.json',
    metaPath: 'rounds/round-{round}/round-meta.json',
    finalPath: 'rounds/round-{round}/final.md',
    check: checkRoundMeta,
    print: printRoundMeta,
  },
  folder: '.ocr/sessions/{name}',
  get examples() {
    return examples();
  },
};

export const kind: Kind = definePhaseWorkflow(workflow);
