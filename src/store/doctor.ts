import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectsAt, table, textAt, textsAt } from '../kernel/answer.ts';
import { flag, sessionFilter } from '../kernel/fields.ts';
import type { Care, Finding, SessionRow, Store } from '../kernel/ports.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb, type VerbRefusal, type World } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { inspectFolder, inspectMirrors } from '../mirror/settle.ts';
import { importReview } from '../verbs/import-review.ts';
import { rebuildAll } from './rebuild.ts';
import { repairHint, wayOut } from './hints.ts';

export const doctor = defineVerb({
  name: 'doctor',
  summary: 'Verify the store, and bring back what was damaged.',
  details: `Checks the store file itself, every session's hash chain, that rows, views and snapshots are what the events say, and that the mirror files are the newest versions. Without --fix nothing changes. Exits 6 with its findings when something is not as it should be, 14 when the store cannot be used at all.

--fix makes projections and mirrors anew where that is enough. Where the file, its log or a chain is damaged, or the store is gone, it makes the store anew: from the pages that can still be read, from the rolling copies (see the guide on recovery), and where neither has anything, from the files of its sessions, which come back closed. Of each session the longest chain of events that holds together is taken, and what was done after a damaged event where it leads to the state that the session is known to have had; what is not known of it any more is put on its record. The damaged files are kept beside the store under a name of their own; nothing is deleted. Exits 0 when the store is sound afterwards, and says what is lost for good.

Files of workflow runs in .workflow/sessions, and of orchestrations in .claude, that the store knows nothing of, because it was lost or they are of another program, are named (importable): stint import workflow-run and stint import orchestrator take them over.`,
  examples: ['stint doctor', 'stint doctor --json', 'stint doctor --fix'],
  input: () => v.strictObject({ session: sessionFilter(), fix: flag('Bring back what can be brought back.') }),
  cares: true,
  unopened: (refusal) => ({
    healthy: false,
    store: null,
    sessions: 0,
    events: 0,
    findings: [{ subject: 'store', problem: refusal.message, fix: fixIn(refusal.hint) }],
  }),
  contradiction: ({ session, fix }) =>
    session !== undefined && fix === true
      ? '--fix goes over the whole store; --session does not go with it'
      : undefined,
  does: {
    maintains: async (world, input) => {
      if (input.fix !== true) return examine(world, input.session);
      const first = await findingsOf(world);
      const needsRepair = world.care.damage !== undefined || first.some(({ isDamage }) => isDamage === true);
      if (!needsRepair && world.store.readOnly !== undefined) {
        const looked = await examine(world, undefined);
        const report = looked.ok ? looked.value : looked.error.report;
        return err({ refusal: world.store.readOnly, ...(report === undefined ? {} : { report }) });
      }
      const repaired = needsRepair || world.care.wasInterrupted() ? await world.care.repair() : undefined;
      const after = {
        ...world,
        ...(repaired === undefined ? {} : { store: repaired.store }),
        care: healthyCareOf(repaired?.store ?? world.store),
      };
      const saved = repaired?.done;
      const rebuilt = await rebuildAll(after, undefined);
      if (!rebuilt.ok) return rebuilt;
      const imported = saved?.damage.sessions.length === 0 ? await importMirrors(after) : [];
      const verdict = await examine(after, undefined);
      const done = {
        damage: [...damageOf(world, first)],
        restored: (saved?.damage.sessions ?? []).map(({ key, events, flaw, source }) => ({
          session: key,
          events,
          source,
          flaw,
        })),
        imported: imported.map((one) => ({ ...one })),
        lost: [...(saved?.damage.lost ?? [])],
        kept_aside: saved?.kept ?? null,
        rebuilt: rebuilt.value.sessions
          .filter((one) => one.rebuilt || one.files.length > 0)
          .map(({ session }) => session),
      };
      return verdict.ok
        ? ok({ ...verdict.value, ...done })
        : err({ ...verdict.error, report: { ...verdict.error.report, ...done } });
    },
  },
  text: (answer) => {
    const healthyText = answer['healthy'] === true ? 'healthy' : 'not healthy';
    return [
      answer['store'] === null
        ? 'not healthy: the store cannot be opened'
        : `${healthyText}: ${counted(answer, 'session')}, ${counted(answer, 'event')} in ${textAt(answer, 'store')}`,
      ...linesOf(answer, 'findings', (one) => [textAt(one, 'subject'), textAt(one, 'problem'), textAt(one, 'fix')]),
      ...linesOf(answer, 'remarks', (one) => [textAt(one, 'subject'), textAt(one, 'remark')]),
      ...textsAt(answer, 'damage').map((problem) => `it was: ${problem}`),
      ...linesOf(answer, 'restored', (one) => [
        textAt(one, 'session'),
        `restored from the ${textAt(one, 'source')}: ${counted(one, 'event')}`,
        textAt(one, 'flaw'),
      ]),
      ...linesOf(answer, 'readable', (one) => [
        textAt(one, 'session'),
        `can be read in the ${textAt(one, 'source')}: ${counted(one, 'event')}`,
      ]),
      ...linesOf(answer, 'imported', (one) => [
        textAt(one, 'session'),
        `taken over from its files, closed: ${textAt(one, 'position')}`,
        'what was noted, by whom and when, and whether a round was completed, is lost',
      ]),
      ...textsAt(answer, 'importable').map(
        (path) =>
          `${path}  is of ${isOfRun(path) ? 'a run' : 'an orchestration'} that is not in the store: ${importing(path)}`,
      ),
      ...textsAt(answer, 'lost').map((key) => `${key}  lost: nothing of it could be read`),
      ...textsAt(answer, 'rebuilt').map((key) => `${key}  made anew from its events`),
      ...(textAt(answer, 'kept_aside') === '' ? [] : [`the damaged files are kept in ${textAt(answer, 'kept_aside')}`]),
      ...[...new Set(textsAt(answer, 'importable').map(importing))].map((command) => `next: ${command}`),
    ].join('\n');
  },
});

