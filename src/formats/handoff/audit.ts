import { textAt } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { handover, sessionState } from './document.ts';
import { findingToJson, leaseToJson } from './summary.ts';
import {
  comparePair,
  currentPath,
  documentsIn,
  examine,
  leaseIn,
  leasePath,
  locatePair,
  lookOnce,
  stampIn,
  stampProblem,
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
export const auditToJson = (given: Look, now: string): JsonObject => {
  const look = lookOnce(given);
  const active = locatePair(look);
  const handovers = [...documentsIn(look, handover, active?.handover)].map((path) => examine(look, handover, path));
  const states = [...documentsIn(look, sessionState, active?.sessionState)].map((path) =>
    examine(look, sessionState, path),
  );
  const stateByStamp = new Map(states.map((state) => [stampIn(state.path), state]));
  const archived = handovers.flatMap((one) => {
    const stamp = stampIn(one.path);
    const other = stamp === undefined ? undefined : stateByStamp.get(stamp);
    return other === undefined ? [] : [{ one, other }];
  });
  const inPairs = new Set(archived.flatMap(({ one, other }) => [one.path, other.path]));
  const orphansAmong = (documents: readonly Examined[], live: string | undefined): readonly Examined[] =>
    documents.filter(({ path }) => stampIn(path) !== undefined && path !== live && !inPairs.has(path));
  const orphanHandovers = orphansAmong(handovers, active?.handover);
  const orphanStates = orphansAmong(states, active?.sessionState);
  const lease = leaseIn(look, now);
  const errors = [
    ...[...handovers, ...states].flatMap(({ path, findings }) =>
      findings
        .filter(({ code }) => code !== 'ptr-status-mismatch' || !isSuperseded(path, active))
        .map((finding) => findingToJson(path, finding)),
    ),
    ...[...archived, ...activeIn(active, handovers, states)].flatMap(({ one, other }) =>
      comparePair(one, other).map((finding) => findingToJson(`${one.path} <-> ${other.path}`, finding)),
    ),
    ...lease.problems.map((problem) =>
      findingToJson(leasePath, {
        code: 'lease-invalid',
        line: null,
        text: problem,
        remedy: 'remove the file, or have its holder claim the lease again',
      }),
    ),
  ];
  const warnings = [
    ...(active === undefined ? ['there is no active pair'] : []),
    ...orphanHandovers.map(({ path }) => `${path}: there is no session state with its stamp`),
    ...orphanStates.map(({ path }) => `${path}: there is no handover with its stamp`),
    ...[...handovers, ...states].flatMap(({ path }) => {
      const problem = stampProblem(path);
      return problem === undefined ? [] : [`${path}: ${problem}`];
    }),
    ...(lease.state === 'expired' ? [`${leasePath}: it has expired`] : []),
    ...(lease.handover !== null && active !== undefined && lease.handover !== active.handover
      ? [`${leasePath}: it is about another handover`]
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
