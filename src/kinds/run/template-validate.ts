import * as v from 'valibot';
import { planBatches } from '../../formats/run-state/plan.ts';
import { objectsAt, textAt, textsAt } from '../../kernel/answer.ts';
import { requiredText } from '../../kernel/fields.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { err, ok } from '../../lib/result.ts';
import { countText, readNamedTemplate, refuseFaults, runCommand, sizeOf } from './templates.ts';

export const templateValidate = defineVerb({
  name: 'template validate',
  summary: 'Say whether a template can be run.',
  details: `Reads a template and names everything that is wrong with it, each with file, line and column: what is no JSON, keys that are missing or of the wrong type, ids that are no names of files or that stand twice, edges that dangle, nodes that wait for each other in a ring (A > B > C > A), nodes that no edge reaches, groups whose members wait for each other, and references to what is not declared, not there, or only done later. Any of it is refused (7), with the full report.

A template is named by its slug, its template_id, or a path that is absolute or begins with a dot. Warnings refuse nothing.`,
  examples: ['stint template validate nightly-audit', 'stint template validate ./drafts/audit.json --json'],
  input: () =>
    v.strictObject({
      template: requiredText(
        'The template: its slug, its template_id, or a path that is absolute or begins with a dot.',
      ),
    }),
  positionals: ['template'],
  does: {
    apart: async ({ files }, { template: name }) => {
      const named = await readNamedTemplate(name, files);
      if (!named.ok) return err({ refusal: named.error });
      const { found, read } = named.value;
      const report = {
        template: found.slug,
        path: found.path,
        ...(found.remarks.length === 0 ? {} : { notes: found.remarks }),
      };
      if (!read.ok) {
        const faults = read.error.map(({ line, column, path, problem }) => ({ line, column, path, problem }));
        return err({
          report: { ...report, valid: false, faults, warnings: [], batches: [], nodes: null, checkpoints: null },
          refusal: refuseFaults(named.value),
        });
      }
      const { template, warnings } = read.value;
      const batches = planBatches(template).map(({ batch, nodes, parallel }) => ({ batch, nodes, parallel }));
      return ok({
        ...report,
        valid: true,
        faults: [],
        warnings,
        batches,
        ...sizeOf(template),
        command: runCommand(name, template),
      });
    },
  },
  text: (answer) => {
    const path = textAt(answer, 'path');
    const faults = objectsAt(answer, 'faults');
    const warnings = textsAt(answer, 'warnings').map((warning) => `warning: ${warning}`);
    if (answer['valid'] !== true)
      return [
        ...faults.map((one) => `${path}:${textAt(one, 'line')}:${textAt(one, 'column')}: ${textAt(one, 'problem')}`),
        `${textAt(answer, 'template')}: ${countText(faults.length, 'fault')}; correct ${faults.length === 1 ? 'it' : 'them'} in ${path} and validate again`,
      ].join('\n');
    const batches = objectsAt(answer, 'batches').length;
    return [
      ...warnings,
      `${textAt(answer, 'template')} is valid: ${countText(Number(answer['nodes']), 'node')} and ${countText(Number(answer['checkpoints']), 'checkpoint')} in ${countText(batches, 'batch', 'batches')}`,
      `next: ${textAt(answer, 'command')}`,
    ].join('\n');
  },
});