const isOfRun = (path: string): boolean => path.startsWith('.workflow/');

/** The command that takes over what a file tells of. */
const importing = (path: string): string => `stint import ${isOfRun(path) ? 'workflow-run' : 'orchestrator'}`;

const linesOf = (answer: JsonObject, key: string, rowOf: (one: JsonObject) => readonly string[]): readonly string[] => {
  const rows = objectsAt(answer, key).map(rowOf);
  return rows.length === 0 ? [] : [table(rows)];
};

/** What was wrong, as sentences: with the store as a whole, where that is known, else with its parts. */
const damageOf = ({ care: { damage } }: World, findings: readonly Finding[]): readonly string[] =>
  damage !== undefined
    ? [damage.refusal.message]
    : findings.flatMap(({ subject, problem, isDamage }) => (isDamage === true ? [`${subject}: ${problem}`] : []));

/** The care of a store that was just repaired: whatever is found now is told, and no second repair is tried. */
const healthyCareOf = (store: Store): Care => ({
  damage: undefined,
  wasInterrupted: () => false,
  repair: async () => ({ store, done: undefined }),
});

/**
 * Where nothing was left of the store of this checkout, its sessions as far as their files tell of them. The database of the
 * original is not touched: whoever wants it imports it.
 */
const importMirrors = async (world: World): Promise<readonly JsonObject[]> => {
  const call = importReview.prepare({});
  if (!call.ok) return [];
  const files = {
    ...world.files,
    exists: (path: string): boolean => !path.endsWith('/data/ocr.db') && world.files.exists(path),
  };
  const taken = await call.value.run({ ...world, files });
  return taken.ok
    ? objectsAt(taken.value.answer, 'sessions').filter((one) => textAt(one, 'result') === 'imported')
    : [];
};

/** The command that is hinted at, where it is one. */
const fixIn = (hint: string | undefined): string | null => (hint?.startsWith('stint ') === true ? hint : null);

