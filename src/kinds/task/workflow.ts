import * as v from 'valibot';
import { statuses, type Status } from '../../formats/handoff/statuses.ts';

/** The statuses of a task and how they follow each other: the usual way, or as the project declares it. */

/** Which statuses may follow each one. */
export type Transitions = Readonly<Record<Status, readonly Status[]>>;

/** Those of every task whose project declares no others. */
export const usualTransitions: Transitions = {
  'not-started': ['in-progress', 'blocked'],
  'in-progress': ['blocked', 'ready-for-review'],
  blocked: ['in-progress'],
  'ready-for-review': ['in-progress', 'done'],
  done: [],
};

const status = v.picklist(statuses, `must be one of ${statuses.join(', ')}`);
const list = v.pipe(v.array(status, 'expected a list of statuses'), v.readonly());
const row = v.optional(list);

/** A whole table, as events hold it. */
export const transitionsSchema = v.strictObject({
  'not-started': list,
  'in-progress': list,
  blocked: list,
  'ready-for-review': list,
  done: list,
});

/** What a project declares of its tasks: the rows that differ from the usual ones. */
export const declarationSchema = v.strictObject(
  {
    transitions: v.pipe(
      v.strictObject(
        { 'not-started': row, 'in-progress': row, blocked: row, 'ready-for-review': row, done: row },
        'expected a list of statuses for each status that differs',
      ),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed) return;
        for (const message of problemsOf(withDeclared(dataset.value))) addIssue({ message });
      }),
      v.transform((rows) => withDeclared(rows)),
    ),
  },
  'expected an object with transitions',
);

/** The usual table with the rows that a project declares. */
const withDeclared = (declared: {
  readonly [Name in Status]?: readonly Status[] | undefined;
}): Transitions => ({
  'not-started': declared['not-started'] ?? usualTransitions['not-started'],
  'in-progress': declared['in-progress'] ?? usualTransitions['in-progress'],
  blocked: declared.blocked ?? usualTransitions.blocked,
  'ready-for-review': declared['ready-for-review'] ?? usualTransitions['ready-for-review'],
  done: declared.done ?? usualTransitions.done,
});

/** What keeps a table from being one: a task must never be stuck, and be blocked for as long as it has a blocker. */
const problemsOf = (table: Transitions): readonly string[] => [
  ...statuses
    .filter((from) => table[from].includes(from))
    .map((from) => `lets ${from} follow itself, which is no transition`),
  ...(table['in-progress'].includes('blocked')
    ? []
    : ['must let blocked follow in-progress: blockers come up in work']),
  ...(table.blocked.includes('in-progress') ? [] : ['must let in-progress follow blocked: work goes on']),
  ...statuses
    .filter((from) => from !== 'not-started' && table[from].includes('blocked') && !table.blocked.includes(from))
    .map((from) => `must let ${from} follow blocked, because blocked follows it`),
  ...statuses
    .filter((from) => from !== 'done' && from !== 'blocked' && wayToDone(table, from) === undefined)
    .map((from) => `leaves a task stuck: nothing leads from ${from} to done`),
];

/** The statuses that lead to done the shortest way, none of them blocked; undefined where nothing does. */
export const wayToDone = (table: Transitions, from: Status): readonly Status[] | undefined => {
  const ways: (readonly Status[])[] = [[from]];
  const seen = new Set<Status>([from, 'blocked']);
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1) ?? from;
    if (last === 'done') return way.slice(1);
    for (const next of table[last]) {
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
};

/** Whether two tables are the same. */
export const isSameTable = (a: Transitions, b: Transitions): boolean =>
  statuses.every((from) => a[from].length === b[from].length && a[from].every((to) => b[from].includes(to)));
