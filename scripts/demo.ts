/**
 * Shows stint at work: a review of this project's newest commits by several processes. A reviewer is killed in the middle
 * of a verb, then the lead too; a successor finds out, goes on and finishes; a map of the same change lies beside the
 * review. Every command is the built one, run as it is printed; every finding comes from the real difference. An exit code
 * or a state that is not the expected one ends the demo with exit 1.
 *
 * `npm run demo`, or `npm run demo -- --keep` to look at the folder afterwards. Needs git.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';

const root = dirname(import.meta.dirname);
const command = join(root, 'dist/stint.cjs');

/** Who reviews, and what each one looks for. */
const reviewers: Readonly<Record<string, (change: Change) => readonly Finding[]>> = {
  shape: (change) => change.files.flatMap((file) => [...longLines(file), ...longFunctions(file), ...longFile(file)]),
  hygiene: (change) => [...change.files.flatMap(leftovers), ...dependencies(change)],
  coverage: (change) => [...withoutTest(change), ...change.files.flatMap(withoutComment)],
};

const main = async (): Promise<void> => {
  const [role = '', type = ''] = process.argv.slice(2);
  if (role === 'lead') return lead();
  if (role === 'reviewer') return review(type);
  if (role === 'mapper') return map();
  if (role === 'successor') return goOn();
  if (role !== '' && role !== '--keep') throw new Error(`usage: npm run demo [-- --keep], not ${role}`);
  if (!existsSync(command)) throw new Error('dist/ is not built: npm run build');

  const folder = mkdtempSync(join(tmpdir(), 'stint-demo-'));
  const leave = (): void => {
    for (const child of running) child.kill('SIGKILL');
    if (role !== '--keep') rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      leave();
      process.exit(130);
    });
  }
  try {
    const shown = await direct(folder);
    say(
      `${shown} The folder ${role === '--keep' ? 'is' : 'was'} ${folder}${role === '--keep' ? '' : ' (--keep keeps it)'}.`,
    );
  } finally {
    leave();
  }
};

/** The person at the terminal: prepares the repository, starts the work, kills, and looks. Answers what was shown. */
const direct = async (folder: string): Promise<string> => {
  const project = join(folder, basename(root));
  const history = makeRepository(folder, project);
  process.chdir(project);
  actAs('director', folder);
  const range = chooseRange();

  say(
    `${history} A lead, a process of its own, begins a review of its newest ${range.commits === 1 ? 'commit' : plural(range.commits, 'commit')}, ${range.text}, and says which pid it has.`,
  );
  const { child, exit } = startProcess(['lead'], 'lead', ['ignore', 'inherit', 'inherit', 'ipc']);
  const { victim, killed, seqs, name } = await Promise.race([
    reportOf(child),
    exit.then((code) => {
      throw new Error(`the lead ended with ${code}`);
    }),
  ]);
  environment['STINT_SESSION'] = `review:${name}`;
  const session = where();
  checkNotes(events(session), killed, seqs);
  say(
    `The reviewer ${victim} was killed ${killed.after} ms after its verb had started. The verb had ${
      killed.seq === undefined
        ? `not been acknowledged, and its note is ${killed.found === undefined ? 'not in the log: nothing of it happened' : `in the log as event ${killed.found}: it was committed, only the answer was lost`}`
        : `been acknowledged, and its note is in the log as event ${killed.seq}`
    }. The lead still waits for it. Now the lead is killed too (kill -9 ${child.pid}).`,
  );
  child.kill('SIGKILL');
  await exit;

  say('Nobody has said so, and it shows at once, because the pid of the lead is gone:');
  await stint(['list']);
  await stint(['status']);
  checkInterrupted();

  say('Another process goes on. It knows the name of the session, and nothing else.');
  await startProcess(['successor'], 'successor', ['ignore', 'inherit', 'inherit', 'ipc']).exit;
  const swept = events(session).filter(({ type, data }) => type === 'ProcessEnded' && data['outcome'] !== 'done');
  if (swept.length !== 2 || new Set(swept.map(({ cause }) => cause)).size !== 1)
    throw new Error(`the sweep recorded ${JSON.stringify(swept)}, not the lead and the reviewer in one transaction`);

  say('A map of the same change lies beside the review, under the same name. Nobody gave requirements.');
  await startProcess(['mapper'], 'mapper', ['ignore', 'inherit', 'inherit', 'ipc']).exit;

  say('Who worked on it, what was done when, what there is, and whether all of it holds:');
  await stint(['process', 'list']);
  await stint(['timeline']);
  await stint(['list', '--all']);
  await stint(['doctor']);

  const meta: { verdict: string } = JSON.parse(
    readFileSync(join(session.folder, 'rounds/round-1/round-meta.json'), 'utf8'),
  );
  const mapped: MapPayload = JSON.parse(readFileSync(join(session.run, 'map-meta.json'), 'utf8'));
  const files = mapped.sections.flatMap((section) => section.files);
  if (files.length !== changedFiles(range.text).length) throw new Error(`the map has ${plural(files.length, 'file')}`);
  const { status, current_round: round, activity } = ask(['status']);
  if (status !== 'active' || round !== 2 || activity !== 'none')
    throw new Error(
      `the review is ${String(status)} in round ${String(round)}, ${String(activity)}: not active in round 2, none`,
    );
  const { outcome } = ask(['status', '--session', `map:${name}`]);
  if (outcome !== 'completed') throw new Error(`the map is ${String(outcome)}, not completed`);
  return `Shown: a lead, ${plural(Object.keys(reviewers).length, 'reviewer')} and a successor on ${plural(range.commits, 'real commit')}; a reviewer killed with its verb, and the lead; ${seqs.length} notes acknowledged by the reviewers, none lost; 2 processes swept in one transaction; verdict ${meta.verdict} from ${plural(findingsOf(reviewsIn(session)).length, 'finding')}; a map of ${plural(files.length, 'file')} in ${plural(mapped.sections.length, 'section')}; ${plural(events(session).length, 'event')}, healthy.`;
};

