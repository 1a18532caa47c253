import type { Kind } from '../../../src/kernel/kind.ts';
import type { PhaseWorkflow } from '../../../src/kernel/phase-table.ts';
import { definePhaseWorkflow } from '../../../src/kernel/phases.ts';
import { completionVerb } from '../../../src/kernel/phases-verb.ts';
import type { Verb } from '../../../src/kernel/verb.ts';
import type { JsonObject } from '../../../src/lib/canonical-json.ts';
import { err, ok } from '../../../src/lib/result.ts';

/** A second phase workflow, for tests: a release in attempts. It is a table; nothing else knows of it. */
const workflow: PhaseWorkflow = {
  name: 'release',
  summary: 'a release, in attempts',
  phases: [
    { name: 'draft', label: 'Write the notes', evidence: [{ label: 'notes', path: 'attempt-{round}/notes.md' }] },
    { name: 'check', label: 'Check the packages', skippable: true },
    { name: 'ship', label: 'Publish the packages' },
    { name: 'shipped', label: 'The packages are published' },
  ],
  cycle: { field: 'attempt', currentField: 'current_attempt', startedField: 'attempt_started_at' },
  completion: {
    verb: 'ship-release',
    summary: 'Record what was published.',
    details: 'Takes {"version": "1.2.3"}.',
    examples: ['stint ship-release --file release.json'],
    payload: 'the published version',
    metaPath: 'attempt-{round}/release.json',
    finalPath: 'attempt-{round}/notes.md',
    check: (payload) =>
      hasVersion(payload)
        ? ok({ payload, summary: { version: payload.version }, notes: [] })
        : err(['$.version is missing: expected a string']),
    print: (payload) => `${JSON.stringify(payload)}\n`,
  },
  folder: 'releases/{name}',
  examples: [
    { type: 'begin' },
    { type: 'continue', after: 'completed' },
    { type: 'advance', phase: 'check' },
    { type: 'advance', phase: 'ship' },
    { type: 'advance', skip: 'check', reason: 'only the notes changed' },
    { type: 'advance', phase: 'draft', round: 2 },
    { type: 'complete', payload: { version: '1.2.3' }, digest: 'a' },
  ],
};

const hasVersion = (payload: unknown): payload is JsonObject & { readonly version: string } =>
  typeof payload === 'object' && payload !== null && 'version' in payload && typeof payload.version === 'string';

export const kind: Kind = definePhaseWorkflow(workflow);

export const verbs: readonly Verb[] = [completionVerb(workflow)];
