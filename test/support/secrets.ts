/** The fake secrets of case M01, and where none of them may be. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What must not be found anywhere: the secret parts of the lines, without the words around them. */
export const secretsOf = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => !line.startsWith('-----'))
    .map(
      (line) =>
        /^(?:postgres:\/\/app:([^@]+)@.*|Authorization: Bearer (.+)|password=(.+))$/
          .exec(line)
          ?.slice(1)
          .find((part) => part !== undefined) ?? line,
    );

/** Asserts that no file below a folder holds one of the texts. */
export const assertNowhere = (folder: string, texts: readonly string[]): void => {
  const walk = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const full = join(path, entry.name);
      if (entry.isDirectory()) walk(full);
      else if (entry.isFile()) {
        const bytes = readFileSync(full);
        for (const text of texts) assert.ok(!bytes.includes(text), `${entry.name} holds ${text.slice(0, 6)}...`);
      }
      for (const text of texts) assert.ok(!entry.name.includes(text), entry.name);
    }
  };
  walk(folder);
};
