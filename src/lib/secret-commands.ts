import { MARK, type Span } from './secret-scan.ts';
import { isPlaceholder } from './secret-values.ts';

/**
 * Passwords that a program is given by a flag of one letter, which is no name: what the letter means only the program
 * says. Looked at is what stands behind the program in its command, and of that only the beginning.
 */
type Command = {
  readonly programs: readonly string[];
  /** What the command has to hold too, where the flag has another meaning otherwise. */
  readonly needs?: RegExp;
  /** The flag and what belongs to it, with the password as the group. */
  readonly password: RegExp;
};

const COMMANDS: readonly Command[] = [
  {
    programs: ['curl'],
    password: /[ \t](?:-[uU]|--user|--proxy-user)[ \t=]{0,4}["']?[^\s"':]{1,64}:([^\s"']{4,128})/d,
  },
  { programs: ['sshpass'], password: /[ \t]-p[ \t]{0,4}["']?([^\s"'-][^\s"']{2,128})/d },
  {
    programs: ['mysql', 'mysqldump', 'mysqladmin', 'mysqlimport', 'mariadb', 'mariadb-dump'],
    password: /[ \t]-p["']?([^\s"'-][^\s"']{2,128})/d,
  },
  { programs: ['redis-cli'], password: /[ \t]-a[ \t]{1,4}["']?([^\s"'-][^\s"']{2,128})/d },
  { programs: ['mongosh', 'mongo', 'mongodump'], password: /[ \t]-p[ \t]{1,4}["']?([^\s"'-][^\s"']{2,128})/d },
  {
    programs: ['docker', 'podman', 'helm', 'az', 'oc'],
    needs: /[ \t]login[ \t]/,
    password: /[ \t]-p[ \t]{1,4}["']?([^\s"'-][^\s"']{2,128})/d,
  },
  {
    programs: ['ldapsearch', 'ldapadd', 'ldapmodify'],
    password: /[ \t]-w[ \t]{1,4}["']?([^\s"'-][^\s"']{2,128})/d,
  },
  { programs: ['smbclient'], password: /[ \t]-U[ \t]{0,4}["']?[^\s"'%]{1,64}%([^\s"']{3,128})/d },
  { programs: ['openssl'], password: /[ \t]-pass(?:in|out)?[ \t]{1,4}["']?pass:([^\s"']{3,128})/d },
];

/** How much of a command is looked at. */
const LONGEST_COMMAND = 256;

type CommandTable = { readonly trigger: RegExp; readonly byProgram: ReadonlyMap<string, Command> };

let table: CommandTable | undefined;

const createTable = (): CommandTable => {
  const byProgram = new Map(
    COMMANDS.flatMap((command) => command.programs.map((program) => [program, command] as const)),
  );
  const programs = [...byProgram.keys()].toSorted((a, b) => b.length - a.length);
  return { trigger: new RegExp(`(?<![\\w.-])(?:${programs.join('|')})(?=[ \\t])`, 'g'), byProgram };
};

/** What every such flag has, so that most texts need no more. */
const FLAG = /[ \t]--?[auUpw]/;

/** Adds the passwords of commands to `spans`. */
export function findInCommands(text: string, spans: Span[]): void {
  if (!text.includes('-') || !FLAG.test(text)) return;
  table ??= createTable();
  const { trigger, byProgram } = table;
  trigger.lastIndex = 0;
  for (let hit = trigger.exec(text); hit !== null;) {
    const from = trigger.lastIndex;
    const command = byProgram.get(hit[0]);
    hit = trigger.exec(text);
    // What stands behind the next program is that one's.
    const end = Math.min(from + LONGEST_COMMAND, hit?.index ?? text.length);
    const rest = /^[^\n|;&]*/.exec(text.slice(from, end))?.[0] ?? '';
    if (command === undefined || command.needs?.test(rest) === false) continue;
    const [start, stop] = command.password.exec(rest)?.indices?.[1] ?? [0, 0];
    const password = rest.slice(start, stop);
    if (password !== '' && !password.includes(MARK) && !isPlaceholder(password))
      spans.push({ start: from + start, end: from + stop, rule: 'command-password' });
  }
}
