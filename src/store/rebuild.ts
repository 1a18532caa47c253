import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectsAt, table, textAt, textsAt } from '../kernel/answer.ts';
import { sessionFilter } from '../kernel/fields.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type VerbRefusal, type World } from '../kernel/verb.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { inspectFolder, inspectMirrors, type MirrorState } from '../mirror/settle.ts';
import { syncMirrors } from '../mirror/sync.ts';

export const rebuild = defineVerb({
  name: 'rebuild',
  summary: 'Make rows, views and mirror files anew from the events.',
  details: `For one session, or for all. Files that somebody else has changed are kept beside the rebuilt ones; a pair of documents that was archived comes back where it is gone. Nothing is appended to the log but the keys that another program has added to the file of an orchestration. A session that needs nothing is left as it is, and so is one whose chain is broken or that holds events of a newer program: that is a refusal (14 or 13), after the others were rebuilt. A mirror that could not be written is one too (6).`,
  examples: ['stint rebuild', 'stint rebuild --session review:2026-03-17-main'],
  input: () => v.strictObject({ session: sessionFilter() }),
  positionals: ['session'],
  does: {
    maintains: async (world, input) => {
      const rebuilt = await rebuildAll(world, input.session);
      if (!rebuilt.ok) return rebuilt;
      const { problem, ...report } = rebuilt.value;
      return problem === undefined ? ok({ ...report }) : err({ report: { ...report }, refusal: problem });
    },
  },
  text: (answer) => {
    const sessions = objectsAt(answer, 'sessions');
    if (sessions.length === 0) return 'there is nothing to rebuild';
    const warnings = textsAt(answer, 'warnings').map((warning) => `warning: ${warning}`);
    const rows = table(
      sessions.map((session) => {
        const files = session['files'];
        const count = Array.isArray(files) ? files.length : 0;
        const problem = textAt(session, 'problem');
        return [
          textAt(session, 'session'),
          problem !== '' ? problem : session['rebuilt'] === true ? 'rebuilt from its events' : 'as its events say',
          `${count} ${count === 1 ? 'file' : 'files'} written`,
        ];
      }),
    );
    return [rows, ...warnings].join('\n');
  },
});

/** What was made anew, session by session. */
export interface Rebuilt {
  readonly sessions: readonly {
    readonly session: string;
    readonly rebuilt: boolean;
    /** The mirrors that were written. */
    readonly files: readonly string[];
    readonly problem: string | null;
  }[];
  readonly warnings?: readonly string[];
  /** The first thing that could not be made right. */
  readonly problem?: Refusal;
}

/** Makes one session anew from its events, or all of them. */
export const rebuildAll = async (world: World, given: string | undefined): Promise<Result<Rebuilt, VerbRefusal>> => {
  const { readOnly } = world.store;
  if (readOnly !== undefined) return err({ refusal: readOnly });
  const only = given === undefined ? undefined : await resolve(world, given);
  if (only?.ok === false) return err({ refusal: only.error });
  const keys =
    only === undefined
      ? [...(await world.store.rows({})).map((row) => row.key), ...(await world.store.orphans())]
      : [only.value.key];
  const sessions = [];
  const warnings: string[] = [];
  const problems: Refusal[] = [];
  for (const key of keys) {
    const rebuilt = await world.store.rebuild(key);
    const before = await inspectMirrors(world, key, anew);
    warnings.push(...(await syncMirrors(world, [key], anew)));
    const after = await inspectMirrors(world, key, anew);
    const right = new Set(after.filter(isCurrent).map(({ path }) => path));
    const files = before
      .filter((mirror) => !isCurrent(mirror) && right.has(mirror.path))
      .map(({ record }) => record.path);
    // What cannot be read of a session does not say where its folder belongs.
    const misplaced = rebuilt.ok ? await inspectFolder(world, key) : undefined;
    if (misplaced !== undefined) {
      problems.push(
        refuse('invariant-unmet', `${key}: ${misplaced.problem}.`, { hint: misplaced.fix ?? 'stint doctor' }),
      );
    } else if (!after.every(isCurrent)) {
      problems.push(refuse('invariant-unmet', `${key}: a mirror could not be written.`, { hint: 'stint doctor' }));
    }
    if (!rebuilt.ok)
      problems.push(
        refuse(rebuilt.error.code, `${key}: ${rebuilt.error.message.replace(/\.$/, '')}.`, {
          hint: 'stint doctor',
        }),
      );
    sessions.push({
      session: key,
      rebuilt: rebuilt.ok && rebuilt.value,
      files,
      problem: rebuilt.ok ? null : rebuilt.error.message,
    });
  }
  const [problem] = problems;
  return ok({
    sessions,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(problem === undefined ? {} : { problem }),
  });
};

/** Also what was put by for good comes back where it is gone. */
const anew = { anew: true };

const isCurrent = ({ state }: MirrorState): boolean => state === 'current';
