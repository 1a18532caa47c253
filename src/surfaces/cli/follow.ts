import { write, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { textAt } from '../../kernel/answer.ts';
import { textToCursor, type Cursor } from '../../kernel/cursor.ts';
import { eventToJson } from '../../kernel/query.ts';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Follows, VerbRefusal } from '../../kernel/verb.ts';
import { errnoCode } from '../../lib/atomic-file.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { plainLine } from '../../lib/text.ts';
import { follow, type Followed } from '../follow.ts';
import type { Location, OpenStore } from '../world.ts';
import type { CommandLine } from './arguments.ts';
import { jsonLine, OutputFailure, print } from './output.ts';

/** A command line that follows. */
export interface FollowLine {
  readonly line: CommandLine;
  readonly follows: Follows;
  readonly locate: () => Result<Location, Refusal>;
  /** Asks the verb once, with other input. */
  readonly ask: (input: JsonObject, open?: OpenStore) => Promise<Result<{ readonly answer: JsonObject }, VerbRefusal>>;
}

/** What ends it, and the exit code. */
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** How long a cursor may be that stands on every line; of a longer one no more is printed than of events. */
const shortCursor = 4096;

/** Prints events as they come, until there is a reason to end; answers the exit code. */
export const followLog = async (request: FollowLine): Promise<Result<number, VerbRefusal>> => {
  const { line, follows, locate } = request;
  const call = line.verb.prepare(line.input);
  if (!call.ok) return err({ refusal: call.error });
  if (line.flags.quiet)
    return err({
      refusal: refuse('usage', `${line.verb.name}: --quiet leaves nothing to follow.`, { hint: 'stint log --help' }),
    });
  const from = cursorOf(line.input[follows.after]);
  if (!from.ok) return err({ refusal: from.error });
  const location = locate();
  if (!location.ok) return err({ refusal: location.error });
  const sessions = await sessionsOf(request);
  if (!sessions.ok) return sessions;

  const ending = new AbortController();
  const interrupted = new Promise<number>((resolve) => {
    for (const [signal, exit] of Object.entries(signals)) process.on(signal, () => resolve(exit));
  });
  const limit = line.input[follows.limit];
  const printed = printEvents(
    follow({
      location: location.value,
      sessions: sessions.value,
      from: from.value,
      signal: ending.signal,
      remark: (text) => void print(2, `stint: ${plainLine(text)}\n`),
    }),
    { limit: typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY, line, follows },
  );
  // Whoever is asked to end does not wait for a server that does not answer.
  const exit = await Promise.race([printed, interrupted]);
  ending.abort();
  printed.catch(() => {});
  return typeof exit === 'number' ? ok(exit) : exit;
};

/** The cursor to go on behind: as it is, or in a file, because one of a big store is too long for a command line. */
const cursorOf = (given: unknown): Result<Cursor | 'now', Refusal> => {
  if (typeof given !== 'string' || given === 'now') return given === 'now' ? ok('now') : ok(new Map());
  if (!given.startsWith('@')) return textToCursor(given);
  try {
    return textToCursor(readFileSync(given.slice(1), 'utf8'));
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return err(
      refuse('not-found', `The file ${JSON.stringify(given.slice(1))} cannot be read.`, {
        expected: 'a file that holds a cursor',
      }),
    );
  }
};

/** The sessions that are meant: all, or the one that the verb itself would tell of. */
const sessionsOf = async ({
  line,
  follows,
  ask,
}: FollowLine): Promise<Result<readonly string[] | undefined, VerbRefusal>> => {
  if (line.input[follows.all] === true) return ok(undefined);
  const { session } = line.input;
  for (;;) {
    const found = await ask({ ...(session === undefined ? {} : { session }), [follows.limit]: 1 });
    if (found.ok) return ok([textAt(found.value.answer, 'session')]);
    // As it is waited for later.
    if (found.error.refusal.code !== 'busy') return found;
    print(2, `stint: waiting: ${plainLine(found.error.refusal.message)}\n`);
    await pause(1000);
  }
};

const printEvents = async (
  batches: AsyncIterator<readonly Followed[], void>,
  {
    limit,
    line,
    follows,
  }: {
    readonly limit: number;
    readonly line: CommandLine;
    readonly follows: Follows;
  },
): Promise<Result<number, VerbRefusal>> => {
  let left = limit;
  let length = 0;
  let sinceCursor = 0;
  const jsonOf = ({ event, cursor }: Followed, isLast: boolean): string => {
    const text = isLast || length <= shortCursor || sinceCursor >= length ? cursor() : undefined;
    const document = jsonLine({
      session: event.session,
      ...eventToJson(event),
      ...(text === undefined ? {} : { cursor: text }),
    });
    length = text?.length ?? length;
    sinceCursor = text === undefined ? sinceCursor + document.length : 0;
    return document;
  };
  try {
    // Its end is not asked for: whoever ends leaves the store open, as every verb does.
    for (;;) {
      const next = await batches.next();
      if (next.done === true) return ok(0);
      const batch = next.value;
      const given = batch.slice(0, left);
      left -= given.length;
      const lines = given.map((one, index) =>
        line.flags.json
          ? jsonOf(one, index === given.length - 1)
          : `${plainLine(follows.text({ session: one.event.session, ...eventToJson(one.event) }))}\n`,
      );
      if (!(await writeOut(lines.join('')))) return ok(0);
      if (left === 0) return ok(0);
    }
  } catch (error) {
    if (error instanceof StoreFailure) return err({ refusal: error.refusal });
    throw error;
  }
};

/** Writes to standard output so that signals are heard while a reader takes its time. Answers whether there is one. */
const writeOut = async (text: string): Promise<boolean> => {
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += await writeSome(bytes, offset);
    } catch (error) {
      const code = errnoCode(error);
      if (code === 'EAGAIN') await pause(5);
      else if (code === 'EPIPE' || code === 'EIO' || code === 'EBADF') return false;
      else throw new OutputFailure(code ?? String(error));
    }
  }
  return true;
};

const writeSome = async (bytes: Buffer, offset: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(1, bytes, offset, bytes.length - offset, null, (error, written) =>
      error === null ? resolve(written) : reject(error),
    );
  });
