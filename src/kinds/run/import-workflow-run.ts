import * as v from 'valibot';
import { keyOf } from '../../kernel/address.ts';
import { objectsAt, table, textAt, textsAt } from '../../kernel/answer.ts';
import { loadedIn, type Order } from '../../kernel/dispatch.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import { optionalText } from '../../kernel/fields.ts';
import { holderOf, leaseFacts, refuseOthers } from '../../kernel/lease.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { isOpened, viewOfSession, type OpenedSession, type Session } from '../../kernel/session.ts';
import { cleanJson, defineVerb, type World } from '../../kernel/verb.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { FoundRuns, RunToTake } from './found-runs.ts';
import type { decideTakeOver as decideTakeOverOf, TakenOver } from './take-over.ts';

export const importWorkflowRun = defineVerb({
  name: 'import workflow-run',
  summary: 'Take over runs of the workflow player.',
  details: `Reads the session-state.json of each run, and the snapshots beside it. What is missing in one, misspelt or in contradiction is concluded as far as it can be; a file that is not whole JSON (cut off, with NUL bytes, in a fence) is not taken. A run comes over with its times: running, paused, closed or archived as it was. A node that was running is in doubt here, because nobody knows whether it still does; one that had failed is ready again while the run goes on. One that says it is completed while nodes are not done goes on, and in the archive counts as given up. Of several files of one run the one in the folder of its name is taken, else the newest; where that is not known, none. What the nodes do is taken from the template as it is now, where that can be found and fits. What could not be taken as it was stands in problems; files of other tools, and those that were not taken, in ignored, with what helps.

The original is never changed: its files stay what they are until something happens to the run here. Then they are kept beside ours. --dry-run shows what would be taken. Doing it again takes what is new of a run; one that has gone on here since is left alone.`,
  examples: ['stint import workflow-run --dry-run', 'stint import workflow-run ../old-checkout --json'],
  input: v.strictObject({
    path: optionalText(
      'A checkout, a folder of sessions, or the file of a run. Default: .workflow/sessions of this checkout.',
    ),
  }),
  positionals: ['path'],
  creates: true,
  does: {
    writes: async (world, input) => {
      const { findRuns } = await import('./found-runs.ts');
      const found = await findRuns(world, input.path);
      if (!found.ok) return found;
      const { decideTakeOver } = await import('./take-over.ts');
      return ok(orderOf(world, await cleaned(found.value, world.caller.redact), decideTakeOver));
    },
  },
  text: (answer) => {
    const sessions = objectsAt(answer, 'sessions');
    const open = sessions.filter((one) => ['active', 'paused'].includes(textAt(one, 'status')));
    const about = (one: JsonObject, what: string): readonly string[] => textsAt(one, what).map((text) => `  ${text}`);
    return [
      ...(sessions.length === 0 ? [`nothing to import in ${textAt(answer, 'source')}`] : []),
      ...table(
        sessions.map((one) => [
          textAt(one, 'result'),
          textAt(one, 'session'),
          textAt(one, 'position'),
          `${textAt(one, 'status')}${one['archived'] === true ? ', archived' : ''}`,
        ]),
      )
        .split('\n')
        .flatMap((row, index) => {
          const one = sessions[index];
          if (one === undefined) return [];
          const why = textAt(one, 'why');
          const doubtful = textsAt(one, 'in_doubt');
          return [
            row,
            ...(why === '' ? [] : [`  ${why}`]),
            ...(doubtful.length === 0 ? [] : [`  in doubt: ${doubtful.join(', ')}`]),
            ...about(one, 'problems'),
            ...about(one, 'notes'),
          ];
        }),
      ...objectsAt(answer, 'ignored').map((one) => {
        const [is, why, problem, line, hint] = ['is', 'why', 'problem', 'line', 'hint'].map((key) => textAt(one, key));
        const place = line === '' ? '' : `:${line}:${textAt(one, 'column')}`;
        return `ignored: ${textAt(one, 'path')}${place}: ${problem === '' ? [is, why].filter((text) => text !== '').join('. ') : [problem, hint].filter((text) => text !== '').join(' ')}`;
      }),
      ...(open.length === 0
        ? []
        : [`next: stint resume --session ${open.length === 1 ? textAt(open[0] ?? {}, 'session') : 'SESSION'}`]),
    ].join('\n');
  },
});

