/**
 * One task that is passed around between two worktrees and three agents, some of whom are killed in the midst of a verb. What
 * is planned depends on the seed alone. The judge knows the documents by their headings and the log by `show`, and nothing
 * of how one is made of the other.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { current, leaseFile, root } from './documents.ts';
import { randomFrom } from './random.ts';
import { dumpStore, litterIn } from './stores.ts';
import {
  command,
  createWorld,
  listOf,
  noon,
  outcomeOfChild,
  type Outcome,
  type Printed,
  type Tidying,
  type TestWorld,
} from './world.ts';

/** What a campaign came to. */
export interface PassingSummary {
  readonly passages: number;
  readonly kills: number;
  readonly conflicts: number;
  /** What was written by hand, and how often documents were told to be other than the log. */
  readonly edits: number;
  readonly told: number;
}

/** A moment at which a verb is killed: just before one of its changes on disk, or after some milliseconds. */
type Moment = { readonly step: number } | { readonly milliseconds: number };

/** What an agent does while it has the task. `pick` chooses among what is there by then. */
interface Deed {
  readonly what: (typeof deeds)[number];
  readonly pick: number;
  readonly kill: Moment | undefined;
}

/** One agent has the task, in one of the worktrees. */
interface Passage {
  readonly agent: string;
  readonly place: number;
  readonly comes: 'begin' | 'resume';
  readonly deeds: readonly Deed[];
  /** Whether it hands over, or is just gone. */
  readonly leaves: boolean;
}

const agents = ['ana', 'ben', 'cleo'];
const places = ['main', 'second'];
/** Deeds that are one verb each: of an agent, with words of its own. */
const verbs = {
  update: (by, word) => ['handoff', 'update', '--updated-by', by, '--current-step', word, '--what-was-done', word],
  steps: (by, word) => ['handoff', 'update', '--updated-by', by, '--remaining-step', word, '--remaining-step', 'End'],
  note: (_, word) => ['note', word, '--session', key],
  decision: (_, word) => ['note', 'decision', word, '--session', key],
  block: (_, word) => ['block', word, '--needs', 'a key', '--session', key],
  unblock: () => ['unblock', '--session', key],
  archive: () => ['handoff', 'archive'],
  rebuild: () => ['rebuild', '--session', key],
} satisfies Readonly<Record<string, (by: string, word: string) => readonly string[]>>;

const isVerb = (what: Deed['what']): what is keyof typeof verbs => what in verbs;

const deeds = [
  ...(['update', 'update', 'steps', 'note', 'decision', 'block', 'unblock', 'archive', 'rebuild'] as const),
  ...(['edit', 'edit', 'edit both', 'edit step', 'restore', 'commit', 'merge', 'merge', 'old version'] as const),
];

const key = 'task:2026-03-17-main';
const resume = ['resume', '--session', key];

const planOf = (seed: number, passages: number): readonly Passage[] => {
  const random = randomFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const moment = (): Moment | undefined =>
    random() < 0.75 ? undefined : random() < 0.7 ? { step: 1 + below(45) } : { milliseconds: 40 + below(160) };
  return Array.from({ length: passages }, (_, index) => ({
    agent: oneOf(agents),
    place: index === 0 ? 0 : below(places.length),
    comes: oneOf(['begin', 'resume'] as const),
    deeds: Array.from({ length: 2 + below(4) }, () => ({ what: oneOf(deeds), pick: random(), kill: moment() })),
    leaves: random() < 0.7,
  }));
};

