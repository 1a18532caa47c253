/**
 * Work on a database, written down as the statements that it consists of. Whoever has a connection does it: at once on
 * SQLite, across the network on PostgreSQL. So what is asked and written is there once.
 */

/** A value of a statement. */
export type Value = string | number | null;

/** A row as a database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** A statement, with `?` for each of its values. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
  /** Nothing is answered: across the network it is not waited for, and that it failed is heard with a later answer. */
  readonly isSaid?: true;
}

/** Statements, one after the other, each that is answered with its rows before the next one is asked for. */
export type Work<Result> = Generator<Statement, Result, readonly Row[]>;

/** The rows of a statement. */
export function* all(sql: string, ...values: readonly Value[]): Work<readonly Row[]> {
  return yield { sql, values };
}

/** Its first row. */
export function* get(sql: string, ...values: readonly Value[]): Work<Row | undefined> {
  const [row] = yield { sql, values };
  return row;
}

/** A statement without an answer. */
export function* run(sql: string, ...values: readonly Value[]): Work<void> {
  yield { sql, values, isSaid: true };
}
