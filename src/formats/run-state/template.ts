import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { jsonPath } from '../../lib/faults.ts';
import { isJsonObject, wellFormedJson } from '../../lib/json.ts';
import { parseJsonFully, placesIn, valuesIn, type JsonFault, type Place } from '../../lib/json-text.ts';
import { nameProblem } from '../../lib/name.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import { oneLine, truncate } from '../../lib/text.ts';
import { checkValue, contextTypes, type ContextField, type ContextSchema } from './context.ts';
import type { Batch } from './document.ts';
import { planGraph, type Edge, type Ring, type SplitGroup } from './plan.ts';
import {
  isNodeField,
  isPreviousField,
  isReferable,
  nodeFields,
  previousFields,
  tokenize,
  type Token,
} from './references.ts';

/** A template of workflow runs, as the original workflow player keeps it: `.workflow/templates/<slug>.json`. */
export interface Template {
  readonly templateId: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly contextSchema: ContextSchema;
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly Edge[];
  /** The whole of it, with the keys that are not of the format. Its texts are well-formed. */
  readonly json: JsonObject;
}

/** A node: it does work, or it is a checkpoint. */
export type TemplateNode = WorkNode | CheckpointNode;

/** A node that does work. */
export type WorkNode = WorkFields &
  (
    | { readonly type: 'skill' | 'command' }
    | {
        readonly type: 'cli';
        readonly cliTool: string | null;
        /** Null where it is not said. */
        readonly cliMode: CliMode | null;
        readonly cliRule: string | null;
      }
    | { readonly type: 'agent'; readonly runInBackground: boolean }
  );

interface WorkFields {
  readonly id: string;
  readonly name: string;
  readonly executor: string;
  readonly argsTemplate: string;
  readonly parallelGroup: string | null;
  readonly onFail: OnFail;
  /** Whether doing it twice does no harm. The key is our own. */
  readonly idempotent: boolean;
}

/** Where a run is saved, and goes on by itself or waits for somebody. */
export interface CheckpointNode {
  readonly type: 'checkpoint';
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly autoContinue: boolean;
  /** It stands alone. */
  readonly parallelGroup: null;
}

const nodeTypes = ['skill', 'cli', 'command', 'agent', 'checkpoint'] as const;
const failPolicies = ['abort', 'skip', 'retry'] as const;
type OnFail = (typeof failPolicies)[number];
const cliModes = ['analysis', 'write'] as const;
type CliMode = (typeof cliModes)[number];

/** Something that is wrong with a template, and where: line and column from 1, and the JSON path. */
export interface Fault extends Place {
  readonly path: string;
  /** A whole sentence. */
  readonly problem: string;
}

/** A fault as a line that editors and people can follow. */
export const faultLine = (name: string, { line, column, problem }: Fault): string =>
  `${oneLine(name)}:${line}:${column}: ${problem}`;

/** Reads a template. Every fault is told, in the order of the text; warnings are lines that begin with `name` and a place. */
export const readTemplate = (
  text: string,
  name: string,
): Result<{ readonly template: Template; readonly warnings: readonly string[] }, readonly Fault[]> => {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const placeAt = placesIn(content);
  if (content.trim() === '') return err([{ line: 1, column: 1, path: '$', problem: 'The file is empty.' }]);
  const parsed = parseJsonFully(content);
  if ('faults' in parsed)
    return err(
      parsed.faults.map((fault) => ({
        ...placeAt(fault.what === 'shape' ? 0 : fault.offset),
        path: jsonPath(fault.what === 'repeated key' ? fault.keys : []),
        problem: jsonProblem(fault),
      })),
    );

  const findings = createFindings();
  const template = templateOf(parsed.value, findings);
  // Where everything stands is asked for only if there is something to tell.
  const { faults, warnings } = findings;
  const offsetAt = faults.length + warnings.length > 0 ? valuesIn(content) : () => 0;
  const placed = (list: readonly Finding[]): readonly Fault[] =>
    list
      .map(({ keys, problem }) => ({ offset: offsetAt(keys), path: jsonPath(keys), problem }))
      .toSorted((a, b) => a.offset - b.offset)
      .map(({ offset, path, problem }) => ({ ...placeAt(offset), path, problem }));
  if (template === undefined || faults.length > 0) return err(placed(faults));
  return ok({ template, warnings: placed(warnings).map((one) => faultLine(name, one)) });
};

