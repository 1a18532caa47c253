import * as v from 'valibot';
import { auditToJson } from '../formats/handoff/audit.ts';
import { findRoot, lookBelow } from '../formats/handoff/look.ts';
import { itemsText } from '../formats/handoff/verdict.ts';
import type { CiPolicy } from '../formats/policy/ci.ts';
import { bearingOn, ciFile, namedPolicy, redactionFile, required, trustFile } from '../formats/policy/files.ts';
import type { Checked, PolicyKind } from '../formats/policy/files.ts';
import { signersFaults } from '../formats/policy/trust-bundle.ts';
import { fieldLines, objectsAt, textAt, textsAt } from '../kernel/answer.ts';
import { flag, optionalName, optionalText } from '../kernel/fields.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type Apart } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';
import { doctor } from '../store/doctor.ts';
import { files as everyFile } from './files.ts';

export const policyCi = defineVerb({
  name: 'policy ci',
  summary: 'Does this checkout hold together: the program, its policies, its store, its documents?',
  details: `The one entry for continuous integration. Every check is made, and each is passed, failed, skipped or not-present: self_check (the program itself is whole), trust_policy, ci_policy and redaction_policy (as policy check-* looks at them), smoke (work is begun, packed, signed, judged and taken over between two folders that are gone afterwards), stores (what doctor finds) and documents (what handoff audit finds). Nothing in the checkout is written.

A policy that is not there is an error where the CI policy or a flag requires it. What the CI policy requires no flag takes away (12), unless --override REASON says why. Anything that failed is refused (6) with all of it; a policy that is required and not there with 12.

On GitHub Actions, where GITHUB_ACTIONS is true, or with --annotations, each error is printed as a line that is shown at its file.`,
  examples: ['stint policy ci', 'stint policy ci --require-trust-policy --annotations', 'stint policy ci --json'],
  input: () =>
    v.strictObject({
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
      ci_policy_file: optionalText('The CI policy. Default: the one in the root of the documents.'),
      no_ci_policy_file: flag('Go by the flags alone.'),
      require_ci_policy: flag('A CI policy has to be there.'),
      require_trust_policy: flag('A trust policy has to be there.'),
      require_redaction_policy: flag('A redaction policy has to be there.'),
      skip_policy: flag('Do not look at the trust policy.'),
      skip_redaction_policy: flag('Do not look at the redaction policy.'),
      skip_smoke: flag('Do not try out the program.'),
      skip_stores: flag('Do not look at the store, where it cannot be reached.'),
      override: optionalName('Why less is required than the CI policy requires. It is put on record.'),
      annotations: flag('Print each error as a line that GitHub shows at its file.'),
    }),
  contradiction: ({ ci_policy_file: file, no_ci_policy_file: none }) =>
    file !== undefined && none === true
      ? '--ci-policy-file names a policy, and --no-ci-policy-file says that there is none'
      : undefined,
  does: {
    apart: async (tools, input) => {
      const root = await findRoot({ project: async () => tools.files }, input);
      if (!root.ok) return err({ refusal: root.error });
      const { files } = tools;
      const where = root.value;
      const { standing, own } = await bearingOn(files, where, ciFile);
      const ci =
        input.ci_policy_file !== undefined
          ? namedPolicy(files, input.ci_policy_file, ciFile)
          : input.no_ci_policy_file === true
            ? ok(undefined)
            : own;
      const trust = await bearingOn(files, where, trustFile);
      const redaction = await bearingOn(files, where, redactionFile);
      const { needs, loosened } = demandsOf(standing, ci, input);
      const checks = [
        await checkOf('self_check', async () => (await import('./self-check.ts')).selfCheck()),
        input.skip_policy === true
          ? skipped('trust_policy')
          : checkPolicy(where, trustFile, trust.own, needs.trust, (policy) => signersFaults(tools, trust.root, policy)),
        checkPolicy(where, ciFile, ci, input.require_ci_policy === true),
        input.skip_redaction_policy === true
          ? skipped('redaction_policy')
          : checkPolicy(where, redactionFile, redaction.own, needs.redaction),
        input.skip_smoke === true
          ? skipped('smoke')
          : await checkOf('smoke', async () => (await import('./smoke.ts')).smoke()),
        input.skip_stores === true ? skipped('stores') : await checkStore(tools.ask),
        await checkDocuments(tools, where),
      ];
      const problems = [
        ...checks.flatMap((check) => check.problems),
        ...(input.override === undefined ? loosened : []).map((text) => ({
          text: `ci_policy: ${text}`,
          file: `${where}/${ciFile.file}`,
          isRequired: true,
          hint: 'leave that flag out, or say why with --override REASON: it is reported',
        })),
      ];
      const isAnnotated = input.annotations === true || tools.variable('GITHUB_ACTIONS') === 'true';
      const report = {
        result: problems.length > 0 ? 'error' : 'ok',
        docs_root: where,
        ci_policy_path: ci.ok ? (ci.value?.path ?? null) : ci.error.path,
        checks: checks.map(({ name, result }) => ({ name, result })),
        errors: problems.map(({ text }) => text),
        override: loosened.length > 0 && input.override !== undefined ? { reason: input.override, loosened } : null,
        annotations: isAnnotated ? problems.map((problem) => annotationOf(problem, tools.root)) : [],
      };
      return problems.length === 0 ? ok(report) : err({ report, refusal: refuseProblems(problems) });
    },
  },
  text: (answer) =>
    [
      fieldLines([
        ['Result', textAt(answer, 'result')],
        ['Docs root', textAt(answer, 'docs_root')],
      ]),
      'Checks:',
      ...objectsAt(answer, 'checks').map((check) => `- ${textAt(check, 'name')}: ${textAt(check, 'result')}`),
      ...itemsText(answer, 'Errors', 'errors'),
      ...textsAt(answer, 'annotations'),
    ].join('\n'),
});

