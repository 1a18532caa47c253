import type { VerbRefusal } from '../../kernel/verb.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { shellWord } from '../../lib/text.ts';

/**
 * A command that is suggested, naming the store that the command line named: without it the command would speak of
 * another one. Only where we suggest: what somebody wrote stays what it is.
 */
const namingStore = (text: string, store: string): string =>
  /^stint (?!.*--help)[a-z-]+(?: |$)/.test(text) ? `${text} --store ${shellWord(store)}` : text;

/** An answer whose commands name the store. */
export const answerNaming = (answer: JsonObject, store: string): JsonObject => {
  const { next_action: next, session, sessions, findings } = answer;
  const naming = (object: JsonObject, key: string): JsonObject => {
    const command = object[key];
    return typeof command === 'string' ? { ...object, [key]: namingStore(command, store) } : object;
  };
  return {
    ...answer,
    ...(isJsonObject(next) ? { next_action: naming(next, 'command') } : {}),
    ...(isJsonObject(session) ? { session: answerNaming(session, store) } : {}),
    ...(Array.isArray(sessions)
      ? { sessions: sessions.map((one: Json) => (isJsonObject(one) ? answerNaming(one, store) : one)) }
      : {}),
    ...(Array.isArray(findings)
      ? { findings: findings.map((finding: Json) => (isJsonObject(finding) ? naming(finding, 'fix') : finding)) }
      : {}),
  };
};

/** A refusal whose commands name the store. */
export const refusalNaming = ({ refusal, report }: VerbRefusal, store: string): VerbRefusal => {
  const { hint, legal } = refusal;
  return {
    refusal: {
      ...refusal,
      ...(hint === undefined ? {} : { hint: namingStore(hint, store) }),
      ...(legal === undefined ? {} : { legal: legal.map((move) => namingStore(move, store)) }),
    },
    ...(report === undefined ? {} : { report: answerNaming(report, store) }),
  };
};
