import type { FoundTemplate } from '../../formats/run-state/lookup.ts';
import type { Fault, Template } from '../../formats/run-state/template.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { WrittenFiles } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { ok, type Result } from '../../lib/result.ts';
import { shellWord } from '../../lib/text.ts';

/** What the verbs about templates share. Templates are read by what is loaded with the first of them. */

/** A template that was found, and what was read of it. */
export interface NamedTemplate {
  /** What it is called on the command line: its slug, or the path under which it was found. */
  readonly name: string;
  readonly found: FoundTemplate;
  readonly read: Result<{ readonly template: Template; readonly warnings: readonly string[] }, readonly Fault[]>;
  /** Its faults as lines that editors follow. */
  readonly faultLines: readonly string[];
}

/** Finds a template and reads it; what is wrong with its content is not refused here. */
export const readNamedTemplate = async (name: string, files: WrittenFiles): Promise<Result<NamedTemplate, Refusal>> => {
  const { findTemplate } = await import('../../formats/run-state/lookup.ts');
  const found = findTemplate(name, files);
  if (!found.ok) return found;
  const { faultLine, readTemplate } = await import('../../formats/run-state/template.ts');
  const { path, text } = found.value;
  const read = readTemplate(text, path);
  const faultLines = read.ok ? [] : read.error.map((fault) => faultLine(path, fault));
  return ok({ name, found: found.value, read, faultLines });
};

/** The refusal of a template with faults. */
export const refuseFaults = ({ name, faultLines }: NamedTemplate): Refusal => {
  const [first = ''] = faultLines;
  return refuse(
    'invalid-input',
    `The template ${name} is not valid: ${faultLines.length === 1 ? first : `it has ${faultLines.length} faults.`}`,
    { expected: 'a template without faults', hint: commandOf('template validate', name) },
  );
};

/** How many there are of something. */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** How big a template is. */
export const sizeOf = ({
  nodes,
}: Pick<Template, 'nodes'>): { readonly nodes: number; readonly checkpoints: number } => {
  const checkpoints = nodes.filter(({ type }) => type === 'checkpoint').length;
  return { nodes: nodes.length - checkpoints, checkpoints };
};

/** The command that runs a template: what it must be given is named. */
export const runCommand = (name: string, { contextSchema }: Template): string =>
  [
    commandOf('run', name),
    ...[...contextSchema].flatMap(([field, { required, default: otherwise }]) =>
      required && (otherwise ?? '') === '' ? [`--context ${shellWord(`${field}=...`)}`] : [],
    ),
  ].join(' ');

/** The command that tells what a template takes. */
export const showCommand = (name: string): string => commandOf('template show', name);

const commandOf = (verb: string, name: string): string => `stint ${verb} ${shellWord(name)}`;

/** The templates of a project, as they are listed. */
export const listProject = async (files: WrittenFiles): Promise<JsonObject> => {
  const { listTemplates } = await import('../../formats/run-state/lookup.ts');
  const { templates, unreadable, remarks } = listTemplates(files);
  return {
    templates: templates.map(({ isIndexed, ...template }) => ({ ...template, indexed: isIndexed })),
    unreadable: unreadable.map(({ path, problem }) => ({ path, problem })),
    ...(remarks.length === 0 ? {} : { notes: remarks }),
  };
};
