import { checkMapMeta, printMapMeta } from '../../formats/ocr/map-meta.ts';
import type { Kind } from '../../kernel/kind.ts';
import type { PhaseWorkflow } from '../../kernel/phase-table.ts';
import { definePhaseWorkflow } from '../../kernel/phases.ts';
import { examples } from './examples.ts';

/** Items of a list and rows of a table that name a path as code, between backticks (0x60). */
const mappedFiles = {
  label: 'paths',
  pattern: String.raw`^\s{0,20}(?:[-*+|]|\d{1,6}\.)\s[^\x60]{0,300}\x60[^\x60]{0,300}[./][^\x60]{0,300}\x60`,
};

/** The phases of a code review map, their numbers and files: those of the Open Code Review workflow. */
export const workflow: PhaseWorkflow = {
  name: 'map',
  summary: 'a map of a change for those who review it, in runs: its files in sections, how they hang together and why',
  phases: [
    {
      name: 'map-context',
      label: 'Discover the project and the change',
      evidence: [{ label: 'standards of the project', path: 'discovered-standards.md' }],
    },
    {
      name: 'topology',
      label: 'Group the files into sections',
      evidence: [{ label: 'topology', path: 'map/runs/run-{round}/topology.md', counts: mappedFiles }],
    },
    {
      name: 'flow-analysis',
      label: 'Trace how the sections work together',
      evidence: [{ label: 'flow analysis', path: 'map/runs/run-{round}/flow-analysis.md' }],
    },
    {
      name: 'requirements-mapping',
      label: 'Map the requirements to the sections',
      evidence: [{ label: 'requirements mapping', path: 'map/runs/run-{round}/requirements-mapping.md' }],
      skippable: true,
    },
    {
      name: 'synthesis',
      label: 'Write the map',
      evidence: [{ label: 'map', path: 'map/runs/run-{round}/map.md' }],
    },
    { name: 'complete', label: 'The run is complete' },
  ],
  cycle: { field: 'map_run', currentField: 'current_map_run', startedField: 'map_started_at' },
  completion: {
    verb: 'complete-map',
    summary: 'Complete a map run with what it mapped.',
    details: `Takes the map as JSON (schema_version 1) from standard input or a file: sections with section_number, title, where it helps description, and files (file_path, role, lines_added, lines_deleted); and where it helps dependencies, a list that is kept as it is said. Sections and files are counted. Keys that are not named here are kept. Every fault is named by its JSON path (7).

The run must be in synthesis (6). In one transaction the map is stored and the run is complete; map-meta.json is written from what was stored. The same payload again changes nothing, another one is a conflict (9).`,
    examples: [
      'stint complete-map --file map-meta.json',
      'stint complete-map --stdin --require-final --json < map.json',
    ],
    payload: 'the map of the run, as map-meta.json',
    metaPath: 'map/runs/run-{round}/map-meta.json',
    finalPath: 'map/runs/run-{round}/map.md',
    check: checkMapMeta,
    print: printMapMeta,
  },
  folder: '.ocr/sessions/{name}',
  examples,
};

export const kind: Kind = definePhaseWorkflow(workflow);
