import { fstatSync } from 'node:fs';
import { kinds } from './kinds/everyday.gen.ts';
import { machineName } from './lib/machine.ts';
import { timeText } from './lib/time.ts';
import { OutputFailure } from './surfaces/cli/output.ts';
import { runCommandLine } from './surfaces/cli/run.ts';
import { userName } from './surfaces/world.ts';
import { everyday } from './verbs/everyday.gen.ts';
import { version } from './version.gen.ts';

/** The agents that run commands, and the variables by which they are known; the first one that is set may hold an id. */
const agents: readonly { readonly name: string; readonly id?: string; readonly sign: string }[] = [
  { name: 'claude-code', id: 'CLAUDE_CODE_SESSION_ID', sign: 'CLAUDECODE' },
  { name: 'codex', id: 'CODEX_THREAD_ID', sign: 'CODEX_SANDBOX' },
  { name: 'gemini-cli', sign: 'GEMINI_CLI' },
  { name: 'cursor', sign: 'CURSOR_AGENT' },
  { name: 'opencode', sign: 'OPENCODE' },
];

const { env } = process;

const actor = (): string => {
  const named = env['STINT_ACTOR'];
  if (named !== undefined && named !== '') return clean(named);
  for (const { name, id, sign } of agents) {
    const known = id === undefined ? undefined : env[id];
    if (known !== undefined && known !== '') return clean(`${name}/${known}`);
    if (env[sign] !== undefined && env[sign] !== '') return name;
  }
  return clean(`${user()}@${env['STINT_HOST'] ?? machineName()}`);
};

const user = (): string => {
  const named = env['USER'] ?? env['LOGNAME'] ?? env['USERNAME'];
  return named !== undefined && named !== '' ? named : userName();
};

/** The id of the agent's own conversation. */
const conversation = (): string | undefined => {
  const ids = ['STINT_AGENT_SESSION', ...agents.flatMap(({ id }) => id ?? [])];
  const found = ids.map((id) => env[id]).find((value) => value !== undefined && value !== '');
  return found === undefined ? undefined : clean(found);
};

const cwd = (): string | undefined => {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
};

/** What the environment says is text from outside. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '')
    .slice(0, 200);

const now = (): string => {
  const given = env['STINT_NOW'];
  return timeText(given === undefined || given === '' ? Date.now() : Date.parse(given));
};

const finish = (code: number): void => {
  // The store stays open: closing it would cost more syncs than leaving does.
  process.exitCode = code;
  process.exit();
};

const main = async (): Promise<void> => {
  finish(
    await runCommandLine({
      argv: process.argv.slice(2),
      cwd: cwd(),
      env,
      verbs: everyday,
      more: async (names) => (await import('./surfaces/more-verbs.ts')).moreVerbs(names),
      kinds,
      version,
      now,
      actor,
      user,
      agent: conversation(),
      colour: fstatSync(1).isCharacterDevice() && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
      prompt: async () => (await import('./surfaces/cli/ask.ts')).openPrompt(),
      terminal: async () => (await import('./surfaces/tui/terminal.ts')).openTerminal(),
    }),
  );
};

main().catch((error: unknown) => {
  if (error instanceof OutputFailure) {
    process.stderr.write(`stint: the answer could not be written (${error.message}); what was asked for is done.\n`);
    return finish(6);
  }
  process.stderr.write(
    `stint: a bug of ours: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return finish(1);
});
