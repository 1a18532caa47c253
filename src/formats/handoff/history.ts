import { textAt, textsAt } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { handover, pointerOf, valueOf } from './document.ts';
import { isNone } from './values.ts';
import {
  currentPath,
  documentsIn,
  examineAlone,
  isThere,
  locatePair,
  lookOnce,
  stampIn,
  stampProblem,
  targetOf,
  timeStampIn,
  type Look,
  type Pair,
} from './workspace.ts';

/** The handovers of a project, the newest first. */

/**
 * The pair that is worked on and the handovers beside it, at most so many of them; a pair that was archived and is the newest
 * is among them. Only what is shown is read. One that is broken is shown with what is wrong, and hides no other.
 */
export const historyToJson = (given: Look, limit: number | undefined): JsonObject => {
  const look = lookOnce(given);
  const active = locatePair(look);
  const isLive = active?.sessionState === currentPath;
  const shown: JsonObject[] = [];
  for (const path of documentsIn(look, handover, undefined)) {
    if (shown.length === limit) break;
    if (!isLive || path !== active.handover) shown.push(entryToJson(look, path, active));
  }
  return {
    docs_root: look.root,
    active_source: active?.source ?? null,
    active: active === undefined ? null : entryToJson(look, active.handover, active),
    history: shown,
  };
};

const entryToJson = (look: Look, path: string, active: Pair | undefined): JsonObject => {
  const isActive = path === active?.handover;
  const { document, findings } = examineAlone(look, handover, path);
  const said = (name: string): string => {
    const value = document === undefined ? '' : valueOf(document, name);
    return isNone(value) ? 'None' : value;
  };
  const pointer = document === undefined ? undefined : pointerOf(document);
  const target = document === undefined ? undefined : targetOf(look, document, path);
  const twin = `session-state/${stampIn(path)}_session-state.md`;
  const named = target !== undefined && isThere(look, target) ? target : undefined;
  const other = isActive ? active.sessionState : (named ?? (isThere(look, twin) ? twin : undefined));
  const stamp = stampProblem(path);
  return {
    stamp: timeStampIn(path) ?? 'untimestamped',
    task: said('Task summary'),
    status: said('Status'),
    last_updated: said('Last updated'),
    next_owner: said('Next owner'),
    handover: `${look.root}/${path}`,
    session_state: other === undefined ? 'None' : `${look.root}/${other}`,
    kind: other === currentPath ? 'live' : 'snapshot',
    is_active: isActive,
    warnings: [
      ...(stamp === undefined ? [] : [stamp]),
      ...findings.map(({ line, text }) => (line === null ? text : `line ${line}: ${text}`)),
      ...(pointer === undefined || named !== undefined ? [] : ['what it names is not there']),
      ...(other === undefined ? ['there is no session state that belongs to it'] : []),
      ...(other === currentPath && !isActive ? ['another handover has taken its place'] : []),
    ],
  };
};

/** Handovers for a person, a numbered line each; whole with their files and what is wrong with them below it. */
export const entriesText = (entries: readonly JsonObject[], form: 'lines' | 'whole'): readonly string[] =>
  entries.length === 0
    ? ['- None']
    : entries.flatMap((entry, at) => [
        `${at + 1}. ${['stamp', 'kind', 'status', 'next_owner', 'task'].map((key) => textAt(entry, key)).join(' | ')}${entry['is_active'] === true ? ' [active]' : ''}`,
        ...(form === 'lines'
          ? []
          : [
              `   ${textAt(entry, 'handover')}`,
              `   ${textAt(entry, 'session_state')}`,
              ...textsAt(entry, 'warnings').map((warning) => `   WARNING: ${warning}`),
            ]),
      ]);
