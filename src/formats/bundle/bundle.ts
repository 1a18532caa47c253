import { objectAt } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { parseStrictJson } from '../../lib/strict-json.ts';
import type { Bundle, BundleFault } from './parts.ts';
import { printBundle2, readBundle2, sealed2, signedText2 } from './version-2.ts';
import { printBundle3, readBundle3, sealed3, signedText3 } from './version-3.ts';

/** The file that carries a session to another machine. Whoever made it may have made it to do harm. */

/** Most bytes of a bundle. */
export const mostBundleBytes = 64 * 1024 * 1024;

/** A payload may be nested 100 levels deep, and stands some levels deep in a bundle. */
const limits = { depth: 128, values: 4_000_000, keys: 20_000 };

/** What the versions do each in their own way. */
const versions = {
  2: { read: readBundle2, seal: sealed2, print: printBundle2, signedText: signedText2 },
  3: { read: readBundle3, seal: sealed3, print: printBundle3, signedText: signedText3 },
} as const;

/**
 * Reads a bundle, stage by stage: JSON, version, shape, checksums, names, history. Nothing of it is used before the stage
 * before has found nothing, and nothing but the text is looked at.
 */
export const readBundle = (text: string): Result<Bundle, readonly BundleFault[]> => {
  const json = parseStrictJson(text, limits);
  if (!json.ok) return err([{ stage: 'json', ...json.error }]);
  return takeBundle(json.value);
};

/** The same of a bundle that was parsed, or made. */
export const takeBundle = (value: unknown): Result<Bundle, readonly BundleFault[]> => {
  const bundle = value as JsonObject;
  if (!isJsonObject(bundle)) return err([{ stage: 'shape', path: '$', problem: 'is no object' }]);
  const version = bundle['bundle_version'];
  if (version !== 2 && version !== 3)
    return err([
      typeof version === 'number' && version > 3
        ? { stage: 'newer', path: '$.bundle_version', problem: 'is newer than this program' }
        : { stage: 'version', path: '$.bundle_version', problem: 'is neither 2 nor 3' },
    ]);
  const read = versions[version].read(bundle);
  if ('faults' in read) return err(read.faults);
  const { exported_at: exportedAt, signature } = bundle;
  return ok({
    ...read.parts,
    version,
    value: bundle,
    exportedAt: typeof exportedAt === 'string' ? exportedAt : '',
    source: objectAt(bundle, 'source'),
    report: objectAt(bundle, 'report'),
    readiness: objectAt(bundle, 'readiness'),
    git: objectAt(bundle, 'git'),
    redaction: objectAt(bundle, 'redaction'),
    signature: isJsonObject(signature) ? signature : undefined,
  });
};

/** A bundle with the checksums of what it holds. */
export const sealBundle = (version: Bundle['version'], value: JsonObject): JsonObject => versions[version].seal(value);

/** The text of the file of a bundle. */
export const printBundle = (version: Bundle['version'], value: JsonObject): string => versions[version].print(value);

/**
 * The text that a signature is made over. In version 2 it does not cover what the signature says of itself; in version 3 it
 * covers all that `signed` says of it.
 */
export const signedText = ({ version, value, digest }: Bundle, signed: JsonObject): string =>
  version === 2 ? versions[2].signedText(value) : versions[3].signedText(digest, signed);
