import * as v from 'valibot';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { requiredText } from '../kernel/fields.ts';
import { StoreFailure, type Beside, type Store } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type Apart, type VerbRefusal } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';

export const storeCopy = defineVerb({
  name: 'store copy',
  summary: 'Copy everything from one store into another.',
  details: `Both are named: the file of a store or its folder, the address of a server (postgres://...) or env:NAME. FROM is only read. TO is made where it is not there.

Every session is taken over with its events as they are, their numbers, times and hashes, with its processes, leases, mirrors and the requests that are remembered. A session whose beginning is in TO already gets what is missing, so the command may be killed and run again at any time, and again where FROM goes on. One that has other events in TO is refused, and left alone on both sides (9); the others are copied. At the end the chains of what was copied are verified, and the ends of both sides compared.

Where TO has sessions of another store already, a completion that comes again is not recognised there by its payload: it is a conflict (9).`,
  examples: ['stint store copy .stint env:TEAM_STORE', 'stint store copy env:TEAM_STORE ../backup/stint.db --json'],
  input: () =>
    v.strictObject({
      from: requiredText('The store that is read.'),
      to: requiredText('The store that is written.'),
    }),
  positionals: ['from', 'to'],
  does: { apart: async (tools, { from, to }) => copyBetween(tools, from, to) },
  text: (answer) => {
    const sessions = objectsAt(answer, 'sessions');
    const rows = sessions.map((one) => [
      textAt(one, 'session'),
      textAt(one, 'result'),
      one['result'] === 'refused'
        ? textAt(one, 'problem')
        : `${textAt(one, 'copied')} of ${textAt(one, 'events')} events`,
    ]);
    return [
      ...(rows.length === 0 ? [] : [table(rows)]),
      `${textAt(answer, 'from')} -> ${textAt(answer, 'to')}: ${sessions.length} ${sessions.length === 1 ? 'session' : 'sessions'}, ${textAt(answer, 'events_copied')} events copied${answer['verified'] === true ? ', verified' : ''}`,
      ...(answer['same_key'] === false
        ? ['its inputs were digested with another secret: a completion that comes again there is a conflict']
        : []),
    ].join('\n');
  },
});

/** How many events are taken in one transaction. */
const pageOfEvents = 500;

const copyBetween = async (tools: Apart, from: string, to: string): Promise<Result<JsonObject, VerbRefusal>> => {
  const source = await tools.open(from, 'refuse-named');
  if (!source.ok) return err({ refusal: source.error });
  try {
    const target = await openTarget(tools, to, source.value);
    if (!target.ok) return err({ refusal: target.error });
    try {
      return await copyAll(source.value, target.value.store, target.value.sameKey);
    } finally {
      await target.value.store.close();
    }
  } finally {
    await source.value.close();
  }
};

/** Opens the store that is written; an empty one digests with the secret of the other from then on. */
const openTarget = async (
  { open }: Apart,
  name: string,
  source: Store,
): Promise<Result<{ readonly store: Store; readonly sameKey: boolean }, Refusal>> => {
  const first = await open(name, 'make');
  if (!first.ok) return first;
  if (first.value.readOnly !== undefined) return err(first.value.readOnly);
  const { id, key } = first.value.identity;
  if (id === source.identity.id) {
    await first.value.close();
    return err(refuse('usage', 'Both names are of one store.', { expected: 'two stores' }));
  }
  if (key === source.identity.key) return ok({ store: first.value, sameKey: true });
  const sameKey = await first.value.adoptKey(source.identity.key);
  if (!sameKey) return ok({ store: first.value, sameKey });
  await first.value.close();
  const again = await open(name, 'make');
  return again.ok ? ok({ store: again.value, sameKey }) : again;
};

