import { hostname, userInfo } from 'node:os';
import type { StoredEvent } from '../kernel/event.ts';
import type { Kind } from '../kernel/kind.ts';
import type { LazyKind } from '../kernel/kinds.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { Verb, VerbRefusal } from '../kernel/verb.ts';
import { kinds as builtinKinds } from '../kinds/everyday.gen.ts';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { refuseVerb } from './verb-names.ts';
import { allVerbs } from './verbs.ts';
import { runApart, runVerb, type CallOptions, type Location, type Workplace } from './world.ts';

/** What library users open: the same verbs over a file and over a server. */

/** How a store is opened. */
export interface StintOptions {
  /** A folder of the checkout; default: the working directory. */
  readonly cwd?: string;
  /** The store's file or folder, the address of a server, or `env:NAME`; default: what `stint.json` says, else `.stint/`. */
  readonly store?: string;
  /** The project on a server; default: what `stint.json` says. */
  readonly project?: string;
  /** Who acts; default: `user@host`. */
  readonly actor?: string;
  /** What this machine is called; default: as the system says. */
  readonly host?: string;
  /** The folder for rolling copies, which finishing a session leaves; none are kept without one. */
  readonly copies?: string;
  /** Kinds beside the built-in ones, as they are or to be loaded when they are needed, with the verbs that only they have. */
  readonly kinds?: readonly (Kind | LazyKind)[];
  readonly verbs?: readonly Verb[];
  /** The time now: UTC, RFC 3339, milliseconds; default: the system's clock. */
  readonly now?: () => string;
}

/** What is watched. */
export interface WatchOptions {
  /** Sessions by their whole keys (`review:login`), which need not be there yet; default: all, those that begin later too. */
  readonly sessions?: readonly string[];
  /** The cursor of an event, to go on behind it; `now` for behind all that is there; default: before the first event. */
  readonly cursor?: string;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Is told that the store is waited for, and why, and where a repair has made a session anew. */
  readonly onRemark?: (text: string) => void;
}

/** An event that was watched. */
export interface Watched {
  readonly event: StoredEvent;
  /** Goes on behind this event: a text to be kept. It has a part for each session that was read. */
  readonly cursor: string;
}

/** An open store, with every verb of the command line. */
export interface Stint {
  /**
   * Runs a verb by its name with the fields that its help lists (`require_final` for `--require-final`). Answers what
   * `--json` prints; a refusal is data. Something thrown is a bug.
   */
  readonly run: (
    verb: string,
    input?: JsonObject,
    call?: Partial<CallOptions> & { readonly payload?: Json },
  ) => Promise<Result<JsonObject, VerbRefusal>>;
  /**
   * Follows the log: gives every event that was written, and then each one as it is written, in the order of its session.
   *
   * Each event is given exactly once behind a cursor. Whoever keeps the cursor of an event together with what he made of it
   * (in one transaction, one file) handles each event exactly once, whatever happens to him, to the connection, to the server
   * or to the store; whoever keeps it afterwards handles an event again that he had no time to keep: at least once. Nobody
   * else needs to know of him: the store keeps nothing about readers.
   *
   * A store that is locked, not reached, or being repaired is waited for. What no waiting mends (a cursor that is none, or of
   * another store; damage) is thrown as a `StoreFailure`, whose `refusal` says it. It ends when `signal` is aborted, when the
   * store is closed, and when the loop over it is left.
   */
  readonly watch: (options?: WatchOptions) => AsyncIterable<Watched>;
  /** Closes the store; whatever is run afterwards is refused. */
  readonly close: () => Promise<void>;
}

/** Where the options say that work is done. */
export const locationOf = (
  options: StintOptions,
  surroundings: Required<Pick<Location, 'cwd' | 'env'>>,
): Result<Location, Refusal> => {
  const { now: given = (): string => new Date().toISOString() } = options;
  if (Number.isNaN(Date.parse(given())))
    return err(
      refuse('usage', `now() answered ${JSON.stringify(given())}, which is no time.`, {
        expected: 'RFC 3339, for example 2026-03-17T14:30:22.000Z',
      }),
    );
  return ok({
    cwd: options.cwd ?? surroundings.cwd,
    store: options.store,
    project: options.project,
    env: surroundings.env,
    kinds: [...builtinKinds, ...(options.kinds ?? [])],
    host: options.host,
    copies: options.copies,
    now: () => new Date(given()).toISOString(),
    isClockFixed: options.now !== undefined,
  });
};

/** An open store as the library gives it. */
export const createStint = (location: Location, workplace: Workplace, options: StintOptions): Stint => {
  const verbs = [...allVerbs, ...(options.verbs ?? [])];
  const actor = options.actor ?? `${userInfo().username}@${hostname()}`;
  let isClosed = false;
  const closing = new AbortController();
  return {
    watch: (watched = {}) => ({
      async *[Symbol.asyncIterator]() {
        const { watch } = await import('./watch.ts');
        yield* watch(location, watched, closing.signal);
      },
    }),
    run: async (name, input = {}, { payload, ...call } = {}) => {
      if (isClosed) return err({ refusal: refuse('usage', 'The store was closed.', { hint: 'openStint() again' }) });
      const verb = verbs.find((one) => one.name === name);
      if (verb === undefined) return err({ refusal: refuseVerb(verbs, name) });
      const illegal = refuseOptions(call);
      if (illegal !== undefined) return err({ refusal: illegal });
      const prepared = verb.prepare(input);
      if (!prepared.ok) return err({ refusal: prepared.error });
      if (prepared.value.apart !== undefined) return runApart(location, location.store, prepared.value.apart);
      const result = await runVerb(workplace, verb, prepared.value, payload, { actor, ...call });
      if (!result.ok) return err(result.error);
      const { answer, warnings } = result.value;
      return ok(warnings.length === 0 ? answer : { ...answer, warnings: [...warnings] });
    },
    close: async () => {
      closing.abort();
      if (!isClosed) await workplace.store.close();
      isClosed = true;
    },
  };
};

/** What each option of a call must be. */
const legalOptions: Readonly<Record<keyof CallOptions, readonly [expected: string, is: (value: unknown) => boolean]>> =
  (() => {
    const line = [
      'a text of 1 to 200 characters without control characters',
      (value: unknown) => typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(value),
    ] as const;
    const count = ['a whole number', (value: unknown) => Number.isSafeInteger(value)] as const;
    const flag = ['true or false', (value: unknown) => typeof value === 'boolean'] as const;
    return {
      actor: line,
      session: line,
      process: line,
      agent: line,
      user: ['a function', (value: unknown) => typeof value === 'function'],
      leaseToken: count,
      takeOver: flag,
      requestId: [
        '1 to 200 visible ASCII characters',
        (value: unknown) => typeof value === 'string' && /^[!-~]{1,200}$/.test(value),
      ],
      expectRevision: count,
      dryRun: flag,
      redact: flag,
    };
  })();

/** Why the options of a call are not legal; one that is undefined is not given. */
const refuseOptions = (call: Partial<CallOptions>): Refusal | undefined => {
  for (const [name, value] of Object.entries(call)) {
    const legal = Object.hasOwn(legalOptions, name) ? legalOptions[name as keyof CallOptions] : undefined;
    const [expected, is] = legal ?? ['an option of a call', () => false];
    if (value !== undefined && !is(value))
      return refuse('usage', `The option ${name} of the call is not legal.`, { expected });
  }
  return undefined;
};
