import type { Batch } from './document.ts';

/**
 * References in the arguments of a node: `{name}` is a value of the context, `{id.field}` a result of an earlier node,
 * `{prev_output}` and its like a result of the work before. A template is taken apart once and filled in once: what is
 * filled in is never looked at again, so that no value can be a reference, an escape or a pattern.
 *
 * `{{` and `}}` are braces. Any other brace that begins no reference is text, as in JSON.
 */

/** A part of an arguments template. */
export type Token =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'context'; readonly name: string; readonly source: string }
  | { readonly kind: 'previous'; readonly field: PreviousField; readonly source: string }
  | {
      readonly kind: 'node';
      readonly node: string;
      readonly field: string;
      readonly index: number | undefined;
      readonly source: string;
    }
  /** A brace that is text because it begins no reference, told since it may have been meant as one. */
  | { readonly kind: 'brace'; readonly text: '{'; readonly near: string };

/** What is known of the work before a node. */
export const previousFields = ['prev_session_id', 'prev_output', 'prev_output_path', 'prev_outputs'] as const;
export type PreviousField = (typeof previousFields)[number];

/** What is known of a node by its id; of its artifacts one at a time. */
export const nodeFields = ['session_id', 'output_path', 'output', 'status'] as const;
type NodeField = (typeof nodeFields)[number];

/** Takes an arguments template apart. */
export const tokenize = (argsTemplate: string): readonly Token[] => {
  const tokens: Token[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') tokens.push({ kind: 'text', text });
    text = '';
  };
  // What a closing brace closes: two of them are an escape only where no brace of the text is open.
  const open: ('text' | 'escape')[] = [];
  const braces = /[{}]/g;
  let at = 0;
  for (let found = braces.exec(argsTemplate); found !== null; found = braces.exec(argsTemplate)) {
    const { index } = found;
    text += argsTemplate.slice(at, index);
    at = index + 1;
    const isDoubled = argsTemplate[at] === found[0];
    if (found[0] === '}') {
      const isEscape = isDoubled && open.at(-1) !== 'text';
      text += '}';
      if (isEscape) at += 1;
      if (isEscape || open.at(-1) === 'text') open.pop();
    } else if (isDoubled) {
      text += '{';
      at += 1;
      open.push('escape');
    } else {
      flush();
      const reference = referenceAt(argsTemplate, index);
      tokens.push(reference ?? { kind: 'brace', text: '{', near: argsTemplate.slice(index, index + 20) });
      if (reference === undefined) open.push('text');
      else at = index + reference.source.length;
    }
    braces.lastIndex = at;
  }
  text += argsTemplate.slice(at);
  flush();
  return tokens;
};

/** A reference; JSON and prose in braces are none. */
type Reference = Exclude<Token, { readonly kind: 'text' | 'brace' }>;

const referenceAt = (template: string, index: number): Reference | undefined => {
  const [source, name] = matchAt(/\{([\p{L}_][\p{L}\p{M}\p{N}_-]*)\}/uy, template, index);
  if (source !== undefined && name !== undefined)
    return isPreviousField(name) ? { kind: 'previous', field: name, source } : { kind: 'context', name, source };
  const [whole, node, field, place] = matchAt(
    /\{([A-Za-z0-9][A-Za-z0-9._-]*)\.([A-Za-z_]\w*)(?:\[(\d{1,6})\])?\}/y,
    template,
    index,
  );
  if (whole === undefined || node === undefined || field === undefined) return undefined;
  return { kind: 'node', node, field, index: place === undefined ? undefined : Number(place), source: whole };
};

const matchAt = (pattern: RegExp, text: string, index: number): readonly (string | undefined)[] => {
  pattern.lastIndex = index;
  return pattern.exec(text) ?? [];
};

/** Whether a name can stand in a reference. */
export const isReferable = (name: string): boolean => /^[\p{L}_][\p{L}\p{M}\p{N}_-]*$/u.test(name);

/** Whether a name means the work before a node, and no value of the context. */
export const isPreviousField = (name: string): name is PreviousField =>
  (previousFields as readonly string[]).includes(name);

/** Whether a field of a node can be referred to; artifacts one at a time. */
export const isNodeField = (field: string, index: number | undefined): boolean =>
  field === 'artifacts' ? index !== undefined : index === undefined && isPlainField(field);

const isPlainField = (field: string): field is NodeField => (nodeFields as readonly string[]).includes(field);

/** What is on record of a node that does work. */
export interface NodeResult {
  readonly status: string;
  readonly session_id: string | null;
  readonly output_path: string | null;
  /** The text that it has left. */
  readonly output: string | null;
  readonly artifacts: readonly string[];
}