/** What a check has found wrong. */
interface Problem {
  readonly text: string;
  /** The file that it is in, and the line of it. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly hint?: string | undefined;
  /** That it is about a policy which is required. */
  readonly isRequired?: boolean;
}

interface CheckDone {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped' | 'not-present';
  readonly problems: readonly Problem[];
}

const done = (name: string, problems: readonly Problem[]): CheckDone => ({
  name,
  result: problems.length > 0 ? 'failed' : 'passed',
  problems: problems.map((problem) => ({ ...problem, text: `${name}: ${problem.text}` })),
});

const skipped = (name: string): CheckDone => ({ name, result: 'skipped', problems: [] });

/** Which policies have to be there, and what the caller leaves out although the policy that is checked in requires it. */
const demandsOf = (
  standing: Checked<CiPolicy>,
  ci: Checked<CiPolicy>,
  input: Readonly<
    Partial<
      Record<
        'require_trust_policy' | 'require_redaction_policy' | 'skip_policy' | 'skip_redaction_policy',
        boolean | undefined
      >
    >
  >,
): { readonly needs: Readonly<Record<'trust' | 'redaction', boolean>>; readonly loosened: readonly string[] } => {
  const isSaid = (found: Checked<CiPolicy>, name: 'require_trust_policy' | 'require_redaction_policy'): boolean =>
    found.ok && found.value?.policy[name] === true;
  const needs = {
    trust: isSaid(ci, 'require_trust_policy') || input.require_trust_policy === true,
    redaction: isSaid(ci, 'require_redaction_policy') || input.require_redaction_policy === true,
  };
  const isLeft = (isNeeded: boolean, isSkipped: boolean | undefined): boolean => !isNeeded || isSkipped === true;
  return {
    needs,
    loosened: [
      ...(standing.ok || ci === standing ? [] : ['a CI policy is there and cannot be read, and it is left out']),
      ...(isSaid(standing, 'require_trust_policy') && isLeft(needs.trust, input.skip_policy)
        ? ['require_trust_policy is left out']
        : []),
      ...(isSaid(standing, 'require_redaction_policy') && isLeft(needs.redaction, input.skip_redaction_policy)
        ? ['require_redaction_policy is left out']
        : []),
    ],
  };
};

