import { objectAt } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { auditToJson } from './audit.ts';
import { historyToJson } from './history.ts';
import { summaryToJson } from './summary.ts';
import { locatePair, lookOnce, type Look } from './workspace.ts';

/** All that can be told of a hand-off in one answer. */

/**
 * What the pair says that was worked on last, whether any document is broken, and the newest handovers beside it: all of it of
 * one root, and of one look at each file. What the summary warns of is an error of the audit already.
 */
export const reportToJson = (given: Look, now: string, limit: number): JsonObject => {
  const look = lookOnce(given);
  const pair = locatePair(look);
  const audit = auditToJson(look, now);
  const summary = pair === undefined ? null : summaryToJson(look, pair, now);
  return {
    docs_root: look.root,
    result: audit['result'] ?? null,
    summary,
    lease: objectAt(summary ?? audit, 'lease'),
    audit,
    history: historyToJson(look, limit),
    warnings: audit['warnings'] ?? [],
    errors: audit['errors'] ?? [],
    findings: audit['findings'] ?? [],
  };
};
