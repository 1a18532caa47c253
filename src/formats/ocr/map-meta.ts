import * as v from 'valibot';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { faultsOf } from '../../lib/faults.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { cleanPayload, cleanText, expected, expectedObject, printPayload } from './payload.ts';

/**
 * `map-meta.json`, schema version 1: the map of a change, in sections of files, as the Open Code Review workflow writes
 * it (`.ocr/sessions/<id>/map/runs/run-N/map-meta.json`). Keys that are not named here are kept.
 */

/** What the counts say of a map: always counted, never taken from the payload. */
export interface MapSummary extends JsonObject {
  readonly section_count: number;
  readonly file_count: number;
}

/** The schema, made when a payload is checked: verbs that check none start without it. */
const makeSchema = () => {
  const text = v.string(expected('a string'));
  const number = v.pipe(v.number(expected('a number')), v.finite('expected a finite number'));
  const whole = v.pipe(number, v.integer('expected a whole number'));
  const lines = v.pipe(whole, v.minValue(0, 'expected a number of at least 0'));

  const file = v.looseObject(
    {
      file_path: v.pipe(text, v.nonEmpty('expected a non-empty string')),
      role: text,
      lines_added: lines,
      lines_deleted: lines,
    },
    expectedObject,
  );

  const section = v.looseObject(
    {
      section_number: whole,
      title: v.pipe(
        text,
        v.check((value) => cleanText(value).trim() !== '', 'expected a non-empty string'),
      ),
      description: v.optional(text),
      files: v.array(file, expected('an array of files')),
    },
    expectedObject,
  );

  return v.looseObject(
    {
      schema_version: v.literal(1, expected('1')),
      sections: v.array(section, expected('an array of sections')),
      // Who depends on what is kept as it is said: the original never looked into it, and its shape may grow.
      dependencies: v.optional(v.array(v.unknown(), expected('an array'))),
    },
    expectedObject,
  );
};

let schema: ReturnType<typeof makeSchema> | undefined;

/** The names of sections are free texts wherever they stand: a dependency still names its sections once they are clean. */
const freeTexts = new Set(['title', 'description', 'role', 'from_title', 'to_title', 'relationship']);

/**
 * Checks a payload. What is stored is the payload with cleaned free texts (no control characters, no leading `[ocr]`, at
 * most 4096 characters). Faults and notes are lines that begin with a JSON path.
 */
export const checkMapMeta = (
  input: unknown,
): Result<
  { readonly payload: JsonObject; readonly summary: MapSummary; readonly notes: readonly string[] },
  readonly string[]
> => {
  if (Array.isArray(input)) return err(['$ expected an object, found an array']);
  schema ??= makeSchema();
  const parsed = v.safeParse(schema, input);
  if (!parsed.success) return err(faultsOf(parsed.issues));
  const { sections } = parsed.output;
  const notes: string[] = [];
  const payload = cleanPayload(typeof input === 'object' && input !== null ? input : parsed.output, {
    freeTexts,
    notes,
  });
  return ok({
    payload,
    summary: {
      section_count: sections.length,
      file_count: sections.reduce((total, { files }) => total + files.length, 0),
    },
    notes,
  });
};

/** The file's text: pretty JSON with two spaces, as the original writes it. */
export const printMapMeta = (payload: JsonObject): string => printPayload(payload);
