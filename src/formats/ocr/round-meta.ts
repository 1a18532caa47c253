import * as v from 'valibot';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { faultsOf } from '../../lib/faults.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { cleanPayload, cleanText, expected, expectedObject, printPayload, shown } from './payload.ts';

/**
 * `round-meta.json`, schema version 1: what a review round found, as the Open Code Review workflow writes it
 * (`.ocr/sessions/<id>/rounds/round-N/round-meta.json`). Keys that are not named here are kept.
 */

/** What the counts say of a round. */
export interface RoundSummary extends JsonObject {
  readonly verdict: string;
  readonly blocker_count: number;
  readonly should_fix_count: number;
  readonly suggestion_count: number;
  readonly reviewer_count: number;
  readonly total_finding_count: number;
}

const verdicts = ['APPROVE', 'REQUEST CHANGES', 'NEEDS DISCUSSION'] as const;
const categories = ['blocker', 'should_fix', 'suggestion', 'style'] as const;
const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;

/** The schema, made when a payload is checked: making it costs every other verb a thirtieth of a bare Node's start. */
const makeSchema = () => {
  const text = v.string(expected('a string'));
  const number = v.pipe(v.number(expected('a number')), v.finite('expected a finite number'));
  const count = v.pipe(number, v.integer('expected a whole number'), v.minValue(0, 'expected a number of at least 0'));
  const title = v.pipe(
    text,
    v.check((value) => cleanText(value).trim().length >= 8, 'expected at least 8 characters'),
  );
  const evidence = v.optional(v.pipe(text, v.maxLength(4000, 'expected at most 4000 characters')));
  const flaggedBy = v.optional(
    v.pipe(
      v.array(
        v.pipe(
          text,
          v.check((value) => value.trim() !== '', 'expected a non-empty string'),
        ),
        expected('an array'),
      ),
      v.maxLength(20, 'expected at most 20 names'),
    ),
  );

  const findingEntries = {
    title,
    category: v.picklist(categories, expected(`one of ${categories.join(', ')}`)),
    severity: v.picklist(severities, expected(`one of ${severities.join(', ')}`)),
    summary: text,
    file_path: v.optional(text),
    line_start: v.optional(number),
    line_end: v.optional(number),
    evidence,
    flagged_by: flaggedBy,
  };
  const finding = v.looseObject(findingEntries, expectedObject);

  const reviewer = v.looseObject(
    {
      type: text,
      instance: number,
      severity_high: v.optional(number),
      severity_medium: v.optional(number),
      severity_low: v.optional(number),
      severity_info: v.optional(number),
      findings: v.array(finding, expected('an array of findings')),
    },
    expectedObject,
  );

  const source = v.looseObject(
    { reviewer: text, index: v.pipe(number, v.integer('expected an integer')) },
    expectedObject,
  );

  const synthesized = v.looseObject(
    {
      ...findingEntries,
      key: v.pipe(text, v.regex(/^S\d+$/, 'expected S and a number')),
      sources: v.pipe(v.array(source, expected('an array of sources')), v.minLength(1, 'expected at least one source')),
      locations: v.optional(
        v.array(
          v.looseObject(
            { file_path: text, line_start: v.optional(number), line_end: v.optional(number) },
            expectedObject,
          ),
          expected('an array of locations'),
        ),
      ),
    },
    expectedObject,
  );

  return v.looseObject(
    {
      schema_version: v.literal(1, expected('1')),
      verdict: v.pipe(
        text,
        v.transform((value) => value.trim()),
        v.picklist(verdicts, expected(`exactly one of ${verdicts.join(', ')}`)),
      ),
      reviewers: v.array(reviewer, expected('an array of reviewers')),
      head_sha: v.optional(text),
      synthesis_counts: v.optional(
        v.looseObject(
          { blockers: v.optional(count), should_fix: v.optional(count), suggestions: v.optional(count) },
          expectedObject,
        ),
      ),
      synthesis_findings: v.optional(v.array(synthesized, expected('an array of findings'))),
    },
    expectedObject,
  );
};

let schema: ReturnType<typeof makeSchema> | undefined;

type RoundMeta = v.InferOutput<ReturnType<typeof makeSchema>>;
type Category = (typeof categories)[number];

/**
 * Checks a payload. What is stored is the payload with trimmed verdict and cleaned free texts (no control characters, no
 * leading `[ocr]`, at most 4096 characters). Faults and notes are lines that begin with a JSON path.
 */
export const checkRoundMeta = (
  input: unknown,
): Result<
  { readonly payload: JsonObject; readonly summary: RoundSummary; readonly notes: readonly string[] },
  readonly string[]
