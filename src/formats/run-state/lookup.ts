import type { Unread } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { WrittenFiles } from '../../kernel/verb.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { parseJson } from '../../lib/json-text.ts';
import { nameProblem } from '../../lib/name.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import { shellWord, truncate } from '../../lib/text.ts';

/**
 * Where templates are: `.workflow/templates/<slug>.json`, and wherever their index says in the project. A slug is the name
 * of the file.
 */

const folder = '.workflow/templates';
const indexPath = `${folder}/index.json`;

/** Largest file that is read, in bytes. */
const largest = 16 * 1024 * 1024;

/** A template that was found. */
export interface FoundTemplate {
  readonly slug: string;
  /** From the root of the project, where it is below it. */
  readonly path: string;
  readonly text: string;
  /** What is wrong with the index, in whole sentences. */
  readonly remarks: readonly string[];
}

/**
 * Finds a template: by a path that is absolute or begins with a dot, else by its slug, in the index first, or its
 * template_id. What is nearly right is offered, and never taken.
 */
export const findTemplate = (name: string, files: WrittenFiles): Result<FoundTemplate, Refusal> => {
  if (isPath(name)) {
    const found = files.readNamed(name, largest);
    return found.ok
      ? ok({ ...found.value, slug: slugOf(found.value.path), remarks: [] })
      : err(refuseUnread(`The template ${shown(name)}`, found.error));
  }
  const slug = slugOf(name);
  const { templates, unreadable, remarks } = listTemplates(files);
  const isSlug = !/[\\/]/.test(name) && nameProblem(slug) === undefined;
  const bySlug = isSlug ? [...templates, ...unreadable].filter((one) => one.slug === slug) : [];
  const matches =
    bySlug.length > 0 ? bySlug : [...templates, ...unreadable].filter(({ template_id: id }) => id === name);
  const indexed = matches.filter(({ isIndexed }) => isIndexed);
  const [first, ...others] = indexed.length > 0 ? indexed : matches;
  if (first === undefined) return err(refuseUnknown(name, templates, remarks));
  if (others.length > 0)
    return err(
      refuse('ambiguous', `${others.length + 1} templates are called ${shown(name)}.`, {
        expected: 'the path of one of them',
        candidates: [first, ...others].map(({ path }) => path),
        hint: 'stint template list',
      }),
    );
  const text = files.read(first.path, largest);
  return text.ok
    ? ok({ slug: first.slug, path: first.path, text: text.value, remarks })
    : err(refuseUnread(`The template ${shown(name)} (${shown(first.path)})`, text.error));
};

/** Whether a name is a path that is meant as it stands, on any system. */
const isPath = (name: string): boolean => /^(?:\.|[\\/]|[A-Za-z]:[\\/])/.test(name);

/** What a template at a path is called. */
const slugOf = (path: string): string => path.replace(/^.*[\\/]/s, '').replace(/\.json$/i, '');

const shown = (text: string): string => (/^[\w./-]{1,128}$/.test(text) ? text : JSON.stringify(truncate(text, 60)));

/** What is not there is not found; what is there cannot be read. */
const refuseUnread = (whose: string, { problem, isMissing }: Unread): Refusal =>
  refuse(isMissing ? 'not-found' : 'invalid-input', `${whose} ${problem}.`, {
    expected: 'a file that holds a template: JSON in UTF-8',
    hint: 'stint template list',
  });

/** Most slugs that a refusal names. */
const mostNamed = 20;

const refuseUnknown = (name: string, templates: readonly ListedTemplate[], remarks: readonly string[]): Refusal => {
  const wanted = slugOf(name).toLowerCase();
  const slugs = templates.map(({ slug }) => slug);
  const part = templates.filter(
    (one) =>
      wanted.length > 2 && [one.slug, one.template_id, one.name].some((text) => text.toLowerCase().includes(wanted)),
  );
  const near = nearest(slugOf(name), [...slugs, ...templates.map(({ template_id: id }) => id)]);
  const candidates = [...new Set([...near, ...part.slice(0, 5).map(({ slug }) => slug)])];
  const [first] = candidates;
  const nothing = templates.length === 0 ? `, and none at all in ${folder}` : '';
  return refuse('not-found', [`There is no template ${shown(name)}${nothing}.`, ...remarks.slice(0, 3)].join(' '), {
    expected: 'the slug of a template, its template_id, or a path that is absolute or begins with a dot',
    legal: slugs.slice(0, mostNamed),
    candidates,
    hint: first === undefined ? 'stint template list' : `stint template show ${shellWord(first)}`,
  });
};

