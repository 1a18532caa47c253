import type { FoundSession } from '../../formats/orchestrator/read.ts';
import { joinKeys, type AddedKeys, type Common } from '../../kernel/common.ts';
import { canonicalJson, type Json, type JsonObject } from '../../lib/canonical-json.ts';
import { member } from '../../lib/lenient.ts';
import { isOwnKey } from './own-keys.ts';
import { agentOf, type OrchestrationState, type Origin } from './state.ts';

/** Keys of other programs in the file of an orchestration: those of its original, and those that were added since. */

/** Where such keys stand: in an object of the file, in an agent by its id, in an entry of a list by what it is known by. */
type Part = 'file' | 'project' | 'context_usage' | 'agents' | 'completed_work' | 'pending_tasks' | 'text';

/** The keys in a part of the file. Work is known by its place, a task by the place it was added at, what is in the journal by its text. */
export type ForeignKeys = (part: Part, id?: string | number) => JsonObject;

/** All keys of other programs that the file of a session holds. */
export const foreignKeysOf = ({ origin }: OrchestrationState, { added }: Pick<Common, 'added'>): ForeignKeys => {
  const keys = joinKeys(origin === null ? {} : keysOf(origin), added?.keys ?? {});
  return (part, id) => ownOf(keys, nameOf(part, id));
};

/** What the file, as another program has left it, holds beyond what is known: such keys are put on record. */
export const addedKeys = (
  state: OrchestrationState,
  common: Pick<Common, 'added'>,
  { document, unknown }: Pick<FoundSession, 'document' | 'unknown'>,
): AddedKeys => {
  const known = foreignKeysOf(state, common);
  const added: Record<string, JsonObject> = {};
  const add = (keys: JsonObject, isOwn: (key: string) => boolean, part: Part, id?: string | number): void => {
    const before = known(part, id);
    const news = Object.entries(keys).filter(([key, value]) => !isOwn(key) && !isSame(member(before, key), value));
    if (news.length > 0) added[nameOf(part, id)] = { ...added[nameOf(part, id)], ...Object.fromEntries(news) };
  };
  const none = (): boolean => false;
  // How far all of it is, is counted anew.
  const isCounted = typeof known('file')['progress'] === 'number';
  add(unknown.file, (key) => isOwnKey('file', key) || (isCounted && key === 'progress'), 'file');
  add(unknown.project, none, 'project');
  add(unknown.context_usage, none, 'context_usage');
  for (const [id, keys] of Object.entries(unknown.agents))
    if (agentOf(state, id) !== undefined) add(keys, (key) => isOwnKey('agents', key), 'agents', id);
  for (const [place, keys] of Object.entries(unknown.completed_work)) {
    const at = placeOf(
      state.completed,
      Number(place),
      (work) => work.task === document.completed_work[Number(place)]?.task,
    );
    if (at !== undefined) add(keys, none, 'completed_work', at);
  }
  for (const [place, keys] of Object.entries(unknown.pending_tasks)) {
    const at = placeOf(state.todos, Number(place), ({ text }) => text === document.pending_tasks[Number(place)]);
    const todo = at === undefined ? undefined : state.todos[at];
    if (todo !== undefined) add(keys, none, 'pending_tasks', todo.id - 1);
  }
  for (const [place, keys] of Object.entries(unknown.decisions_made))
    add(keys, none, 'text', document.decisions_made[Number(place)]?.decision ?? '');
  for (const [place, keys] of Object.entries(unknown.errors))
    add(keys, (key) => isOwnKey('errors', key), 'text', document.errors[Number(place)]?.message ?? '');
  return added;
};

const keysOf = ({ unknown, unknownByText }: Origin): AddedKeys => ({
  file: unknown.file,
  project: unknown.project,
  context_usage: unknown.context_usage,
  ...named('agents', unknown.agents),
  ...named('completed_work', unknown.completed_work),
  // The first was taken over as 1, and a number is never given twice.
  ...named('pending_tasks', unknown.pending_tasks),
  ...named('text', unknownByText),
});

const named = (part: Part, keys: AddedKeys): AddedKeys =>
  Object.fromEntries(Object.entries(keys).map(([id, one]) => [nameOf(part, id), one]));

const nameOf = (part: Part, id?: string | number): string => (id === undefined ? part : `${part} ${id}`);

const ownOf = (keys: AddedKeys, name: string): JsonObject => (Object.hasOwn(keys, name) ? (keys[name] ?? {}) : {});

/** Where an entry stands here: mostly where it stands in the file. */
const placeOf = <Entry>(list: readonly Entry[], place: number, isIt: (entry: Entry) => boolean): number | undefined => {
  const there = list[place];
  if (there !== undefined && isIt(there)) return place;
  const at = list.findIndex(isIt);
  return at < 0 ? undefined : at;
};

const isSame = (some: Json | undefined, other: Json): boolean =>
  some !== undefined && canonicalJson(some) === canonicalJson(other);
