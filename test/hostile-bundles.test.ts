/** Hostile bundles through every verb that reads one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { printBundle } from '../src/formats/bundle/bundle.ts';
import { openStint, type Stint } from '../src/postgres.ts';
import type { StoredEvent } from '../src/kernel/event.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { bundleWithDocuments } from './support/bundles.ts';
import { completeAgents, orchestrationIn, startAgents } from './support/orchestrations.ts';
import {
  fingerprintOf,
  hostileBundles,
  signedBy,
  trustedKey,
  type Forged,
  type HostileBundle,
} from './support/hostile-bundles.ts';
import { approval, json, reviewIn } from './support/reviews.ts';
import { claimStep, templateOf, work, writeTemplate } from './support/runs.ts';
import { treeOf } from './support/stores.ts';
import { createWorld, fileOnly, listOf, noon, type Printed, type TestWorld } from './support/world.ts';

/** Sessions as they travel: a task with documents, a review, a run and an orchestration. */
const travellers = (context: TestContext): readonly Forged[] => {
  const task = createWorld(context);
  const made = task.answer(
    'handoff',
    'new',
    '--task',
    'Move it',
    '--updated-by',
    'ana',
    '--next-owner',
    'ben',
    '--remaining-step',
    'Import',
  );
  task.answer('note', 'decision', 'kept', '--rationale', 'r', '--session', made.session);
  const { source = null, documents = null, report = null, readiness = null } = bundleWithDocuments(task, made.session);
  const review = reviewIn(context, 'synthesis');
  review.with({ input: json(approval) }).answer('complete-round', '-');
  const run = createWorld(context);
  writeTemplate(run, 'flow', templateOf([[work('A')], [work('B')]]));
  run.answer('run', 'flow', '--name', 'flow');
  const { token } = claimStep(run);
  run.answer('complete', 'A', '--attempt', '1', '--token', String(token), '--output', 'it is done');
  const orchestration = orchestrationIn(context);
  startAgents(orchestration, 'a');
  completeAgents(orchestration, 'a');
  return [
    forgedOf(task, made.session, { source, documents, report, readiness }),
    ...[review, run, orchestration].map((world) => forgedOf(world, undefined, {})),
  ];
};

const forgedOf = (world: TestWorld, named: string | undefined, changed: JsonObject): Forged => {
  const key = named ?? String(listOf(world.answer('list', '--json').sessions)[0].session);
  const shown: Printed = world.answer('show', key);
  const events: readonly StoredEvent[] = listOf(shown.events).map((event) => ({ ...event, session: key }));
  return { key, events, state: shown.session, changed };
};

/** A project that trusts one key, between things that are none of it. */
const ground = (root: string): string => {
  const project = join(root, 'project');
  mkdirSync(join(project, '.git/hooks'), { recursive: true });
  mkdirSync(join(project, 'docs/tests'), { recursive: true });
  mkdirSync(join(root, 'victim'));
  writeFileSync(join(root, 'victim/secret.md'), '# Handover\n\nTOPSECRET\n');
  writeFileSync(join(root, 'secret'), 'a shared secret\n');
  writeFileSync(
    join(project, 'docs/tests/handoff-bundle-trust-policy.json'),
    JSON.stringify({
      allow_inspection_warnings: true,
      allow_source_not_ready: true,
      require_signature: true,
      allowed_signature_schemes: ['sshsig'],
      allowed_public_key_fingerprints: [fingerprintOf(trustedKey)],
    }),
  );
  return project;
};

const open = async (cwd: string): Promise<Stint> => {
  const stint = await openStint({ cwd, actor: 'ben', host: 'here', now: () => noon });
  assert.ok(stint.ok);
  return stint.value;
};

/** What every verb about a bundle is asked that writes nothing, and what of the world may change with one that does. */
const reading: readonly (readonly [verb: string, input: JsonObject, call?: { readonly dryRun: true }])[] = [
  ['bundle inspect', {}],
  ['bundle verify', { secret_file: '../secret' }],
  ['bundle trust', { secret_file: '../secret' }],
  ['bundle import', { untrusted: true, force: true }, { dryRun: true }],
];