/** The verdict on the store, or on one session of it. */
const examine = async (world: World, given: string | undefined): Promise<Result<JsonObject, VerbRefusal>> => {
  const only = given === undefined ? undefined : await resolve(world, given);
  if (only?.ok === false) return err({ refusal: only.error });
  const rows = only === undefined ? await world.store.rows({ thorough: true }) : [only.value];
  const all = await findingsOf(world);
  const findings = all.filter(({ subject }) => only === undefined || subject === only.value.key);
  const report = {
    healthy: findings.length === 0,
    store: world.store.name,
    sessions: rows.length,
    events: rows.reduce((total, row) => total + row.seq, 0),
    findings: findings.map(({ subject, problem, fix }) => ({ subject, problem, fix })),
    ...(findings.length === 0 ? await remarksOf(world, rows) : {}),
    ...(only === undefined && world.care.damage === undefined ? await importableIn(world, rows) : {}),
  };
  if (findings.length === 0) return ok(report);
  const { damage } = world.care;
  const readable = damage?.sessions.filter(({ flaw }) => flaw === null) ?? [];
  if (damage !== undefined)
    return err({
      report: {
        ...report,
        readable: readable.map(({ key, events, source }) => ({ session: key, events, source })),
      },
      refusal: { ...damage.refusal, hint: wayOut(damage.refusal) },
    });
  const { readOnly } = world.store;
  if (readOnly?.code === 'newer-version') return err({ report, refusal: readOnly });
  return err({
    report,
    refusal: refuse(
      'invariant-unmet',
      `${findings.length === 1 ? 'There is one finding' : `There are ${findings.length} findings`}.`,
      {
        expected: 'no findings',
        ...(findings.some(({ fix }) => fix !== null) ? { hint: repairHint } : {}),
      },
    ),
  });
};

/** The most, in milliseconds, that clocks may differ without a remark. */
const clockTolerance = 120_000;

/** What is no damage and worth a look: times from the future, where one of the clocks is wrong. */
const remarksOf = async (world: World, rows: readonly SessionRow[]): Promise<JsonObject> => {
  const latest = new Date(Date.parse(world.caller.now) + clockTolerance).toISOString();
  const times = await Promise.all(
    rows.map(async (row) => ({ subject: row.key, at: await newestTimeOf(world.store, row) })),
  );
  const remarks = [
    ...times.filter(({ at }) => at > latest),
    ...(await world.store.processes({ running: true }))
      .filter(({ heartbeatAt }) => heartbeatAt > latest)
      .map(({ id, heartbeatAt }) => ({ subject: id, at: heartbeatAt })),
  ].map(({ subject, at }) => ({
    subject,
    remark: `its newest time ${at} is ahead of this clock (${world.caller.now})`,
  }));
  return remarks.length === 0 ? {} : { remarks };
};

/** The files of this checkout that tell of sessions which the store knows nothing of, be it that it was lost: they can be taken over. */
const importableIn = async (world: World, rows: readonly SessionRow[]): Promise<JsonObject> => {
  const importable = [...(await runFilesIn(world, rows)), ...(await orchestrationFilesIn(world, rows))];
  return importable.length === 0 ? {} : { importable };
};

const orchestrationFilesIn = async (
  { files, places, project, caller, host }: World,
  rows: readonly SessionRow[],
): Promise<readonly string[]> => {
  const { root } = places.here;
  if (!files.exists(`${root}/.claude`)) return [];
  const { sessionFilesIn } = await import('../formats/orchestrator/session-files.ts');
  const { largestOrchestratorFile, readOrchestratorFile } = await import('../formats/orchestrator/read.ts');
  const { text: textIn } = await project();
  const known = new Set(rows.map(({ name }) => name));
  return sessionFilesIn(root, files).flatMap((file) => {
    const path = file.path.slice(root.length + 1);
    const text = textIn(root, path, largestOrchestratorFile);
    if (!text.ok) return [];
    const clock = { now: caller.now, offsetAt: host.offsetAt };
    const found = readOrchestratorFile(text.value, { path, clock });
    if (found.what !== 'session' || found.session.dialect === 'hook summary') return [];
    return known.has(found.session.document.session_id) ? [] : [path];
  });
};