/** What others wrote of a run. */
type Told = Pick<RunToTake, 'found' | 'problems' | 'notes' | 'files'>;

/** A run as it may be stored, with how often each rule of the scanner fired. */
type CleanRun = RunToTake & { readonly secrets: Readonly<Record<string, number>> };

type CleanRuns = Omit<FoundRuns, 'runs'> & { readonly runs: readonly CleanRun[] };

type DecideTakeOver = typeof decideTakeOverOf;

/** What was found without the secrets in it: what others wrote is no safer than what is given. */
const cleaned = async (found: FoundRuns, redact: boolean): Promise<CleanRuns> => {
  const runs: CleanRun[] = [];
  for (const run of found.runs) {
    const { session_id, execution_plan, ...texts } = run.found.document;
    const { problems, notes, files } = run;
    const told: Json = JSON.parse(JSON.stringify({ found: { ...run.found, document: texts }, problems, notes, files }));
    const { value, found: secrets } = await cleanJson(told, redact);
    // Texts are replaced by texts: what it is made of stays. Names stay what they are.
    const clean = value as unknown as Told;
    const document = { ...clean.found.document, session_id, execution_plan };
    runs.push({ ...run, ...clean, found: { ...clean.found, document }, secrets });
  }
  return { ...found, runs };
};

const orderOf = (world: World, found: CleanRuns, decideTakeOver: DecideTakeOver): Order<JsonObject> => {
  const runs = found.runs.map((run) => ({ run, key: keyOf('run', run.found.document.session_id) }));
  const { worktree, id } = world.places.here;
  const decide = (session: Session, run: RunToTake): Result<TakenOver, Refusal> => {
    const taken = decideTakeOver(session, run, worktree);
    if (!taken.ok || taken.value.events.length === 0 || !isOpened(session) || world.caller.takeOver) return taken;
    const held = refuseOthers(leaseFacts(session, world.caller, world.host), () => holderOf(world, id ?? ''));
    return held === undefined ? taken : err(held);
  };
  return {
    fence: 'several',
    keys: runs.map(({ key }) => key),
    decide: (sessions) => {
      const events = new Map<string, readonly DecidedEvent[]>();
      for (const { run, key } of runs) {
        const taken = decide(loadedIn(sessions, key), run);
        // What cannot be folded, or is held, is left out, and told: it does not keep the others away.
        if (taken.ok && taken.value.events.length > 0) events.set(key, taken.value.events);
      }
      return ok(events);
    },
    answer: (after, before) => {
      const redacted: Record<string, number> = {};
      const sessions = runs.map(({ run, key }) => {
        const taken = decide(loadedIn(before, key), run);
        const session = loadedIn(after, key);
        const isTaken = taken.ok && taken.value.events.length > 0;
        if (isTaken)
          for (const [rule, count] of Object.entries(run.secrets)) redacted[rule] = (redacted[rule] ?? 0) + count;
        return {
          session: key,
          path: run.path,
          result: taken.ok ? taken.value.result : 'left',
          ...(isOpened(session) ? standingToJson(session) : nothing),
          ...(taken.ok ? (taken.value.why === null ? {} : { why: taken.value.why }) : { why: taken.error.message }),
          problems: [...run.problems],
          ...(isTaken && run.notes.length > 0 ? { notes: [...run.notes] } : {}),
        };
      });
      return {
        source: found.source,
        sessions,
        ignored: [...found.ignored],
        ...(Object.keys(redacted).length === 0 ? {} : { redacted }),
      };
    },
  };
};

/** Of a session that could not be opened. */
const nothing = { position: null, status: null, archived: false, in_doubt: [], next_action: null };

const standingToJson = (session: OpenedSession) => {
  const { common, folded } = session;
  const { position, next } = viewOfSession(session);
  return {
    position,
    status: common.outcome ?? (common.pause === null ? 'active' : 'paused'),
    archived: common.archivedAt !== null,
    in_doubt: (folded.steps?.inDoubt() ?? []).slice(0, 20),
    next_action: { ...next },
  };
};