const jsonProblem = (fault: JsonFault): string => {
  switch (fault.what) {
    case 'syntax':
      return 'This is not JSON.';
    case 'repeated key':
      return 'This key stands in its object before.';
    case 'shape':
      return `The file ${fault.problem}.`;
  }
};

type Keys = readonly (string | number)[];

/** What is to be told about the value that some keys lead to. */
interface Finding {
  readonly keys: Keys;
  readonly problem: string;
}

interface Findings {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
  readonly fault: (keys: Keys, problem: string) => void;
  readonly warn: (keys: Keys, problem: string) => void;
  /** The end of a sentence that says what may have been meant. */
  readonly perhaps: (word: string, candidates: () => readonly string[]) => string;
}

/** How often names are compared for one template: thousands of faults are not each worth a search among thousands of names. */
const mostComparisons = 50;

const createFindings = (): Findings => {
  let comparisons = 0;
  const faults: Finding[] = [];
  const warnings: Finding[] = [];
  return {
    faults,
    warnings,
    fault: (keys, problem) => void faults.push({ keys, problem }),
    warn: (keys, problem) => void warnings.push({ keys, problem }),
    perhaps: (word, candidates) => {
      comparisons += 1;
      const near = comparisons > mostComparisons ? [] : nearest(word, candidates(), 2);
      return near.length === 0 ? '' : `; perhaps ${near.map(shown).join(' or ')}`;
    },
  };
};

/** The template that a file holds; undefined where its outermost shape is wrong already. */
const templateOf = (value: Json, findings: Findings): Template | undefined => {
  if (!isJsonObject(value)) {
    findings.fault([], 'A template is an object with template_id, nodes, edges and context_schema.');
    return undefined;
  }
  const fields = fieldsOf(value, [], 'The template', findings);
  const templateId = fields.requiredText('template_id');
  const contextSchema = contextSchemaOf(value, findings);
  const located = nodesOf(value, findings);
  const ids = new Set(listAt(value, 'nodes').flatMap((one) => (isJsonObject(one) ? [one['id']] : [])));
  const edges = edgesOf(value, ids, findings);
  const batches = planOf(located, edges, findings);
  // What is missing may belong between the rest: only the plan of everything tells what is earlier.
  const isWhole =
    listAt(value, 'nodes').length === located.length &&
    listAt(value, 'edges').length === edges.length &&
    edges.every(({ dangles }) => !dangles);
  checkReferences(located, ids, contextSchema, isWhole ? batches : undefined, findings);
  const json = wellFormedJson(value);
  if (JSON.stringify(json) !== JSON.stringify(value))
    findings.warn([], 'A text holds half a character (a lone surrogate): it is read as U+FFFD.');
  return {
    templateId,
    name: fields.text('name', templateId),
    description: fields.text('description', ''),
    version: typeof value['version'] === 'number' ? String(value['version']) : fields.text('version', '1.0'),
    contextSchema,
    nodes: located.map(({ node }) => node),
    edges: edges.map(({ from, to }) => ({ from, to })),
    json: isJsonObject(json) ? json : {},
  };
};

const listAt = (object: JsonObject, key: string): readonly Json[] => {
  const value = object[key];
  return Array.isArray(value) ? value : [];
};

