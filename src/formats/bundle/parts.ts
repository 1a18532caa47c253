import type { StoredEvent } from '../../kernel/event.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';

/** What a bundle is made of, whatever its version. */

/** A bundle that was read: its shape, its checksums, its names and the chain of its events are right. Nothing of it is trusted. */
export interface Bundle extends BundleParts {
  readonly version: 2 | 3;
  /** All of it, as it stands in the file. */
  readonly value: JsonObject;
  readonly exportedAt: string;
  readonly source: JsonObject;
  readonly report: JsonObject;
  readonly readiness: JsonObject;
  readonly git: JsonObject;
  readonly redaction: JsonObject;
  /** As it stands there: whether it holds is not known. */
  readonly signature: JsonObject | undefined;
}

/** The parts that differ between the versions. */
export interface BundleParts {
  /** What tells this export from others; undefined in version 2. */
  readonly id: string | undefined;
  /** The digest of everything but the signature, as it was computed when the bundle was read. */
  readonly digest: string;
  /** Undefined where it holds documents alone. */
  readonly session: BundledSession | undefined;
  /** Undefined where the session has none. */
  readonly documents: BundledDocuments | undefined;
  readonly lease: { readonly payload: JsonObject | undefined; readonly inspection: JsonObject };
  readonly artifacts: readonly BundledArtifact[];
}

/** A session that travels. */
export interface BundledSession {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  /** The id of the store that it comes from. */
  readonly storeId: string;
  /** Where it stood, as `show` says it. */
  readonly state: JsonObject;
  readonly seq: number;
  readonly revision: number;
  /** The hash of its newest event. */
  readonly hash: string;
  /** All of its events with their chain; undefined where its history was left out. */
  readonly events: readonly StoredEvent[] | undefined;
}

/** The documents of a hand-off. */
export interface BundledDocuments {
  readonly handover: BundledDocument | undefined;
  readonly sessionState: BundledDocument;
}

/** A document under the name of its file, without a folder. */
export interface BundledDocument {
  readonly name: string;
  readonly text: string;
}

/** A file that the session names. */
export interface BundledArtifact {
  /** From the root of the checkout, `/` between parts. */
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  /** Its bytes, of that size and digest; undefined where they were left out. */
  readonly content: Uint8Array | undefined;
}

/** What is wrong with a bundle. */
export interface BundleFault {
  /** What was looked at: the first stage that finds something tells it alone. */
  readonly stage: 'json' | 'version' | 'newer' | 'shape' | 'integrity' | 'names' | 'history';
  /** The JSON path of what it is about. */
  readonly path: string;
  /** Completes a sentence that begins with the path. */
  readonly problem: string;
}

/** A fault as a sentence. */
export const faultText = ({ path, problem }: BundleFault): string => `${path} ${problem}`;
