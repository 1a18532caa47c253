import { objectsAt, textAt, textsAt, wholeTextAt } from '../../kernel/answer.ts';
import type { Kind } from '../../kernel/kind.ts';
import type { LazyKind } from '../../kernel/kinds.ts';
import { otherExits, refuse, type Ask, type Refusal, type Way } from '../../kernel/refusal.ts';
import type { PreparedCall, Verb, VerbRefusal } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { oneLine, plainLine } from '../../lib/text.ts';
import type { MountTable } from '../../store/sqlite/file-system.ts';
import type { Terminal } from '../tui/terminal.ts';
import {
  openWorkplace,
  readsRemains,
  runApart,
  runVerb,
  type Location,
  type OpenStore,
  type Workplace,
} from '../world.ts';
import type { Prompt } from './ask.ts';
import { namesIn, isAmong, parseCommandLine, wantsJson, type CommandLine } from './arguments.ts';
import { exitOf, print, printJson, printRefusal, printText } from './output.ts';

/** What the command line is run with; everything that comes from outside the process. */
export interface Surroundings {
  readonly argv: readonly string[];
  /** The working directory; undefined where it is gone. */
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The verbs that are at hand. */
  readonly verbs: readonly Verb[];
  /** The verb that one of these names may be of, else all verbs, where not all are at hand. */
  readonly more?: (names: readonly string[]) => Promise<readonly Verb[]>;
  readonly kinds: readonly (Kind | LazyKind)[];
  readonly version: string;
  readonly now: () => string;
  /** Who acts, where nobody says so. */
  readonly actor: () => string;
  /** The name of the user on this machine. */
  readonly user: () => string;
  /** The id of the agent's own conversation, where one runs this. */
  readonly agent: string | undefined;
  /** Whether standard output is a terminal that shows colours. */
  readonly colour: boolean;
  /** What the system says of its file systems; default: this one's. */
  readonly mounts?: MountTable;
  /** The terminal that standard output is, if it is one. */
  readonly terminal: () => Promise<Terminal | undefined>;
  /** Whoever can be asked for what is missing, if anybody can. */
  readonly prompt?: () => Promise<Prompt | undefined>;
}

