import { statSync } from 'node:fs';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { openDatabase } from './database.ts';
import { privateCopy } from './private-copy.ts';

/**
 * Reads whole tables of another program's database, from a private copy, so that not even its log is touched. A table that
 * is not there has no rows; bytes are left out.
 */
export const readTables = (
  path: string,
  names: readonly string[],
): Result<Readonly<Record<string, readonly JsonObject[]>>, Refusal> => {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    return err(refuse('damaged', `The database ${path} is no file.`, { expected: 'a SQLite database' }));
  }
  try {
    const copy = privateCopy(path);
    const database = openDatabase(copy.path, { readOnly: false });
    try {
      const there = new Set(
        database.all("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").map((row) => row['name']),
      );
      return ok(
        Object.fromEntries(
          names.map((name) => [name, there.has(name) ? database.all(`SELECT * FROM "${name}"`).map(rowToJson) : []]),
        ),
      );
    } finally {
      database.close();
      copy.remove();
    }
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    const { code, message } = error.refusal;
    return err(
      refuse(
        code,
        // Of a copy that is damaged its own path says nothing to anybody.
        code === 'damaged' ? `${path} cannot be read: it is damaged, or no database.` : message,
        { expected: 'a SQLite database that is whole' },
      ),
    );
  }
};

const rowToJson = (row: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(
    Object.entries(row).flatMap(([key, value]) =>
      value === null || typeof value === 'string' || typeof value === 'number' ? [[key, value]] : [],
    ),
  );