/** Passes a task around so many times and judges after everything that happens. */
export const passAround = async (tidying: Tidying, seed: number, passages: number): Promise<PassingSummary> => {
  const said: string[] = [];
  try {
    return await carryOut(tidying, planOf(seed, passages), (line) => void said.push(line));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${reason}\n${said.slice(-40).join('\n')}`, { cause: error });
  }
};

const carryOut = async (
  tidying: Tidying,
  plan: readonly Passage[],
  say: (line: string) => void,
): Promise<PassingSummary> => {
  const counts = { kills: 0, conflicts: 0, edits: 0, told: 0 };
  const base = createWorld(tidying);
  const folders = [base.project, join(base.root, 'second')];
  base.git('worktree', 'add', '-q', folders[1] ?? '', '-b', 'second');
  /** What was written by hand, and whether somebody has taken it back, by hand or with git, before it was known. */
  const marks = new Map<string, { isTakenBack: boolean }>();
  let seconds = 0;

  const worldOf = (agent: string, place: number): TestWorld => {
    seconds += 20;
    const now = new Date(Date.parse(noon) + seconds * 1000).toISOString();
    return base.with({ cwd: folders[place] ?? '', now, env: { STINT_ACTOR: agent, STINT_HOST: `of-${agent}` } });
  };
  const fileAt = (place: number, path: string): string => join(folders[place] ?? '', path);
  const textAt = (place: number, path: string): string | undefined =>
    existsSync(fileAt(place, path)) ? readFileSync(fileAt(place, path), 'utf8') : undefined;

  /** Runs a verb as an agent, perhaps to its death: whatever it answers, it is no bug, and the store is not damaged. */
  const run = async (agent: string, place: number, args: readonly string[], kill?: Moment): Promise<Outcome> => {
    const outcome = await runVerb(worldOf(agent, place), folders[place] ?? '', args, kill);
    if (outcome.signal !== null) counts.kills += 1;
    const { error } = outcome.json ?? {};
    say(
      `${agent} ${places[place]}: ${args.join(' ')}${kill === undefined ? '' : ` ${JSON.stringify(kill)}`} -> ${outcome.signal ?? outcome.status}${error === undefined ? '' : ` ${error.message}`}${outcome.stderr === '' ? '' : ` | ${outcome.stderr.trimEnd()}`}`,
    );
    if (outcome.signal === null)
      assert.ok([0, 3, 4, 5, 6, 7, 9, 10].includes(outcome.status ?? -1), `${args.join(' ')}: ${outcome.stdout}`);
    return outcome;
  };

  /** Comes to work: whoever holds the task and is gone loses it, and where the documents are not here, they are brought. */
  const come = async (agent: string, place: number, args: readonly string[], force: string): Promise<void> => {
    let outcome = await run(agent, place, args);
    for (let attempt = 0; outcome.status !== 0 && attempt < 4; attempt += 1) {
      const { status, json } = outcome;
      if (status === 10) assert.notEqual(worldOf(agent, place).run('show', key, '--json').json.session.lease, null);
      else
        await follow(agent, place, [
          status === 6 ? ['stint', ...resume, '--take-over'].join(' ') : String(json.error.hint),
        ]);
      outcome = await run(agent, place, [...args, force]);
    }
    assert.equal(outcome.status, 0, `${args.join(' ')}: ${outcome.stdout}`);
  };

  /** Does what stint says is to be done. Where it asks for words, the task is there already, and is brought here. */
  const follow = async (agent: string, place: number, commands: readonly string[]): Promise<void> => {
    for (const [line = '', instead = ''] of commands.map((one) => one.split(' || '))) {
      const words = / (?:TASK|NAME)\b/.test(line) ? resume : line.replaceAll('WHO', agent).split(' ').slice(1);
      if (!line.startsWith('stint ')) continue;
      const { status } = await run(agent, place, words);
      const [, path] = /^mv (\S+) \S+$/.exec(instead) ?? [];
      if (status !== 0 && path !== undefined) giveUp(agent, path);
      if (status !== 0 && instead.startsWith('${EDITOR')) await takeAway(agent, place, instead);
    }
  };

  /** A file that somebody takes away, with what was written into it by hand and is nowhere else. */
  const giveUp = (agent: string, path: string): void => {
    const known = logText();
    const text = readFileSync(path, 'utf8');
    for (const [mark, state] of marks) if (!known.includes(mark) && text.includes(mark)) state.isTakenBack = true;
    rmSync(path);
    say(`${agent}: took ${path} away`);
  };

  /** What somebody with an editor may do about an archived pair that a merge has mixed: have what is on record instead. */
  const takeAway = async (agent: string, place: number, line: string): Promise<void> => {
    const [, stamp] = /(\d{8}_\d{4})_(?:handover|session-state)\.md$/.exec(line) ?? [];
    if (stamp === undefined) return;
    const docs = filesBelow(join(folders[place] ?? '', 'docs'));
    for (const path of docs.filter((one) => one.includes(stamp))) giveUp(agent, path);
    await run(agent, place, ['handoff', 'repair', '--updated-by', agent]);
  };

  const git = (place: number, ...args: readonly string[]): string => {
    const child = spawnSync('git', args, { cwd: folders[place] ?? '', env: base.env, encoding: 'utf8' });
    say(`git ${places[place]}: ${args.join(' ')} -> ${child.status} ${child.stdout.trim()} ${child.stderr.trim()}`);
    return child.stdout;
  };

  const logText = (): string => JSON.stringify(dumpStore(base)['event']);

  /** What git is about to take out of the files is its own to keep where nobody knows of it yet. */
  const giveToGit = (place: number): void => {
    git(place, 'add', '-A', 'docs');
    git(place, 'commit', '-q', '-m', 'documents');
    const known = logText();
    const files = documentsIn(folders).join('\n');
    for (const [mark, state] of marks) if (!known.includes(mark) && files.includes(mark)) state.isTakenBack = true;
  };

  /** Takes the lines of a conflict out of the documents that a merge has left, and one of the sides. */
  const solve = (place: number, pick: number): void => {
    for (const path of filesBelow(join(folders[place] ?? '', 'docs'))) {
      const text = readFileSync(path, 'utf8');
      if (text.includes('<<<<<<< ')) writeFileSync(path, solved(text, pick));
    }
    git(place, 'add', '-A', 'docs');
    git(place, 'commit', '-q', '--no-edit');
  };

  const edit = (place: number, pick: number, what: Deed['what']): void => {
    const paths = [current, ...handoverIn(textAt(place, current))];
    const chosen = what === 'edit both' ? paths : [paths[Math.floor(pick * paths.length)] ?? current];
    for (const path of chosen) {
      const text = textAt(place, path);
      if (text === undefined || text.includes('<<<<<<< ')) continue;
      const mark = `mark-${marks.size + 1}`;
      marks.set(mark, { isTakenBack: false });
      counts.edits += 1;
      const changed =
        what === 'edit step'
          ? text.replace(/(\n## Current step\n).*\n/, `$1By hand ${mark}\n`)
          : pick * 7 - Math.floor(pick * 7) < 0.5
            ? `${text.replace(/\n*$/, '\n')}${text.includes('\n## Notes\n') ? '' : '\n## Notes\n'}- ${mark}\n`
            : text.replace(/(\n## Decisions and assumptions\n|\n- Decisions:\n)/, `$1- Decision: ${mark}\n`);
      if (!changed.includes(mark)) marks.delete(mark);
      for (const [other, state] of marks)
        if (text.includes(other) && !changed.includes(other)) state.isTakenBack = true;
      writeFileSync(fileAt(place, path), changed);
      say(`by hand ${places[place]}: ${what} ${path} ${mark}`);
    }
  };

  const act = async ({ agent, place }: Passage, { what, pick, kill }: Deed): Promise<void> => {
    const word = `${what} ${seconds}`;
    const folder = folders[place] ?? '';
    if (isVerb(what)) {
      await run(agent, place, verbs[what](agent, word), kill);
      return;
    }
    switch (what) {
      case 'restore': {
        const stamps = filesBelow(fileAt(place, `${root}/session-state`)).flatMap(
          (path) => /\/(\d{8}_\d{4})_session-state\.md$/.exec(path)?.[1] ?? [],
        );
        const stamp = stamps[Math.floor(pick * stamps.length)];
        const restore = ['handoff', 'restore', '--updated-by', agent, '--force', '--timestamp'];
        if (stamp !== undefined) await run(agent, place, [...restore, stamp], kill);
        return;
      }
      case 'edit':
      case 'edit both':
      case 'edit step':
        return edit(place, pick, what);
      case 'commit':
        git(place, 'add', '-A', 'docs');
        git(place, 'commit', '-q', '-m', word);
        return;
      case 'merge':
        giveToGit(place);
        git(place, 'merge', '-q', '--no-edit', places[1 - place] ?? '');
        if (!hasConflict(folder)) return;
        counts.conflicts += 1;
        judge(agent, place);
        await run(agent, place, verbs.update(agent, word), kill);
        judge(agent, place);
        return solve(place, pick);
      case 'old version': {
        giveToGit(place);
        const commits = git(place, 'log', '--format=%H', '--', 'docs').trim().split('\n');
        const commit = commits[Math.floor(pick * commits.length)] ?? '';
        if (commit !== '') git(place, 'checkout', '-q', commit, '--', 'docs');
      }
    }
  };

  /**
   * The documents of a checkout say what the log says, or `ready` tells why they do not; and where they do, it tells nothing
   * of the kind. Answers what `ready` says.
   */
  const judge = (agent: string, place: number): Printed => {
    const world = worldOf(agent, place);
    const ready = world.run('handoff', 'ready', '--json');
    assert.ok(ready.status === 0 || ready.status === 6, `handoff ready: ${ready.stdout}${ready.stderr}`);
    const shown = world.run('show', key, '--json');
    assert.equal(shown.status, 0, shown.stdout);
    const state = textAt(place, current);
    const [handover] = handoverIn(state);
    const differences = differencesOf(
      shown.json.session,
      state,
      handover === undefined ? undefined : textAt(place, handover),
    );
    const reasons = listOf(ready.json.reasons).filter(({ severity }) => severity === 'blocking');
    const ofDocuments = reasons.filter(({ code }) => !ofWork.has(code));
    say(
      `judged in ${places[place]}: ${ready.json.verdict} (${reasons.map(({ code }) => code).join(', ')})${differences.length === 0 ? '' : `; ${differences.join('; ')}`}`,
    );
    assert.equal(ready.json.ready, reasons.length === 0);
    const { lease } = shown.json.session;
    const held = reasons.filter(({ code }) => code === 'lease-held' || code === 'lease-stale');
    assert.ok(
      held.every(({ text }) => lease !== null && String(text).includes(`holder ${lease.holder}`)),
      `held is what the log says is held: ${JSON.stringify([held, lease])}`,
    );
    const file = holderIn(textAt(place, leaseFile));
    if (file !== undefined && file !== lease?.holder)
      assert.ok(ofDocuments.length > 0, `${leaseFile} says ${file}, the log ${lease?.holder}, and that is not told`);
    if (differences.length > 0) {
      counts.told += 1;
      assert.ok(
        ofDocuments.length > 0,
        `documents are not what the log says and that is not told: ${differences.join('; ')}`,
      );
    }
    return ready.json;
  };

  const judgeAll = (agent: string): void => {
    for (const place of places.keys()) {
      const { reasons } = judge(agent, place);
      const validated = worldOf(agent, place).run('handoff', 'validate', '--json');
      const isTold = listOf(reasons).some(({ code, severity }) => severity === 'blocking' && !ofWork.has(code));
      assert.ok([0, 4, 6, 7].includes(validated.status ?? -1), validated.stdout);
      assert.ok(isTold || validated.status === 0, `what is not valid is told: ${validated.stdout}`);
    }
    const kept = `${logText()}\n${documentsIn(folders).join('\n')}`;
    for (const [mark, { isTakenBack }] of marks) assert.ok(isTakenBack || kept.includes(mark), `${mark} is lost`);
  };

  const made = await run('ana', 0, [
    ...['handoff', 'new', '--task', 'Ship it', '--updated-by', 'ana', '--next-owner', 'ben'],
    ...['--remaining-step', 'Begin', '--remaining-step', 'End'],
  ]);
  assert.equal(made.status, 0, made.stdout);
  assert.equal(made.json.session, key);
  for (const [index, passage] of plan.entries()) {
    const { agent, place } = passage;
    say(`passage ${index + 1}: ${agent} in ${places[place]}`);
    if (passage.comes === 'resume') await come(agent, place, resume, '--take-over');
    const begin = ['handoff', 'begin', '--holder', agent, '--purpose', `passage ${index + 1}`];
    await come(agent, place, begin, '--force-lease');
    for (const deed of passage.deeds) {
      await act(passage, deed);
      judge(agent, place);
    }
    if (passage.leaves) {
      const end = ['handoff', 'end', '--holder', agent, '--next-owner', agents[index % agents.length] ?? ''];
      const first = await run(agent, place, [...end, '--release-force']);
      let ready = first.status === 0 ? first.json.readiness : judge(agent, place);
      for (let attempt = 0; ready.ready !== true && attempt < 5; attempt += 1) {
        await follow(agent, place, listOf(ready.next_actions).map(String));
        ready = judge(agent, place);
        // What stint itself could not put right.
        for (const line of listOf(ready.next_actions).map(String))
          if (line.startsWith('${EDITOR')) await takeAway(agent, place, line);
        ready = judge(agent, place);
      }
      assert.ok(ready.ready === true, `what stint says would help has helped: ${JSON.stringify(ready.reasons)}`);
    }
    judgeAll(agent);
  }
  assert.equal(worldOf('ana', 0).run('doctor', '--json').status, 0);
  assert.deepEqual(
    litterIn(base).filter((path) => !path.includes('.kept-')),
    [],
  );
  return { passages: plan.length, ...counts };
};

/** Reasons about the work, not about whether its documents are what the log says. */
const ofWork: ReadonlySet<string> = new Set([
  'lease-held',
  'lease-stale',
  'step-in-doubt',
  'blocker-without-needs',
  'file-not-there',
  'validation-old',
]);

const runVerb = async (
  world: TestWorld,
  cwd: string,
  args: readonly string[],
  kill: Moment | undefined,
): Promise<Outcome> => {
  if (kill === undefined) return world.run(...args, '--json');
  if ('milliseconds' in kill) {
    const { child, outcome } = world.start(...args, '--json');
    const timer = setTimeout(() => void child.kill('SIGKILL'), kill.milliseconds);
    const result = await outcome;
    clearTimeout(timer);
    return result;
  }
  const loaded = ['--no-warnings', '--import', join(import.meta.dirname, 'kill-at-step.ts')];
  const child = spawn(process.execPath, [...loaded, command, ...args, '--json'], {
    cwd,
    env: { ...world.env, STINT_TEST_STEP: `${kill.step}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return outcomeOfChild(child);
};

/** The sections of a document that the log says too, in both halves. */
const said = (text: string, names: readonly string[]): readonly string[] => {
  const bodies = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => {
        const [name = '', ...body] = section.split('\n');
        const items = body.map((line) => line.replace(/^(?:- |\d+\. )/, '').trim()).filter((line) => line !== '');
        return [name.trim(), items.join(' ')] as const;
      }),
  );
  return names.map((name) => bodies.get(name) ?? 'missing');
};