/** Runs one command line and answers its exit code. */
export const runCommandLine = async (surroundings: Surroundings): Promise<number> => {
  const { argv, more } = surroundings;
  const isAtHand = more === undefined || isAmong(surroundings.verbs, argv);
  const verbs = isAtHand ? surroundings.verbs : await more(namesIn(argv));
  const json = wantsJson(argv);
  const request = parseCommandLine(verbs, argv);
  if (!request.ok) return refused({ refusal: request.error }, json);
  switch (request.value.kind) {
    case 'version':
      if (json) printJson({ version: surroundings.version }, undefined);
      else print(1, `stint ${surroundings.version}\n`);
      return 0;
    case 'help': {
      const { helpText, helpToJson, verbHelpText, verbsOf } = await import('./help.ts');
      const { verb, group } = request.value;
      if (json) printJson(helpToJson(verb === undefined ? verbsOf(verbs, group) : [verb]), undefined);
      else print(1, `${verb === undefined ? helpText(verbsOf(verbs, group), group) : verbHelpText(verb)}\n`);
      return 0;
    }
    case 'run': {
      const completed = await completeLine(request.value.line);
      if (!completed.ok) return refused({ refusal: completed.error }, request.value.line.flags.json);
      const line = completed.value;
      const { live } = line.verb;
      const { store } = line.flags;
      const ask = async (open?: OpenStore, input = line.input): ReturnType<typeof runLine> => {
        const outcome = await runLine(surroundings, { ...line, input }, open);
        if (store === undefined) return outcome;
        const { answerNaming, refusalNaming } = await import('./naming.ts');
        return outcome.ok
          ? ok({ ...outcome.value, answer: answerNaming(outcome.value.answer, store) })
          : err(refusalNaming(outcome.error, store));
      };
      const { follows } = line.verb;
      if (follows !== undefined && line.input[follows.on] === true) {
        const { followLog } = await import('./follow.ts');
        const exit = await followLog({
          line,
          follows,
          locate: () => locationOf(surroundings, line),
          ask: async (input, open) => runLine(surroundings, { ...line, input }, open),
        });
        if (exit.ok) return exit.value;
        const refusal =
          store === undefined ? exit.error : (await import('./naming.ts')).refusalNaming(exit.error, store);
        return refused(refusal, line.flags.json, line.verb);
      }
      const screen = live === undefined || line.flags.json || line.flags.quiet ? undefined : await live.screen();
      const terminal = screen === undefined ? undefined : await surroundings.terminal();
      const colour = surroundings.colour && terminal !== undefined;
      if (screen !== undefined && terminal !== undefined && line.input[live?.once ?? ''] !== true) {
        const { watch } = await import('../tui/watch.ts');
        const exit = await watch({ ask, screen, terminal, colour });
        return exit.ok ? exit.value : refused(exit.error, false);
      }
      let outcome = await ask();
      const asks = outcome.ok ? undefined : outcome.error.refusal.asks;
      if (asks !== undefined && mayAsk(surroundings, line)) {
        const input = await askPerson(surroundings, asks, line.input);
        if (input === 'interrupted') return otherExits.interrupted.exit;
        if (input !== undefined) outcome = await ask(undefined, input);
      }
      if (!outcome.ok) {
        const exit = refused(outcome.error, line.flags.json, line.verb);
        const { ways = [] } = outcome.error.refusal;
        return ways.length > 0 && mayAsk(surroundings, line) ? goOn(surroundings, line, ways, exit) : exit;
      }
      const { answer, warnings } = outcome.value;
      for (const warning of warnings) print(2, `stint: warning: ${plainLine(warning)}\n`);
      if (line.flags.json)
        printJson(
          warnings.length === 0 ? answer : { ...answer, warnings: [...textsAt(answer, 'warnings'), ...warnings] },
          undefined,
        );
      else if (screen !== undefined)
        print(1, `${screen.frame(answer, { columns: terminal?.columns() ?? Number.POSITIVE_INFINITY, colour })}\n`);
      else if (!line.flags.quiet) {
        const text = line.prints === undefined ? line.verb.text(answer) : wholeTextAt(answer, line.prints);
        const remarks = remarksOn(answer);
        const isValue = line.verb.printsValue || line.prints !== undefined;
        printText([text, ...(isValue ? [] : remarks)].join('\n'), surroundings.colour);
        for (const remark of isValue ? remarks : []) print(2, `stint: ${plainLine(remark)}\n`);
      }
      return 0;
    }
  }
};

/** The line with what stands elsewhere in its input. */
const completeLine = async (line: CommandLine): Promise<Result<CommandLine, Refusal>> => {
  if (line.elsewhere.length === 0) return ok(line);
  const { readElsewhere } = await import('./payload.ts');
  const input = await readElsewhere(line.input, line.elsewhere);
  return input.ok ? ok({ ...line, input: input.value }) : input;
};

/** Goes on in the way that a person chooses, with the same store and actor; where nobody does, with the exit code of before. */
const goOn = async (
  surroundings: Surroundings,
  { flags: { store, actor } }: CommandLine,
  ways: readonly Way[],
  exit: number,
): Promise<number> => {
  const prompt = await surroundings.prompt?.();
  if (prompt === undefined) return exit;
  const { chooseWay } = await import('./ask.ts');
  const words = await chooseWay(prompt, ways);
  if (prompt.close().interrupted) return otherExits.interrupted.exit;
  if (words === undefined) return exit;
  const flags = [
    ...(store === undefined ? [] : ['--store', store]),
    ...(actor === undefined ? [] : ['--actor', actor]),
  ];
  return runCommandLine({ ...surroundings, argv: [...words, ...flags] });
};

/** Whether it is a person who reads what is refused, and standard input is free. */
const mayAsk = ({ env }: Surroundings, { flags, payload, elsewhere }: CommandLine): boolean =>
  !flags.json &&
  !flags.quiet &&
  filled(env['CI']) === undefined &&
  payload !== 'stdin' &&
  elsewhere.every(({ source }) => source !== 'stdin');

