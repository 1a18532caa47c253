import type { UnknownKeys } from '../../formats/orchestrator/document.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { member } from '../../lib/lenient.ts';
import { errorClasses, type ErrorClass } from './modes.ts';
import type { Agent } from './state.ts';

/** Keys that this program writes beside those of the format, found again in a file of its own that is taken over. */
export interface OwnKeys {
  readonly focus: string | null;
  /** By the ids of agents. */
  readonly agents: Readonly<Record<string, Pick<Agent, 'files' | 'resultPath' | 'vendorSession'>>>;
  /** By the places of errors. */
  readonly errorClasses: Readonly<Record<string, ErrorClass>>;
  /** What is left is unknown. */
  readonly unknown: UnknownKeys;
}

export const takeOwnKeys = (unknown: UnknownKeys): OwnKeys => {
  const { focus } = unknown.file;
  const agents = Object.entries(unknown.agents);
  const errors = Object.entries(unknown.errors);
  return {
    focus: isText(focus) ? focus : null,
    agents: Object.fromEntries(agents.map(([id, keys]) => [id, agentIn(keys)])),
    errorClasses: Object.fromEntries(
      errors.flatMap(([at, keys]) => {
        const found = classIn(keys);
        return found === undefined ? [] : [[at, found]];
      }),
    ),
    unknown: {
      ...unknown,
      file: without(unknown.file, fileKeys),
      agents: Object.fromEntries(agents.map(([id, keys]) => [id, without(keys, agentKeys)])),
      errors: Object.fromEntries(errors.map(([at, keys]) => [at, without(keys, errorKeys)])),
    },
  };
};

const isText = (value: Json | undefined): value is string => typeof value === 'string';
const isTexts = (value: Json | undefined): value is readonly string[] => Array.isArray(value) && value.every(isText);
const isCount = (value: Json | undefined): boolean => typeof value === 'number';
const isMark = (value: Json | undefined): boolean => value === true;
const isErrorClass = (value: Json | undefined): boolean => errorClasses.some((one) => one === value);

type Test = (value: Json | undefined) => boolean;

const fileKeys: Readonly<Record<string, Test>> = { focus: isText, agents_total: isCount, decisions_total: isCount };
const errorKeys: Readonly<Record<string, Test>> = { class: isErrorClass };

/** Whether an agent is in doubt, or was told to stop, is not taken from a file: nobody knows how it stands now. */
const agentKeys: Readonly<Record<string, Test>> = {
  files: isTexts,
  result_file: isText,
  vendor_session: isText,
  paused: isMark,
  in_doubt: isMark,
};

const agentIn = (keys: JsonObject): Pick<Agent, 'files' | 'resultPath' | 'vendorSession'> => {
  const [files, resultPath, vendorSession] = [
    member(keys, 'files'),
    member(keys, 'result_file'),
    member(keys, 'vendor_session'),
  ];
  return {
    files: isTexts(files) ? files : [],
    resultPath: isText(resultPath) ? resultPath : null,
    vendorSession: isText(vendorSession) ? vendorSession : null,
  };
};

const classIn = (keys: JsonObject): ErrorClass | undefined => errorClasses.find((one) => one === member(keys, 'class'));

const without = (keys: JsonObject, tests: Readonly<Record<string, Test>>): JsonObject =>
  Object.fromEntries(
    Object.entries(keys).filter(([key, value]) => !Object.hasOwn(tests, key) || tests[key]?.(value) !== true),
  );

/** Whether this program has something of its own to say under a key, whatever a file says there. */
export const isOwnKey = (part: 'file' | 'agents' | 'errors', key: string): boolean =>
  Object.hasOwn({ file: fileKeys, agents: agentKeys, errors: errorKeys }[part], key);
