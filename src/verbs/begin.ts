import * as v from 'valibot';
import { withDocumentsAlong } from '../formats/handoff/along.ts';
import { checkName, findKind, keyOf, resolve, resolveCaller } from '../kernel/address.ts';
import { loadedIn, sessionIn, standingOf, type Order } from '../kernel/dispatch.ts';
import { declaredOf } from '../kernel/declared.ts';
import { defaultName, familyOf, startAnew, type Choice } from '../kernel/free-name.ts';
import { folderOf, type Kind } from '../kernel/kind.ts';
import { leaseToJson, rowLeaseFacts } from '../kernel/lease.ts';
import { decideBegin, decideFinish } from '../kernel/lifecycle.ts';
import type { SessionRow } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type World } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { withoutUndefined } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { nearest } from '../lib/nearest.ts';
import { flag, optionalText, requiredText } from '../kernel/fields.ts';
import { leaseText, objectAt, standingText } from '../kernel/answer.ts';
import { nextActionOf, surroundingsOf } from '../kernel/query.ts';
import { viewOfSession } from '../kernel/session.ts';

export const begin = defineVerb({
  name: 'begin',
  summary: 'Start a session, or go on with it without losing anything.',
  details: `With --name the name alone decides. Without it the open session of the branch in this checkout goes on, whatever its date. Where there is none, the name is YYYY-MM-DD-<branch>, with a number behind it where another branch has that name: a session of that name is started, or, if it was closed, goes on. A task that is done does not: another one is started.

An open session answers with where it stands, and nothing changes. A closed one goes on only under its own name: a completed one with its next round, an aborted one where it was left. --fresh aborts the open one on the record and starts anew under the next free name.

A session that somebody else holds (stint lease) is not gone on with: it is refused (10), and says who holds it. --read-only shows it, --take-over takes its lease over, on the record of both sides.`,
  everyday: true,
  examples: [
    'stint begin review',
    'stint begin review --branch feature/login --json',
    'stint begin review --name 2026-03-17-main',
    'stint begin review --fresh',
  ],
  input: () =>
    v.strictObject({
      kind: requiredText('The kind of session, for example review.'),
      branch: optionalText('The branch that it is about. Default: the one checked out here.'),
      name: optionalText('The name of the session.'),
      goal: optionalText('What it is to come to. Some kinds do without.'),
      mode: optionalText('How it is done, where a kind has several ways.'),
      fresh: flag('Abort the open session and start anew.'),
      read_only: flag('Show the session that would go on, and change nothing; also while somebody else holds it.'),
    }),
  aliases: [{ name: 'state begin', flags: { 'session-id': 'name', 'workflow-type': 'kind' } }],
  retired: ['state init'],
  positionals: ['kind'],
  creates: true,
  contradiction: ({ fresh, read_only }) =>
    fresh === true && read_only === true ? '--fresh and --read-only do not go together' : undefined,
  does: {
    isReading: ({ read_only: readOnly }) => readOnly === true,
    orReads: async (world, input) => {
      const meant = await kindAndChoice(world, input);
      if (!meant.ok) return err({ refusal: meant.error });
      const looked = await look(world, meant.value.kind, meant.value.choice.name);
      return looked.ok ? looked : err({ refusal: looked.error });
    },
    writes: async (world, input) => {
      const meant = await kindAndChoice(world, input);
      if (!meant.ok) return meant;
      const { kind, choice } = meant.value;
      // Who aborts a session is not cancelled with it.
      const process = choice.abort === undefined ? ok(undefined) : await resolveCaller(world);
      if (!process.ok) return process;
      const declared = declaredOf(world, kind);
      if (!declared.ok) return declared;
      const wish = { ...input, branch: input.branch ?? world.places.here.branch, declared: declared.value };
      const order = orderOf(world, kind, choice, wish, process.value);
      return ok(await withDocumentsAlong(world, order, keyOf(kind.name, choice.name)));
    },
  },
  text: (answer) => {
    if (answer['read_only'] !== true)
      return `${answer['resumed'] === true ? 'goes on' : 'begun'}  ${standingText(answer)}`;
    const held = leaseText(objectAt(answer, 'lease'));
    return `${held === '' ? '' : `held by ${held}\n`}not gone on with  ${standingText(answer)}`;
  },
});

const kindAndChoice = async (
  world: World,
  input: Wish & { readonly kind: string },
): Promise<Result<{ readonly kind: Kind; readonly choice: Choice }, Refusal>> => {
  const kind = await findKind(world.kinds, input.kind);
  if (!kind.ok) return kind;
  const illegal = input.name === undefined ? undefined : checkName(input.name, 'The name');
  if (illegal !== undefined) return err(illegal);
  if (input.branch?.trim() === '') return err(refuse('usage', 'begin: the branch must not be blank.'));
  if (input.goal?.trim() === '') return err(refuse('usage', 'begin: the goal must not be blank.'));
  const { modes } = kind.value;
  if (input.mode !== undefined && !modes.includes(input.mode))
    return err(
      refuse(
        'usage',
        modes.length === 0 ? `begin: a ${input.kind} has no modes.` : `begin: there is no mode of that name.`,
        {
          expected: modes.length === 0 ? 'no --mode' : 'one of its modes',
          legal: modes,
          candidates: nearest(input.mode, modes),
        },
      ),
    );
  const choice = await choose(world, kind.value, input);
  return choice.ok ? ok({ kind: kind.value, choice: choice.value }) : choice;
};