/** Where the values of references come from. */
export interface ReferenceLookup {
  readonly context: (name: string) => string | undefined;
  readonly result: (node: string) => NodeResult | undefined;
  /** The work before, in the order of the plan: of a group its members that have completed. */
  readonly previous: readonly { readonly id: string; readonly result: NodeResult }[];
}

/**
 * What the references of a node see. The work before it is the nearest earlier batch of which something has completed;
 * checkpoints do no work, and the members of a group do not see each other. `results` has the nodes that do work.
 */
export const lookupFor = (
  node: string,
  batches: readonly Batch[],
  context: Readonly<Record<string, string>>,
  results: ReadonlyMap<string, NodeResult>,
): ReferenceLookup => {
  const completedIn = ({ nodes }: Batch): ReferenceLookup['previous'] =>
    nodes.flatMap((id) => {
      const result = results.get(id);
      return result?.status === 'completed' ? [{ id, result }] : [];
    });
  let previous: ReferenceLookup['previous'] = [];
  for (let at = batches.findIndex(({ nodes }) => nodes.includes(node)) - 1; at >= 0 && previous.length === 0; at -= 1) {
    const batch = batches[at];
    if (batch !== undefined) previous = completedIn(batch);
  }
  return {
    context: (name) => (Object.hasOwn(context, name) ? context[name] : undefined),
    result: (id) => results.get(id),
    previous,
  };
};

/** Fills the references in, once; a warning tells of each that has no value. */
export const resolveArgs = (
  tokens: readonly Token[],
  lookup: ReferenceLookup,
): { readonly text: string; readonly warnings: readonly string[] } => {
  const warnings: string[] = [];
  const parts = tokens.map((token) => {
    if (token.kind === 'text' || token.kind === 'brace') return token.text;
    const found = valueOf(token, lookup);
    if (typeof found === 'string') return found;
    warnings.push(`W-REF-EMPTY: ${token.source} is empty: ${found.because}.`);
    return '';
  });
  return { text: parts.join(''), warnings };
};

/** The arguments as far as they are known before anything is done: what refers to nodes stays a reference. */
export const previewArgs = (tokens: readonly Token[], context: Readonly<Record<string, string>>): string =>
  tokens
    .map((token) => {
      if (token.kind === 'text' || token.kind === 'brace') return token.text;
      return token.kind === 'context' && Object.hasOwn(context, token.name) ? context[token.name] : token.source;
    })
    .join('');

/** A value, or why there is none. */
type Found = string | { readonly because: string };

const valueOf = (token: Reference, lookup: ReferenceLookup): Found => {
  switch (token.kind) {
    case 'context':
      return lookup.context(token.name) ?? { because: `the context has no ${token.name}` };
    case 'node': {
      const result = lookup.result(token.node);
      return result === undefined
        ? { because: `${token.node} has no result` }
        : fieldOf(token.node, result, token.field, token.index);
    }
    case 'previous': {
      const last = lookup.previous.at(-1);
      if (last === undefined) return { because: 'nothing before it has completed' };
      switch (token.field) {
        case 'prev_session_id':
          return fieldOf(last.id, last.result, 'session_id');
        case 'prev_output':
          return fieldOf(last.id, last.result, 'output');
        case 'prev_output_path':
          return fieldOf(last.id, last.result, 'output_path');
        case 'prev_outputs': {
          const outputs = lookup.previous.flatMap(({ id, result }) =>
            result.output === null ? [] : [`${id}:\n${cappedOutput(result.output, result)}`],
          );
          return outputs.length > 0 ? outputs.join('\n\n') : { because: 'what was done before it has left no output' };
        }
      }
    }
  }
};

const fieldOf = (node: string, result: NodeResult, field: string, index?: number): Found => {
  if (field === 'artifacts' && index !== undefined) {
    const count = result.artifacts.length;
    return (
      result.artifacts[index] ?? {
        because: `${node} has ${count} ${count === 1 ? 'artifact' : 'artifacts'}, from [0] on`,
      }
    );
  }
  if (!isPlainField(field)) return { because: `nothing is known of a node as ${field}` };
  const value = result[field];
  if (value === null) return { because: `${node} is ${result.status} and has left no ${field}` };
  return field === 'output' ? cappedOutput(value, result) : value;
};

/** Most bytes of an output that become part of arguments. */
const largestOutput = 16 * 1024;

/** An output as it is filled in: beyond the limit its beginning, and where the rest is. No character is cut in two. */
const cappedOutput = (output: string, { output_path: path }: NodeResult): string => {
  const { read } = new TextEncoder().encodeInto(output, new Uint8Array(largestOutput));
  if (read >= output.length) return output;
  return `${output.slice(0, read)}\n[cut after ${largestOutput / 1024} KiB${path === null ? '' : `; all of it is in ${path}`}]`;
};
