import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import type { HistoryItem as Item } from '../../kernel/history.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { FolderSession } from './folders.ts';
import type { OcrKind, OcrSession } from './history.ts';
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
  items: [
    ...session.history.map((item) => {
      if (item.what !== 'completed') return item;
      const payload = payloadOf(item.round, item.summary);
      return payload === undefined ? item : { ...item, payload };
    }),
    ...session.processes.flatMap(itemsOfProcess),
  ].toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)),
  problems: session.problems,
  files: files.slice(0, mostFiles),
});

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
 * What of an import is newer than what was taken before: all that follows the newest event that was. Processes have no
 * place among the events, so all of them are given: whoever asks knows which it has.
 */
export const newerItems = (items: OcrImport['items'], taken: number): OcrImport['items'] => {
  const last = items.findLastIndex(({ id }) => id !== null && id <= taken);
  return items.filter(({ what }, index) => index > last || what === 'process');
};

const itemsOfProcess = (process: OcrProcess): OcrImport['items'] => {
  const {
    id: process_,
    vendor,
    vendorSessionId,
    persona,
    instance,
    name,
    model,
    pid,
    startedAt,
    endedAt,
    note,
  } = process;
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
            endedAt,
            kernelEvent('ProcessEnded', {
              process: process_,
              outcome: process.outcome ?? 'crashed',
              ...given({ exit_code: process.exitCode, note }),
            }),
          ),
        ]),
  ];
};
