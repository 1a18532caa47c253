import { handover, sessionState, type DocumentKind } from './document.ts';

/** Sound documents, for tests. */

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
