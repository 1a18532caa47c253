import type { BaseIssue } from 'valibot';

/** Schema faults as lines, each with its JSON path first: `$.reviewers[0].type is missing: expected a string`. */
export const faultsOf = (issues: readonly BaseIssue<unknown>[]): readonly string[] =>
  issues.map((issue) => `${jsonPathOf(issue)} ${issue.message}`);

const jsonPathOf = (issue: BaseIssue<unknown>): string =>
  (issue.path ?? []).reduce((path, { key }) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    return /^[A-Za-z_]\w*$/.test(String(key)) ? `${path}.${String(key)}` : `${path}[${JSON.stringify(String(key))}]`;
  }, '$');
