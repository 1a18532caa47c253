import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isJsonObject } from '../lib/json.ts';
import { parseJson } from '../lib/json-text.ts';
import { nameFrom } from '../lib/name.ts';
import { sha256 } from '../lib/sha256.ts';
import { abandonedIn, type Abandoned } from './abandoned.ts';
import { missingFiles } from './missing-files.ts';
import { folderOf, type KindCommand, type Kinds, type RunningStep } from './kind.ts';
import { loadKind } from './kinds.ts';
import type { SessionRow } from './ports.ts';
import type { Refusal } from './refusal.ts';
import type { OpenedSession, Session } from './session.ts';
import { cleanJson, type World } from './verb.ts';

/**
 * What becomes of attempts whose worker or driver is gone. A result that was left in a file is taken; what is still worked on
 * is left alone; everything else is interrupted, and in doubt unless doing it twice does no harm.
 */

/** Largest file of a result, in bytes. */
const largestResult = 16 * 1024 * 1024;

/**
 * Where whoever works on an attempt may leave its result, in case nobody is there to take it: in the session's own folder,
 * or in one of its own where all sessions of the kind share one. Relative to the checkout's root.
 */
export const resultFile = async (
  kinds: Kinds,
  row: Pick<SessionRow, 'kind' | 'name' | 'archivedAt'>,
): Promise<(step: string, attempt: number) => string> => {
  const kind = await loadKind(kinds, row.kind);
  const folder = kind === undefined ? '' : folderOf(kind, row);
  const own = kind?.current === undefined ? 'artifacts' : `${kind.current.results}/${row.name}`;
  return (step, attempt) => `${folder}/${own}/${nameFrom(step)}.attempt-${attempt}.result.json`;
};

/** A result that was left in a file by whoever had the token of the attempt. */
export interface LeftResult {
  readonly step: string;
  readonly attempt: number;
  readonly token: number;
  readonly outcome: 'completed' | 'failed';
  readonly result: JsonObject;
  readonly path: string;
}

/** What was found of the results of attempts that run. */
export interface LeftResults {
  readonly results: readonly LeftResult[];
  /** The steps whose file is there and cannot be read now: what is in it is not known, and not given up. */
  readonly unread: readonly string[];
  /** What is wrong with those that are not taken. */
  readonly notes: readonly string[];
}

/** Where nothing was left. */
export const noResults: LeftResults = { results: [], unread: [], notes: [] };

/** The results that were left of attempts that run. */
export const findResults = async (world: World, row: SessionRow, seen: OpenedSession): Promise<LeftResults> => {
  const results: LeftResult[] = [];
  const unread: string[] = [];
  const notes: string[] = [];
  const home = world.places.homeOf(row);
  const fileOf = await resultFile(world.kinds, row);
  if (home.isElsewhere === true) return noResults;
  for (const { id, attempt, claim } of seen.folded.steps?.running() ?? []) {
    const path = fileOf(id, attempt);
    const text = world.files.exists(`${home.root}/${path}`)
      ? world.files.read(`${home.root}/${path}`, largestResult)
      : undefined;
    if (text === undefined) continue;
    if (text === null) unread.push(id);
    const left = text === null ? 'it cannot be read, or is too large' : readResult(text);
    const missing =
      typeof left === 'string' || left.outcome === 'failed'
        ? undefined
        : missingFiles(filesOf(left.result), world.files, home.root)[0];
    if (typeof left === 'string') notes.push(`${path} is not taken: ${left}.`);
    else if (left.token !== claim.token) notes.push(`${path} is not taken: it does not hold the token of the attempt.`);
    else if (missing !== undefined) notes.push(`${path} is not taken: ${missing}.`);
    else {
      const { value } = await cleanJson(left.result, world.caller.redact);
      const { token, outcome } = left;
      results.push({ step: id, attempt, token, outcome, result: isJsonObject(value) ? value : {}, path });
    }
  }
  return { results, unread, notes };
};

