import type { BaseIssue } from 'valibot';

/** Schema faults as lines, each with its JSON path first: `$.reviewers[0].type is missing: expected a string`. */
export const faultsOf = (issues: readonly BaseIssue<unknown>[]): readonly string[] =>
  issues.map((issue) => `${jsonPath((issue.path ?? []).map(({ key }) => key))} ${issue.message}`);

/** The keys that lead to a value, as a JSON path: `$.nodes[2].id`. */
export const jsonPath = (keys: readonly unknown[]): string =>
  keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    return /^[A-Za-z_]\w*$/.test(String(key)) ? `${path}.${String(key)}` : `${path}[${JSON.stringify(String(key))}]`;
  }, '$');