/** A policy, with what `beside` finds wrong with it. */
const checkPolicy = <Policy>(
  root: string,
  kind: PolicyKind<Policy>,
  found: Checked<Policy>,
  isRequired: boolean,
  beside: (policy: Policy) => readonly string[] = () => [],
): CheckDone => {
  const name = `${kind.word}_policy`;
  const there = required(found, root, kind);
  if (there.ok) {
    const { path: file, policy } = there.value;
    return done(
      name,
      beside(policy).map((text) => ({ text, file })),
    );
  }
  const { path: file, faults, refusal } = there.error;
  const problems = faults.map(({ line, text }) => ({ text, file, line, hint: refusal.hint }));
  if (!found.ok) return done(name, problems);
  const missing = isRequired ? problems.map((problem) => ({ ...problem, isRequired })) : [];
  return { ...done(name, missing), result: 'not-present' };
};

const checkOf = async (name: string, find: () => Promise<readonly string[]>): Promise<CheckDone> =>
  done(
    name,
    (await find()).map((text) => ({ text })),
  );

/** What `doctor` finds; a store that is not there has nothing to find. */
const checkStore = async (ask: Apart['ask']): Promise<CheckDone> => {
  const answer = await ask(doctor, {});
  if (answer.ok) return done('stores', []);
  const { report = {}, refusal } = answer.error;
  const findings = objectsAt(report, 'findings');
  return done(
    'stores',
    findings.length === 0
      ? [{ text: refusal.message, hint: refusal.hint }]
      : findings.map((finding) => ({
          text: `${textAt(finding, 'subject')}: ${textAt(finding, 'problem')}`,
          hint: textAt(finding, 'fix') || refusal.hint,
        })),
  );
};

/** What `handoff audit` finds in the documents as they lie there. */
const checkDocuments = async ({ files, clock }: Apart, root: string): Promise<CheckDone> => {
  const look = await lookBelow({ files: everyFile, project: async () => files }, root);
  return done(
    'documents',
    objectsAt(auditToJson(look, clock.now), 'findings').map((finding) => {
      const [file, line] = [textAt(finding, 'file'), finding['line']];
      return {
        text: `${file}: ${textAt(finding, 'text')}`,
        file: `${root}/${file}`,
        line: typeof line === 'number' ? line : undefined,
        hint: textAt(finding, 'remedy'),
      };
    }),
  );
};

const refuseProblems = (problems: readonly Problem[]): Refusal => {
  const isRequired = problems.some((problem) => problem.isRequired === true);
  const count = problems.length === 1 ? 'one error' : `${problems.length} errors`;
  const hint = problems.find((problem) => problem.hint !== undefined)?.hint;
  return refuse(isRequired ? 'policy' : 'invariant-unmet', `The checks have found ${count}.`, {
    expected: 'no errors',
    faults: problems.map(({ text }) => text),
    ...(hint === undefined ? {} : { hint }),
  });
};

/** A problem as GitHub Actions shows it at its file. */
const annotationOf = ({ text, file, line }: Problem, root: string): string => {
  const escaped = (value: string, also: RegExp): string =>
    value.replaceAll(also, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  const path = file?.startsWith(`${root}/`) === true ? file.slice(root.length + 1) : undefined;
  const place =
    path === undefined ? '' : ` file=${escaped(path, /[%\r\n:,]/g)}${line === undefined ? '' : `,line=${line}`}`;
  return `::error${place}::${escaped(text, /[%\r\n]/g)}`;
};