/** The handover that a session state names. */
const handoverIn = (state = ''): readonly string[] => {
  const [, name] = /\n## Handover pointer\n\.\.\/(handovers\/\S+)\n/.exec(state) ?? [];
  return name === undefined ? [] : [`${root}/${name}`];
};

/** Who holds the task as a file says it; undefined where there is none. */
const holderIn = (text: string | undefined): string | undefined => {
  try {
    return text === undefined ? undefined : String(JSON.parse(text).holder);
  } catch {
    return 'nobody knows who';
  }
};

/** What documents say otherwise than the log; that they are not there, or hold a conflict, too. */
const differencesOf = (
  session: Printed,
  state: string | undefined,
  handover: string | undefined,
): readonly string[] => {
  if (state === undefined || handover === undefined) return ['a document is missing'];
  if ([state, handover].some((text) => /^(?:<{7}|>{7}) /m.test(text))) return ['a merge has left a conflict'];
  const [stateNames, handoverNames] = [
    ['Task', 'Status', 'Next owner', 'Remaining steps', 'Current step'],
    ['Task summary', 'Status', 'Next owner', 'Remaining work', 'Current step'],
  ];
  const steps = listOf(session.remaining_steps).map(({ text }) => String(text));
  const wanted = [
    ...[session.goal, session.task_status, session.next_owner].map(String),
    steps.join(' ').replaceAll(/\s+/g, ' ') || 'None',
    // Words for what is none of the steps are in the documents alone: there the two say the same.
    session.current_step ?? said(state, ['Current step'])[0],
  ];
  return [
    ...said(state, stateNames).map((text, at) => ({ where: `state, ${stateNames[at]}`, text, want: wanted[at] })),
    ...said(handover, handoverNames).map((text, at) => ({
      where: `handover, ${handoverNames[at]}`,
      text,
      want: wanted[at],
    })),
  ].flatMap(({ where, text, want }) => (text === want ? [] : [`${where}: ${text} for ${want}`]));
};

const solved = (text: string, pick: number): string =>
  text.replaceAll(/^<{7} .*\n([\s\S]*?)^={7}\n([\s\S]*?)^>{7} .*\n/gm, (_, ours: string, theirs: string) =>
    pick < 0.5 ? ours : theirs,
  );

const filesBelow = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];

const documentsIn = (folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) => filesBelow(join(folder, 'docs')).map((path) => readFileSync(path, 'utf8')));

const hasConflict = (folder: string): boolean => documentsIn([folder]).some((text) => text.includes('<<<<<<< '));