const runFilesIn = async (
  { places, project, caller, host }: World,
  rows: readonly SessionRow[],
): Promise<readonly string[]> => {
  const { planRunFiles, runFolders } = await import('../formats/run-state/run-files.ts');
  const { root } = places.here;
  const [folder = root] = runFolders(root);
  const files = await project();
  if (!files.isFolder(folder)) return [];
  const { largestRunFile, readRunFile } = await import('../formats/run-state/read-run.ts');
  const known = new Set(rows.map(({ name }) => name));
  return planRunFiles(folder, [], files.tree(folder)).files.flatMap((file) => {
    const path = file.path.slice(root.length + 1);
    const text = files.text(root, path, largestRunFile);
    if (!text.ok) return [];
    const found = readRunFile(text.value, { ...file, path }, { now: caller.now, offsetAt: host.offsetAt });
    return found.what === 'run' && !known.has(found.run.document.session_id) ? [path] : [];
  });
};

/** When anything is said to have happened to a session last, by its events and by what was renewed of its claims. */
const newestTimeOf = async (store: Store, { key, lease, updatedAt }: SessionRow): Promise<string> =>
  [...(await store.renewals(key))]
    .filter(([step, { token }]) => step !== '' || token === lease?.token)
    .reduce((newest, [, { at }]) => (at > newest ? at : newest), updatedAt);

/** Everything that is not as it should be. Of a damaged store: what is wrong with it, and what is not known of which session. */
const findingsOf = async (world: World): Promise<readonly Finding[]> => {
  const { damage } = world.care;
  if (damage !== undefined) {
    return [
      {
        subject: world.store.name,
        problem: damage.refusal.message,
        fix: fixIn(wayOut(damage.refusal)),
        isDamage: true,
      },
      ...damage.sessions.flatMap(({ key, flaw }) =>
        flaw === null ? [] : [{ subject: key, problem: flaw, fix: null, isDamage: true }],
      ),
      ...damage.lost.map((key) => ({ subject: key, problem: 'nothing of it can be read', fix: null, isDamage: true })),
    ];
  }
  const { readOnly } = world.store;
  const findings: Finding[] =
    readOnly?.code === 'newer-version' ? [{ subject: world.store.name, problem: readOnly.message, fix: null }] : [];
  findings.push(...(await world.store.verify()));
  for (const { key, flaw } of await world.store.rows({ thorough: true })) {
    if (flaw !== null && flaw.startsWith('damaged')) {
      findings.push({ subject: key, problem: flaw, fix: repairHint, isDamage: true });
    } else if (!findings.some(({ subject, isDamage }) => subject === key && isDamage !== true))
      // What keeps a session from being read keeps its files from being known, and is told already.
      findings.push(...(await mirrorFindings(world, key)));
  }
  return findings;
};

const counted = (answer: JsonObject, what: string): string => {
  const count = textAt(answer, `${what}s`);
  return `${count} ${count === '1' ? what : `${what}s`}`;
};

/** What is wrong with a mirror, for a person. */
const mirrorProblems = {
  missing: 'is not there',
  stale: 'is an older version',
  drifted: 'was changed by somebody else',
  unreadable: 'cannot be read',
} as const;

const mirrorFindings = async (world: World, key: string): Promise<readonly Finding[]> => {
  const folder = await inspectFolder(world, key);
  // Where the folder is somewhere else, so are all the files.
  if (folder !== undefined) return [{ subject: key, ...folder }];
  return (await inspectMirrors(world, key)).flatMap(({ record, state }) =>
    state === 'current'
      ? []
      : [
          {
            subject: key,
            problem: `its mirror ${record.path} ${mirrorProblems[state]}`,
            fix: `stint rebuild --session ${key}`,
          },
        ],
  );
};
