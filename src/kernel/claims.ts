import type { Json } from '../lib/canonical-json.ts';
import { isJsonObject } from '../lib/json.ts';
import type { Files } from './ports.ts';

/**
 * What a payload claims beside what it found, and cannot prove by itself: `artifacts`, files of the session's folder (a
 * path, or an object with `path` and perhaps `sha256`), and `gates`, checks that were to be passed. What does not hold comes
 * back as lines that begin with a JSON path; nothing that is claimed falsely counts as done.
 */
export const unprovedClaims = (payload: Json, files: Files, root: string, folder: string): readonly string[] => {
  if (!isJsonObject(payload)) return [];
  const { artifacts, gates } = payload;
  return [
    ...listOf(artifacts).flatMap((artifact, index) => {
      const problem = problemOf(artifact, files, root, folder);
      return problem === undefined ? [] : [`$.artifacts[${index}] ${problem}`];
    }),
    ...listOf(gates).map((gate, index) => {
      const name = isJsonObject(gate) ? gate['type'] : gate;
      const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 60)) : 'without a type';
      return `$.gates[${index}] is a check ${shown}, which this program cannot make`;
    }),
  ];
};

const problemOf = (artifact: Json, files: Files, root: string, folder: string): string | undefined => {
  const { path, sha256 } = isJsonObject(artifact) ? artifact : { path: artifact, sha256: undefined };
  if (typeof path !== 'string' || path === '') return 'names no path';
  const found = files.digest(`${root}/${folder}`, path);
  const shown = JSON.stringify(path.slice(0, 200));
  if (found === undefined) return `(${shown}) is not there, or leads out of the folder of the session`;
  if (found.size === 0) return `(${shown}) is empty`;
  if (sha256 === undefined || sha256 === found.sha256) return undefined;
  return `(${shown}) differs from its sha256: it is ${found.sha256}`;
};

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
