import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import type { HistoryItem as Item } from '../../kernel/history.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { FolderSession } from './folders.ts';
import type { HistoryItem, OcrKind, OcrSession } from './history.ts';
import type { OcrProcess } from './processes.ts';

/** One session of the original as it can be taken over. */
export interface OcrImport {
  readonly id: string;
  readonly kind: OcrKind;
  readonly branch: string | null;
  /** What tells it from another session of the same name. */
  readonly source: string;
  /** The number of its newest event. */
  readonly taken: number;
  /** In the order of the times; `id` is the number of the original's event. */
  readonly items: readonly (Item & { readonly id: number | null })[];
  /** Whether its kind is a guess: a session of that name and of another kind is then the one that it belongs to. */
  readonly isGuess: boolean;
  readonly problems: readonly string[];
  /** What lies in its folder. */
  readonly files: readonly string[];
}

/** Most files that the record of an import names. */
const mostFiles = 100;

/** A session of the database. `payloadOf` gives what the file of a round holds, where it agrees with its completion. */
export const importOfRow = (
  session: OcrSession,
  files: readonly string[],
  payloadOf: (round: number, summary: JsonObject) => JsonObject | undefined,
): OcrImport => ({
  id: session.id,
  kind: session.kind,
  branch: session.branch,
  source: `ocr ${session.id} ${session.startedAt}`,
  taken: session.lastEventId,
  isGuess: false,
  items: [
    ...unrecordedRounds(session.history[0]),
    ...session.history.map((item) => {
      if (item.what !== 'completed') return item;
      const payload = payloadOf(item.round, item.summary);
      return payload === undefined ? item : { ...item, payload };
    }),
    ...session.processes.flatMap((process) => itemsOfProcess(process, session.history[0]?.at ?? session.startedAt)),
  ].toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)),
  problems: session.problems,
  files: files.slice(0, mostFiles),
});

/** The rounds before the first one that is on record: there were as many, and nothing says what became of them. */
const unrecordedRounds = (first: HistoryItem | undefined): OcrImport['items'] =>
  first?.what === 'round'
    ? Array.from({ length: first.round - 1 }, (_, index) => ({
        at: first.at,
        id: null,
        what: 'round',
        round: index + 1,
      }))
    : [];

/** A session that only its folder tells of: its rounds as far as they can be counted, closed, and never complete. */
export const importOfFolder = (
  folder: FolderSession,
  kind: OcrKind,
  files: readonly string[],
  now: string,
): OcrImport => {
  const numbers = (kind === 'review' ? folder.rounds : folder.runs).map(({ number }) => number);
  const newest = Math.max(1, ...numbers);
  const missing = Array.from({ length: newest }, (_, index) => index + 1).filter(
    (number) => numbers.length > 0 && !numbers.includes(number),
  );
  const problems = [
    ...(missing.length === 0 ? [] : [`Of ${newest} rounds the folders of ${missing.join(', ')} are not there.`]),
    ...folder.ignored.map(({ path, reason }) => `${path}: ${reason}`),
    ...(folder.hasStateFile ? ['Its state.json is of a version before the database; it was not read.'] : []),
  ];
  return {
    id: folder.id,
    kind,
    branch: folder.branch,
    source: `ocr folder ${folder.id}`,
    taken: 0,
    isGuess: folder.isGuess,
    items: [
      ...Array.from({ length: newest }, (_, index) => ({
        at: now,
        id: null,
        what: 'round' as const,
        round: index + 1,
      })),
      {
        at: now,
        id: null,
        what: 'closed',
        outcome: 'aborted',
        reason: 'found as files only: nothing on record says that it was completed',
      },
    ],
    problems,
    files: files.slice(0, mostFiles),
  };
};

/**
 * What of an import may be newer than what was taken before: all that follows the newest event that was, and whatever is
 * told of processes, which have no events there. Without a newer event a row may still be closed; everything else was
 * concluded from it before.
 */
export const newerItems = ({ items, taken }: OcrImport, before: number): OcrImport['items'] => {
  const last = items.findLastIndex(({ id }) => id !== null && id <= before);
  return items.filter(
    ({ what }, index) => what === 'process' || (index > last && (taken > before || what === 'closed')),
  );
};

/**
 * What a process did, not before its session was begun: who is linked to it later may have started earlier, and the session
 * would begin with them. The times of the original are whole seconds in one place and exact in another, so that an end may
 * seem to lie before its start.
 */
const itemsOfProcess = (process: OcrProcess, begun: string): OcrImport['items'] => {
  const { id: process_, vendor, vendorSessionId, persona, instance, name, model, pid, endedAt, note } = process;
  const startedAt = latest(process.startedAt, begun);
  const item = (at: string, event: DecidedEvent): OcrImport['items'][number] => ({
    at,
    id: null,
    what: 'process',
    event,
  });
  const given = (fields: Readonly<Record<string, string | number | null>>): JsonObject =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return [
    item(
      startedAt,
      kernelEvent('ProcessStarted', {
        process: process_,
        kind: process.kind,
        ...given({ vendor, vendor_session: vendorSessionId, persona, instance, name, model, pid, note }),
        // The original does not say on which machine it ran: nobody is judged by the pid.
        host: 'unknown',
      }),
    ),
    ...(endedAt === null
      ? []
      : [
          item(
            latest(endedAt, startedAt),
            kernelEvent('ProcessEnded', {
              process: process_,
              outcome: process.outcome ?? 'crashed',
              ...given({ exit_code: process.exitCode, note }),
            }),
          ),
        ]),
  ];
};

const latest = (some: string, other: string): string => (some > other ? some : other);
