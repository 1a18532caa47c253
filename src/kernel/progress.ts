import type { JsonObject } from '../lib/canonical-json.ts';
import type { Files, ReadSession } from './ports.ts';
import { statusToJson, type QueryWorld, type Surroundings } from './query.ts';
import type { Evidence, LineCount, Progress } from './view.ts';

/** Most files of one folder that are listed and counted in. */
const mostFiles = 50;

/** Most bytes of a file that is counted in. */
const largestFile = 1024 * 1024;

/**
 * How far a session is: what `status` says of it, and its progress, with what depends on the time and the files laid over
 * it. What cannot be told is null: a start that is not known, the lines of a file that cannot be read.
 */
export const progressToJson = (
  session: ReadSession,
  surroundings: Surroundings,
  progress: Progress,
  world: QueryWorld,
  folder: string,
): JsonObject => {
  const { evidence: _, ...standing } = statusToJson(session, surroundings, world, folder);
  const { row } = session;
  const { now } = world.caller;
  const { done, total, cycle, earlier, summary, results } = progress;
  const { root, isElsewhere } = world.places.homeOf(row);
  const startedAt = cycle === null ? row.startedAt : cycle.startedAt;
  const endedAt = cycle?.completedAt ?? row.closedAt;
  const counted = new Map<string, { readonly total: number; readonly unknown: number }>();
  const steps = progress.steps.map(({ name, label, state, evidence }) => ({
    name,
    label,
    state,
    evidence: evidence.map((one) => {
      const found = isElsewhere === true ? unseen(one, folder) : lookAt(one, world.files, root, folder);
      if (found.counted !== undefined) {
        const before = counted.get(found.counted.label) ?? { total: 0, unknown: 0 };
        counted.set(found.counted.label, {
          total: before.total + found.counted.total,
          unknown: before.unknown + found.counted.unknown,
        });
      }
      return found.json;
    }),
  }));
  return {
    ...standing,
    steps,
    done,
    total,
    fraction: fractionOf(progress),
    cycle: cycle === null ? null : { label: cycle.label, started_at: cycle.startedAt, completed_at: cycle.completedAt },
    running: endedAt === null,
    elapsed_ms: between(startedAt, endedAt ?? now),
    since_update_ms: between(row.updatedAt, now),
    earlier: earlier.map((round) => ({
      label: round.label,
      completed_at: round.completedAt,
      summary: round.summary,
    })),
    summary,
    counts: [...counted].map(([label, count]) => ({ label, ...count })),
    results: results.map(({ label, path }) => ({
      label,
      path: `${folder}/${path}`,
      present: isElsewhere === true ? null : world.files.exists(`${root}/${folder}/${path}`),
    })),
  };
};

const fractionOf = ({ done, total, overall }: Progress): number | null => {
  if (overall !== undefined) return overall.percent === null ? null : overall.percent / 100;
  return total === 0 ? null : done / total;
};

/** Milliseconds from one time to another, none where the clock went back; null where one of them is no time. */
const between = (from: string | null, to: string): number | null => {
  const milliseconds = Date.parse(to) - Date.parse(from ?? '');
  return Number.isNaN(milliseconds) ? null : Math.max(0, milliseconds);
};

/** Evidence that lies on another machine: whether it is there is not known here. */
const unseen = ({ label, path }: Evidence, folder: string): ReturnType<typeof lookAt> => ({
  json: { label, path: `${folder}/${path}`, present: null },
  counted: undefined,
});

/** Evidence with what is found of it now. */
const lookAt = (
  { label, path, atLeast, counts }: Evidence,
  files: Files,
  root: string,
  folder: string,
): {
  readonly json: JsonObject;
  readonly counted: { readonly label: string; readonly total: number; readonly unknown: number } | undefined;
} => {
  const full = `${root}/${folder}/${path}`;
  const found = atLeast === undefined ? [] : files.list(full);
  const listed = found.slice(0, mostFiles);
  const present = atLeast === undefined ? files.exists(full) : found.length >= atLeast;
  const standing = {
    label,
    path: `${folder}/${path}`,
    present,
    ...(atLeast === undefined ? {} : { at_least: atLeast, files_total: found.length }),
  };
  if (counts === undefined) {
    const names = listed.map((name) => ({ name, count: null }));
    return { json: { ...standing, ...(atLeast === undefined ? {} : { files: names }) }, counted: undefined };
  }
  const lines =
    atLeast === undefined
      ? present
        ? [countLines(files.read(full, largestFile), counts)]
        : []
      : listed.map((name) => countLines(files.read(`${full}/${name}`, largestFile), counts));
  const unknown = lines.filter((count) => count === null).length + found.length - listed.length;
  const total = lines.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return {
    json: {
      ...standing,
      counts: counts.label,
      ...(atLeast === undefined
        ? { count: lines[0] ?? null }
        : { files: listed.map((name, index) => ({ name, count: lines[index] ?? null })) }),
    },
    // Where no file is there nothing was counted, which is not the same as none.
    counted: lines.length === 0 ? undefined : { label: counts.label, total, unknown },
  };
};

const countLines = (text: string | null, { pattern }: LineCount): number | null => {
  if (text === null) return null;
  const line = new RegExp(pattern, 'i');
  return text.split(/\r\n|\r|\n/).filter((one) => line.test(one)).length;
};
