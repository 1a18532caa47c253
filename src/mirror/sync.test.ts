import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { openStint, type Stint } from '../index.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { move, pairIn } from '../../test/support/pair.ts';
import { planMirror } from './plan.ts';
import { syncMirrors, type MirrorWorld } from './sync.ts';

test('a missing or older file is written, the newest is kept, any other is set aside first', () => {
  assert.equal(planMirror('b', 'b', true), 'keep');
  assert.equal(planMirror('b', 'a', true), 'write');
  assert.equal(planMirror('b', null, false), 'write');
  assert.equal(planMirror('b', 'x', false), 'set-aside');
});

test('nothing that was not made here is ever overwritten without being set aside', () => {
  const digest = fc.constantFrom('a', 'b', 'c', 'd');
  fc.assert(
    fc.property(digest, fc.option(digest), fc.boolean(), (wanted, found, wasMade) => {
      if (planMirror(wanted, found, wasMade) === 'write') assert.ok(found === null || wasMade);
    }),
  );
});

const payload = { schema_version: 1, verdict: 'APPROVE', reviewers: [] };

interface World {
  readonly stint: Stint;
  readonly cwd: string;
  readonly meta: string;
  readonly run: (
    verb: string,
    input?: Parameters<Stint['run']>[1],
    call?: Parameters<Stint['run']>[2],
  ) => Promise<Record<string, unknown>>;
}

