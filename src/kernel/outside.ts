/** What happened around a session while nobody told it: what is asked of the checkout, and what is seen of it. */

/** What is asked. */
export interface OutsideQuestion {
  /** The root of the checkout. */
  readonly root: string;
  /** The session's own folder, relative to it: what is written there is no change outside. */
  readonly folder: string;
  /** When the session was written last; null where nobody asks what was committed since. */
  readonly since: string | null;
  /** When something was validated last; null where nothing was. */
  readonly validatedAt: string | null;
  /** The commit that was checked out when somebody resumed the session; null where nobody did, or that is not known. */
  readonly recordedHead: string | null;
}

/** What is seen. */
export type OutsideLook = OutsideUnknown | OutsideSeen;

/** Nothing can be told of the checkout. */
export interface OutsideUnknown {
  readonly known: false;
  /** As part of a sentence: `there is no git repository`. */
  readonly because: string;
}

/** What git says of the checkout. */
export interface OutsideSeen {
  readonly known: true;
  /** Null before the first commit. */
  readonly head: string | null;
  /** What was committed since; null where it is not known what was checked out then. */
  readonly commits: OutsideCommits | null;
  /** What is changed and not committed; null where git could not tell in time. */
  readonly dirty: { readonly total: number; readonly paths: readonly string[] } | null;
  /** Whether anything has changed since something was validated; null where that cannot be told. */
  readonly changedSinceValidation: boolean | null;
}

/** Commits between what was checked out then and now. */
export interface OutsideCommits {
  /** What was checked out then. */
  readonly from: string;
  readonly count: number;
  /** How many of those that were there then are no longer part of what is checked out. */
  readonly gone: number;
  /** The newest of them. */
  readonly newest: readonly {
    readonly id: string;
    readonly author: string;
    readonly at: string;
    readonly subject: string;
  }[];
}

/** Looks at a checkout, within a few seconds; whatever goes wrong is something that is not known. */
export type LookOutside = (question: OutsideQuestion) => Promise<OutsideLook>;

/** A checkout as git has it. */
export type RepositoryLook =
  | {
      readonly available: false;
      /** What git says; undefined where there is no repository. */
      readonly because: string | undefined;
    }
  | Repository;

export interface Repository {
  readonly available: true;
  /** `HEAD` where none is checked out. */
  readonly branch: string;
  readonly commit: string;
  /** What is changed and not committed, and what git does not know, by its path from the root. */
  readonly dirtyPaths: readonly string[];
  /** How many lines of what git knows were added and deleted: null where it is no text. */
  readonly changes: readonly {
    readonly path: string;
    readonly added: number | null;
    readonly deleted: number | null;
  }[];
  /** SHA-256 of what git prints, byte by byte, and of the files that it does not know. */
  readonly fingerprints: Fingerprints;
  /** Those of the original, over texts without the blanks around them; a file that git does not know counts by its name. */
  readonly originalFingerprints: Fingerprints;
  /** The changes as git prints them, what is no UTF-8 in them replaced. */
  readonly patch: string;
}

/** Undefined each where nothing is changed. */
export interface Fingerprints {
  readonly dirty: string | undefined;
  readonly status: string | undefined;
  readonly patchSummary: string | undefined;
}

/** Looks at the checkout of a root. */
export type LookAtRepository = (root: string) => Promise<RepositoryLook>;
