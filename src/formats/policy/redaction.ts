import type { JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { createRedactionPolicy, type RedactionLists } from '../../lib/redaction-policy.ts';
import { ok, type Result } from '../../lib/result.ts';
import { hasFields, isTexts, readPolicy, type Check, type PlacedFault, type PolicyFault } from './fields.ts';

/** What a project says about redaction, as a file. */

/** What the lists are called in the file. */
const lists = {
  allowPaths: 'allow_paths',
  denyPaths: 'deny_paths',
  keywords: 'extra_sensitive_keywords',
  patterns: 'extra_redaction_regexes',
} as const satisfies Record<keyof RedactionLists, string>;

const hasLists = hasFields(
  Object.fromEntries(Object.values(lists).map((name) => [name, isTexts(() => undefined, 1000)])),
  'a redaction policy',
);

/** What is wrong with a redaction policy: its shape first, then keywords and patterns that cannot be used. */
export const checkRedactionPolicy: Check = (value) => {
  const faults = hasLists(value);
  if (faults.length > 0 || !isJsonObject(value)) return faults;
  const policy = createRedactionPolicy(listsOf(value));
  return policy.ok
    ? []
    : policy.error.map(({ list, index, construct, at, hint }): PolicyFault => ({
        keys: [lists[list], index],
        problem: `holds ${construct}, at character ${at + 1}; ${hint}`,
      }));
};

/** Reads a redaction policy. */
export const readRedactionPolicy = (text: string): Result<RedactionLists, readonly PlacedFault[]> => {
  const policy = readPolicy(text, checkRedactionPolicy);
  return policy.ok ? ok(listsOf(policy.value)) : policy;
};

/** The lists as the file has them. */
export const redactionToJson = (said: RedactionLists): JsonObject =>
  Object.fromEntries(
    Object.entries(lists).map(([list, name]) => [name, [...(said[list as keyof RedactionLists] ?? [])]]),
  );

const listsOf = (policy: JsonObject): RedactionLists => {
  const textsAt = (name: string): readonly string[] => {
    const value = policy[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  };
  return {
    allowPaths: textsAt(lists.allowPaths),
    denyPaths: textsAt(lists.denyPaths),
    keywords: textsAt(lists.keywords),
    patterns: textsAt(lists.patterns),
  };
};
