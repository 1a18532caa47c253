/** What happened around a session while nobody told it: what is asked of the checkout, and what is seen of it. */

/** What is asked. */
export interface OutsideQuestion {
  /** The root of the checkout. */
  readonly root: string;
  /** The session's own folder, relative to it: what is written there is no change outside. */
  readonly folder: string;
  /** When the session was written last. */
  readonly since: string;
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
