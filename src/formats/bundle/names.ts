import { nameProblem } from '../../lib/name.ts';
import { stampProblem } from '../handoff/workspace.ts';

/** The names and paths in a bundle: whoever made it has chosen them. */

/** What keeps a text from being the name of a document, as the end of a sentence; it may become that of a file. */
export const documentNameProblem = (name: string): string | undefined => {
  if (nameProblem(name) !== undefined) return 'is no name of a file that is safe everywhere';
  if (!name.endsWith('.md')) return 'is no name of a Markdown file';
  return stampProblem(name) === undefined ? undefined : 'has a stamp that is no time';
};

/** The longest path that is followed. */
const longestPath = 1024;

/** What keeps a text from being a path below some root on every system, as the end of a sentence. */
export const relativePathProblem = (path: string): string | undefined => {
  if (path === '' || path.length > longestPath) return `is no path of 1 to ${longestPath} characters`;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(path)) return 'is a path with control characters';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.includes('\\'))
    return 'is no relative path with / between its parts';
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return 'is a path with empty parts, or one that climbs';
  return undefined;
};

/** The last part of a path, whichever system it is of. */
export const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
