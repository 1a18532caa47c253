import { itemsText } from '../handoff/verdict.ts';
import { findRoot, type Whereabouts } from '../handoff/look.ts';
import { fieldLines, textAt } from '../../kernel/answer.ts';
import { flag, optionalText } from '../../kernel/fields.ts';
import type { Unread } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Apart, ProjectFiles, VerbRefusal } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { readCiPolicy } from './ci.ts';
import type { PlacedFault } from './fields.ts';
import type { NewPolicy } from './new-trust.ts';
import { readRedactionPolicy } from './redaction.ts';
import { readTrustPolicy } from './trust.ts';

/** Policies that are checked in, in the root of the documents. */

/** What a kind of policy is called, the verbs about it, its file, and how that is read. */
export interface PolicyKind<Policy> {
  readonly called: string;
  readonly word: 'trust' | 'redaction' | 'ci';
  readonly file: string;
  readonly read: (text: string) => Result<Policy, readonly PlacedFault[]>;
}

export const trustFile = {
  called: 'trust policy',
  word: 'trust',
  file: 'handoff-bundle-trust-policy.json',
  read: readTrustPolicy,
} as const;

export const redactionFile = {
  called: 'redaction policy',
  word: 'redaction',
  file: 'handoff-bundle-redaction-policy.json',
  read: readRedactionPolicy,
} as const;

export const ciFile = {
  called: 'CI policy',
  word: 'ci',
  file: 'handoff-bundle-ci-policy.json',
  read: readCiPolicy,
} as const;

/** Most bytes of a policy. */
const mostBytes = 1024 * 1024;

/** A policy with the path of its file. */
export interface FoundPolicy<Policy> {
  readonly path: string;
  readonly policy: Policy;
}

/** Why a policy cannot be used. */
export interface UnreadPolicy {
  readonly path: string;
  readonly faults: readonly PlacedFault[];
  readonly refusal: Refusal;
}

/** The policy that is checked in; undefined where none is. A file that cannot be read is never taken for none. */
const checkedIn = <Policy>(
  files: ProjectFiles,
  root: string,
  kind: PolicyKind<Policy>,
): Result<FoundPolicy<Policy> | undefined, UnreadPolicy> => {
  const text = files.text(root, kind.file, mostBytes);
  const path = `${root}/${kind.file}`;
  if (text.ok) return judged(path, text.value, kind);
  return text.error.isMissing ? ok(undefined) : err(unread(path, kind, text.error));
};

/** A policy that was looked for, where it may be. */
export type Checked<Policy> = Result<FoundPolicy<Policy> | undefined, UnreadPolicy>;

/** The policies that bear on a root of documents; another root is no way around that of the project. */
export interface BearingPolicies<Policy> {
  /** That of the project: in its usual root, else in this one. Less strict than it nothing is without a reason. */
  readonly standing: Checked<Policy>;
  /** What counts where no other is named: that of this root, else that of the project. */
  readonly own: Checked<Policy>;
  /** The root that it lies in. */
  readonly root: string;
}

/** Looks for them. */
export const bearingOn = async <Policy>(
  files: ProjectFiles,
  root: string,
  kind: PolicyKind<Policy>,
): Promise<BearingPolicies<Policy>> => {
  const here = checkedIn(files, root, kind);
  const usual = await findRoot({ project: async () => files }, {});
  if (!usual.ok || usual.value === root) return { standing: here, own: here, root };
  const there = checkedIn(files, usual.value, kind);
  const isThere = !there.ok || there.value !== undefined;
  const isHere = !here.ok || here.value !== undefined || !isThere;
  return { standing: isThere ? there : here, own: isHere ? here : there, root: isHere ? root : usual.value };
};

/** A policy that somebody names from where he is. */
export const namedPolicy = <Policy>(
  files: ProjectFiles,
  named: string,
  kind: PolicyKind<Policy>,
): Result<FoundPolicy<Policy>, UnreadPolicy> => {
  const text = files.readNamed(named, mostBytes);
  const path = files.resolve(named);
  return text.ok ? judged(path, text.value.text, kind) : err(unread(path, kind, text.error));
};

/** A policy that has to be there. */
export const required = <Policy>(
  found: Result<FoundPolicy<Policy> | undefined, UnreadPolicy>,
  root: string,
  kind: PolicyKind<Policy>,
): Result<FoundPolicy<Policy>, UnreadPolicy> => {
  if (!found.ok) return found;
  const { value } = found;
  return value === undefined
    ? err(unread(`${root}/${kind.file}`, kind, { problem: 'is not there', isMissing: true }))
    : ok(value);
};

const judged = <Policy>(
  path: string,
  text: string,
  kind: PolicyKind<Policy>,
): Result<FoundPolicy<Policy>, UnreadPolicy> => {
  const policy = kind.read(text);
  if (policy.ok) return ok({ path, policy: policy.value });
  const faults = policy.error.map(({ text: fault }) => fault);
  const count = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  return err({
    path,
    faults: policy.error,
    refusal: refuse('invalid-input', `The ${kind.called} ${path} is not valid: ${faults[0] ?? ''}${count}.`, {
      expected: `a ${kind.called} as stint policy new-${kind.word} writes it`,
      faults,
      hint: `stint policy new-${kind.word} --help`,
    }),
  });
};

