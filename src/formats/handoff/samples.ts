import { err, ok } from '../../lib/result.ts';
import { handover, sessionState, type DocumentKind } from './document.ts';
import type { Look } from './workspace.ts';

/** Sound documents, and files to look at, for tests. */

/** A document of a kind with every section filled in; the given ones say something else. */
export const sample = (kind: DocumentKind, said: Readonly<Record<string, string>> = {}): string => {
  const usual: Readonly<Record<string, string>> = {
    Status: 'in-progress',
    'Last updated': '2026-03-12T10:15:00+01:00',
    'Updated by': 'ana',
    'Next owner': 'ben',
    [sessionState.pointer]: '../handovers/20260312_0915_handover.md',
    [handover.pointer]: '../session-state/CURRENT.md',
  };
  return `${kind.root}\n\n${kind.sections.map((name) => `## ${name}\n${said[name] ?? usual[name] ?? 'None'}\n`).join('\n')}`;
};

/** Files below a root. */
export const lookAt = (files: Readonly<Record<string, string>>): Look => ({
  root: '/docs',
  read: (path) => {
    const text = files[path];
    return text === undefined ? err({ problem: 'is not there', isMissing: true }) : ok(text);
  },
  list: (folder) =>
    Object.keys(files)
      .filter((path) => path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes('/'))
      .map((path) => path.slice(folder.length + 1)),
});

/** Two documents of one stamp that name each other. */
export const archivedPair = (
  stamp: string,
  said: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => ({
  [`handovers/${stamp}_handover.md`]: sample(handover, {
    'Session-state pointer': `../session-state/${stamp}_session-state.md`,
    ...said,
  }),
  [`session-state/${stamp}_session-state.md`]: sample(sessionState, {
    'Handover pointer': `../handovers/${stamp}_handover.md`,
    ...said,
  }),
});