/** What is shown of a template in a list. */
export interface ListedTemplate extends Listed {
  readonly template_id: string;
  readonly name: string;
  readonly tags: readonly string[];
  /** Nodes that do work. */
  readonly nodes: number;
  readonly checkpoints: number;
}

/** A file that should hold a template and does not; `problem` completes a sentence that begins with its path. */
export interface UnreadableTemplate extends Listed {
  /** Where all that is wrong is how its file is called. */
  readonly template_id?: string;
  readonly problem: string;
}

interface Listed {
  readonly slug: string;
  readonly path: string;
  /** Whether the index names it. */
  readonly isIndexed: boolean;
}

/** The templates of a project. */
export interface TemplateList {
  readonly templates: readonly ListedTemplate[];
  readonly unreadable: readonly UnreadableTemplate[];
  /** What is wrong with the index, in whole sentences. It hides no file. */
  readonly remarks: readonly string[];
}

/** Every template that the index names or that lies in the folder, by path. Nothing is validated but what is listed. */
export const listTemplates = (files: WrittenFiles): TemplateList => {
  const index = indexOf(files);
  const inFolder = files
    .list(folder)
    .filter((name) => /\.json$/i.test(name) && name.toLowerCase() !== 'index.json')
    .map((name) => `${folder}/${name}`);
  const indexed = new Set(index.paths);
  const remarks = [...index.remarks];
  const templates: ListedTemplate[] = [];
  const unreadable: UnreadableTemplate[] = [];
  for (const path of new Set([...inFolder, ...indexed])) {
    const text = files.read(path, largest);
    const isIndexed = indexed.has(path);
    if (!text.ok && isIndexed && text.error.isMissing) {
      remarks.push(`${indexPath} names ${shown(path)}, which ${text.error.problem}.`);
      continue;
    }
    const summary = text.ok ? summaryOf(text.value) : text.error;
    const known = { slug: slugOf(path), path, isIndexed };
    if ('problem' in summary) unreadable.push({ ...known, problem: summary.problem });
    else if (nameProblem(known.slug) !== undefined)
      unreadable.push({
        ...known,
        template_id: summary.template_id,
        problem: 'has a name that is no slug: it is found by its template_id and its path',
      });
    else templates.push({ ...known, ...summary });
  }
  const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
    one.path < other.path ? -1 : 1;
  return { templates: templates.toSorted(byPath), unreadable: unreadable.toSorted(byPath), remarks };
};

/** The paths in the index; a damaged one is told. */
const indexOf = (files: WrittenFiles): { readonly paths: readonly string[]; readonly remarks: readonly string[] } => {
  const text = files.read(indexPath, largest);
  if (!text.ok) return { paths: [], remarks: text.error.isMissing ? [] : [`${indexPath} ${text.error.problem}.`] };
  const parsed = parseJson(text.value.replace(/^\uFEFF/, ''));
  if ('fault' in parsed) return { paths: [], remarks: [`${indexPath} ${parsed.fault}.`] };
  const list = isJsonObject(parsed.value) ? parsed.value['templates'] : undefined;
  if (!Array.isArray(list)) return { paths: [], remarks: [`${indexPath} holds no list of templates.`] };
  const entries: readonly Json[] = list;
  const paths: string[] = [];
  const remarks: string[] = [];
  for (const [place, entry] of entries.entries()) {
    const path = isJsonObject(entry) ? entry['path'] : undefined;
    if (typeof path === 'string' && path.trim() !== '')
      paths.push(path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, ''));
    else remarks.push(`${indexPath}: templates[${place}] has no path.`);
  }
  return { paths, remarks };
};

/** What a file says of its template. */
type Summary = Omit<ListedTemplate, keyof Listed>;

const summaryOf = (text: string): Summary | { readonly problem: string } => {
  const parsed = parseJson(text.replace(/^\uFEFF/, ''));
  if ('fault' in parsed) return { problem: parsed.fault };
  const { value } = parsed;
  const nodes = isJsonObject(value) ? value['nodes'] : undefined;
  if (!isJsonObject(value) || !Array.isArray(nodes)) return { problem: 'is no template: it has no nodes' };
  const list: readonly Json[] = nodes;
  const checkpoints = list.filter((node) => isJsonObject(node) && node['type'] === 'checkpoint').length;
  return {
    template_id: textIn(value, 'template_id'),
    name: textIn(value, 'name') || textIn(value, 'template_id'),
    tags: tagsOf(value),
    nodes: list.length - checkpoints,
    checkpoints,
  };
};

const textIn = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value.toWellFormed() : '';
};

const tagsOf = (template: JsonObject): readonly string[] => {
  const tags = template['tags'];
  return Array.isArray(tags) ? tags.flatMap((tag: Json) => (typeof tag === 'string' ? [tag.toWellFormed()] : [])) : [];
};
