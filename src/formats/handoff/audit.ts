import { textAt } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { handover, readDocument, sessionState, type DocumentKind } from './document.ts';
import { conflictIn, rootHeading } from './sections.ts';
import { findingToJson, leaseToJson } from './summary.ts';
import {
  comparePair,
  currentPath,
  examine,
  leaseIn,
  locatePair,
  stampIn,
  type Examined,
  type Look,
  type Pair,
} from './workspace.ts';

/** All documents of a hand-off below a root, and what is wrong with any of them. */

/**
 * Looks at every document for itself, at the pair that was worked on last, and at those that were archived under one stamp.
 * One that is broken hides no other. A handover that another has taken the place of still names `CURRENT.md`: that the two
 * do not say the same is no fault. Files that are no documents are left alone.
 */
export const auditToJson = (look: Look, now: string): JsonObject => {
  const active = locatePair(look);
  const handovers = documentsIn(look, 'handovers', handover, active?.handover);
  const states = documentsIn(look, 'session-state', sessionState, active?.sessionState);
  const archived = handovers.flatMap((one) => {
    const other =
      stampIn(one.path) === undefined ? undefined : states.find(({ path }) => stampIn(path) === stampIn(one.path));
    return other === undefined ? [] : [{ one, other }];
  });
  const pairs = [...archived, ...activeIn(active, handovers, states)];
  const lease = leaseIn(look, now);
  const errors = [
    ...[...handovers, ...states].flatMap(({ path, findings }) =>
      findings
        .filter(({ code }) => code !== 'ptr-status-mismatch' || !isSuperseded(path, active))
        .map((finding) => findingToJson(path, finding)),
    ),
    ...pairs.flatMap(({ one, other }) =>
      comparePair(one, other).map((finding) => findingToJson(`${one.path} <-> ${other.path}`, finding)),
    ),
    ...lease.problems.map((problem) =>
      findingToJson('session-state/ACTIVE_LEASE.json', {
        code: 'lease-invalid',
        line: null,
        text: problem,
        remedy: 'remove the file, or have its holder claim the lease again',
      }),
    ),
  ];
  const orphanHandovers = handovers.filter(
    ({ path }) =>
      stampIn(path) !== undefined && path !== active?.handover && !archived.some(({ one }) => one.path === path),
  );
  const orphanStates = states.filter(
    ({ path }) =>
      stampIn(path) !== undefined &&
      path !== active?.sessionState &&
      !archived.some(({ other }) => other.path === path),
  );
  const warnings = [
    ...(active === undefined ? ['there is no active pair'] : []),
    ...orphanHandovers.map(({ path }) => `${path}: there is no session state with its stamp`),
    ...orphanStates.map(({ path }) => `${path}: there is no handover with its stamp`),
    ...(lease.state === 'expired' ? ['session-state/ACTIVE_LEASE.json: it has expired'] : []),
    ...(lease.handover !== null && active !== undefined && lease.handover !== active.handover
      ? ['session-state/ACTIVE_LEASE.json: it is about another handover']
      : []),
  ];
  return {
    docs_root: look.root,
    result: errors.length > 0 ? 'error' : warnings.length > 0 ? 'warning' : 'clean',
    active_pair:
      active === undefined
        ? null
        : {
            source: active.source,
            handover: `${look.root}/${active.handover}`,
            session_state: `${look.root}/${active.sessionState}`,
          },
    lease: { ...leaseToJson(lease), handover: lease.handover ?? 'None', session_state: lease.sessionState ?? 'None' },
    totals: {
      handover_files: handovers.length,
      session_state_files: states.length,
      snapshot_pairs: archived.length,
      orphan_handovers: orphanHandovers.length,
      orphan_session_snapshots: orphanStates.length,
    },
    warnings,
    errors: errors.map((one) => {
      const line = textAt(one, 'line');
      return `${textAt(one, 'file')}${line === '' ? '' : `:${line}`}: ${textAt(one, 'text')}`;
    }),
    findings: errors,
  };
};

/** The documents of a kind in a folder: files with its root heading, a stamp or a conflict, and the one that is worked on. */
const documentsIn = (look: Look, folder: string, kind: DocumentKind, active: string | undefined): readonly Examined[] =>
  [
    ...new Set([
      ...look
        .list(folder)
        .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
        .map((name) => `${folder}/${name}`),
      ...(active === undefined ? [] : [active]),
    ]),
  ]
    .filter((path) => {
      if (path === active || path === currentPath || stampIn(path) !== undefined) return true;
      const text = look.read(path);
      if (!text.ok) return false;
      return conflictIn(text.value) !== undefined || rootHeading(readDocument(kind, text.value)) === kind.root;
    })
    .map((path) => examine(look, kind, path));

const activeIn = (active: Pair | undefined, handovers: readonly Examined[], states: readonly Examined[]) => {
  const one = handovers.find(({ path }) => path === active?.handover);
  const other = states.find(({ path }) => path === active?.sessionState);
  const isArchived =
    one !== undefined && stampIn(one.path) !== undefined && stampIn(one.path) === stampIn(other?.path ?? '');
  return one === undefined || other === undefined || isArchived ? [] : [{ one, other }];
};

/** Whether another handover is the one that is worked on. */
const isSuperseded = (path: string, active: Pair | undefined): boolean =>
  active?.sessionState === currentPath && path.startsWith('handovers/') && path !== active.handover;