/** Readers of the fields of an object: what is not of its type is told, and read as if it was not there. */
const fieldsOf = (object: JsonObject, keys: Keys, whose: string, { fault, perhaps }: Findings) => {
  /** Nothing is the same as null. */
  const own = (key: string): Json => (Object.hasOwn(object, key) ? (object[key] ?? null) : null);
  const text = (key: string, otherwise: string): string => {
    const value = own(key);
    if (typeof value === 'string') return value.toWellFormed();
    if (value !== null) fault([...keys, key], `${key} is not a text.`);
    return otherwise;
  };
  return {
    text,
    optionalText: (key: string): string | null => text(key, '') || null,
    requiredText: (key: string): string => {
      if (own(key) === null) fault(keys, `${whose} has no ${key}.`);
      const value = text(key, '');
      if (typeof own(key) === 'string' && value.trim() === '') fault([...keys, key], `${key} is empty.`);
      return value;
    },
    flag: (key: string): boolean => {
      const value = own(key);
      if (value !== null && typeof value !== 'boolean') fault([...keys, key], `${key} is neither true nor false.`);
      return value === true;
    },
    choice: <const Word extends string>(key: string, words: readonly Word[]): Word | null => {
      const value = own(key);
      const word = words.find((one) => one === value);
      if (word !== undefined || value === null) return word ?? null;
      const meant = typeof value === 'string' ? perhaps(value, () => words) : '';
      fault([...keys, key], `${key} is none of ${words.join(', ')}${meant}.`);
      return null;
    },
  };
};

/** A text from outside within a sentence. */
const shown = (text: string): string =>
  /^[\w.[\]-]{1,128}$/.test(text) ? text : JSON.stringify(truncate(text.toWellFormed(), 60));

const contextSchemaOf = (template: JsonObject, findings: Findings): ContextSchema => {
  const { fault, warn } = findings;
  const value = template['context_schema'];
  if (!isJsonObject(value)) {
    fault(
      value === undefined ? [] : ['context_schema'],
      value === undefined ? 'The template has no context_schema.' : 'context_schema is not an object.',
    );
    return new Map();
  }
  return new Map(
    Object.entries(value).flatMap(([name, entry]): readonly (readonly [string, ContextField])[] => {
      const keys = ['context_schema', name];
      if (!isJsonObject(entry)) {
        fault(keys, `The field ${shown(name)} is not an object.`);
        return [];
      }
      if (isPreviousField(name)) fault(keys, `${name} is the result of the work before a node, and no field.`);
      else if (!isReferable(name)) warn(keys, `No reference can name the field ${shown(name)}.`);
      const fields = fieldsOf(entry, keys, `The field ${shown(name)}`, findings);
      const type = fields.choice('type', contextTypes) ?? 'string';
      return [
        [
          name.toWellFormed(),
          {
            type,
            required: fields.flag('required'),
            description: fields.text('description', ''),
            default: defaultOf(entry, type, [...keys, 'default'], findings),
          },
        ],
      ];
    }),
  );
};

const defaultOf = (entry: JsonObject, type: ContextField['type'], keys: Keys, { fault }: Findings): string | null => {
  const value = entry['default'];
  if (value === undefined || value === null) return null;
  if (typeof value === 'object') {
    fault(keys, 'default is not a text.');
    return null;
  }
  const text = String(value).toWellFormed();
  const checked = text === '' ? ok(text) : checkValue(type, text);
  if (checked.ok) return text;
  fault(keys, `The default ${checked.error}.`);
  return null;
};

/** A node with its place in the list, of which it may be one that is left out elsewhere. */
interface LocatedNode {
  readonly node: TemplateNode;
  readonly index: number;
}

/** The nodes that have an id of their own. */
const nodesOf = (template: JsonObject, findings: Findings): readonly LocatedNode[] => {
  const { fault } = findings;
  const list = template['nodes'];
  if (!Array.isArray(list) || list.length === 0) {
    fault(
      list === undefined ? [] : ['nodes'],
      list === undefined
        ? 'The template has no nodes.'
        : Array.isArray(list)
          ? 'nodes is empty: there is nothing to do.'
          : 'nodes is not a list.',
    );
    return [];
  }
  const values: readonly Json[] = list;
  const firstById = new Map<string, { readonly id: string; readonly index: number }>();
  return values.flatMap((value, index): readonly LocatedNode[] => {
    const node = nodeOf(value, ['nodes', index], findings);
    if (node === undefined) return [];
    // Ids become names of files, which some systems do not tell apart by case.
    const first = firstById.get(node.id.toLowerCase());
    if (first === undefined) {
      firstById.set(node.id.toLowerCase(), { id: node.id, index });
      return [{ node, index }];
    }
    fault(
      ['nodes', index, 'id'],
      first.id === node.id
        ? `The id ${node.id} is taken: nodes[${first.index}] has it.`
        : `The id ${node.id} differs from ${first.id} of nodes[${first.index}] in case alone: as names of files they are one.`,
    );
    return [];
  });
};