/** What the lead tells before it is killed. */
interface LeadReport {
  /** The name of the session. */
  readonly name: string;
  /** Who was killed. */
  readonly victim: string;
  readonly killed: Kill & {
    /** The event that holds its note, if there is one. */
    readonly found: number | undefined;
  };
  /** The notes that were acknowledged, by the numbers of their events. */
  readonly seqs: readonly number[];
}

const reportOf = async (child: ChildProcess): Promise<LeadReport> =>
  new Promise((resolve) => {
    child.on('message', (message: { readonly report?: LeadReport }) => {
      if (message.report !== undefined) resolve(message.report);
    });
  });

/** Whatever was acknowledged is in the log. */
const checkNotes = (log: readonly LoggedEvent[], killed: LeadReport['killed'], seqs: readonly number[]): void => {
  if (killed.seq !== undefined && killed.found !== killed.seq)
    throw new Error(`note ${killed.seq} was acknowledged and is lost`);
  const lost = seqs.filter((seq) => log[seq - 1]?.type !== 'Noted');
  if (lost.length > 0) throw new Error(`acknowledged and not in the log: ${lost.join(', ')}`);
};

/** List and status tell that whoever worked on it is gone, and what comes next without them. */
const checkInterrupted = (): void => {
  const { sessions } = ask(['list']);
  const [listed] = Array.isArray(sessions) ? sessions : [];
  const { activity, next_action_kind: next } = ask(['status']);
  if (listed?.activity !== 'interrupted' || activity !== 'interrupted' || next === 'wait')
    throw new Error(`the review is ${String(listed?.activity)} and ${String(activity)}, and next is ${String(next)}`);
};

// The repository.

/** A clone of this project's history, or its files in commits of their own where there is none. Answers which. */
const makeRepository = (folder: string, project: string): string => {
  mkdirSync(join(folder, 'home'));
  const config = join(folder, 'home/.gitconfig');
  writeFileSync(
    config,
    '[safe]\n\tdirectory = *\n[user]\n\tname = stint demo\n\temail = demo@invalid\n[init]\n\tdefaultBranch = main\n[core]\n\tquotePath = false\n',
  );
  Object.assign(environment, {
    HOME: join(folder, 'home'),
    GIT_CONFIG_GLOBAL: config,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  });

  const reason = cloneHistory(project);
  if (reason === undefined) {
    return `This project's own history is cloned: ${plural(countCommits(project), 'commit')}.`;
  }
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project);
  gitAt(project, 'init', '--quiet');
  const skipped = new Set(['.git', '.stint', '.ocr', 'node_modules', 'dist']);
  const entries = readdirSync(root, { withFileTypes: true }).filter(({ name }) => !skipped.has(name));
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  for (const names of [files, ...folders.toSorted().map((name) => [name])]) {
    for (const name of names) cpSync(join(root, name), join(project, name), { recursive: true });
    gitAt(project, 'add', '--all');
    // An empty folder makes no commit.
    if (gitAt(project, 'status', '--porcelain') !== '')
      gitAt(project, 'commit', '--quiet', '-m', names.length === 1 ? `${names[0]}/` : 'files at the root');
  }
  return `${reason}, so its files are committed to a new repository: ${plural(countCommits(project), 'commit')}.`;
};

/** Clones the history; answers why that cannot be used, where it cannot. */
const cloneHistory = (project: string): string | undefined => {
  if (!existsSync(join(root, '.git'))) return 'This project lies here without its history';
  const cloned = spawnSync('git', ['clone', '--quiet', '--no-hardlinks', root, project], {
    env: environment,
    encoding: 'utf8',
  });
  if (cloned.error !== undefined) throw new Error(`git is needed: ${cloned.error.message}`);
  if (cloned.status !== 0) return 'The history of this project cannot be cloned';
  const { status } = spawnSync('git', ['rev-parse', '--quiet', '--verify', 'HEAD~1'], {
    cwd: project,
    env: environment,
  });
  return status === 0 ? undefined : 'The history that is here is too short';
};

