import { fieldLines, objectsAt, textAt, textsAt } from '../../kernel/answer.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { VerbRefusal, World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { valueOf, type DocumentKind } from './document.ts';
import { namedDocument } from './look.ts';
import { findingToJson } from './summary.ts';
import { examine } from './workspace.ts';

/** The verdict about a document, for the verbs that give one. */

/** Whether one document is sound. */
export const judgeDocument = async (
  world: World,
  kind: DocumentKind,
  name: string,
): Promise<Result<JsonObject, VerbRefusal>> => {
  const { look, path } = await namedDocument(world, name);
  const { document, findings } = examine(look, kind, path);
  const report = {
    file: `${look.root}/${path}`,
    valid: findings.length === 0,
    status: document === undefined ? null : valueOf(document, 'Status'),
    findings: findings.map((finding) => findingToJson(name, finding)),
  };
  // Where nothing is, it matters where it was looked for.
  const named = document === undefined ? report.file : name;
  return report.valid
    ? ok(report)
    : err({ report, refusal: refuseDocuments(`The ${kind.called} ${named}`, report.findings) });
};

/** That documents are not sound, with everything that is wrong with them. */
export const refuseDocuments = (what: string, findings: readonly JsonObject[]): Refusal => {
  const isMissing = findings.some((finding) => finding['code'] === 'file-missing');
  const count = `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`;
  return refuse(isMissing ? 'not-found' : 'invalid-input', `${what} is not sound: ${count}.`, {
    expected: 'no findings',
    hint: textAt(findings[0] ?? {}, 'remedy') || 'stint handoff summarize',
  });
};

/** A finding in a line, with its remedy. */
const findingText = (finding: JsonObject): string => {
  const line = textAt(finding, 'line');
  return `${textAt(finding, 'file')}${line === '' ? '' : `:${line}`}: ${textAt(finding, 'text')}; ${textAt(finding, 'remedy')}`;
};

/** All findings of an answer, a line each. */
export const findingsText = (answer: JsonObject): readonly string[] =>
  objectsAt(answer, 'findings').map((finding) => `ERROR: ${findingText(finding)}`);

/** A list of an answer below its label. */
export const itemsText = (answer: JsonObject, label: string, key: string): readonly string[] => {
  const items = textsAt(answer, key);
  return [`${label}:`, ...(items.length === 0 ? ['- None'] : items.map((item) => `- ${item}`))];
};

/** A report: its fields, what it warns of, what is wrong. */
export const reportText = (answer: JsonObject, fields: Parameters<typeof fieldLines>[0]): string =>
  [fieldLines(fields), ...itemsText(answer, 'Warnings', 'warnings'), ...itemsText(answer, 'Errors', 'errors')].join(
    '\n',
  );