/** The input with what was answered; undefined where nobody can be asked, or gave up. */
const askPerson = async (
  surroundings: Surroundings,
  asks: readonly Ask[],
  input: JsonObject,
): Promise<JsonObject | 'interrupted' | undefined> => {
  const prompt = await surroundings.prompt?.();
  if (prompt === undefined) return undefined;
  const { askAll } = await import('./ask.ts');
  const answered = await askAll(prompt, asks, input);
  return prompt.close().interrupted ? 'interrupted' : answered;
};

const runLine = async (
  surroundings: Surroundings,
  { verb, input, payload, flags }: CommandLine,
  open?: OpenStore,
): Promise<Result<{ readonly answer: JsonObject; readonly warnings: readonly string[] }, VerbRefusal>> => {
  const call = verb.prepare(input);
  if (!call.ok) return err({ refusal: call.error });
  const illegal = checkCall(surroundings, call.value, flags);
  if (illegal !== undefined) return err({ refusal: illegal });
  const located = locationOf(surroundings, { flags });
  if (!located.ok) return err({ refusal: located.error });
  const location = located.value;
  const json = payload === undefined ? undefined : await (await import('./payload.ts')).readPayload(payload);
  if (json?.ok === false) return err({ refusal: json.error });
  const options = {
    actor: flags.actor ?? surroundings.actor(),
    session: filled(surroundings.env['STINT_SESSION']),
    process: flags.process ?? filled(surroundings.env['STINT_PROCESS']),
    agent: surroundings.agent,
    user: surroundings.user,
    leaseToken: flags.leaseToken ?? tokenIn(surroundings.env),
    takeOver: flags.takeOver,
    requestId: flags.requestId,
    expectRevision: flags.expectRevision,
    dryRun: flags.dryRun,
    redact: flags.redact,
  };
  if (call.value.apart !== undefined) {
    const answer = await runApart(location, flags.store, call.value.apart);
    return answer.ok ? ok({ answer: answer.value, warnings: [] }) : answer;
  }
  const opened = await openWorkplace(location, verb.creates ? 'read-empty' : 'refuse-named', open);
  // What is left of a damaged store can be read.
  const left =
    opened.ok || !readsRemains(verb, call.value, opened.error)
      ? opened
      : await (await import('../care.ts')).openRemains(location, opened.error);
  // Where nothing is left there is nothing to read: only who looks after the store goes on.
  const isEmpty = left.ok && left.value.damage?.sessions.length === 0 && call.value.access === 'reads';
  const workplace = isEmpty ? opened : left;
  if (!workplace.ok) {
    const { error } = workplace;
    return err({ refusal: error, ...(verb.unopened === undefined ? {} : { report: verb.unopened(error) }) });
  }
  const run = async (where: Workplace, dryRun: boolean) =>
    runVerb(where, verb, call.value, json?.value, { ...options, dryRun });
  const makes = verb.creates && call.value.access === 'writes' && !flags.dryRun;
  if (workplace.value.exists || !makes) return run(workplace.value, flags.dryRun);
  // A store is only made for a verb that will not be refused.
  const rehearsal = await run(workplace.value, true);
  if (!rehearsal.ok) return rehearsal;
  const made = await openWorkplace(location, 'make');
  return made.ok ? run(made.value, false) : err({ refusal: made.error });
};

/** Where a command line is to be carried out. */
const locationOf = (surroundings: Surroundings, { flags }: Pick<CommandLine, 'flags'>): Result<Location, Refusal> => {
  const { cwd, env, kinds, mounts, now } = surroundings;
  if (cwd === undefined) return err(refuseNowhere());
  return ok({
    cwd,
    store: flags.store ?? filled(env['STINT_STORE']),
    project: filled(env['STINT_PROJECT']),
    env,
    kinds,
    host: filled(env['STINT_HOST']),
    get copies() {
      return copiesOf(env);
    },
    anyFileSystem: env['STINT_UNSAFE_FILE_SYSTEM'] === 'allow',
    ...(mounts === undefined ? {} : { mounts }),
    now,
    isClockFixed: filled(env['STINT_NOW']) !== undefined,
  });
};