const countCommits = (project: string): number =>
  Number(gitAt(project, 'rev-list', '--first-parent', '--count', 'HEAD'));

interface Range {
  readonly text: string;
  readonly commits: number;
}

/** The newest commits: at least two where there are, so many that they change four files of code, at most eight. */
const chooseRange = (): Range => {
  const most = Math.min(8, countCommits('.') - 1);
  let commits = Math.min(2, most);
  while (commits < most && changedFiles(`HEAD~${commits}..HEAD`).filter(isCode).length < 4) commits += 1;
  const name = (commit: string): string => git('rev-parse', '--short', commit).trim();
  return { text: `${name(`HEAD~${commits}`)}..${name('HEAD')}`, commits };
};

/** Files that are there after the change. */
const changedFiles = (range: string): readonly string[] =>
  git('diff', '--name-only', '--no-renames', '--diff-filter=d', '-z', range)
    .split('\0')
    .filter((path) => path !== '');

const isCode = (path: string): boolean => /\.[cm]?[jt]s$/.test(path) && !path.includes('.gen.');

const git = (...parameters: readonly string[]): string => gitAt('.', ...parameters);

const gitAt = (cwd: string, ...parameters: readonly string[]): string => {
  const { status, stdout, stderr, error } = spawnSync('git', parameters, {
    cwd,
    env: environment,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw new Error(`git ${parameters.join(' ')}: ${error?.message ?? stderr}`);
};

// The lead: a process that is killed in the end.

const lead = async (): Promise<void> => {
  const range = chooseRange();
  await stint(['begin', 'review']);
  const session = where();
  say('From now on STINT_SESSION names the session, and STINT_PROCESS the process that acts.');
  environment['STINT_SESSION'] = session.key;
  await startAs(['--kind', 'supervisor', '--role', 'lead', '--pid', String(process.pid)]);
  writeStandards(session);
  await stint(['advance', 'change-context']);
  writeContext(session, range);
  await stint(['advance', 'analysis']);
  await stint([
    'note',
    `${git('diff', '--shortstat', range.text).trim()}; reviewers: ${Object.keys(reviewers).join(', ')}`,
  ]);

  const types = Object.keys(reviewers);
  const victim = types[Math.floor(Math.random() * types.length)] ?? '';
  say(
    `${types.length} reviewers start at once, each a process of its own, and register as instances of the lead. They give no pid: they stand for agents inside the lead's program. Whoever comes first enters the phase, for the others that changes nothing. One of them will be killed (SIGKILL) together with the verb that it runs, at a random moment of that verb.`,
  );
  const reports = await Promise.all(types.map((type) => startReviewer(type, type === victim)));
  const killed = reports.find((report) => report.killed !== undefined)?.killed;
  if (killed === undefined) throw new Error('no reviewer was killed');
  const noted = events(session).find((event) => event.data['text'] === killed.note);

  say('How far is it? What is done, which files are there, how much was found, and who is waited for:');
  await stint(['progress', '--once']);
  const { next_action: next } = ask(['status']);
  if (!JSON.stringify(next).includes(`Wait for ${victim}-1.`))
    throw new Error(`nobody is told to wait for ${victim}: ${JSON.stringify(next)}`);
  const present = reviewsIn(session).map(({ type }) => type);
  const expected = types.filter((type) => type !== victim || killed.wrote);
  if (present.toSorted().join() !== expected.toSorted().join()) throw new Error(`the reviews are of ${present.join()}`);
  const report: LeadReport = {
    name: session.name,
    victim,
    killed: { ...killed, found: noted?.seq },
    seqs: reports.flatMap(({ seqs }) => seqs),
  };
  process.send?.({ report });
  // It waits for the reviewer, and for what becomes of itself.
  await new Promise(() => {
    setInterval(() => {}, 60_000);
  });
};

// What the lead writes.

const writeStandards = (session: Where): void => {
  const manifest: { scripts?: Record<string, string> } = existsSync('package.json')
    ? JSON.parse(readFileSync('package.json', 'utf8'))
    : {};
  const tracked = git('ls-files').split('\n');
  const known =
    /^(?:README|CONTRIBUTING|ARCHITECTURE|AGENTS|CHANGELOG)\.md$|^\.?(?:oxlintrc|oxfmtrc|editorconfig)|^tsconfig/;
  writeFile(
    join(session.folder, 'discovered-standards.md'),
    [
      '# Standards of the project',
      '',
      ...tracked.filter((path) => known.test(path)).map((path) => `- ${path}`),
      ...Object.entries(manifest.scripts ?? {}).map(([name, line]) => `- npm run ${name}: \`${line}\``),
    ].join('\n'),
  );
};

const writeContext = (session: Where, range: Range): void =>
  writeFile(
    join(session.folder, 'context.md'),
    [
      '# Context of the change',
      '',
      `Range: ${range.text}`,
      `Reviewers: ${Object.keys(reviewers).join(', ')}`,
      '',
      git('log', '--format=- %h %s', range.text).trimEnd(),
      '',
      git('diff', '--stat=100', range.text).trimEnd(),
    ].join('\n'),
  );

/** What `context.md` says to whoever reads it. */
const readContext = (session: Where): { readonly range: string; readonly types: readonly string[] } => {
  const text = readFileSync(join(session.folder, 'context.md'), 'utf8');
  const field = (name: string): string => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1] ?? '';
  return { range: field('Range'), types: field('Reviewers').split(', ') };
};

// A reviewer: a process that is started with a type.

const review = async (type: string): Promise<void> => {
  const session = where();
  await startAs([
    '--kind',
    'instance',
    '--role',
    'reviewer',
    '--persona',
    type,
    '--instance',
    '1',
    '--phase',
    'reviews',
  ]);
  await stint(['advance', 'reviews']);
  const { range } = readContext(session);
  await stint(['note', `${type}: looks at ${plural(changedFiles(range).length, 'file')} of ${range}`]);
  await writeReview(session, type, range);
  await stint(['process', 'end']);
};

const writeReview = async (session: Where, type: string, range: string): Promise<void> => {
  const findings = reviewers[type]?.(readChange(range)) ?? [];
  const path = join(session.reviews, `${type}-1.md`);
  writeFile(
    path,
    [
      `# Review: ${type}`,
      '',
      `${plural(findings.length, 'finding')} in ${range}.`,
      '',
      ...findings.flatMap(({ title, category, severity, file_path: file, line_start: line, summary }) => [
        `## Finding: ${title}`,
        '',
        `${category}, ${severity}, ${file}${line === undefined ? '' : `:${line}`}: ${summary}`,
        '',
      ]),
      '```json',
      JSON.stringify(findings, null, 2),
      '```',
    ].join('\n'),
  );
  await stint(['note', `${type}: ${plural(findings.length, 'finding')} in ${basename(path)}`]);
};

/** The reviews that are there, with the findings that they hold. */
const reviewsIn = (session: Where): readonly Review[] =>
  (existsSync(session.reviews) ? readdirSync(session.reviews) : [])
    .filter((name) => name.endsWith('-1.md'))
    .toSorted()
    .map((name) => {
      const text = readFileSync(join(session.reviews, name), 'utf8');
      return {
        type: name.slice(0, -'-1.md'.length),
        findings: JSON.parse(/^```json\n(.*)\n```$/ms.exec(text)?.[1] ?? '[]'),
      };
    });

interface Review {
  readonly type: string;
  readonly findings: readonly Finding[];
}

const findingsOf = (reviews: readonly Review[]): readonly Finding[] => reviews.flatMap((one) => one.findings);

/** A finding as `round-meta.json` has it. */
interface Finding {
  readonly title: string;
  readonly category: 'blocker' | 'should_fix' | 'suggestion' | 'style';
  readonly severity: 'critical' | 'high' | 'medium' | 'low' | 'info';
  readonly summary: string;
  readonly file_path: string;
  readonly line_start?: number;
  readonly line_end?: number;
}

// The process that goes on.

const goOn = async (): Promise<void> => {
  await stint(['process', 'sweep']);
  await startAs(['--kind', 'supervisor', '--role', 'lead', '--pid', String(process.pid)]);
  const session = where();
  const { range, types } = readContext(session);
  const present = reviewsIn(session).map(({ type }) => type);
  const missing = types.filter((type) => !present.includes(type));
  say(
    `context.md asks for ${types.join(', ')}; there are reviews of ${present.join(', ')}. Left to do: ${missing.join(', ') || 'nothing'}.`,
  );
  for (const type of missing) await writeReview(session, type, range);

  say('Finishing now is refused, because the round is not complete:');
  await stint(['finish'], { exit: 6 });

  say('So the work goes on, phase by phase.');
  await stint(['advance', 'aggregation']);
  const reviews = reviewsIn(session);
  const findings = findingsOf(reviews);
  const count = (category: Finding['category']): number => findings.filter((one) => one.category === category).length;
  const blockers = count('blocker');
  const tally = `${plural(blockers, 'blocker')}, ${count('should_fix')} to fix, ${plural(count('suggestion'), 'suggestion')}, ${count('style')} of style`;
  await stint(['note', `aggregated: ${tally}`]);

  const met = [...new Set(findings.map((one) => one.file_path))].filter(
    (path) => reviews.filter((one) => one.findings.some((finding) => finding.file_path === path)).length > 1,
  );
  if (met.length === 0) {
    await stint(['advance', '--skip', 'discourse', '--reason', 'no two reviewers have a finding in the same file']);
  } else {
    await stint(['advance', 'discourse']);
    const said = (path: string): readonly string[] =>
      reviews.flatMap(({ type, findings: own }) =>
        own.filter((one) => one.file_path === path).map((one) => `- ${type}: ${one.title} (${one.category})`),
      );
    writeFile(
      join(session.round, 'discourse.md'),
      ['# Where reviewers meet', ...met.flatMap((path) => ['', `## ${path}`, '', ...said(path)])].join('\n'),
    );
    await stint(['advance', 'synthesis']);
  }

  const verdict = blockers > 0 ? 'REQUEST CHANGES' : 'APPROVE';
  say(`The findings decide the verdict: ${tally}, hence ${verdict}.`);
  const list = findings.map((one) => `- ${one.category}: ${one.file_path}: ${one.title}`);
  writeFile(join(session.round, 'final.md'), [`# ${verdict}`, '', `${tally}.`, '', ...list].join('\n'));
  const payload = JSON.stringify({
    schema_version: 1,
    verdict,
    reviewers: reviews.map(({ type, findings: own }) => ({ type, instance: 1, findings: own })),
    synthesis_counts: { blockers, should_fix: count('should_fix'), suggestions: count('suggestion') },
  });
  await stint(['complete-round', '--stdin', '--require-final'], { input: payload });

  say('Had the answer been lost, the same again would be safe: nothing happens twice.');
  const before = events(session).length;
  await stint(['complete-round', '--stdin', '--require-final'], { input: payload });
  const twice = events(session).length - before;
  if (twice !== 0) throw new Error(`the repeated complete-round left ${twice} events`);
  await stint(['finish']);
  await stint(['process', 'end']);
  delete environment['STINT_PROCESS'];

  say('Later there is more to review: the session goes on under its name, with its second round.');
  await stint(['begin', 'review', '--name', session.name]);
};

// The map: a process of its own.

/** What `complete-map` takes. */
interface MapPayload {
  readonly schema_version: 1;
  readonly sections: readonly MapSection[];
}

interface MapSection {
  readonly section_number: number;
  readonly title: string;
  readonly files: readonly {
    readonly file_path: string;
    readonly role: string;
    readonly lines_added: number;
    readonly lines_deleted: number;
  }[];
}

const map = async (): Promise<void> => {
  const session = where();
  const { range } = readContext(session);
  await stint(['begin', 'map', '--name', session.name]);
  environment['STINT_SESSION'] = `map:${session.name}`;
  const sections = sectionsOf(range);
  await stint(['advance', 'topology']);
  const list = sections.flatMap(({ title, files }) => [
    `## ${title}`,
    '',
    ...files.map((one) => `- ${one.file_path}`),
    '',
  ]);
  writeFile(join(session.run, 'topology.md'), ['# Sections', '', ...list].join('\n'));
  await stint(['advance', 'flow-analysis']);
  writeFile(join(session.run, 'flow-analysis.md'), ['# What names what', '', ...namesOf(sections)].join('\n'));
  await stint(['advance', '--skip', 'requirements-mapping', '--reason', 'no requirements were given']);
  writeFile(join(session.run, 'map.md'), [`# Map of ${range}`, '', ...list].join('\n'));
  const payload: MapPayload = { schema_version: 1, sections };
  await stint(['complete-map', '--stdin', '--require-final'], { input: JSON.stringify(payload), from: 'map.json' });
  await stint(['finish']);
};

/** The files of a change by their folders. */
const sectionsOf = (range: string): readonly MapSection[] => {
  const counts = new Map(
    git('diff', '--numstat', '--no-renames', '-z', range)
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => {
        const [added = '', deleted = '', path = ''] = line.split('\t');
        return [path, { added: Number(added) || 0, deleted: Number(deleted) || 0 }];
      }),
  );
  const folders = Map.groupBy(changedFiles(range), (path) => path.split('/').slice(0, -1).slice(0, 2).join('/') || '.');
  return [...folders].map(([title, paths], index) => ({
    section_number: index + 1,
    title,
    files: paths.map((path) => ({
      file_path: path,
      role: path.includes('.test.') || path.startsWith('test/') ? 'test' : isCode(path) ? 'code' : 'document',
      lines_added: counts.get(path)?.added ?? 0,
      lines_deleted: counts.get(path)?.deleted ?? 0,
    })),
  }));
};