/** Verbs that look at whatever has landed. */
const looking: readonly (readonly [string, boolean])[] = [
  ['status', true],
  ['show', true],
  ['log', true],
  ['journal', true],
  ['brief', true],
  ['timeline', true],
  ['progress', true],
  ['next', true],
  ['lease show', true],
  ['note', true],
  ['resume', true],
  ['list', false],
  ['process list', false],
  ['handoff report', false],
  ['handoff ready', false],
  ['handoff audit', false],
  ['doctor', false],
];

const fileOf = (bundle: JsonObject): string => printBundle(3, bundle);

const pipe = (path: string): void => assert.equal(spawnSync('mkfifo', [path]).status, 0);

const isOfStore = (path: string): boolean => /(?:^|\/)\.stint(?:\/|$)/.test(path);

/** Whether a file of the project is one that a session has, or an artifact that was asked for. */
const isOurs = (path: string): boolean =>
  /^project\/(?:docs\/tests\/(?:handovers|session-state)|\.ocr|\.workflow|\.claude)(?:\/|$)/.test(path);

test(
  'hostile bundles do nothing: no file elsewhere, no crash, no false trust, whichever verb reads them',
  { skip: fileOnly, timeout: 600_000 },
  async (context) => {
    const world = createWorld(context);
    const root = join(world.root, 'hostile');
    const cwd = ground(root);
    const stint = await open(cwd);
    context.after(async () => stint.close());
    const failures: string[] = [];
    const bundles: HostileBundle[] = [];
    const landed: string[] = [];
    const file = join(root, 'bundle.json');
    const ask = async (on: Stint, name: string, verb: string, input: JsonObject, call?: { readonly dryRun?: true }) => {
      try {
        return await on.run(verb, input, call);
      } catch (error) {
        failures.push(`${name}: ${verb}: ${error instanceof Error ? error.stack : String(error)}`);
        return undefined;
      }
    };
    for (const one of hostileBundles(travellers(context))) {
      bundles.push(one);
      const { name, content } = one;
      writeFileSync(file, content);
      const before = treeOf(root, isOfStore);
      let mayLand = false;
      for (const [verb, input, call] of reading) {
        const answer = await ask(stint, name, verb, { bundle: '../bundle.json', ...input }, call);
        if (verb === 'bundle trust' && answer?.ok === true) failures.push(`${name}: it is trusted`);
        if (verb === 'bundle verify' && answer?.ok === true) failures.push(`${name}: its signature is verified`);
        mayLand = verb === 'bundle import' && answer?.ok === true;
      }
      const plain = await ask(stint, name, 'bundle import', { bundle: '../bundle.json' });
      if (plain?.ok === true) failures.push(`${name}: it was taken as if it were trusted`);
      try {
        assert.deepEqual(treeOf(root, isOfStore), before);
      } catch {
        failures.push(`${name}: something was written`);
      }
      await ask(stint, name, 'bundle sign', {
        bundle: '../bundle.json',
        signer: 'eve',
        key_id: 'k',
        secret_file: '../secret',
        force: true,
      });
      const { 'bundle.json': _signed, ...others } = treeOf(root, isOfStore);
      const { 'bundle.json': _bundle, ...was } = before;
      try {
        assert.deepEqual(others, was);
      } catch {
        failures.push(`${name}: signing wrote elsewhere`);
      }
      if (!mayLand) continue;
      landed.push(name);
      const fresh = join(world.root, `landed-${landed.length}`);
      const own = await open(ground(fresh));
      writeFileSync(join(fresh, 'bundle.json'), content);
      const empty = treeOf(fresh, isOfStore);
      const taken = await ask(own, name, 'bundle import', {
        bundle: '../bundle.json',
        untrusted: true,
        force: true,
        with_artifacts: true,
      });
      const session = taken?.ok === true ? taken.value['session'] : undefined;
      for (const [verb, isAbout] of looking)
        if (!isAbout || typeof session === 'string')
          await ask(own, name, verb, {
            ...(isAbout ? { session: session ?? '' } : {}),
            ...(verb === 'note' ? { text: 'seen' } : {}),
          });
      for (const [path, what] of Object.entries(treeOf(fresh, isOfStore)))
        if (empty[path] !== what && !isOurs(path) && !name.startsWith('an artifact at'))
          failures.push(`${name}: ${path} was written`);
      await own.close();
      rmSync(fresh, { recursive: true });
    }
    assert.deepEqual(failures, []);
    assert.ok(bundles.length >= 300, `${bundles.length} bundles`);
    context.diagnostic(`${bundles.length} hostile bundles, ${landed.length} of which are some session`);
  },
);