const nodeOf = (value: Json, keys: Keys, findings: Findings): TemplateNode | undefined => {
  const { fault } = findings;
  if (!isJsonObject(value)) {
    fault(keys, 'A node is an object with id and type.');
    return undefined;
  }
  const given = value['id'];
  const problem = typeof given === 'string' ? nameProblem(given) : undefined;
  const isNamed = typeof given === 'string' && problem === undefined;
  const whose = isNamed ? `The node ${given}` : 'A node';
  if (typeof given !== 'string')
    fault(given === undefined ? keys : [...keys, 'id'], `${whose} has no id that is a text.`);
  else if (problem !== undefined)
    fault([...keys, 'id'], `The id ${shown(given)} cannot become the name of a file. ${problem}`);
  const fields = fieldsOf(value, keys, whose, findings);
  if (value['type'] === undefined) fault(keys, `${whose} has no type.`);
  const type = fields.choice('type', nodeTypes);
  const id = isNamed ? given : '';
  const node = type === null ? undefined : typedNode(type, id, value, keys, whose, findings);
  return isNamed ? node : undefined;
};

const typedNode = (
  type: TemplateNode['type'],
  id: string,
  value: JsonObject,
  keys: Keys,
  whose: string,
  findings: Findings,
): TemplateNode => {
  const fields = fieldsOf(value, keys, whose, findings);
  const name = fields.text('name', id);
  if (type === 'checkpoint') {
    if (fields.optionalText('parallel_group') !== null)
      findings.fault([...keys, 'parallel_group'], `${whose} is a checkpoint, and stands alone: it is in no group.`);
    const description = fields.text('description', '');
    return { type, id, name, description, autoContinue: fields.flag('auto_continue'), parallelGroup: null };
  }
  const work: WorkFields = {
    id,
    name,
    executor: type === 'cli' ? fields.text('executor', 'ccw cli') : fields.requiredText('executor'),
    argsTemplate: fields.text('args_template', ''),
    parallelGroup: fields.optionalText('parallel_group'),
    onFail: fields.choice('on_fail', failPolicies) ?? 'abort',
    idempotent: fields.flag('idempotent'),
  };
  switch (type) {
    case 'skill':
    case 'command':
      return { ...work, type };
    case 'cli':
      return {
        ...work,
        type,
        cliTool: fields.optionalText('cli_tool'),
        cliMode: fields.choice('cli_mode', cliModes),
        cliRule: fields.optionalText('cli_rule'),
      };
    case 'agent':
      return { ...work, type, runInBackground: fields.flag('run_in_background') };
  }
};

/** An edge with its place in the list; one that dangles leads to or from no node. */
interface LocatedEdge extends Edge {
  readonly index: number;
  readonly dangles: boolean;
}

const edgesOf = (
  template: JsonObject,
  known: ReadonlySet<Json | undefined>,
  { fault, warn, perhaps }: Findings,
): readonly LocatedEdge[] => {
  const list = template['edges'];
  if (!Array.isArray(list)) {
    fault(
      list === undefined ? [] : ['edges'],
      list === undefined ? 'The template has no edges.' : 'edges is not a list.',
    );
    return [];
  }
  const values: readonly Json[] = list;
  const seen = new Set<string>();
  return values.flatMap((value, index): readonly LocatedEdge[] => {
    const { from, to } = isJsonObject(value) ? value : {};
    if (typeof from !== 'string' || typeof to !== 'string') {
      fault(['edges', index], 'An edge is an object with from and to, each the id of a node.');
      return [];
    }
    const edge = `${shown(from)} > ${shown(to)}`;
    const key = JSON.stringify([from, to]);
    const unknown = [...new Set([from, to])].filter((id) => !known.has(id));
    if (unknown.length > 0)
      fault(
        ['edges', index, known.has(from) ? 'to' : 'from'],
        `The edge ${edge} dangles: there is no node ${unknown.map(shown).join(', and no node ')}${perhaps(unknown[0] ?? '', () => textsIn(known))}.`,
      );
    if (seen.has(key)) warn(['edges', index], `The edge ${edge} stands there before.`);
    seen.add(key);
    return [{ from, to, index, dangles: unknown.length > 0 }];
  });
};