/** Which files of the change name which others. */
const namesOf = (sections: readonly MapSection[]): readonly string[] => {
  const paths = sections.flatMap(({ files }) => files.map((file) => file.file_path));
  return paths.filter(isCode).flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const named = paths.filter((other) => other !== path && text.includes(`/${basename(other)}'`));
    return named.length === 0 ? [] : [`- ${path}: ${named.join(', ')}`];
  });
};

// What the reviewers look at, and how.

interface Change {
  readonly range: string;
  readonly files: readonly ChangedFile[];
}

interface ChangedFile {
  readonly path: string;
  /** The whole file after the change. */
  readonly lines: readonly string[];
  /** The numbers of the lines that the change added. */
  readonly added: readonly number[];
}

const readChange = (range: string): Change => ({
  range,
  files: changedFiles(range)
    .filter((path) => isCode(path) || path === 'package.json')
    .map((path) => {
      const difference = git('diff', '--unified=0', '--no-color', '--no-ext-diff', '--no-renames', range, '--', path);
      const added = [...difference.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)].flatMap(([, start, length = '1']) =>
        Array.from({ length: Number(length) }, (_, index) => Number(start) + index),
      );
      return { path, added, lines: git('show', `${range.split('..')[1]}:${path}`).split('\n') };
    }),
});

