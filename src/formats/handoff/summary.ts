import type { JsonObject } from '../../lib/canonical-json.ts';
import { bodyOf, handover, sessionState, valueOf, type DocumentFinding } from './document.ts';
import type { LeaseFile } from './lease-file.ts';
import { isNone, labelled, listItems } from './values.ts';
import { comparePair, examine, leaseIn, type Examined, type Look, type Pair } from './workspace.ts';

/** What a pair says, in short. */

/** A finding as it is shown, with the file that it is about. */
export const findingToJson = (path: string, { code, line, text, remedy }: DocumentFinding): JsonObject => ({
  code,
  file: path,
  line,
  text,
  remedy,
});

/** A pair, and all that is wrong with it. */
export interface ExaminedPair {
  readonly handover: Examined;
  readonly sessionState: Examined;
  readonly findings: readonly { readonly tag: string; readonly path: string; readonly finding: DocumentFinding }[];
}

/** Looks whether both documents of a pair are sound, and say the same. */
export const examinePair = (look: Look, pair: Pair): ExaminedPair => {
  const one = examine(look, handover, pair.handover);
  const other = examine(look, sessionState, pair.sessionState);
  const tagged = (tag: string, path: string, findings: readonly DocumentFinding[]) =>
    findings.map((finding) => ({ tag, path, finding }));
  return {
    handover: one,
    sessionState: other,
    findings: [
      ...tagged('HANDOVER', one.path, one.findings),
      ...tagged('SESSION', other.path, other.findings),
      ...tagged('PAIR', one.path, comparePair(one, other)),
    ],
  };
};

/** The summary of a pair under the names of the original, in which None stands for what nobody said. */
export const summaryToJson = (look: Look, pair: Pair, now: string): JsonObject => {
  const { handover: one, sessionState: other, findings } = examinePair(look, pair);
  const lease = leaseIn(look, now);
  const transfer = one.document ?? { head: '', sections: [] };
  const state = other.document ?? { head: '', sections: [] };
  const said = (value: string): string => (isNone(value) ? 'None' : value);
  const resume = (label: string): readonly string[] => labelled(bodyOf(transfer, 'Resume instructions'), label);
  return {
    task: said(valueOf(transfer, 'Task summary')),
    status: said(valueOf(transfer, 'Status')),
    last_updated: said(valueOf(transfer, 'Last updated')),
    updated_by: said(valueOf(transfer, 'Updated by')),
    next_owner: said(valueOf(transfer, 'Next owner')),
    last_completed_step: said(valueOf(state, 'Last completed step')),
    current_step: said(valueOf(state, 'Current step')),
    remaining_steps: [...listItems(bodyOf(state, 'Remaining steps'))],
    what_was_done: [...listItems(bodyOf(transfer, 'What was done'))],
    blockers: [...listItems(bodyOf(state, 'Blockers'))],
    files_touched: [...listItems(bodyOf(state, 'Files touched'))],
    resume: {
      first_file: resume('First file to open')[0] ?? 'None',
      next_command: resume('Next command to run')[0] ?? 'None',
      prerequisites: [...resume('Prerequisites')],
      commands: [...listItems(bodyOf(state, 'Commands to resume'))],
    },
    documents: { handover: `${look.root}/${pair.handover}`, session_state: `${look.root}/${pair.sessionState}` },
    lease: leaseToJson(lease),
    warnings: [
      ...findings.map(
        ({ tag, path, finding: { line, text } }) => `${tag}: ${path}${line === null ? '' : `:${line}`}: ${text}`,
      ),
      ...lease.problems.map((problem) => `LEASE: ${problem}`),
    ],
    findings: findings.map(({ path, finding }) => findingToJson(path, finding)),
  };
};

/** A lease, that of a file or that of a session, under the names of the original. */
export const leaseToJson = ({
  state,
  holder,
  purpose,
  acquiredAt,
  expiresAt,
}: Omit<LeaseFile, 'state' | 'handover' | 'sessionState' | 'problems'> & { readonly state: string }): JsonObject => ({
  state,
  holder: holder ?? 'None',
  purpose: purpose ?? 'None',
  acquired_at: acquiredAt ?? 'None',
  expires_at: expiresAt ?? 'None',
});
