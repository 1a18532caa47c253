import type { StoredEvent } from '../../kernel/event.ts';
import type { Finding, Store } from '../../kernel/ports.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Work } from './work.ts';

/** What a transaction comes to. */
export interface Transaction<Value> {
  /** Whether it is committed; else it is rolled back. */
  readonly commit: boolean;
  readonly value: Value;
  /** The newest event of each session that it appends to. */
  readonly appended?: ReadonlyMap<string, number>;
  /** One of them, by its hash. */
  readonly newest?: Pick<StoredEvent, 'session' | 'seq' | 'hash'> | undefined;
}

/** What a transaction needs for itself while it lasts. Where there is one writer at a time anyway, there is nothing to do. */
export interface Locks {
  /** Names that nobody else holds, in any way. */
  readonly alone: readonly string[];
  /** Names that nobody else holds alone. */
  readonly shared: readonly string[];
}

/** What is to be known where the end of a transaction is not, because the connection was lost. */
export interface Doubt<Value> {
  /** Tells, under the same locks, whether what it made is there. */
  readonly wasDone: (made: Transaction<Value>) => Work<boolean>;
  /** Whether it may be asked for again without being done twice. */
  readonly isRepeatable: boolean;
}

/** A database that a store lies in: how work is done there. */
export interface Backend {
  readonly name: string;
  readonly readOnly: Refusal | undefined;
  readonly identity: () => Store['identity'];
  /** Reads whose statements need not see one state. */
  readonly ask: <Value>(work: () => Work<Value>) => Promise<Value>;
  /** Reads that see one state. */
  readonly snapshot: <Value>(work: () => Work<Value>) => Promise<Value>;
  /**
   * One transaction under its locks; rolled back unless it says `commit`, and when it throws. It may be done again from its
   * start.
   */
  readonly write: <Value>(locks: Locks, work: () => Work<Transaction<Value>>, doubt?: Doubt<Value>) => Promise<Value>;
  /** The same, but undefined, without waiting, where somebody else holds one of the locks. */
  readonly writeAtOnce: <Value>(locks: Locks, work: () => Work<Transaction<Value>>) => Promise<Value | undefined>;
  /** What is another text whenever something was committed. */
  readonly stamp: () => Work<string>;
  /** Whether the database itself is whole, apart from what is in it; where it is left out, that is for a server to say. */
  readonly check?: () => Work<readonly Finding[]>;
  /** Writes a copy of everything into a new file; answers whether this backend does. */
  readonly copyTo: (path: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}
