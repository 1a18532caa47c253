/** Where documents lie. */

/** The folders of which the first that is there is the one, and the one where none is. */
export const rootsInOrder = ['docs/tests', 'docs/test', 'test-docs', 'test-documentation'] as const;

/** Where the live session state lies, from the root. */
export const currentPath = 'session-state/CURRENT.md';

/** The same below a root. */
export const currentIn = (root: string): string => `${root}/${currentPath}`;
