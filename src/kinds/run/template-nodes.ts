import type { TemplateNode } from '../../formats/run-state/template.ts';
import type { Node } from './events.ts';

/** A node of a template as a plan holds it. */
export const nodeOfTemplate = (node: TemplateNode): Node => ({
  id: node.id,
  name: node.name,
  type: node.type,
  executor: node.type === 'checkpoint' ? null : node.executor,
  args: node.type === 'checkpoint' ? '' : node.argsTemplate,
  on_fail: node.type === 'checkpoint' ? 'abort' : node.onFail,
  idempotent: node.type === 'checkpoint' || node.idempotent,
  auto_continue: node.type === 'checkpoint' && node.autoContinue,
  details: {
    ...(node.parallelGroup === null ? {} : { parallel_group: node.parallelGroup }),
    ...(node.type === 'cli' ? { cli_tool: node.cliTool, cli_mode: node.cliMode, cli_rule: node.cliRule } : {}),
    ...(node.type === 'agent' ? { run_in_background: node.runInBackground } : {}),
  },
});