/** Where the user's programs keep what they remember: https://specifications.freedesktop.org/basedir-spec/latest/. */
const copiesOf = (env: Surroundings['env']): string | undefined => {
  const { XDG_STATE_HOME: state, HOME: home, LOCALAPPDATA: local } = env;
  const isAbsolute = (path: string | undefined): path is string => path !== undefined && /^(?:\/|[A-Za-z]:)/.test(path);
  if (isAbsolute(state)) return `${state}/stint`;
  if (isAbsolute(local)) return `${local}/stint/state`;
  return isAbsolute(home) ? `${home}/.local/state/stint` : undefined;
};

const refuseNowhere = (): Refusal =>
  refuse('not-found', 'The working directory is not there any more.', { hint: 'change to a folder that is there' });

const filled = (value: string | undefined): string | undefined =>
  value === undefined || value === '' ? undefined : value;

/** Whether a text is an RFC 3339 time with its offset (one without could mean anything) on a day that the calendar has. */
const isTime = (text: string): boolean => {
  const [, day] = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  // Date takes the 30th of February for a day in March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
};

const tokenIn = (env: Surroundings['env']): number | undefined => {
  const token = Number(filled(env['STINT_LEASE_TOKEN']));
  return Number.isSafeInteger(token) ? token : undefined;
};

const checkCall = (
  { env }: Surroundings,
  { access }: PreparedCall,
  { requestId, actor, leaseToken }: CommandLine['flags'],
): Refusal | undefined => {
  const now = filled(env['STINT_NOW']);
  if (now !== undefined && !isTime(now)) {
    return refuse('usage', 'STINT_NOW is not a time.', {
      expected: 'RFC 3339 with its offset, for example 2026-03-17T14:30:22Z',
    });
  }
  // Who reads shows none, and a flag comes first.
  const token = access === 'writes' && leaseToken === undefined ? filled(env['STINT_LEASE_TOKEN']) : undefined;
  if (token !== undefined && !(/^[1-9]\d*$/.test(token) && Number.isSafeInteger(Number(token))))
    return refuse('usage', 'STINT_LEASE_TOKEN is no lease token.', {
      expected: 'the number that stint lease claim gave',
    });
  if (requestId !== undefined && !/^[!-~]{1,200}$/.test(requestId)) {
    return refuse('usage', '--request-id is not legal.', { expected: '1 to 200 visible ASCII characters' });
  }
  if (actor !== undefined && !/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(actor)) {
    return refuse('usage', '--actor is not legal.', { expected: '1 to 200 characters, no control characters' });
  }
  return undefined;
};

/** What is to be said about an answer beside its text. */
const remarksOn = (answer: JsonObject): readonly string[] => {
  const { redacted, dry_run: dryRun, replayed } = answer;
  const notes = [...textsAt(answer, 'notes'), ...textsAt(answer, 'documents')];
  return [
    ...objectsAt(answer, 'taken_over').map((one) => {
      const token = textAt(one, 'lease_token');
      const mine =
        token === '' ? 'it ended with that' : `yours until ${textAt(one, 'lease_expires_at')}, token ${token}`;
      return `the lease of ${textAt(one, 'session')} was taken over from ${textAt(one, 'from')}: ${mine}`;
    }),
    ...(typeof redacted === 'object' && redacted !== null
      ? [
          `redacted: ${Object.entries(redacted)
            .map(([rule, count]) => `${rule} ${JSON.stringify(count)}`)
            .join(', ')}`,
        ]
      : []),
    ...notes.map((note) => `note: ${oneLine(note)}`),
    ...(dryRun === true ? ['dry run: nothing was changed'] : []),
    ...(replayed === true ? ['this request was carried out before: this is what was answered then'] : []),
  ];
};

const refused = ({ refusal, report }: VerbRefusal, json: boolean, verb?: Verb): number => {
  if (json) printJson(report ?? {}, refusal);
  else {
    if (report !== undefined && verb !== undefined) printText(verb.text(report), false);
    printRefusal(refusal);
  }
  return exitOf(refusal);
};