const textsIn = (values: ReadonlySet<Json | undefined>): readonly string[] =>
  [...values].filter((value) => typeof value === 'string');

/** Most nodes of a way that are written out. */
const longestWay = 24;

/** Nodes one after the other; of a very long way the middle is left out. */
const wayText = (nodes: readonly string[], between = ' > '): string =>
  nodes.length <= longestWay
    ? nodes.join(between)
    : [
        ...nodes.slice(0, longestWay / 2),
        `... ${nodes.length - longestWay} more ...`,
        ...nodes.slice(-longestWay / 2),
      ].join(between);

/** The plan of what could be read; undefined where there is none. */
const planOf = (
  located: readonly LocatedNode[],
  edges: readonly LocatedEdge[],
  { fault, warn }: Findings,
): readonly Batch[] | undefined => {
  const nodes = located.map(({ node }) => node);
  const whole = edges.filter(({ dangles }) => !dangles);
  const { batches, rings, splits } = planGraph({ nodes, edges: whole });
  const keysOf = (closes: number): Keys => ['edges', whole[closes]?.index ?? 0];
  for (const ring of rings) fault(keysOf(ring.closes), ringProblem(ring));
  for (const split of splits) fault(keysOf(split.closes), splitProblem(split));

  const touched = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const groups = new Map<string, number>();
  for (const { parallelGroup: group } of nodes) if (group !== null) groups.set(group, (groups.get(group) ?? 0) + 1);
  const isOneBatch = [...groups.values()].includes(nodes.length);
  for (const { node, index } of located) {
    if (!touched.has(node.id) && nodes.length > 1 && !isOneBatch)
      fault(['nodes', index, 'id'], `The node ${node.id} is unreachable: no edge leads to it or from it.`);
    if (node.parallelGroup !== null && groups.get(node.parallelGroup) === 1)
      warn(
        ['nodes', index, 'parallel_group'],
        `${node.id} is alone in the parallel group ${shown(node.parallelGroup)}: nothing is done beside it.`,
      );
  }
  return batches;
};

const ringProblem = ({ nodes }: Ring): string =>
  nodes.length === 1
    ? `The node ${nodes[0] ?? ''} waits for itself: ${wayText([...nodes, ...nodes])}.`
    : `The nodes wait for each other in a ring: ${wayText([...nodes, ...nodes.slice(0, 1)])}.`;

const splitProblem = ({ groups, ways }: SplitGroup): string => {
  const [group = ''] = groups;
  const [way = []] = ways;
  if (groups.length > 1)
    return `The parallel groups ${groups.map(shown).join(' and ')} wait for each other, so that none of them can be one batch: ${ways.map((one) => wayText(one)).join(', ')}.`;
  return way.length === 2
    ? `${way[1] ?? ''} waits for ${way[0] ?? ''}, but both are in the parallel group ${shown(group)}, whose members start together: ${wayText(way)}.`
    : `The parallel group ${shown(group)} is split: its members start together, but one waits for another through what stands between them: ${wayText(way)}.`;
};

