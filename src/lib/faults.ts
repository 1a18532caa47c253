import type { BaseIssue } from 'valibot';

/** Schema faults as lines, each with its JSON path first: `$.reviewers[0].type is missing: expected a string`. */
export const faultsOf = (issues: readonly BaseIssue<unknown>[]): readonly string[] =>
  issues.map((issue) => `${jsonPathOf((issue.path ?? []).map(({ key }) => key))} ${issue.message}`);

/** The JSON path of a member, by the keys that lead to it. */
export const jsonPathOf = (keys: readonly unknown[]): string =>
  keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    return /^[A-Za-z_]\w*$/.test(String(key)) ? `${path}.${String(key)}` : `${path}[${JSON.stringify(String(key))}]`;
  }, '$');
