import type { PhaseCommand } from '../../kernel/phase-table.ts';

/** A map of two sections, one of which leans on the other. */
export const mapped = {
  schema_version: 1,
  sections: [
    {
      section_number: 1,
      title: 'The write path',
      description: 'What happens between a command and the disk.',
      files: [
        { file_path: 'src/store.ts', role: 'commits in one transaction', lines_added: 40, lines_deleted: 12 },
        { file_path: 'src/lock.ts', role: 'one writer at a time', lines_added: 8, lines_deleted: 0 },
      ],
    },
    {
      section_number: 2,
      title: 'What is shown',
      files: [{ file_path: 'src/view.ts', role: 'makes lists', lines_added: 3, lines_deleted: 3 }],
    },
  ],
  dependencies: [
    {
      from_section: 2,
      from_title: 'What is shown',
      to_section: 1,
      to_title: 'The write path',
      relationship: 'reads what was committed',
    },
  ],
};

/** A map that found nothing to group. */
export const empty = { schema_version: 1, sections: [] };

export const examples: readonly PhaseCommand[] = [
  { type: 'begin' },
  { type: 'continue', after: 'completed' },
  { type: 'continue', after: 'aborted' },
  { type: 'advance', phase: 'topology' },
  { type: 'advance', phase: 'flow-analysis' },
  { type: 'advance', phase: 'requirements-mapping' },
  { type: 'advance', phase: 'synthesis' },
  { type: 'advance', skip: 'requirements-mapping', reason: 'there are no requirements' },
  { type: 'advance', phase: 'map-context', round: 2 },
  { type: 'complete', payload: mapped, digest: 'a' },
  { type: 'complete', payload: empty, digest: 'b', round: 1, final: true },
];