/** A finding about some of the added lines of a file, or none. */
const aboutLines = (
  { path, lines, added }: ChangedFile,
  isMeant: (line: string) => boolean,
  rest: Pick<Finding, 'title' | 'category' | 'severity'>,
): readonly Finding[] => {
  const found = added.filter((number) => isMeant(lines[number - 1] ?? ''));
  const [first] = found;
  if (first === undefined) return [];
  const shown = found.slice(0, 8).join(', ') + (found.length > 8 ? `, and ${found.length - 8} more` : '');
  return [{ ...rest, summary: `${plural(found.length, 'added line')}: ${shown}.`, file_path: path, line_start: first }];
};

const longLines = (file: ChangedFile): readonly Finding[] =>
  isCode(file.path)
    ? aboutLines(file, (line) => line.length > 120, {
        title: 'Lines of more than 120 characters',
        category: 'style',
        severity: 'info',
      })
    : [];

/** Functions at the left margin that are longer than a screen or two, where the change touched them. */
const longFunctions = (file: ChangedFile): readonly Finding[] => {
  const findings: Finding[] = [];
  file.lines.forEach((line, index) => {
    const name = /^(?:export )?(?:async )?(?:const|function\*?) (\w+).*(?:\{|\()$/.exec(line)?.[1];
    if (name === undefined) return;
    const length = file.lines.slice(index + 1).findIndex((later) => /^[^\s/]/.test(later)) + 2;
    const isTouched = file.added.some((number) => number > index && number <= index + length);
    if (length <= 80 || !isTouched) return;
    findings.push({
      title: `${name} is ${length} lines long`,
      category: 'suggestion',
      severity: 'low',
      summary: 'It was changed, and is longer than 80 lines.',
      file_path: file.path,
      line_start: index + 1,
      line_end: index + length,
    });
  });
  return findings;
};

const longFile = ({ path, lines }: ChangedFile): readonly Finding[] =>
  isCode(path) && lines.length > 600
    ? [
        {
          title: `A file of ${lines.length} lines`,
          category: 'suggestion',
          severity: 'low',
          summary: 'It was changed, and is longer than 600 lines.',
          file_path: path,
        },
      ]
    : [];

/** What belongs to the making of a change and not into it. */
const leftovers = (file: ChangedFile): readonly Finding[] => {
  if (!isCode(file.path)) return [];
  const isProduct = file.path.startsWith('src/') && !file.path.endsWith('.test.ts');
  return [
    ...aboutLines(file, (line) => /^(?:<{7}|>{7}) /.test(line), {
      title: 'Markers of a merge conflict',
      category: 'blocker',
      severity: 'critical',
    }),
    ...aboutLines(file, (line) => isProduct && /^\s*(?:console\.\w+\(|debugger\b)/.test(line), {
      title: 'Output for debugging',
      category: 'blocker',
      severity: 'high',
    }),
    ...aboutLines(file, (line) => /^\s*(?:test|it|describe|suite)\.only\(/.test(line), {
      title: 'A test that keeps the others from running',
      category: 'blocker',
      severity: 'high',
    }),
    ...aboutLines(file, (line) => /^[^'"`]*(?::|\bas)\s+any\b/.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line), {
      title: 'A value of type any',
      category: 'should_fix',
      severity: 'medium',
    }),
    ...aboutLines(file, (line) => /^\s*(?:\/\/|\/?\*+) ?(?:TODO|FIXME|XXX)\b/.test(line), {
      title: 'Work that was left for later',
      category: 'should_fix',
      severity: 'low',
    }),
  ];
};

/** New dependencies, and those whose version is not exact. */
const dependencies = ({ range, files }: Change): readonly Finding[] => {
  const file = files.find(({ path }) => path === 'package.json');
  if (file === undefined) return [];
  const before = dependenciesIn(
    git('ls-tree', '--name-only', range.split('..')[0] ?? '').includes('package.json')
      ? git('show', `${range.split('..')[0]}:package.json`)
      : '{}',
  );
  return [...dependenciesIn(file.lines.join('\n'))]
    .filter(([name, version]) => before.get(name) !== version)
    .map(([name, version]) => {
      const isExact = /^\d+\.\d+\.\d+/.test(version);
      return {
        title: `${before.has(name) ? 'Another version' : 'A new dependency'}: ${name} ${version}`,
        category: isExact ? 'suggestion' : 'blocker',
        severity: isExact ? 'info' : 'high',
        summary: isExact ? 'Its version is exact; say why it is needed.' : 'Its version is not exact.',
        file_path: 'package.json',
      };
    });
};

const dependenciesIn = (manifest: string): ReadonlyMap<string, string> => {
  const {
    dependencies: own = {},
    devDependencies: development = {},
  }: Record<string, Record<string, string>> = JSON.parse(manifest);
  return new Map(Object.entries({ ...own, ...development }));
};

/** Modules that no test names. */
const withoutTest = ({ files }: Change): readonly Finding[] => {
  const tests = git('ls-files', '*.test.ts', 'test/*')
    .split('\n')
    .filter((path) => path !== '');
  const texts = tests.map((path) => readFileSync(path, 'utf8'));
  return files
    .filter(({ path }) => isCode(path) && path.startsWith('src/') && !tests.includes(path))
    .filter(({ path }) => !texts.some((text) => text.includes(`/${basename(path)}'`)))
    .map(({ path, added }) => ({
      title: `No test imports ${basename(path)}`,
      category: 'should_fix',
      severity: added.length > 40 ? 'medium' : 'low',
      summary: `${plural(added.length, 'line')} of it are new or changed.`,
      file_path: path,
    }));
};

const withoutComment = (file: ChangedFile): readonly Finding[] => {
  if (!file.path.startsWith('src/') || extname(file.path) !== '.ts' || file.path.endsWith('.test.ts')) return [];
  const bare = new Set(
    file.lines.filter(
      (line, index) => /^export (?!type \{|\{|\*)/.test(line) && !(file.lines[index - 1] ?? '').endsWith('*/'),
    ),
  );
  return aboutLines(file, (line) => bare.has(line), {
    title: 'Exports without a comment',
    category: 'suggestion',
    severity: 'low',
  });
};

// Processes.

/** What every process that is started gets to see: nothing of whoever runs the demo but what it takes. */
const environment: Record<string, string> = Object.fromEntries(
  [
    'PATH',
    'HOME',
    'TMPDIR',
    'TEMP',
    'TMP',
    'SystemRoot',
    'NO_COLOR',
    'TERM',
    'GIT_CONFIG_GLOBAL',
    'GIT_CONFIG_NOSYSTEM',
    'GIT_TERMINAL_PROMPT',
    'STINT_ACTOR',
    'STINT_SESSION',
    'STINT_PROCESS',
  ]
    .map((name) => [name, process.env[name]])
    .filter((entry): entry is [string, string] => entry[1] !== undefined),
);

const actAs = (actor: string, folder: string): void =>
  void Object.assign(environment, { STINT_ACTOR: actor, HOME: join(folder, 'home') });

/** What runs now, to be ended when the demo is. */
const running = new Set<ChildProcess>();

/** How long verbs took so far, in milliseconds. */
const durations: number[] = [];

/** Runs a verb as it is printed; what it prints goes to the same place. Another exit code than the expected one is an error. */
const stint = async (
  parameters: readonly string[],
  {
    exit: expected = 0,
    input,
    from = 'findings.json',
  }: { readonly exit?: number; readonly input?: string; readonly from?: string } = {},
): Promise<void> => {
  const line = `stint ${parameters.map(quoted).join(' ')}${input === undefined ? '' : ` < ${from}`}`;
  print(`${emphasized(`$ ${line}`)}\n`);
  const start = performance.now();
  const child = spawn(process.execPath, [command, ...parameters], {
    env: environment,
    // Refusals too go to standard output, so that a transcript has them in their place.
    stdio: [input === undefined ? 'ignore' : 'pipe', 1, 1],
  });
  process.send?.({ verb: parameters[0], pid: child.pid, text: parameters[1] });
  child.stdin?.end(input);
  const code = await exitOf(child);
  durations.push(performance.now() - start);
  if (code !== 0) print(`(exit ${code})\n`);
  if (code !== expected) throw new Error(`${line}: exit ${code}, expected ${expected}`);
};

/** Registers this process, and lets every verb that follows say that it is the one that acts. */
const startAs = async (parameters: readonly string[]): Promise<void> => {
  const line = `stint process start ${parameters.map(quoted).join(' ')}`;
  print(`${emphasized(`$ export STINT_PROCESS=$(${line})`)}\n`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'process', 'start', ...parameters], {
    env: environment,
    encoding: 'utf8',
  });
  const id = stdout.trim();
  if (status !== 0 || !/^[0-9A-Z]{26}$/.test(id)) throw new Error(`${line}: exit ${status}: ${stdout}${stderr}`);
  environment['STINT_PROCESS'] = id;
};

const exitOf = async (child: ChildProcess): Promise<number | string> => {
  running.add(child);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
  } finally {
    running.delete(child);
  }
};

/** Asks what only the demo itself wants to know. */
const ask = (parameters: readonly string[]): Readonly<Record<string, unknown>> => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...parameters, '--json'], {
    env: environment,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`stint ${parameters.join(' ')} --json: exit ${status}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
};

interface Where {
  readonly key: string;
  readonly name: string;
  readonly folder: string;
  readonly round: string;
  readonly reviews: string;
  /** The folder of the first run of a map. */
  readonly run: string;
}

/** The session that is meant, and its folders. */
const where = (): Where => {
  const { session: key, session_id: name, folder } = ask(['status']);
  const round = join(String(folder), 'rounds/round-1');
  const run = join(String(folder), 'map/runs/run-1');
  return { key: String(key), name: String(name), folder: String(folder), round, reviews: join(round, 'reviews'), run };
};

interface LoggedEvent {
  readonly seq: number;
  readonly type: string;
  readonly cause: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const events = (session: Where): readonly LoggedEvent[] => {
  const { events: all } = ask(['log', '--session', session.key]);
  return Array.isArray(all) ? all : [];
};

/** A process of this program under another role. */
const startProcess = (
  parameters: readonly string[],
  actor: string,
  stdio: ('ignore' | 'inherit' | 'pipe' | 'ipc')[],
): { readonly child: ChildProcess; readonly exit: Promise<number | string> } => {
  const child = spawn(process.execPath, [import.meta.filename, ...parameters], {
    env: { ...environment, STINT_ACTOR: actor },
    stdio,
  });
  const exit = exitOf(child).then((code) => {
    if (code === 0 || child.killed) return code;
    throw new Error(`the process ${parameters.join(' ')} ended with ${code}`);
  });
  return { child, exit };
};

interface Report {
  /** The notes that were acknowledged, by the numbers of their events. */
  readonly seqs: readonly number[];
  readonly killed: Kill | undefined;
}

interface Kill {
  /** Milliseconds from the start of the verb. */
  readonly after: number;
  readonly note: string;
  /** The number that the verb had answered, if it had. */
  readonly seq: number | undefined;
  /** Whether the review was written all the same. */
  readonly wrote: boolean;
}

/** Starts a reviewer and passes on what it prints. The victim is killed during its first note. */
const startReviewer = async (type: string, isVictim: boolean): Promise<Report> => {
  const { child, exit } = startProcess(['reviewer', type], `reviewer/${type}`, ['ignore', 'pipe', 'pipe', 'ipc']);
  const seqs: number[] = [];
  let hit: { readonly start: number; readonly note: string; readonly pid: number } | undefined;
  let after: number | undefined;
  const strike = (): void => {
    if (hit === undefined || after !== undefined) return;
    after = Math.round(performance.now() - hit.start);
    kill(hit.pid);
    child.kill('SIGKILL');
  };

  child.on('message', (message: { verb: string; pid: number; text: string }) => {
    if (!isVictim || hit !== undefined || message.verb !== 'note') return;
    hit = { start: performance.now(), note: message.text, pid: message.pid };
    setTimeout(strike, Math.random() * 2 * median(durations));
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      print(`${`[${type}]`.padEnd(12)}${line}\n`);
      const seq = /: noted \((\d+)\)$/.exec(line)?.[1];
      if (seq === undefined) return;
      seqs.push(Number(seq));
      // A verb that was faster than chance is killed as soon as it has answered.
      strike();
    });
  }
  await exit;
  if (!isVictim) return { seqs, killed: undefined };
  if (hit === undefined || after === undefined) throw new Error(`the reviewer ${type} ended before it was killed`);
  const wrote = existsSync(join(where().reviews, `${type}-1.md`));
  return { seqs, killed: { after, note: hit.note, seq: seqs[0], wrote } };
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It had just ended by itself.
  }
};

// Text.

/** Written at once, so that it stands before whatever the next process prints. */
const print = (text: string): void => {
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(1, bytes, offset);
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
};

/** A sentence or two on what goes on, in lines of at most 100 characters. */
const say = (text: string): void => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > 100) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  print(`\n${lines.map((line) => `# ${line}`).join('\n')}\n`);
};

/** Bold on a terminal, plain in a pipe. */
const emphasized = (text: string): string => styleText('bold', text, { stream: process.stdout });

const quoted = (parameter: string): string =>
  /^[\w./:@%+=-]+$/.test(parameter) ? parameter : `'${parameter.replaceAll("'", `'\\''`)}'`;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Whole or not at all: a reviewer may be killed at any moment. */
const writeFile = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  writeFileSync(temporary, `${text}\n`);
  renameSync(temporary, path);
};

// A process whose demo is gone has nobody to report to.
process.once('disconnect', () => process.exit(1));

try {
  await main();
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}