interface Wish {
  readonly goal?: string | undefined;
  readonly mode?: string | undefined;
  readonly branch?: string | undefined;
  readonly name?: string | undefined;
  readonly fresh?: boolean | undefined;
}

const choose = async (world: World, kind: Kind, wish: Wish): Promise<Result<Choice, Refusal>> => {
  if (kind.current !== undefined)
    return (await import('../kernel/current.ts')).chooseCurrent(world, kind, kind.current, wish);
  const branch = wish.branch ?? world.places.here.branch;
  const mine = (row: SessionRow): boolean => world.places.homeOf(row).root === world.places.here.root;

  if (wish.name !== undefined) {
    const filter = { kind: kind.name, name: wish.name };
    const [known] = await world.store.rows(filter);
    if (known !== undefined && wish.branch !== undefined && known.branch !== wish.branch) {
      return err(
        refuse(
          'conflict',
          `${known.key} is about ${known.branch === null ? 'no branch' : `the branch ${known.branch}`}, not ${wish.branch}.`,
          {
            expected: 'its own branch, or another name',
          },
        ),
      );
    }
    if (wish.fresh !== true || known === undefined) return ok({ name: wish.name, abort: undefined, guards: [] });
    return ok(await startAnew(world, kind, wish.name, known.status === 'active' ? known.key : undefined));
  }

  const filter = { kind: kind.name, status: 'active', branch } as const;
  const all = await world.store.rows(filter);
  const open = all.filter(mine);
  const guard = { filter, keys: all.map((row) => row.key) };
  const [only, ...others] = open;
  if (others.length > 0) {
    return err(
      refuse('ambiguous', `Several open sessions of this checkout are about ${branch ?? 'no branch'}.`, {
        expected: 'one session',
        hint: `stint begin ${kind.name} --name ${only?.name}`,
        candidates: open.map((row) => row.key),
      }),
    );
  }
  if (only !== undefined && wish.fresh !== true) return ok({ name: only.name, abort: undefined, guards: [guard] });

  const name = defaultName(world, branch);
  if (wish.fresh === true) {
    const anew = await startAnew(world, kind, name, only?.key);
    return ok({ ...anew, guards: [guard, ...anew.guards] });
  }
  // The last one of this name and its numbered successors goes on, if it is about this branch here.
  const family = await familyOf(world, kind, name);
  const own = family
    .filter((row) => row.branch === branch && mine(row))
    .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    .at(-1);
  const isOver = own?.outcome === 'completed' && kind.endsForGood;
  if (own !== undefined && !isOver) return ok({ name: own.name, abort: undefined, guards: [guard] });
  const anew = await startAnew(world, kind, name, undefined);
  return ok({ ...anew, guards: [guard, ...anew.guards] });
};

/** Looks at a session instead of going on with it. */
const look = async (world: World, kind: Kind, name: string): Promise<Result<JsonObject, Refusal>> => {
  const row = await resolve(world, keyOf(kind.name, name));
  if (!row.ok) return row;
  const session = await world.store.load(row.value.key);
  if (session === undefined) throw new Error(`${row.value.key} has a row and no events`);
  const read = { row: row.value, view: viewOfSession(session) };
  const surroundings = await surroundingsOf(world, read);
  return ok({
    ...standingOf(session),
    next_action: { ...nextActionOf(read, surroundings, world) },
    resumed: true,
    read_only: true,
    lease: leaseToJson(rowLeaseFacts(row.value, surroundings.renewal, world.caller, world.host)),
    folder: folderOf(kind, session.common),
    branch: session.common.branch,
    revision: session.common.revision,
  });
};

const orderOf = (
  world: World,
  kind: Kind,
  { name, abort, guards }: Choice,
  wish: Omit<Wish, 'branch'> & { readonly branch: string | null; readonly declared: JsonObject | undefined },
  process: string | undefined,
): Order<JsonObject> => {
  const { branch, goal, mode, declared } = wish;
  const { here } = world.places;
  const key = keyOf(kind.name, name);
  return {
    keys: abort === undefined ? [key] : [key, abort],
    guards,
    fence: 'joins',
    ...(abort === undefined ? {} : { processes: [] }),
    decide: (sessions) => {
      const session = loadedIn(sessions, key);
      const opening = { branch, worktree: here.worktree, ...withoutUndefined({ goal }) };
      const events = decideBegin(session, opening, {
        mode,
        project: { name: here.label, path: here.root },
        declared,
      });
      if (!events.ok) return events;
      if (abort === undefined) return ok(new Map([[key, events.value]]));
      const aborted = decideFinish(loadedIn(sessions, abort), {
        abort: true,
        reason: `begun anew as ${key}`,
        process,
      });
      return aborted.ok
        ? ok(
            new Map([
              [abort, aborted.value],
              [key, events.value],
            ]),
          )
        : aborted;
    },
    answer: (after, before) => {
      const session = sessionIn(after, key);
      return {
        ...standingOf(session),
        resumed: loadedIn(before, key).common !== undefined,
        folder: folderOf(kind, session.common),
        branch: session.common.branch,
        revision: session.common.revision,
        ...(abort === undefined ? {} : { aborted: abort }),
      };
    },
  };
};
