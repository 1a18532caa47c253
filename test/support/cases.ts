/** The public collection of cases that hurt users of other tools, and which of its rules are tested here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shared } from './world.ts';

/** One case. */
export interface PublicCase {
  /** What must hold, in our words. */
  readonly rule: string;
  /** The file whose tests are named after the case. */
  readonly file: string;
  /** Another file with tests that are named after it: what of it concerns the documents of a hand-off. */
  readonly also?: string;
  /** What of it does not concern a review in this program, and why. */
  readonly notHere?: string;
}

const first = 'cases.test.ts';
const second = 'cases-text.test.ts';
const third = 'progress.test.ts';
const fourth = 'cases-processes.test.ts';
const fifth = 'cases-original.test.ts';
const sixth = 'cases-leases.test.ts';
const seventh = 'cases-runs.test.ts';
const eighth = 'cases-brief.test.ts';
const ninth = 'journal.test.ts';
const documents = 'cases-handoff.test.ts';
const damage = 'damage.test.ts';
const runs = 'import-runs.test.ts';
const orchestrator = 'import-orchestrator.test.ts';
const bundles = 'cases-bundles.test.ts';

/** The cases that concern reviews and runs and their state, by their id. */
export const publicCases: Readonly<Record<string, PublicCase>> = {
  A01: {
    rule: 'a log whose end is cut off is read as far as it goes, and what is missing is named; an unfinished record is not missed',
    file: damage,
    notHere: 'its events.jsonl is of another tool: the frames of our log stand for its lines',
  },
  A03: {
    rule: 'NULs in the middle of the log hide nothing behind them, and are told',
    file: damage,
    notHere: 'its events.jsonl is of another tool: the frames of our log stand for its lines',
  },
  A05: {
    rule: 'what is empty is told beside what is healthy, and refused by name',
    file: damage,
    notHere:
      'its session files are of another tool: the rows of a session stand for them, and an empty file for a store',
  },
  A07: { rule: 'a full disk is named, nothing has changed, and with room the same command works', file: damage },
  A08: { rule: 'garbage in the database is named, read around and repaired, and the bad file is kept', file: damage },
  A10: {
    rule: 'a record that was written half and then whole counts once',
    file: damage,
    notHere: 'its events.jsonl is of another tool: the frames of our log stand for its lines',
  },
  B01: { rule: 'many writers lose nothing, and readers never see a torn file', file: 'races.test.ts' },
  B03: {
    rule: 'a held lock is waited for; past the deadline the holder is named, and nothing looks done',
    file: 'races.test.ts',
  },
  B05: {
    rule: 'a store on another machine is refused by the name of its file system',
    file: damage,
    notHere:
      'that who holds a session or works on it elsewhere is not judged by its pid: cases-leases.test.ts and -processes',
  },
  B06: { rule: 'where locks or shared memory do not work, that is said by name, with a way out', file: damage },
  B07: {
    rule: 'what is done to one session leaves the others as they are',
    file: first,
    notHere: 'its sessions.json is a list of another tool: the three sessions are begun instead',
  },
  C01: { rule: 'of many that claim at once one gets it, and the others are told who', file: 'lease-races.test.ts' },
  C03: {
    rule: 'who held a session and is gone is replaced at the next claim, on record',
    file: sixth,
    notHere: 'its lease file is of another tool: the lease is claimed instead, here and in the other cases',
  },
  C05: {
    rule: 'who is alive and renews is not replaced; who was stopped past its time writes nothing when it comes back',
    file: sixth,
  },
  C06: {
    rule: 'a session whose lease ran out is interrupted since then, and goes on from where it was',
    file: sixth,
    notHere: 'its node: a review has no steps; those of other kinds are interrupted by the next claim (sheet.test.ts)',
  },
  C08: { rule: 'a holder that expired and was succeeded writes nothing, and that is told', file: sixth },
  C10: {
    rule: 'verbs that do several things take the lock once and do not wait for themselves',
    file: first,
    notHere: 'checkpoints, exports and hooks are no verbs of this program yet',
  },
  C11: {
    rule: 'a session that ended without doing anything is listed, can be closed, and is in the way of none',
    file: fourth,
    notHere: 'its state file is of another tool: the session is begun instead',
  },
  C12: { rule: 'two worktrees of one commit are two places without a conflict', file: first },
  D01: {
    rule: 'nobody comes to work on a session that somebody holds without saying so, and it is on record',
    file: eighth,
    notHere: 'its state file is of another tool: its goal is that of the session; other verbs: cases-leases.test.ts',
  },
  D02: { rule: 'what cannot be found or read is refused, and nothing is begun in its stead', file: first },
  D05: { rule: 'the file that names the place is read leniently and does not grow', file: first },
  D06: { rule: 'a name that is nearly right is never taken for another one', file: first },
  D07: {
    rule: 'an attempt to go on that failed for an outside reason closes nothing and spoils nothing',
    file: sixth,
    notHere:
      'templates: a review has none; a lease of somebody else and a store that is away stand for the missing file',
  },
  D08: { rule: 'to go on with a session and leave it changes nothing about it', file: first },
  D10: {
    rule: 'a fresh conversation is not sent to a session that somebody holds, in its own checkout or in another',
    file: eighth,
    notHere: 'its hook comes through a surface that is not there yet: the verbs that it would ask stand for it',
  },
  E01: { rule: 'projects whose paths look alike share nothing', file: first },
  E03: {
    rule: 'a project that was moved keeps its sessions',
    file: first,
    notHere: 'a note of where it was moved from: nothing is keyed by a path, so there is nothing to note',
  },
  E04: { rule: 'a project is the same through a link and through its real path', file: first },
  E07: {
    rule: 'no path of this machine is stored, and a path in a finding stays what it is',
    file: first,
    notHere: 'artifact and log paths and archiving: a review has none; paths with that prefix exist on Windows only',
  },
  E08: {
    rule: 'blanks, percent signs, quotes and shell characters in paths are plain text',
    file: first,
    notHere: 'roots of MCP clients and working folders of hooks come through surfaces that are not there yet',
  },
  E09: {
    rule: 'a path is taken from where the caller is, kept from the root, and none leads out of that',
    file: ninth,
    also: documents,
  },
  F01: {
    rule: 'nothing is closed by itself, and nothing is deleted at all, however old it is',
    file: fifth,
    notHere: 'pruning: no verb deletes a session; its script begins sessions with goals, of which a review has none',
  },
  F04: { rule: 'what people remarked survives whatever becomes of files', file: fifth },
  G01: {
    rule: 'what was under way is in doubt, told with its key, and done again only where somebody says so',
    file: eighth,
    notHere: 'its events are of another tool: a node that was started with the id of its task stands for them',
  },
  G02: {
    rule: 'what was done before is never handed out again, wherever and by whomever it is gone on with',
    file: runs,
  },
  G06: {
    rule: 'what cannot be read while others are recovered is told, left as it was, and got the next time',
    file: seventh,
    notHere:
      'its sessions and its fault hook: the results that five workers have left stand for them, one of which cannot be read; the exit code, since the others were recovered',
  },
  G07: { rule: 'a round is completed once, whoever asks how often', file: first },
  G09: {
    rule: 'the links of a node to the outside are those of its attempt, and the next attempt has none of them',
    file: runs,
    notHere: 'restoring a checkpoint and forking a run are no verbs of this program yet',
  },
  G10: {
    rule: 'a run stands where its newest event left it, whatever its newest checkpoint says, and without that too',
    file: seventh,
    notHere: 'its events and its snapshot are of another tool: a run that goes on behind a checkpoint stands for them',
  },
  H01: {
    rule: 'what nobody works on any more is interrupted, since when it was last heard of, wherever it is shown',
    file: runs,
    notHere:
      'its lease file is of another tool: a review whose supervisor is gone stands for it (cases-processes.test.ts); a dashboard',
  },
  H02: {
    rule: 'no phase is passed over silently, and a closed review goes on without losing a round',
    file: first,
    notHere: 'archiving: a closed session stands for it',
  },
  H04: {
    rule: 'nothing that is claimed falsely completes a round: files that are not there, empty or other ones, and checks that nobody knows',
    file: first,
    notHere: 'reviewer files: what lies in a folder is shown as missing, and never decides',
  },
  H06: {
    rule: 'rounds are in the order of their numbers, and folders that are found are no sessions; on request they are taken over, closed',
    file: fifth,
  },
  H07: {
    rule: 'who was killed has ended, and no exit code is made up',
    file: fourth,
    notHere: 'its journal is of another tool: its processes are started and ended instead',
  },
  H08: {
    rule: 'nothing to do yet is 0/0, on a terminal of any width',
    file: runs,
  },
  H10: {
    rule: 'what is not over lasts until now and says so; a start that is not known gives no time',
    file: runs,
  },
  H11: {
    rule: 'a session that is ended twice has ended once, and so has a process',
    file: first,
    notHere: 'the hook at the end of an agent comes through a surface that is not there yet: process end stands for it',
  },
  H13: {
    rule: 'no answer, of whatever shape, is shown with a word of our own innards',
    file: third,
    notHere: 'its state files are of another tool, whose formats are not read yet; a dashboard',
  },
  I01: {
    rule: 'what a newer program wrote keeps its version and all of its fields',
    file: fifth,
    notHere: 'its state file is of another tool: an event of a newer version stands for it',
  },
  I03: {
    rule: 'nothing is hidden for what it lacks, and what is taken over is taken on request alone',
    file: fifth,
    notHere: 'its history is of another tool: databases of every schema stand for it',
  },
  I05: {
    rule: 'what runs in an older form is taken over running, and can be completed and finished',
    file: fifth,
    notHere: 'its state file is of another tool: older databases stand for it',
  },
  I07: {
    rule: 'line ends make no payload and no document another one',
    file: second,
    also: documents,
    notHere: 'bundles and manifests: there are none yet; the digest of a template is kept, and compared with nothing',
  },
  J01: { rule: 'no half character gets into the store or out of it', file: second, also: documents },
  J03: {
    rule: 'line ends and byte order marks make no difference, UTF-16 is refused by name',
    file: second,
    also: documents,
  },
  J04: { rule: 'the locale has no say in encodings', file: second, also: documents },
  J05: {
    rule: 'names made of anything are safe file names, and what they were made of is kept',
    file: second,
    also: documents,
  },
  J07: {
    rule: 'texts come back as they were and forge no line of an output',
    file: second,
    also: documents,
  },
  K01: {
    rule: 'every time has its zone, in and out, and durations do not depend on the zone of the machine',
    file: second,
    notHere: 'state files of other tools that mix forms of times',
  },
  K04: {
    rule: 'a time from the future keeps nobody alive whose process is gone and nobody out, and doctor remarks on the clock',
    file: fourth,
  },
  L01: {
    rule: 'where a session with 100,000 events stands, and the newest of them, is read in a moment and in little memory',
    file: damage,
    notHere: 'records of 50 MB: no verb takes one (see L04)',
  },
  L04: {
    rule: 'a payload is taken whole however it comes, or refused with the limit; an interrupt changes nothing',
    file: second,
  },
  M01: {
    rule: 'no secret gets into store, log or mirror',
    file: second,
    notHere: 'bundles and the replies of a dashboard',
  },
  M03: { rule: 'ids, hashes and prose are left alone', file: second, notHere: 'signatures are not made yet' },
  M05: {
    rule: 'no session and no name is a path',
    file: second,
    notHere: 'MCP tools, hooks and URLs come through surfaces that are not there yet',
  },
  M09: {
    rule: 'what others wrote is data with its origin in one fence, and no command in it is run',
    file: eighth,
    notHere: 'its hand-off document: its text is a goal and a decision; whether it is committed or local',
  },
  M14: {
    rule: 'a bundle without a proof, or with one that proves nothing, is never taken for one that is proved, whatever flag is given',
    file: bundles,
    notHere: 'its bundles are of another tool: their signatures are put on one of ours',
  },
  N01: {
    rule: 'two that begin the same get different names, and a name is never given twice',
    file: second,
    notHere: 'checkpoints and archives',
  },
  N03: {
    rule: 'of a git conflict nothing is chosen silently: file and line are told, each side can be chosen, and other sessions work',
    file: orchestrator,
    also: documents,
    notHere: 'a union by ids: its events.jsonl is of another tool, and the log here is no file that git merges',
  },
  N05: {
    rule: 'an older copy in another checkout is told, is read in place of nothing, and opens nothing that is over',
    file: documents,
    notHere: 'its state files are of another tool: the documents of a task, in two worktrees, stand for them',
  },
  N07: { rule: 'git sees nothing of ours, and reading changes nothing', file: second },
  O01: {
    rule: 'one id twice is a fault that is named, also in a ring, and nothing is followed for ever',
    file: seventh,
    notHere: 'its records are of another tool: they are nodes and edges of a template here',
  },
  O03: {
    rule: 'nodes that wait for each other in a ring are refused, and the ring is named',
    file: seventh,
    notHere: 'templates that include others: there is no such thing; a saved state with a ring: that is an import',
  },
  O05: {
    rule: 'odd graphs are faults with a name and a place, and a chain of 5,000 nodes is run',
    file: seventh,
    notHere:
      'a node in two batches or in none, and a plan without states: that is an import, since a plan is computed here',
  },
  P05: {
    rule: 'a store that may not be written is read, and refuses writers by name',
    file: second,
    notHere: 'exports',
  },
};

const folderOf = (id: string): string => {
  const folder = readdirSync(join(shared, 'cases')).find((name) => name.startsWith(`${id}-`));
  if (folder === undefined) throw new Error(`there is no case ${id}`);
  return join(shared, 'cases', folder);
};

/** The path of a file that belongs to a case. */
export const caseFile = (id: string, name: string): string => join(folderOf(id), name);

/** The lines of a text that belongs to a case, without the empty ones. */
export const caseLines = (id: string, name: string): readonly string[] =>
  readFileSync(caseFile(id, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