const copyAll = async (source: Store, target: Store, sameKey: boolean): Promise<Result<JsonObject, VerbRefusal>> => {
  const sessions: { session: string; result: string; events: number; copied: number; problem: string | null }[] = [];
  const problems: Refusal[] = [];
  const rows = (await source.rows({ thorough: true })).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  for (const { key, seq } of rows) {
    const copied = await refusing(async () => copySession(source, target, key, seq));
    if (copied.ok) {
      const known = seq - copied.value;
      const result = copied.value === 0 ? 'unchanged' : known === 0 ? 'copied' : 'gone on with';
      sessions.push({ session: key, result, events: seq, copied: copied.value, problem: null });
      continue;
    }
    problems.push(copied.error);
    sessions.push({ session: key, result: 'refused', events: seq, copied: 0, problem: copied.error.message });
  }
  const requests = await copyRequests(source, target);
  const verdict = await verifyCopy(
    target,
    sessions.filter(({ result }) => result !== 'refused'),
  );
  problems.push(...verdict);
  const report = {
    from: source.name,
    to: target.name,
    sessions,
    events_copied: sessions.reduce((total, { copied }) => total + copied, 0),
    requests,
    same_key: sameKey,
    verified: verdict.length === 0,
  };
  const [problem] = problems;
  return problem === undefined ? ok(report) : err({ report, refusal: problem });
};

/** Copies what the target does not have of a session, page by page: each page is a beginning that can be gone on with. */
const copySession = async (
  source: Store,
  target: Store,
  key: string,
  seq: number,
): Promise<Result<number, Refusal>> => {
  const known = (await target.rows({ kind: kindOf(key), name: nameOf(key) }))[0]?.seq ?? 0;
  if (known > seq)
    return err(
      refuse('conflict', `${key} has ${known} events there, and ${seq} here: it has gone on there.`, {
        expected: 'no session of that name, or the beginning of the same one',
      }),
    );
  let copied = 0;
  // The event that both have comes first: it proves that they are one session.
  for (let after = Math.max(0, known - 1); after < seq; after += pageOfEvents) {
    const until = Math.min(seq, after + pageOfEvents);
    const events = await source.events(key, { after, until });
    const beside = until === seq ? await besideOf(source, key) : [];
    const taken = await target.adopt(key, events, beside);
    if (!taken.ok) return taken;
    copied += taken.value;
  }
  return ok(copied);
};

const besideOf = async (source: Store, key: string): Promise<readonly Beside[]> => [
  ...(await source.processes({ session: key, running: true })).map(({ id, heartbeatAt }) => ({
    process: id,
    heartbeatAt,
  })),
  ...[...(await source.renewals(key))].map(([step, renewal]) => ({ session: key, step, renewal })),
  ...[...(await source.samples(key))].map(([sample, value]) => ({ session: key, sample, value })),
];

const copyRequests = async (source: Store, target: Store): Promise<number> => {
  let count = 0;
  for (let after: string | undefined; ;) {
    const requests = await source.requests(after, pageOfEvents);
    await target.remember(requests);
    count += requests.length;
    after = requests.at(-1)?.id;
    if (requests.length < pageOfEvents) return count;
  }
};

/** Whether everything that was copied is whole over there. */
const verifyCopy = async (
  target: Store,
  copied: readonly { readonly session: string; readonly events: number }[],
): Promise<readonly Refusal[]> => {
  const seqByKey = new Map((await target.rows({ thorough: true })).map(({ key, seq }) => [key, seq]));
  const keys = new Set(copied.map(({ session }) => session));
  return [
    ...copied
      .filter(({ session, events }) => (seqByKey.get(session) ?? 0) < events)
      .map(({ session }) => refuse('damaged', `${session} is not whole in ${target.name}.`)),
    ...(await target.verify())
      .filter(({ subject, isDamage }) => isDamage === true && keys.has(subject))
      .map(({ subject, problem }) => refuse('damaged', `${subject} in ${target.name}: ${problem}.`)),
  ];
};

const refusing = async (action: () => Promise<Result<number, Refusal>>): Promise<Result<number, Refusal>> => {
  try {
    return await action();
  } catch (error) {
    // One session that cannot be read does not keep the others from being copied; a store that is away does.
    if (!(error instanceof StoreFailure) || error.refusal.code === 'busy') throw error;
    return err(error.refusal);
  }
};

const kindOf = (key: string): string => key.slice(0, key.indexOf(':'));
const nameOf = (key: string): string => key.slice(key.indexOf(':') + 1);
