import * as v from 'valibot';
import { keyOf, resolveCaller } from '../../kernel/address.ts';
import { fieldLines, objectsAt, standingText, table, textAt } from '../../kernel/answer.ts';
import type { Common } from '../../kernel/common.ts';
import { openIn } from '../../kernel/current.ts';
import { loadedIn, sessionIn, standingOf } from '../../kernel/dispatch.ts';
import { optionalCount, optionalText, requiredName } from '../../kernel/fields.ts';
import type { Samples } from '../../kernel/kind.ts';
import type { SessionRow } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import { defineVerb, type World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import { currentFile, historyFolder, home, kindName, statusOf } from './documents.ts';
import { overallOf } from './samples.ts';
import { agentsOf } from './state.ts';
import { agentToJson } from './view.ts';
import { stateOf } from './command.ts';
import { putAway, takeUp } from './put-away.ts';

/** How many are listed where nobody says so. */
const usual = 10;

const entryField = requiredName('Its number in stint history, or its name.');

export const history = defineVerb({
  name: 'history',
  summary: 'The orchestrations of this checkout that are over, the newest first.',
  details: `Numbered, with date, goal and status; history N shows one of them, as history show N does. Files in the history folder that are not taken over are listed below, the newest first, with what is wrong with them where they cannot be read: they keep none of the others from being listed.`,
  examples: ['stint history', 'stint history --limit 50 --json', 'stint history 2'],
  input: () =>
    v.strictObject({
      entry: optionalText('The number, or the name, of the one to show.'),
      limit: optionalCount('At most so many. Default: 10.'),
    }),
  positionals: ['entry'],
  contradiction: ({ entry, limit }) =>
    entry !== undefined && limit !== undefined ? 'an entry and --limit do not go together' : undefined,
  does: {
    reads: async (world, { entry, limit = usual }) => {
      if (entry !== undefined) return show(world, entry);
      const rows = await overHere(world);
      const sessions: JsonObject[] = [];
      for (const [at, row] of rows.slice(0, limit).entries()) {
        const opened = await world.store.load(row.key);
        if (opened !== undefined)
          sessions.push({ number: at + 1, ...lineOf(opened, await world.store.samples(row.key)) });
      }
      return ok({ sessions, total: rows.length, ...(await filesBeside(world)) });
    },
  },
  text: (answer) =>
    textAt(answer, 'session') === ''
      ? [
          table(objectsAt(answer, 'sessions').map(lineCells)) || 'nothing is over yet',
          ...objectsAt(answer, 'files').map(fileText),
          ...filesMore(answer),
        ].join('\n')
      : shownText(answer),
});

export const historyShow = defineVerb({
  name: 'history show',
  summary: 'One orchestration that is over.',
  details: `Its goal, status, agents, completed work and what was left to do. What happened in it: stint log, stint journal.`,
  examples: ['stint history show 2 --json'],
  input: () => v.strictObject({ entry: entryField }),
  positionals: ['entry'],
  does: { reads: async (world, { entry }) => show(world, entry) },
  text: (answer) => shownText(answer),
});

export const historyResume = defineVerb({
  name: 'history resume',
  summary: 'Go on with an orchestration that is over, where it was left.',
  details: `It comes out of the archive and is reopened; the open one of this checkout is put away in the same commit, as stint new does. Then stint resume says what comes next. One that somebody else holds is refused (10).`,
  examples: ['stint history resume 2', 'stint history resume 2026-03-17-k3m9x2 --json'],
  input: () => v.strictObject({ entry: entryField, reason: optionalText('Why it goes on.') }),
  positionals: ['entry'],
  does: {
    writes: async (world, { entry, reason }) => {
      const found = await findEntry(world, entry);
      if (!found.ok) return found;
      const { key } = found.value;
      const process = await resolveCaller(world);
      if (!process.ok) return process;
      const { open, guard } = await openIn(world, { name: kindName }, world.places.here);
      const old = open?.key;
      return ok({
        keys: old === undefined ? [key] : [key, old],
        guards: [guard],
        fence: 'joins' as const,
        processes: [],
        decide: (sessions) => {
          const up = takeUp(loadedIn(sessions, key), reason ?? null);
          if (!up.ok) return up;
          if (old === undefined) return ok(new Map([[key, up.value]]));
          const away = putAway(loadedIn(sessions, old), `made way for ${key}`, process.value);
          if (!away.ok) return away;
          return ok(
            new Map([
              [old, away.value],
              [key, up.value],
            ]),
          );
        },
        answer: (after) => {
          const session = sessionIn(after, key);
          return {
            ...standingOf(session),
            resumed: true,
            folder: home,
            file: currentFile,
            revision: session.common.revision,
            put_away: old ?? null,
          };
        },
      });
    },
  },
  text: (answer) => {
    const away = textAt(answer, 'put_away');
    return [`goes on  ${standingText(answer)}`, ...(away === '' ? [] : [`put away: ${away}`])].join('\n');
  },
});

/** The orchestrations of this checkout that are over, the newest first. */
const overHere = async ({ store, places }: World): Promise<readonly SessionRow[]> =>
  (await store.rows({ kind: kindName, status: 'closed' }))
    .filter((row) => places.homeOf(row).root === places.here.root)
    .toSorted(
      (a, b) => compare(b.startedAt, a.startedAt) || compare(b.updatedAt, a.updatedAt) || compare(a.name, b.name),
    );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The one that is meant: by its number in the list, or by its name. */
const findEntry = async (world: World, entry: string): Promise<Result<SessionRow, Refusal>> => {
  const rows = await overHere(world);
  const name = entry.startsWith(`${kindName}:`) ? entry.slice(kindName.length + 1) : entry;
  const found = /^\d{1,6}$/.test(entry) ? rows[Number(entry) - 1] : rows.find((row) => row.name === name);
  if (found !== undefined) return ok(found);
  const names = rows.map((row) => row.name);
  return err(
    refuse('not-found', `There is no orchestration ${entry} that is over.`, {
      expected: rows.length === 0 ? 'one that is over' : `a number from 1 to ${rows.length}, or a name`,
      candidates: nearest(name, names).map((near) => keyOf(kindName, near)),
      hint: 'stint history',
    }),
  );
};

const show = async (world: World, entry: string) => {
  const found = await findEntry(world, entry);
  if (!found.ok) return err({ refusal: found.error });
  const opened = await world.store.load(found.value.key);
  if (opened === undefined) throw new Error(`${found.value.key} has a row and no events`);
  const state = stateOf(opened);
  const samples = await world.store.samples(opened.key);
  return ok({
    ...lineOf(opened, samples),
    reason: opened.common.reason,
    mode: state.mode,
    agents: agentsOf(state).map((agent) => agentToJson(state, agent, samples)),
    completed_work: state.completed.map(({ task, outcome, files }) => ({ task, outcome, files: [...files] })),
    pending_tasks: state.todos.map(({ id, text }) => ({ id, text })),
    next_action: {
      kind: 'resume',
      text: 'It is over. It goes on where it was left when it is resumed.',
      command: `stint history resume ${opened.common.name}`,
    },
  });
};

/** An orchestration as a line of the history. */
const lineOf = (opened: OpenedSession, samples: Samples): JsonObject => {
  const { key, common } = opened;
  const state = stateOf(opened);
  return {
    session: key,
    session_id: common.name,
    created: state.origin?.created ?? common.startedAt,
    updated: writtenAt(common),
    goal: common.goal,
    status: statusOf(state, common),
    outcome: common.outcome,
    archived_at: common.archivedAt,
    progress: overallOf(state, samples).percent,
  };
};

/** When it changed last: one that was taken over when its file was written, until something happens to it here. */
const writtenAt = ({ imported, seq, updatedAt }: Common): string =>
  imported?.revision === seq ? new Date(imported.taken).toISOString() : updatedAt;

/** What lies in the folder of earlier sessions and is none of them; mostly there is no such folder. */
const filesBeside = async (world: World): Promise<JsonObject> => {
  const names = world.files.list(`${world.places.here.root}/${historyFolder}`);
  if (!names.some(isSessionFile)) return { files: [], files_total: 0 };
  return (await import('./history-files.ts')).filesBeside(world, names.filter(isSessionFile));
};

const isSessionFile = (name: string): boolean => name.endsWith('.json');

const fileText = (file: JsonObject): string => {
  const about = [
    textAt(file, 'created').slice(0, 10),
    textAt(file, 'goal'),
    textAt(file, 'status').replaceAll('_', ' '),
    textAt(file, 'problem'),
  ].filter((text) => text !== '');
  return `not taken over: ${textAt(file, 'path')}${about.length === 0 ? '' : ` (${about.join(', ')})`}`;
};

const filesMore = (answer: JsonObject): readonly string[] => {
  const files = objectsAt(answer, 'files');
  const more = Number(textAt(answer, 'files_total')) - files.length;
  return [
    ...(more > 0 ? [`not taken over: ${more} more ${more === 1 ? 'file' : 'files'}`] : []),
    ...(files.length === 0 ? [] : ['next: stint import orchestrator']),
  ];
};

const lineCells = (line: JsonObject): readonly string[] => [
  textAt(line, 'number'),
  textAt(line, 'created').slice(0, 10),
  textAt(line, 'session_id'),
  textAt(line, 'status'),
  textAt(line, 'goal'),
];

const shownText = (answer: JsonObject): string =>
  [
    fieldLines([
      [textAt(answer, 'session'), textAt(answer, 'status')],
      ['goal', textAt(answer, 'goal')],
      ['created', textAt(answer, 'created')],
      ['updated', textAt(answer, 'updated')],
      ['why', textAt(answer, 'reason')],
      ['mode', textAt(answer, 'mode')],
      ['progress', textAt(answer, 'progress') === '' ? '' : `${textAt(answer, 'progress')} %`],
      ...objectsAt(answer, 'agents').map((agent): [string, string] => [
        textAt(agent, 'id'),
        `${textAt(agent, 'status').replaceAll('_', ' ')}: ${textAt(agent, 'summary') || textAt(agent, 'task')}`,
      ]),
      ...objectsAt(answer, 'completed_work').map((one): [string, string] => [
        'done',
        `${textAt(one, 'task')}${textAt(one, 'outcome') === '' ? '' : ` (${textAt(one, 'outcome')})`}`,
      ]),
      ...objectsAt(answer, 'pending_tasks').map((one): [string, string] => ['left', textAt(one, 'text')]),
    ]),
    `next: stint history resume ${textAt(answer, 'session_id')}`,
  ].join('\n');