const unread = (path: string, kind: PolicyKind<unknown>, { problem, isMissing }: Unread): UnreadPolicy => ({
  path,
  faults: [{ line: 1, text: `the ${kind.called} ${path} ${problem}` }],
  refusal: refuse(isMissing ? 'not-found' : 'invalid-input', `The ${kind.called} ${path} ${problem}.`, {
    expected: `a ${kind.called}`,
    hint: `stint policy new-${kind.word}`,
  }),
});

/** The fields of a verb that checks a policy. */
export const checkFields = () => ({
  policy: optionalText('The file. Default: the one in the root of the documents.'),
  root: optionalText('The folder of the documents. Default: the one of this project.'),
  start_dir: optionalText('The folder to look from. Default: the current one.'),
});

/** Whether a policy is one. */
export const checkPolicy = async <Policy>(
  files: ProjectFiles,
  { policy: named, ...where }: Whereabouts & { readonly policy?: string | undefined },
  kind: PolicyKind<Policy>,
  shown: (policy: Policy, root: string) => Result<JsonObject, Refusal>,
): Promise<Result<JsonObject, VerbRefusal>> => {
  const root = await findRoot({ project: async () => files }, where);
  if (!root.ok) return err({ refusal: root.error });
  const found =
    named === undefined
      ? required(checkedIn(files, root.value, kind), root.value, kind)
      : namedPolicy(files, named, kind);
  if (!found.ok) {
    const { path, faults, refusal } = found.error;
    const errors = faults.map(({ text }) => text);
    return err({ refusal, report: { result: 'error', policy_path: path, policy: null, errors } });
  }
  const { path, policy } = found.value;
  const json = shown(policy, root.value);
  return json.ok
    ? ok({ result: 'valid', policy_path: path, policy: json.value, errors: [] })
    : err({
        refusal: json.error,
        report: { result: 'error', policy_path: path, policy: null, errors: [json.error.message] },
      });
};

/** The fields of a verb that writes a policy. */
export const writeFields = () => ({
  output: optionalText('The file. Default: the one in the root of the documents, under which it is found.'),
  force: flag('Replace a policy that is there.'),
  root: optionalText('The folder of the documents. Default: the one of this project.'),
  start_dir: optionalText('The folder to look from. Default: the current one.'),
});

/** Writes a policy that was made, whole; never over one that is there unless that is said. */
export const writePolicy = async (
  { files, root: checkout }: Apart,
  {
    output,
    force,
    ...where
  }: Whereabouts & { readonly output?: string | undefined; readonly force?: boolean | undefined },
  kind: PolicyKind<unknown>,
  { policy, warnings, errors }: NewPolicy,
): Promise<Result<JsonObject, VerbRefusal>> => {
  const root = await findRoot({ project: async () => files }, where);
  if (!root.ok) return err({ refusal: root.error });
  const full = output === undefined ? `${root.value}/${kind.file}` : files.resolve(output);
  const told = { policy_path: full, policy, warnings };
  const refused = (refusal: Refusal, problems: readonly string[] = [refusal.message]): Result<never, VerbRefusal> =>
    err({ refusal, report: { result: 'error', ...told, errors: [...problems] } });
  if (errors.length > 0)
    return refused(
      refuse('usage', `This makes no ${kind.called}: ${errors.join('; ')}.`, {
        faults: errors,
        hint: `stint policy new-${kind.word} --help`,
      }),
      errors,
    );
  const { path } = files.named(full);
  if (path === undefined)
    return refused(
      refuse('usage', `${full} lies outside of this checkout, where no ${kind.called} is checked in.`, {
        expected: `a path below ${checkout}`,
      }),
    );
  const text = `${JSON.stringify(policy, null, 2)}\n`;
  const problem = force === true ? files.write(checkout, path, text) : files.create(checkout, path, text);
  if (problem === null)
    return refused(
      refuse('conflict', `Refusing to overwrite ${full}.`, {
        expected: 'another path, or --force',
        candidates: [full],
        hint: `stint policy check-${kind.word}`,
      }),
    );
  return problem === undefined
    ? ok({ result: 'generated', ...told, errors: [] })
    : refused(refuse('invariant-unmet', `${full} ${problem}.`, { expected: 'a file that may be written' }));
};

/** The answer of a verb about a policy. */
export const policyText = (answer: JsonObject, lists: readonly ('warnings' | 'errors')[]): string =>
  [
    fieldLines([
      ['Result', textAt(answer, 'result')],
      ['Policy', textAt(answer, 'policy_path')],
    ]),
    ...lists.flatMap((key) => itemsText(answer, key === 'warnings' ? 'Warnings' : 'Errors', key)),
  ].join('\n');