/** A review whose round 1 is complete. */
const reviewed = async (t: TestContext): Promise<World> => {
  const cwd = mkdtempSync(join(tmpdir(), 'stint-mirror-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const stint = openStint({ cwd, actor: 'ana', now: () => '2026-03-17T14:30:22.000Z' });
  assert.ok(stint.ok);
  t.after(stint.value.close);
  const run: World['run'] = async (...call) => {
    const answer = await stint.value.run(...call);
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.value;
  };
  await run('begin', { kind: 'review', name: 'a' });
  for (const phase of ['change-context', 'analysis', 'reviews', 'aggregation']) await run('advance', { phase });
  await run('advance', { skip: 'discourse', reason: 'quick' });
  await run('complete-round', {}, { payload });
  return { stint: stint.value, cwd, meta: join(cwd, '.ocr/sessions/a/rounds/round-1/round-meta.json'), run };
};

const content = `${JSON.stringify(payload, null, 2)}\n`;

test('the mirror is what was stored, in the format of the original', async (t) => {
  const { meta } = await reviewed(t);
  assert.equal(readFileSync(meta, 'utf8'), content);
});

test('a mirror that was removed or is out of date is healed by the next writing verb, without a word', async (t) => {
  const { meta, run } = await reviewed(t);
  rmSync(meta);
  assert.equal((await run('note', { text: 'x' }))['warnings'], undefined);
  assert.equal(readFileSync(meta, 'utf8'), content);
});

test('a mirror that somebody changed is set aside and written anew, and it is said', async (t) => {
  const { meta, run } = await reviewed(t);
  writeFileSync(meta, 'mine');
  const { warnings } = await run('note', { text: 'x' });
  assert.match(String(warnings), /round-meta\.json had been changed .* kept as round-meta\.json\.kept-[0-9a-f]{8}/);
  assert.equal(readFileSync(meta, 'utf8'), content);
  const kept = readdirSync(dirname(meta)).filter((name) => name.includes('.kept-'));
  assert.deepEqual(
    kept.map((name) => readFileSync(join(dirname(meta), name), 'utf8')),
    ['mine'],
  );
  assert.equal((await run('note', { text: 'y' }))['warnings'], undefined);
});

test('a file that only changed its time is not written again', async (t) => {
  const { meta, run } = await reviewed(t);
  utimesSync(meta, 1, 1);
  const { ino } = statSync(meta);
  await run('note', { text: 'x' });
  assert.equal(statSync(meta).ino, ino);
});

test('a reading verb changes no mirror that was written before', async (t) => {
  const { meta, run } = await reviewed(t);
  writeFileSync(meta, 'mine');
  await run('status');
  assert.equal(readFileSync(meta, 'utf8'), 'mine');
});

test('doctor tells a mirror that is missing from one that was changed, and changes nothing', async (t) => {
  const { meta, stint } = await reviewed(t);
  const problems = async (): Promise<readonly string[]> => {
    const answer = await stint.run('doctor');
    if (answer.ok) return [];
    assert.equal(answer.error.refusal.code, 'invariant-unmet');
    return findingsOf(answer.error.report);
  };
  assert.deepEqual(await problems(), []);
  writeFileSync(meta, 'mine');
  assert.match((await problems()).join(), /was changed by somebody else/);
  rmSync(meta);
  assert.match((await problems()).join(), /is not there/);
  assert.equal(existsSync(meta), false);
});

test('rebuild makes the same bytes again, and lists the file', async (t) => {
  const { meta, run } = await reviewed(t);
  rmSync(dirname(meta), { recursive: true });
  const { sessions } = await run('rebuild');
  assert.deepEqual(sessions, [
    { session: 'review:a', rebuilt: false, files: ['.ocr/sessions/a/rounds/round-1/round-meta.json'], problem: null },
  ]);
  assert.equal(readFileSync(meta, 'utf8'), content);
});

test('a folder that cannot be written fails no verb: it is a warning, and the next verb heals', async (t) => {
  const { meta, run } = await reviewed(t);
  rmSync(dirname(meta), { recursive: true });
  writeFileSync(dirname(meta), 'a file where the folder was');
  assert.match(String((await run('note', { text: 'x' }))['warnings']), /a file is where a folder should be/);
  rmSync(dirname(meta));
  assert.equal((await run('note', { text: 'y' }))['warnings'], undefined);
  assert.equal(readFileSync(meta, 'utf8'), content);
});

test('a link never leads a mirror out of its checkout', async (t) => {
  const { meta, run } = await reviewed(t);
  const outside = mkdtempSync(join(tmpdir(), 'stint-outside-'));
  t.after(() => rmSync(outside, { recursive: true, force: true }));
  rmSync(dirname(meta), { recursive: true });
  symlinkSync(outside, dirname(meta));
  assert.match(String((await run('note', { text: 'x' }))['warnings']), /leads out of the checkout/);
  assert.deepEqual(readdirSync(outside), []);
});

test('nothing is written through a link in the place of a mirror', async (t) => {
  const { cwd, meta, run } = await reviewed(t);
  writeFileSync(join(cwd, 'theirs.json'), 'theirs');
  rmSync(meta);
  symlinkSync(join(cwd, 'theirs.json'), meta);
  assert.match(String((await run('note', { text: 'x' }))['warnings']), /it is no regular file/);
  assert.equal(readFileSync(join(cwd, 'theirs.json'), 'utf8'), 'theirs');
  assert.deepEqual(readdirSync(dirname(meta)), ['round-meta.json']);
});

test('what an interrupted verb left beside a mirror is gone after the next one', async (t) => {
  const { meta, run } = await reviewed(t);
  rmSync(meta);
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  writeFileSync(join(dirname(meta), `.round-meta.json.stint-${gone}-1.tmp`), 'half');
  await run('note', { text: 'x' });
  assert.deepEqual(readdirSync(dirname(meta)), ['round-meta.json']);
});

test('the folder of the sessions keeps itself out of git, and leaves a folder that was there alone', async (t) => {
  const { cwd, run } = await reviewed(t);
  assert.equal(readFileSync(join(cwd, '.ocr/sessions/.gitignore'), 'utf8'), '*\n');
  rmSync(join(cwd, '.ocr/sessions/.gitignore'));
  mkdirSync(join(cwd, '.ocr/sessions/theirs'));
  await run('begin', { kind: 'review', name: 'b' });
  assert.equal(existsSync(join(cwd, '.ocr/sessions/.gitignore')), false);
});

const findingsOf = (report: JsonObject | undefined): readonly string[] =>
  Array.isArray(report?.['findings']) ? report['findings'].map((finding) => JSON.stringify(finding)) : [];

/** A session of two mirrors that change with every move, and what they are. */
const moved = async (t: TestContext) => {
  const cwd = mkdtempSync(join(tmpdir(), 'stint-pair-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const world = pairIn(cwd);
  t.after(world.store.close);
  await move(world.store);
  assert.deepEqual(await syncMirrors(world, ['pair:a']), []);
  const files = ['z-snapshot', 'a-state'].map((name) => join(cwd, 'pairs/a', name));
  return { cwd, world, read: () => files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : null)) };
};

const versionOf = (seq: number): readonly string[] => [`z-snapshot of ${seq}\n`, `a-state of ${seq}\n`];

test('mirrors of one commit are written in the order in which the kind names them', async (t) => {
  const { cwd, world, read } = await moved(t);
  assert.deepEqual(
    (await world.store.mirrors(['pair:a'])).map(({ path }) => path),
    ['pairs/a/z-snapshot', 'pairs/a/a-state'],
  );
  const seen: (readonly (string | null)[])[] = [];
  const settleMirror: MirrorWorld['store']['settleMirror'] = async (...call) => {
    const isSettled = await world.store.settleMirror(...call);
    seen.push(read());
    return isSettled;
  };
  await move(world.store);
  await syncMirrors({ ...world, store: { ...world.store, settleMirror } }, ['pair:a']);
  assert.deepEqual(seen, [['z-snapshot of 3\n', 'a-state of 2\n'], versionOf(3)]);
  rmSync(join(cwd, 'pairs'), { recursive: true });
  assert.deepEqual(await syncMirrors(world, ['pair:a']), []);
  assert.deepEqual(read(), versionOf(3));
});

test('a session that moves on while its mirrors are written leaves no warning, no older file, and nothing stale for ever', async (t) => {
  const { world, read } = await moved(t);
  const { store } = world;
  const moveOnce = (): (() => Promise<void>) => {
    let isDone = false;
    return async () => {
      if (isDone) return;
      isDone = true;
      await move(store);
    };
  };
  for (const method of ['load', 'settleMirror'] as const) {
    await move(store);
    const before = read();
    const moveOn = moveOnce();
    const racing: MirrorWorld['store'] = {
      ...store,
      load: async (...call) => {
        if (method === 'load') await moveOn();
        return store.load(...call);
      },
      settleMirror: async (...call) => {
        if (method === 'settleMirror') await moveOn();
        return store.settleMirror(...call);
      },
    };
    assert.deepEqual(await syncMirrors({ ...world, store: racing }, ['pair:a']), [], method);
    assert.deepEqual(read(), before, `${method}: the newest version is somebody else's`);
    // A verb that only reads.
    assert.deepEqual(await syncMirrors(world, []), []);
    assert.deepEqual(read(), versionOf((await store.load('pair:a'))?.common.seq ?? 0), method);
  }
});

test('processes that write one mirror at once leave the newest version', async (t) => {
  const { cwd, world, read } = await moved(t);
  const script = `(await import(${JSON.stringify(new URL('../../test/support/pair.ts', import.meta.url).href)})).moveOften(process.argv[1], 12)`;
  const writers = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script, cwd], { stdio: ['ignore', 'ignore', 'inherit'] }),
  );
  const codes = await Promise.all(writers.map(async (writer) => once(writer, 'exit')));
  assert.deepEqual(
    codes.map(([code]) => Number(code)),
    [0, 0, 0, 0],
  );
  assert.equal((await world.store.load('pair:a'))?.common.seq, 2 + 48);
  assert.deepEqual(read(), versionOf(50));
  assert.deepEqual(await world.store.mirrors([]), []);
});