/** The files that a result says are there. */
const filesOf = ({ artifacts, output_path: path }: JsonObject): readonly string[] => [
  ...(Array.isArray(artifacts) ? artifacts.map(String) : []),
  ...(typeof path === 'string' ? [path] : []),
];

/** What a file of a result says; a text where it is none. */
const readResult = (
  text: string,
): { readonly token: number; readonly outcome: LeftResult['outcome']; readonly result: JsonObject } | string => {
  const parsed = parseJson(text.replace(/^\uFEFF/, ''));
  if ('fault' in parsed) return `it ${parsed.fault}`;
  if (!isJsonObject(parsed.value)) return 'it is no object';
  const { token, exit_code: exitCode = 0, error, output, output_path, child_session, artifacts } = parsed.value;
  if (typeof token !== 'number') return 'it has no token';
  if (typeof exitCode !== 'number') return 'its exit_code is no number';
  const texts: readonly (readonly [string, Json | undefined])[] = [
    ['error', error],
    ['output', output],
    ['output_path', output_path],
    ['child_session', child_session],
  ];
  const wrong = texts.find(([, value]) => value !== undefined && value !== null && typeof value !== 'string');
  if (wrong !== undefined) return `its ${wrong[0]} is no text`;
  const files = artifacts ?? [];
  if (!Array.isArray(files) || files.some((path) => typeof path !== 'string')) return 'its artifacts are no texts';
  const isFailed = exitCode !== 0 || typeof error === 'string';
  return {
    token,
    outcome: isFailed ? 'failed' : 'completed',
    result: {
      exit_code: exitCode,
      ...Object.fromEntries(texts.filter(([, value]) => typeof value === 'string')),
      ...(isFailed && typeof error !== 'string' ? { error: `exit code ${exitCode}` } : {}),
      ...(files.length === 0 ? {} : { artifacts: files }),
    },
  };
};

/** What became of the attempts that ran. */
export interface Recovered {
  readonly adopted: readonly LeftResult[];
  readonly interrupted: readonly Abandoned[];
  /** Those that are left alone. */
  readonly running: readonly RunningStep[];
}

/** Takes commands of a kind one after the other, each on what the ones before have led to. */
export interface Taker {
  readonly session: () => Session;
  readonly take: (command: KindCommand) => Refusal | undefined;
}

/**
 * Recovers the attempts of a session. One whose result is there and cannot be read is asked about again the next time; those
 * that are still worked on are interrupted where they are taken over.
 */
export const recover = (
  world: Pick<World, 'caller' | 'host'>,
  opened: OpenedSession,
  taker: Taker,
  { results, unread, takesOver }: Omit<LeftResults, 'notes'> & { readonly takesOver: boolean },
): Recovered | Refusal => {
  const adopted: LeftResult[] = [];
  const running = opened.folded.steps?.running() ?? [];
  const gone = new Map(
    abandonedIn(opened, world.caller.now, world.host)
      .filter(({ id }) => !unread.includes(id))
      .map((one) => [one.id, one]),
  );
  const interrupted: Abandoned[] = [];
  for (const one of running) {
    const left = results.find(
      ({ step, attempt, token }) => step === one.id && attempt === one.attempt && token === one.claim.token,
    );
    const lost =
      gone.get(one.id) ?? (takesOver ? { ...one, because: 'taken over' as const, comesBack: false } : undefined);
    if (left === undefined && lost === undefined) continue;
    // A result may have closed the session: what runs beside it is over with it.
    if (taker.session().common?.status === 'closed') break;
    const refusal = taker.take(
      left === undefined
        ? { type: 'interrupt-step', step: one.id, attempt: one.attempt, because: lost?.because ?? '' }
        : {
            type: 'end-step',
            step: left.step,
            attempt: left.attempt,
            token: left.token,
            outcome: left.outcome,
            result: left.result,
            digest: sha256(canonicalJson(left.result)),
          },
    );
    if (refusal !== undefined) return refusal;
    if (left !== undefined) adopted.push(left);
    else if (lost !== undefined) interrupted.push(lost);
  }
  return { adopted, interrupted, running: taker.session().folded.steps?.running() ?? [] };
};
