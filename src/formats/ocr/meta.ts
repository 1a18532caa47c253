import type { JsonObject } from '../../lib/canonical-json.ts';
import type { OcrKind } from './history.ts';
import { checkMapMeta } from './map-meta.ts';
import { checkRoundMeta } from './round-meta.ts';

/** The file in which the original keeps what a round or run found, relative to the session's folder. */
export const metaFileOf = (kind: OcrKind, round: number): string =>
  kind === 'review' ? `rounds/round-${round}/round-meta.json` : `map/runs/run-${round}/map-meta.json`;

/** What such a file holds, if it is valid and says what the event of the completion said; else undefined. */
export const readMeta = (kind: OcrKind, text: string, summary: JsonObject): JsonObject | undefined => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const checked = kind === 'review' ? checkRoundMeta(parsed) : checkMapMeta(parsed);
  if (!checked.ok) return undefined;
  const found: JsonObject = checked.value.summary;
  return Object.entries(summary).every(([key, value]) => found[key] === value) ? checked.value.payload : undefined;
};
