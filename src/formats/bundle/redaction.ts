import { objectAt } from '../../kernel/answer.ts';
import type { StoredEvent } from '../../kernel/event.ts';
import type { World } from '../../kernel/verb.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { createRedactionPolicy, type RedactionLists, type RedactionPolicy } from '../../lib/redaction-policy.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { cleanDocument } from '../handoff/clean.ts';
import type { DocumentKind } from '../handoff/document.ts';
import { halves, type Half } from '../handoff/print.ts';
import { printSections, readSections } from '../handoff/sections.ts';
import { bearingOn, namedPolicy, redactionFile, type FoundPolicy } from '../policy/files.ts';

/** What is taken out of a bundle before it leaves. */

/** What the caller wishes beyond the policy that is checked in. */
export interface RedactionWish {
  readonly redaction_policy_file?: string | undefined;
  readonly no_redaction_policy_file?: boolean | undefined;
  readonly allow_redaction_path?: readonly string[] | undefined;
  readonly deny_redaction_path?: readonly string[] | undefined;
  readonly extra_sensitive_keyword?: readonly string[] | undefined;
  readonly extra_redaction_regex?: readonly string[] | undefined;
  readonly no_redact_secrets?: boolean | undefined;
  readonly override?: string | undefined;
}

/** The redaction of one bundle. */
export interface ChosenRedaction {
  /** Undefined where nothing is taken out. */
  readonly policy: RedactionPolicy | undefined;
  readonly lists: RedactionLists;
  /** The path of the policy; undefined where there is none but the common rules. */
  readonly path: string | undefined;
  /** What of the policy that is checked in does not count, a phrase each. */
  readonly loosened: readonly string[];
}

/** The lists with the flags that say them. */
const flags = {
  allowPaths: 'allow_redaction_path',
  denyPaths: 'deny_redaction_path',
  keywords: 'extra_sensitive_keyword',
  patterns: 'extra_redaction_regex',
} as const satisfies Record<keyof RedactionLists, keyof RedactionWish>;

/**
 * The redaction that a caller wishes. Each list that he gives takes the place of that of a policy, but of one that is checked
 * in: what it takes out stays taken out, and what he allows it has to allow, unless he says why not (`override`).
 */
export const chooseRedaction = async (
  world: Pick<World, 'project' | 'caller'>,
  root: string,
  wish: RedactionWish,
): Promise<Result<ChosenRedaction, Refusal>> => {
  const files = await world.project();
  const { standing, own: usual } = await bearingOn(files, root, redactionFile);
  const isOverridden = wish.override !== undefined;
  const isLeftOut = wish.no_redaction_policy_file === true;
  for (const found of [standing, usual]) if (!found.ok && !(isOverridden && isLeftOut)) return err(found.error.refusal);
  const own = standing.ok ? standing.value : undefined;
  const named =
    wish.redaction_policy_file === undefined
      ? ok(undefined)
      : namedPolicy(files, wish.redaction_policy_file, redactionFile);
  if (!named.ok) return err(named.error.refusal);
  const base: FoundPolicy<RedactionLists> | undefined =
    named.value ?? (isLeftOut || !usual.ok ? undefined : usual.value);
  const asked = { ...base?.policy, ...listsOf(wish) };
  const redacts = world.caller.redact && wish.no_redact_secrets !== true;
  const loosened = own === undefined ? [] : loosenedBy(own.policy, asked, { redacts, isLeftOut });
  if (loosened.length > 0 && !isOverridden) {
    const text = `The redaction policy ${own?.path} is checked in, and this loosens it: ${loosened.join('; ')}.`;
    return err(
      refuse('policy', text, {
        expected: 'what the policy takes out, or more; or --override REASON, on the record',
        faults: loosened,
        hint: 'stint policy check-redaction',
      }),
    );
  }
  const lists = own === undefined || isOverridden ? asked : tightened(own.policy, asked);
  const policy = createRedactionPolicy(lists, form);
  if (!policy.ok) {
    const faults = policy.error.map(
      ({ list, index, construct, at, hint }) =>
        `--${flags[list].replaceAll('_', '-')} ${index + 1} holds ${construct}, at character ${at + 1}; ${hint}`,
    );
    return err(
      refuse('usage', `This is no redaction: ${faults.join('. ')}.`, { faults, hint: 'stint bundle export --help' }),
    );
  }
  const path = base?.path ?? (own === undefined || isLeftOut ? undefined : own.path);
  return ok({ policy: redacts ? policy.value : undefined, lists, path, loosened });
};

