/** Two machines that share a store on a server: two checkouts, two names, two homes. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import { current } from './support/documents.ts';
import { claim } from './support/leases.ts';
import { startServer, type TestServer } from './support/postgres.ts';
import { startProcess, startProgram } from './support/processes.ts';
import { approval, json, phases } from './support/reviews.ts';
import { createWorld, later, listOf, type TestWorld } from './support/world.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(async () => server.remove());

let projects = 0;

/** A project with two machines. */
const machines = (context: TestContext): readonly [desk: TestWorld, lap: TestWorld] => {
  projects += 1;
  const env = { STINT_STORE: server.url, STINT_PROJECT: `team-${projects}` };
  return [
    createWorld(context).with({ env: { ...env, STINT_HOST: 'desk', STINT_ACTOR: 'ana' } }),
    createWorld(context).with({ env: { ...env, STINT_HOST: 'lap', STINT_ACTOR: 'bob' } }),
  ];
};

const meta = '.ocr/sessions/shared/rounds/round-1/round-meta.json';

test('a session goes on from another machine, and its files are written at home alone, by the next verb there', (context) => {
  const [desk, lap] = machines(context);
  desk.answer('begin', 'review', '--name', 'shared');
  for (const phase of phases.slice(1, -1)) lap.answer('advance', phase, '--session', 'shared');
  lap.with({ input: json(approval) }).answer('complete-round', '-', '--session', 'shared');
  for (const machine of [desk, lap]) assert.equal(existsSync(machine.path(meta)), false);
  assert.equal(existsSync(lap.path('.ocr')), false, 'nothing of it is made in another checkout');
  const status = lap.answer('status', 'shared');
  assert.equal(status.here, false);
  assert.deepEqual(
    listOf(status.evidence).map(({ present }) => present),
    listOf(status.evidence).map(() => null),
  );
  assert.match(lap.run('status', 'shared').stdout, /^elsewhere +\.ocr\/sessions\/shared\//m);
  assert.equal(lap.answer('doctor').healthy, true, 'what lies elsewhere is not looked at');
  assert.match(JSON.stringify(desk.refusal(6, 'doctor')), /finding/);
  desk.answer('note', 'home again', '--session', 'shared');
  const written = readFileSync(desk.path(meta), 'utf8');
  assert.equal(JSON.parse(written).verdict, 'APPROVE');
  assert.equal(desk.answer('doctor').healthy, true);

  writeFileSync(desk.path(meta), 'edited');
  lap.answer('rebuild');
  lap.answer('note', 'from far', '--session', 'shared');
  assert.equal(readFileSync(desk.path(meta), 'utf8'), 'edited', 'another machine heals nothing here');
  desk.answer('rebuild');
  assert.equal(readFileSync(desk.path(meta), 'utf8'), written);
});

test('a session is put away from another machine, and its folder is moved at home, by the next verb there', (context) => {
  const [desk, lap] = machines(context);
  desk.answer('begin', 'review', '--name', 'shared');
  writeFileSync(desk.path('.ocr/sessions/shared/notes.md'), 'of the desk');
  const isIn = (...parts: readonly string[]): boolean => existsSync(desk.path('.ocr/sessions', ...parts, 'notes.md'));
  desk.answer('finish', '--abort');
  // What lies here under that name is nothing to it.
  lap.write('.ocr/sessions/archive/shared/other.md', 'of the lap');
  lap.write('.ocr/sessions/shared/other.md', 'of the lap');
  lap.answer('archive', 'shared');
  assert.deepEqual([isIn('shared'), isIn('archive/shared')], [true, false]);
  assert.equal(lap.answer('doctor').healthy, true, 'what lies elsewhere is not looked at');
  desk.refusal(6, 'doctor');
  desk.answer('list');
  assert.deepEqual([isIn('shared'), isIn('archive/shared')], [false, true]);
  assert.equal(desk.answer('doctor').healthy, true);
  lap.answer('unarchive', 'shared');
  desk.answer('note', 'back', '--session', 'shared');
  assert.deepEqual([isIn('shared'), isIn('archive/shared')], [true, false]);
  assert.equal(readFileSync(lap.path('.ocr/sessions/shared/other.md'), 'utf8'), 'of the lap');
});

test('a machine looks at its own sessions where none is named, and begins beside those of others', (context) => {
  const [desk, lap] = machines(context);
  assert.equal(desk.answer('begin', 'review').session, 'review:2026-03-17-main');
  assert.equal(lap.refusal(4, 'status').code, 'not-found');
  assert.equal(lap.answer('begin', 'review').session, 'review:2026-03-17-main-2');
  assert.equal(desk.answer('status').session, 'review:2026-03-17-main');
  assert.equal(lap.answer('status').session, 'review:2026-03-17-main-2');
  assert.equal(listOf(desk.answer('list').sessions).length, 2);
});

test('a holder on another machine is replaced by time or on purpose alone, and its own machine puts its dead on record', async (context) => {
  const [desk, lap] = machines(context);
  desk.answer('begin', 'review', '--name', 'shared');
  const program = await startProgram(context);
  const id = startProcess(desk, 'supervisor', '--session', 'shared', '--pid', String(program.pid));
  claim(desk.with({ env: { STINT_PROCESS: id } }), '--session', 'shared', '--ttl', '1h');
  await program.kill();
  assert.match(lap.refusal(10, 'lease', 'claim', '--session', 'shared').message, /whether it is alive is not known/);
  assert.equal(listOf(lap.answer('process', 'sweep').swept).length, 0);
  assert.equal(listOf(desk.answer('process', 'sweep').swept).length, 1);
  assert.equal(lap.answer('lease', 'claim', '--session', 'shared').after.because, 'gone', 'now everybody knows');
  lap.answer('advance', 'change-context', '--session', 'shared');
  desk.refusal(10, 'advance', 'analysis', '--session', 'shared');
});

/** What keeps the work from being handed over as a checkout tells it: codes, each with its command. */
const told = (machine: TestWorld): readonly (readonly [code: string, command: string])[] =>
  listOf(machine.run('handoff', 'ready', '--json').json.reasons)
    .filter(({ severity }) => severity === 'blocking')
    .map(({ code, command }) => [String(code), String(command)]);

test('documents are written at home alone: what others do is told there until it stands in them, and edits there wait for home', (context) => {
  const [desk, lap] = machines(context);
  const who = ['--updated-by', 'ana', '--next-owner', 'bob'];
  const { session } = desk.answer('handoff', 'new', '--task', 'Ship it', ...who);
  const first = readFileSync(desk.path(current), 'utf8');
  const of = ['--session', String(session)];
  lap.answer('block', 'no token', '--needs', 'a token', ...of);
  assert.equal(existsSync(lap.path('docs')), false, 'nothing of them is made in another checkout');
  assert.equal(readFileSync(desk.path(current), 'utf8'), first, 'nor written from there');
  assert.deepEqual(
    told(lap).map(([code]) => code),
    ['pair-missing'],
  );
  assert.deepEqual(
    told(desk).map(([code]) => code),
    ['documents-stale', 'documents-stale'],
  );
  desk.answer('list');
  assert.deepEqual(told(desk), []);
  assert.match(readFileSync(desk.path(current), 'utf8'), /## Blockers\n- no token\n/);

  const edited = readFileSync(desk.path(current), 'utf8').replace('- Decision: None', '- Decision: by hand');
  writeFileSync(desk.path(current), edited);
  lap.answer('note', 'from far', ...of);
  assert.equal(readFileSync(desk.path(current), 'utf8'), edited);
  assert.equal(listOf(lap.answer('journal', '--type', 'decision', ...of).entries).length, 0);
  assert.deepEqual(
    told(desk).map(([code]) => code),
    ['edit-not-taken'],
  );
  desk.answer('note', 'home', ...of);
  assert.equal(listOf(lap.answer('journal', '--type', 'decision', ...of).entries).length, 1);
});

test('documents go along with who resumes on another machine; those that stay behind are told, and what is written in them stays', (context) => {
  const [desk, lap] = machines(context);
  const who = ['--updated-by', 'ana', '--next-owner', 'bob'];
  const { session } = desk.answer('handoff', 'new', '--task', 'Ship it', ...who);
  lap.answer('resume', String(session));
  assert.deepEqual(told(lap), []);
  later(lap, 1).answer('handoff', 'update', '--updated-by', 'bob', '--current-step', 'On the lap');
  assert.match(readFileSync(lap.path(current), 'utf8'), /## Current step\nOn the lap\n/);
  assert.deepEqual(told(desk), [['documents-stale', `stint resume --session ${session}`]]);

  const behind = `${readFileSync(desk.path(current), 'utf8')}\n## Notes\nof the desk\n`;
  writeFileSync(desk.path(current), behind);
  later(lap, 2).answer('note', 'on', '--session', String(session));
  assert.equal(desk.refusal(9, 'handoff', 'update', '--updated-by', 'ana', '--current-step', 'x').code, 'conflict');
  assert.equal(readFileSync(desk.path(current), 'utf8'), behind);
  assert.deepEqual(
    told(desk).map(([code]) => code),
    ['documents-stale'],
  );
  // Back here, the next verb takes in what was written meanwhile, over what it has come to.
  const back = later(desk, 3);
  assert.match(back.run('resume', String(session)).stderr, /CURRENT\.md was edited; the next verb .* takes that in/);
  back.answer('note', 'back', '--session', String(session));
  const now = readFileSync(desk.path(current), 'utf8');
  assert.match(now, /## Current step\nOn the lap\n[^]*## Notes\nof the desk\n/);
  assert.deepEqual(told(back), []);
});