> => {
  if (Array.isArray(input)) return err(['$ expected an object, found an array']);
  schema ??= makeSchema();
  const parsed = v.safeParse(schema, input);
  if (!parsed.success) return err(faultsOf(parsed.issues));
  const meta = parsed.output;
  const tally = tallyOf(meta.reviewers.flatMap((one) => one.findings));
  const faults = [...faultsOfPartition(meta), ...faultsOfCounts(meta, tally), ...faultsOfVerdict(meta, tally)];
  if (faults.length > 0) return err(faults);
  const notes: string[] = [];
  const payload = cleanPayload(typeof input === 'object' && input !== null ? input : meta, {
    freeTexts,
    instead: { '$.verdict': meta.verdict },
    notes,
  });
  return ok({ payload, summary: summarize(meta, tally), notes });
};

/** The file's text: pretty JSON with two spaces, as the original writes it. */
export const printRoundMeta = (payload: JsonObject): string => printPayload(payload);

const countKeys = [
  { key: 'blockers', category: 'blocker' },
  { key: 'should_fix', category: 'should_fix' },
  { key: 'suggestions', category: 'suggestion' },
] as const;

const tallyOf = (findings: readonly { readonly category: Category }[]): Record<Category, number> => {
  const tally = { blocker: 0, should_fix: 0, suggestion: 0, style: 0 };
  for (const { category } of findings) tally[category] += 1;
  return tally;
};

const faultsOfCounts = (meta: RoundMeta, tally: Record<Category, number>): readonly string[] => {
  const exact = meta.synthesis_findings === undefined ? undefined : tallyOf(meta.synthesis_findings);
  return countKeys.flatMap(({ key, category }) => {
    const given = meta.synthesis_counts?.[key];
    if (given === undefined) return [];
    if (exact !== undefined && given !== exact[category]) {
      return [
        `$.synthesis_counts.${key} is ${given}, but synthesis_findings holds ${exact[category]} of category ${category}`,
      ];
    }
    if (given > tally[category]) {
      return [
        `$.synthesis_counts.${key} is ${given}, but the reviewers' findings hold ${tally[category]} of category ${category}`,
      ];
    }
    return [];
  });
};

const faultsOfVerdict = (meta: RoundMeta, tally: Record<Category, number>): readonly string[] => {
  const blockers =
    meta.synthesis_counts?.blockers ??
    (meta.synthesis_findings === undefined ? tally : tallyOf(meta.synthesis_findings)).blocker;
  if (meta.verdict === 'APPROVE' && blockers > 0)
    return [`$.verdict is APPROVE with ${blockers} blockers: expected none`];
  if (meta.verdict === 'REQUEST CHANGES' && blockers === 0)
    return ['$.verdict is REQUEST CHANGES without a blocker: expected at least one'];
  return [];
};

/** Synthesized findings must account for every reviewer's finding exactly once. */
const faultsOfPartition = (meta: RoundMeta): readonly string[] => {
  if (meta.synthesis_findings === undefined) return [];
  const seen = new Map<string, string>();
  const keys = new Set<string>();
  const faults: string[] = [];
  const sizes = new Map(meta.reviewers.map((one) => [`${one.type}-${one.instance}`, one.findings.length]));
  meta.synthesis_findings.forEach(({ key, sources }, at) => {
    const path = `$.synthesis_findings[${at}]`;
    if (keys.has(key)) faults.push(`${path}.key ${key} is used twice`);
    keys.add(key);
    sources.forEach(({ reviewer: named, index }, position) => {
      const name = named.replace(/^@/, '');
      const place = `${path}.sources[${position}]`;
      const size = sizes.get(name);
      if (size === undefined)
        faults.push(`${place}.reviewer ${shown(name)} is none of ${[...sizes.keys()].join(', ')}`);
      else if (index < 0 || index >= size)
        faults.push(`${place}.index ${index} is not a finding of ${name}, which has ${size}`);
      else if (seen.has(`${name}/${index}`))
        faults.push(`${place} names finding ${index} of ${name} again, after ${seen.get(`${name}/${index}`)}`);
      else seen.set(`${name}/${index}`, place);
    });
  });
  const orphans = [...sizes].flatMap(([name, size]) =>
    Array.from({ length: size }, (_, index) => `${name}/${index}`).filter((finding_) => !seen.has(finding_)),
  );
  if (orphans.length > 0) {
    const rest = orphans.length > 10 ? ` and ${orphans.length - 10} more` : '';
    faults.push(`$.synthesis_findings leaves out ${orphans.slice(0, 10).join(', ')}${rest}`);
  }
  return faults;
};

const summarize = (meta: RoundMeta, tally: Record<Category, number>): RoundSummary => {
  const base = meta.synthesis_findings === undefined ? tally : tallyOf(meta.synthesis_findings);
  return {
    verdict: meta.verdict,
    blocker_count: meta.synthesis_counts?.blockers ?? base.blocker,
    should_fix_count: meta.synthesis_counts?.should_fix ?? base.should_fix,
    suggestion_count: meta.synthesis_counts?.suggestions ?? base.suggestion,
    reviewer_count: meta.reviewers.length,
    total_finding_count: meta.reviewers.reduce((total, one) => total + one.findings.length, 0),
  };
};

const freeTexts = new Set(['title', 'summary', 'evidence']);