const listsOf = (wish: RedactionWish): RedactionLists =>
  Object.fromEntries(
    Object.entries(flags).flatMap(([list, flag]) => (wish[flag] === undefined ? [] : [[list, wish[flag]]])),
  );

/** What of a policy would not count any more. */
const loosenedBy = (
  own: RedactionLists,
  asked: RedactionLists,
  { redacts, isLeftOut }: { readonly redacts: boolean; readonly isLeftOut: boolean },
): readonly string[] => {
  const takesOut = [own.denyPaths, own.keywords, own.patterns].some((list) => (list ?? []).length > 0);
  const more = (asked.allowPaths ?? []).filter((path) => !(own.allowPaths ?? []).includes(path));
  return [
    ...(redacts ? [] : ['nothing would be redacted']),
    ...(isLeftOut && takesOut ? ['it would be left out'] : []),
    ...more.map((path) => `${path} would be allowed`),
  ];
};

/** Both policies: all that either takes out, and what was asked to be allowed, which both allow. */
const tightened = (own: RedactionLists, asked: RedactionLists): RedactionLists => {
  const both = (list: 'denyPaths' | 'keywords' | 'patterns'): readonly string[] => [
    ...new Set([...(own[list] ?? []), ...(asked[list] ?? [])]),
  ];
  return {
    allowPaths: asked.allowPaths ?? [],
    denyPaths: both('denyPaths'),
    keywords: both('keywords'),
    patterns: both('patterns'),
  };
};

/** Up to that many digits has the place of an event. */
const eventPaths = Array.from({ length: 7 }, (_, digits) => `bundle.events.${'[0-9]'.repeat(digits + 1)}`);

/** What others have to find again in a bundle. */
const form = {
  fixed: [
    'bundle_version',
    'bundle_id',
    'exported_at',
    'source.kind',
    'source.name',
    'source.session',
    'source.store_id',
    'source.handover',
    'source.session_state',
    'source.handover_name',
    'source.session_state_name',
    'session.version',
    'session.seq',
    'session.revision',
    'session.hash',
    'lease.payload.version',
    'lease.payload.acquired_at',
    'lease.payload.expires_at',
    'lease.payload.handover',
    'lease.payload.session_state',
    'lease.inspection.state',
    'report.result',
    'readiness.verdict',
    'readiness.ready',
    'git.available',
    'git.is_dirty',
    'git.dirty_fingerprint',
    'git.status_fingerprint',
    'git.patch_summary_fingerprint',
    'git.changed_file_count',
    'git.added_line_count',
    'git.deleted_line_count',
  ].map((path) => `bundle.${path}`),
  shaped: [
    'bundle',
    ...[
      'source',
      'documents',
      'documents.handover_markdown',
      'documents.session_state_markdown',
      'session',
      'session.state',
      'events',
      'lease',
      'lease.payload',
      'lease.inspection',
      'report',
      'readiness',
      'git',
    ].map((path) => `bundle.${path}`),
    ...eventPaths,
    ...eventPaths.map((path) => `${path}.data`),
  ],
};

/** What was taken out of a bundle. */
export interface Redacted {
  readonly value: JsonObject;
  /** How often each rule has found something. */
  readonly found: Readonly<Record<string, number>>;
  /** Where, the first of them. */
  readonly paths: readonly string[];
}

/** Most places that are told. */
const mostPaths = 50;

/** Takes out of one bundle what is to be taken out, and keeps count. */
export interface Redactor {
  /** A text without secrets, wherever it stands. */
  readonly text: (text: string) => string;
  /** A document, as it stands in the bundle. */
  readonly document: (half: Half, text: string) => string;
  /** All of its parts. The texts of documents are redacted as such wherever they stand: the log holds them too. */
  readonly parts: (parts: JsonObject) => Redacted;
}

/** Starts to redact a bundle. */
export const createRedactor = ({ policy, lists }: ChosenRedaction): Redactor => {
  if (policy === undefined)
    return {
      text: (text) => text,
      document: (_half, text) => text,
      parts: (value) => ({ value, found: {}, paths: [] }),
    };
  const found: Record<string, number> = {};
  const isPlain = Object.values(lists).every((list) => list.length === 0);
  const document = redactingDocuments(policy, isPlain, found);
  return {
    text: (text) => (isPlain ? cleanDocument(text) : policy.redact(text).text),
    document,
    parts: (parts) => {
      const textByPlace = new Map<string, string>();
      const others = policy.redactJson(
        withDocuments(parts, (text, _half, place) => {
          textByPlace.set(place, text);
          return standIn;
        }),
        'bundle',
      );
      for (const [rule, count] of Object.entries(others.found)) found[rule] = (found[rule] ?? 0) + count;
      if (!isJsonObject(others.value)) throw new Error('a bundle stays an object');
      const value = withDocuments(others.value, (text, half, place) => {
        const before = textByPlace.get(place);
        return before === undefined || text !== standIn ? text : document(half, before);
      });
      const paths: string[] = [];
      tellChanges(parts, value, 'bundle', paths);
      return { value, found, paths };
    },
  };
};

