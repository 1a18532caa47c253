import * as v from 'valibot';
import { planBatches } from '../../formats/run-state/plan.ts';
import type { TemplateNode } from '../../formats/run-state/template.ts';
import { fieldLines, objectsAt, table, textAt, textsAt } from '../../kernel/answer.ts';
import { requiredText } from '../../kernel/fields.ts';
import { defineVerb } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok } from '../../lib/result.ts';
import { countText, readNamedTemplate, refuseFaults, runCommand, sizeOf } from './templates.ts';

export const templateShow = defineVerb({
  name: 'template show',
  summary: 'Show what a template takes and does, in order.',
  details: `Shows the fields of the context with their types and defaults, the plan in the order in which its batches are done, and the command that runs it. A number that stands before several nodes is one batch: its nodes are done in parallel. A checkpoint goes on by itself or pauses for you.

A template with faults is refused (7): template validate names them all.`,
  examples: ['stint template show nightly-audit', 'stint template show ./drafts/audit.json --json'],
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
      if (!read.ok) return err({ refusal: { ...refuseFaults(named.value), faults: named.value.faultLines } });
      const { template, warnings } = read.value;
      const nodeById = new Map(template.nodes.map((node) => [node.id, node]));
      return ok({
        template: found.slug,
        path: found.path,
        template_id: template.templateId,
        name: template.name,
        description: template.description,
        version: template.version,
        ...sizeOf(template),
        context: [...template.contextSchema].map(([field, { type, required, description, default: otherwise }]) => ({
          name: field,
          type,
          required,
          description,
          default: otherwise,
        })),
        batches: planBatches(template).map(({ batch, nodes, parallel }) => ({
          batch,
          parallel,
          nodes: nodes.flatMap((id) => {
            const node = nodeById.get(id);
            return node === undefined ? [] : [nodeToJson(node)];
          }),
        })),
        warnings,
        ...(found.remarks.length === 0 ? {} : { notes: found.remarks }),
        command: runCommand(name, template),
      });
    },
  },
  text: (answer) => {
    const context = objectsAt(answer, 'context').map((field) => [
      textAt(field, 'name'),
      textAt(field, 'type'),
      typeof field['default'] === 'string'
        ? `default ${JSON.stringify(field['default'])}`
        : field['required'] === true
          ? 'required'
          : 'optional',
      textAt(field, 'description'),
    ]);
    const batches = objectsAt(answer, 'batches');
    const plan = batches.flatMap((batch) =>
      objectsAt(batch, 'nodes').map((node) => [
        `${textAt(batch, 'batch')}.`,
        textAt(node, 'id'),
        textAt(node, 'name'),
        textAt(node, 'type'),
        textAt(node, 'executor'),
        whatFollows(node),
        batch['parallel'] === true ? 'in parallel' : '',
      ]),
    );
    return [
      `${textAt(answer, 'template')}: ${textAt(answer, 'name')}`,
      fieldLines([
        ['description', textAt(answer, 'description')],
        ['template_id', textAt(answer, 'template_id')],
        ['version', textAt(answer, 'version')],
        ['file', textAt(answer, 'path')],
      ]),
      ...(context.length === 0 ? ['context: it takes no values'] : ['context:', table(context, '  ')]),
      `plan: ${countText(Number(answer['nodes']), 'node')} and ${countText(Number(answer['checkpoints']), 'checkpoint')} in ${countText(batches.length, 'batch', 'batches')}`,
      table(plan, '  '),
      ...textsAt(answer, 'warnings').map((warning) => `warning: ${warning}`),
      `next: ${textAt(answer, 'command')}`,
    ].join('\n');
  },
});

/** A node with its own fields in one shape for all types. */
const nodeToJson = (node: TemplateNode): JsonObject => {
  const { id, name, type } = node;
  if (node.type === 'checkpoint')
    return { id, name, type, description: node.description, auto_continue: node.autoContinue };
  const { executor, argsTemplate, onFail, idempotent } = node;
  return {
    id,
    name,
    type,
    executor,
    args_template: argsTemplate,
    on_fail: onFail,
    idempotent,
    ...(node.type === 'cli' ? { cli_tool: node.cliTool, cli_mode: node.cliMode, cli_rule: node.cliRule } : {}),
    ...(node.type === 'agent' ? { run_in_background: node.runInBackground } : {}),
  };
};

/** What becomes of the run behind a node. */
const whatFollows = (node: JsonObject): string =>
  textAt(node, 'type') !== 'checkpoint'
    ? `on failure ${textAt(node, 'on_fail')}`
    : node['auto_continue'] === true
      ? 'goes on by itself'
      : 'pauses for you';