// The command itself, for a few of each sort: what a process answers with is what a script sees.
test('the command refuses hostile bundles, and never as a bug of its own', (context) => {
  const world = createWorld(context);
  const file = join(world.root, 'bundle.json');
  let at = 0;
  for (const { name, content } of hostileBundles(travellers(context))) {
    at += 1;
    if (at % 60 !== 0) continue;
    writeFileSync(file, content);
    for (const [verb, ...flags] of [
      ['inspect'],
      ['verify'],
      ['trust', '--require-signature'],
      ['import', '--dry-run'],
      ['import', '--require-signature'],
      ['import', '--untrusted', '--force'],
    ] as const) {
      const { status, signal, stderr } = world.run('bundle', verb, '--bundle', file, ...flags);
      assert.ok(signal === null && status !== null && status !== 1, `${name}: ${verb}: ${status} ${stderr}`);
      if (verb === 'trust') assert.notEqual(status, 0, name);
    }
  }
});

test('no link leads an import out of its checkout, and no pipe holds it up', (context) => {
  const victim = (world: TestWorld): string => {
    const folder = join(world.root, 'victim');
    mkdirSync(folder);
    writeFileSync(join(folder, 'CURRENT.md'), '# Session State\n\nprecious\n');
    return folder;
  };
  const there = createWorld(context);
  const made = there.answer('handoff', 'new', '--task', 'Move it', '--updated-by', 'ana', '--next-owner', 'ben');
  const bundle = fileOf(signedBy(trustedKey, bundleWithDocuments(there, made.session)));
  for (const link of [
    'docs',
    'docs/tests',
    'docs/tests/session-state',
    'docs/tests/handovers',
    '.stint',
    '.stint/tasks',
  ]) {
    const world = createWorld(context);
    const folder = victim(world);
    mkdirSync(join(world.path(link), '..'), { recursive: true });
    symlinkSync(folder, world.path(link));
    writeFileSync(join(world.root, 'bundle.json'), bundle);
    const before = treeOf(folder);
    const { status, stderr } = world.run('bundle', 'import', '--bundle', '../bundle.json', '--untrusted', '--force');
    assert.notEqual(status, 1, `${link}: ${stderr}`);
    // A store may lie behind a link: that is somebody's own.
    if (link !== '.stint') assert.deepEqual(treeOf(folder), before, link);
  }
  const world = createWorld(context);
  const folder = victim(world);
  mkdirSync(world.path('docs/tests/session-state'), { recursive: true });
  symlinkSync(join(folder, 'CURRENT.md'), world.path('docs/tests/session-state/CURRENT.md'));
  writeFileSync(join(world.root, 'bundle.json'), bundle);
  assert.notEqual(world.run('bundle', 'import', '--bundle', '../bundle.json', '--untrusted', '--force').status, 1);
  assert.match(readFileSync(join(folder, 'CURRENT.md'), 'utf8'), /precious/);
  for (const [name, what] of [
    ['a folder', (path: string) => mkdirSync(path)],
    ['a pipe', pipe],
    ['a link that leads nowhere', (path: string) => symlinkSync('nowhere', path)],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ] as const) {
    const path = join(world.root, name.replaceAll(' ', '-'));
    what(path);
    for (const verb of ['inspect', 'verify', 'trust', 'import'])
      assert.ok([4, 7].includes(world.run('bundle', verb, '--bundle', path).status ?? 0), `${name}: ${verb}`);
  }
  assert.equal(existsSync(join(world.root, 'nowhere')), false);
  assert.deepEqual(readdirSync(folder), ['CURRENT.md']);
});

test('what was signed is trusted, and taken once: again it is no news', async (context) => {
  const there = createWorld(context);
  const made = there.answer('handoff', 'new', '--task', 'Move it', '--updated-by', 'ana', '--next-owner', 'ben');
  const root = join(there.root, 'ground');
  const cwd = ground(root);
  writeFileSync(join(root, 'bundle.json'), fileOf(signedBy(trustedKey, bundleWithDocuments(there, made.session))));
  const stint = await open(cwd);
  context.after(async () => stint.close());
  const take = async () => stint.run('bundle import', { bundle: '../bundle.json' });
  const [first, again] = [await take(), await take()];
  assert.ok(first.ok && again.ok, JSON.stringify(first));
  assert.deepEqual([first.value['landed'], again.value['result']], ['new', 'unchanged']);
});