/** What would be taken out of events by default: whoever takes a log over finds what should not be in it. */
export const secretsIn = (events: readonly StoredEvent[]): Pick<Redacted, 'found' | 'paths'> => {
  const policy = createRedactionPolicy({}, form);
  if (!policy.ok) throw new Error('there is nothing in no lists that could be wrong');
  const redactor = createRedactor({ policy: policy.value, lists: {}, path: undefined, loosened: [] });
  return redactor.parts({ events: events.map(({ data }) => ({ data })) });
};

/** What stands for the text of a document while the rest is redacted. */
const standIn = '';

/** The parts with other texts in the places of those of documents: their own, and those in the events about them. */
const withDocuments = (parts: JsonObject, change: (text: string, half: Half, place: string) => string): JsonObject => {
  const { documents, events } = parts;
  const changed = (value: Json | undefined, half: Half, place: string): Json =>
    typeof value === 'string' ? change(value, half, place) : (value ?? null);
  const inEvent = (event: Json, at: number): Json => {
    const data = isJsonObject(event) ? event['data'] : undefined;
    const texts = isJsonObject(data) ? data['texts'] : undefined;
    if (!isJsonObject(event) || !isJsonObject(data) || !isJsonObject(texts)) return event;
    const all = bothHalves.flatMap((half) => {
      const one = texts[half];
      return isJsonObject(one) ? [[half, { ...one, text: changed(one['text'], half, `${at}.${half}`) }]] : [];
    });
    return { ...event, data: { ...data, texts: { ...texts, ...Object.fromEntries(all) } } };
  };
  return {
    ...parts,
    ...(isJsonObject(documents)
      ? {
          documents: Object.fromEntries(
            bothHalves.map((half) => [`${half}_markdown`, changed(documents[`${half}_markdown`], half, half)]),
          ),
        }
      : {}),
    ...(Array.isArray(events) ? { events: events.map(inEvent) } : {}),
  };
};

const bothHalves = ['handover', 'session_state'] as const satisfies readonly Half[];

/** Redacts texts as the document that they are, each once. */
const redactingDocuments = (
  policy: RedactionPolicy,
  isPlain: boolean,
  found: Record<string, number>,
): ((half: Half, text: string) => string) => {
  const known: Record<Half, Map<string, string>> = { handover: new Map(), session_state: new Map() };
  return (half, text) => {
    if (isPlain && cleanDocument(text) === text) return text;
    const before = known[half].get(text);
    if (before !== undefined) return before;
    const redacted = policy.redactJson({ documents: { [`${half}_markdown`]: text } }, 'bundle');
    for (const [rule, count] of Object.entries(redacted.found)) found[rule] = (found[rule] ?? 0) + count;
    const documents = isJsonObject(redacted.value) ? objectAt(redacted.value, 'documents') : {};
    const after = documents[`${half}_markdown`];
    const clean = withStructure(policy, halves[half], text, typeof after === 'string' ? after : '');
    known[half].set(text, clean);
    return clean;
  };
};

/** What two documents have to agree on. */
const agreed: ReadonlySet<string> = new Set(['Status', 'Last updated', 'Updated by', 'Next owner']);

/** A redacted document in which what holds the two together stands as before, where it is no secret itself. */
const withStructure = (policy: RedactionPolicy, kind: DocumentKind, before: string, after: string): string => {
  if (before === after) return after;
  const [own, redacted] = [readSections(before), readSections(after)];
  if (own.sections.length !== redacted.sections.length) return after;
  return printSections({
    head: redacted.head,
    sections: redacted.sections.map((section, at) => {
      const { name, body } = own.sections[at] ?? section;
      if (!agreed.has(name) && name !== kind.pointer) return section;
      return policy.redact(body).text === body ? { ...section, body } : section;
    }),
  });
};

const tellChanges = (before: Json | undefined, after: Json, path: string, paths: string[]): void => {
  if (paths.length >= mostPaths || before === after) return;
  if (typeof after !== 'object' || after === null || typeof before !== 'object' || before === null) {
    paths.push(path);
    return;
  }
  const [was, is] = [Object.values(before), Object.entries(after)];
  for (const [index, [key, item]] of is.entries()) tellChanges(was[index], item, `${path}.${key}`, paths);
};