/** Looks whether every reference leads to something that is there by then. Without a plan nobody knows what is earlier. */
const checkReferences = (
  located: readonly LocatedNode[],
  ids: ReadonlySet<Json | undefined>,
  schema: ContextSchema,
  batches: readonly Batch[] | undefined,
  { fault, warn, perhaps }: Findings,
): void => {
  const nodeById = new Map(located.map(({ node }) => [node.id, node]));
  const batchById = new Map((batches ?? []).flatMap((batch) => batch.nodes.map((id) => [id, batch] as const)));
  const before = workBefore(batches ?? [], nodeById);

  const problemOf = (token: Token, node: WorkNode): string | undefined => {
    switch (token.kind) {
      case 'text':
      case 'brace':
      case 'previous':
        return undefined;
      case 'context':
        return schema.has(token.name) ? undefined : undeclared(token.source, token.name, schema, nodeById, perhaps);
      case 'node': {
        const target = nodeById.get(token.node);
        // A node that could not be read is told already.
        if (target === undefined && ids.has(token.node)) return undefined;
        if (target === undefined)
          return `${token.source} refers to no node${perhaps(token.node, () => [...nodeById.keys()])}; {{ and }} are braces.`;
        if (target.type === 'checkpoint') return `${token.source} refers to a checkpoint, which has no results.`;
        if (!isNodeField(token.field, token.index))
          return `${token.source} refers to no result of a node: there are ${nodeFields.join(', ')} and artifacts[0]${perhaps(token.field, () => [...nodeFields, 'artifacts[0]'])}.`;
        if (target.id === node.id) return `${token.source} refers to the node itself.`;
        const [mine, its] = [batchById.get(node.id), batchById.get(target.id)];
        if (mine === undefined || its === undefined || its.batch < mine.batch) return undefined;
        return its.batch === mine.batch
          ? `${token.source} refers to a node of the same parallel group, which starts together with ${node.id}.`
          : `${token.source} refers forward: ${target.id} is done after ${node.id} (batch ${its.batch}, and ${mine.batch}).`;
      }
    }
  };

  for (const { node, index } of located) {
    if (node.type === 'checkpoint') continue;
    const keys = ['nodes', index, 'args_template'];
    const tokens = tokenize(node.argsTemplate);
    for (const problem of new Set(tokens.map((token) => problemOf(token, node)))) {
      if (problem !== undefined) fault(keys, `In ${node.id}: ${problem}`);
    }
    const previous = new Set(
      tokens.flatMap((token) => (token.kind === 'previous' ? [token] : [])).map(({ field }) => field),
    );
    const work = before.get(node.id);
    for (const field of previous) {
      if (batches === undefined) break;
      if (work === undefined) warn(keys, `In ${node.id}: {${field}} is always empty: no work is before it.`);
      else if (work.parallel && field !== 'prev_outputs')
        warn(
          keys,
          `In ${node.id}: {${field}} comes from a parallel batch (${wayText(work.nodes, ', ')}): it is that of the last one in the order of the plan that has completed; {${work.nodes[0] ?? ''}.${field.slice('prev_'.length)}} names one${field === 'prev_output' ? ', {prev_outputs} all' : ''}.`,
        );
    }
    const braces = tokens.flatMap((token) => (token.kind === 'brace' ? [token.near] : []));
    if (braces.length > 0)
      warn(
        keys,
        `In ${node.id}: ${JSON.stringify(braces[0])} is no reference and stays as it is${braces.length > 1 ? `, and so do ${braces.length - 1} more` : ''}; {{ and }} say so without a warning.`,
      );
  }
};

const undeclared = (
  source: string,
  name: string,
  schema: ContextSchema,
  nodeById: ReadonlyMap<string, TemplateNode>,
  perhaps: Findings['perhaps'],
): string => {
  if (nodeById.has(name)) return `${source} names a node, but none of its results: {${name}.output} is one.`;
  return `${source} is not declared in context_schema${perhaps(name, () => [...schema.keys(), ...previousFields])}; {{ and }} are braces.`;
};

/** Of each node the nearest earlier batch that does work. */
const workBefore = (
  batches: readonly Batch[],
  nodeById: ReadonlyMap<string, TemplateNode>,
): ReadonlyMap<string, Batch> => {
  const before = new Map<string, Batch>();
  let last: Batch | undefined;
  for (const batch of batches) {
    if (last !== undefined) for (const id of batch.nodes) before.set(id, last);
    if (batch.nodes.some((id) => nodeById.get(id)?.type !== 'checkpoint')) last = batch;
  }
  return before;
};
