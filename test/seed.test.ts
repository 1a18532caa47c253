/**
 * The original's reference of its session state, sentence by sentence: each is quoted, and has a test of the built command
 * or, where this program does otherwise on purpose, a test of what it does instead and the reason.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { mapped } from '../src/kinds/map/examples.ts';
import { advanceTo, approval, completeRound, json, name, phases, reviewIn, session } from './support/reviews.ts';
import { dumpStore, eventsOf, treeOf } from './support/stores.ts';
import { makeOcrProject } from './support/ocr-databases.ts';
import { createWorld, listOf, shared, sorted, withoutShared, type TestWorld } from './support/world.ts';

const file = ['seeds', 'review-session-state.txt'] as const;
const folder = `.ocr/sessions/${name}`;

/** Sentences of the reference that promise one thing together. */
interface Promised {
  /** As they stand there. */
  readonly quotes: readonly string[];
  /** What holds here. */
  readonly rule: string;
  /** Why it is not what the sentence says. */
  readonly differs?: string;
  readonly check: (context: TestContext) => void | Promise<void>;
}

const mapIn = (context: TestContext, ...walk: readonly string[]): TestWorld => {
  const world = createWorld(context);
  world.answer('state', 'begin', '--session-id', name, '--branch', 'main', '--workflow-type', 'map');
  for (const phase of walk) world.answer('state', 'advance', '--phase', phase);
  return world;
};

const mapWalk = ['topology', 'flow-analysis', 'requirements-mapping', 'synthesis'];

/** Runs a verb and gives its answer as well as the events that it caused. */
const causedBy = (world: TestWorld, key: string, action: () => void): readonly string[] => {
  const before = eventsOf(world, key).length;
  action();
  return eventsOf(world, key)
    .slice(before)
    .map(({ type }) => type);
};

const evidenceOf = (world: TestWorld, label: string) =>
  listOf(world.answer('state', 'status').evidence).find((one) => one.label === label);

const promises: readonly Promised[] = [
  {
    quotes: ['OCR uses **SQLite** as the primary state store for reliable progress tracking.'],
    rule: 'the state is in an SQLite database',
    check: (context) => {
      const world = reviewIn(context, 'context');
      assert.equal(readFileSync(world.path('.stint/stint.db')).toString('latin1', 0, 15), 'SQLite format 3');
    },
  },
  {
    quotes: [
      'The database is located at `.ocr/data/ocr.db` and is managed through the `ocr state` CLI commands.',
      "Sessions are **always** stored in the project's `.ocr/data/ocr.db` database and mirrored to `.ocr/sessions/`, regardless of installation mode:",
      '| Mode | Skills Location | State Store | Sessions Mirror |',
      '| **CLI** | `.ocr/skills/` | `.ocr/data/ocr.db` | `.ocr/sessions/` |',
      '| **Plugin** | Plugin cache | `.ocr/data/ocr.db` | `.ocr/sessions/` |',
    ],
    rule: 'whether skills lie in the project or not, the state is in .stint/, its mirror in .ocr/sessions/, and the original’s database stays as it is',
    differs: 'two programs that write one database are what lost the original’s state',
    check: (context) => {
      const [plugin, cli] = [createWorld(context), createWorld(context)];
      makeOcrProject(cli.project, { version: 14 });
      const before = treeOf(cli.path('.ocr/data'));
      for (const world of [plugin, cli]) {
        world.answer('state', 'begin', '--session-id', name, '--branch', 'main', '--workflow-type', 'review');
        advanceTo(world, 'synthesis');
        completeRound(world);
        assert.ok(existsSync(world.path('.stint/stint.db')));
        assert.ok(existsSync(world.path(folder, 'rounds/round-1/round-meta.json')));
      }
      assert.equal(existsSync(plugin.path('.ocr/data')), false);
      assert.deepEqual(treeOf(cli.path('.ocr/data')), before);
    },
  },
  {
    quotes: [
      'Agents use these CLI commands at each phase transition instead of writing state files directly.',
      'Agents MUST use these CLI commands to manage session state.',
      '**Do NOT write state files directly.**',
    ],
    rule: 'whoever writes files moves no state',
    check: (context) => {
      const world = reviewIn(context, 'analysis');
      const before = dumpStore(world);
      for (const path of ['discourse.md', 'final.md', 'round-meta.json', 'reviews/a-1.md'])
        world.write(`${folder}/rounds/round-1/${path}`, json(approval));
      world.write(`${folder}/state.json`, json({ current_phase: 'complete', status: 'closed' }));
      const { current_phase: phase, completeness_state: state } = world.answer('state', 'status');
      assert.deepEqual([phase, state], ['analysis', 'open_no_artifact']);
      assert.deepEqual(dumpStore(world), before);
    },
  },
  {
    quotes: [
      'The `ocr progress` CLI works identically in both modes',
      'Running `npx @open-code-review/cli progress` from any project picks up the session state',
      'No configuration needed — the CLI always reads from `.ocr/data/ocr.db`',
    ],
    rule: 'progress shows the session from any folder of the project, without configuration, with or without skills there',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      const shown = world.run('progress').stdout;
      assert.match(shown, new RegExp(name));
      mkdirSync(world.path('.ocr/skills'));
      mkdirSync(world.path('src/deep'), { recursive: true });
      assert.equal(world.run('progress').stdout, shown);
      assert.equal(world.with({ cwd: world.path('src/deep') }).run('progress').stdout, shown);
    },
  },
  {
    quotes: [
      'The following fields are tracked per session in SQLite:',
      '"session_id": "{session-id}",',
      '"workflow_type": "review",',
      '"status": "active",',
      '"current_phase": "reviews",',
      '"phase_number": 4,',
      '"current_round": 1,',
      '"current_map_run": 1,',
      '"started_at": "{ISO-8601-TIMESTAMP}",',
      '"round_started_at": "{ISO-8601-TIMESTAMP}",',
      '"map_started_at": "{ISO-8601-TIMESTAMP}",',
      '"updated_at": "{ISO-8601-TIMESTAMP}"',
    ],
    rule: 'the status of a review and of a map have the fields of the data model, those of rounds and runs where there are rounds and runs',
    check: (context) => {
      const review = reviewIn(context, 'reviews').answer('state', 'status');
      const map = mapIn(context).answer('state', 'status');
      const at = '2026-03-17T12:00:00.000Z';
      const model = { session_id: name, status: 'active', started_at: at, updated_at: at };
      assert.partialDeepStrictEqual(review, {
        ...model,
        workflow_type: 'review',
        current_phase: 'reviews',
        phase_number: 4,
        current_round: 1,
        round_started_at: at,
      });
      assert.partialDeepStrictEqual(map, {
        ...model,
        workflow_type: 'map',
        current_phase: 'map-context',
        phase_number: 1,
        current_map_run: 1,
        map_started_at: at,
      });
    },
  },
  {
    quotes: [
      '**Minimal by design**: Round and map run metadata is derived from the filesystem, not stored in the database.',
      'Round count: enumerate `rounds/round-*/` directories',
      'Round completion: check for `final.md` in round directory',
      'Map run count: enumerate `map/runs/run-*/` directories',
      'Map run completion: check for `map.md` in run directory',
    ],
    rule: 'how many rounds and runs there are, and which are complete, the events say, whatever lies in the folders',
    differs: 'counting folders closed reviews that were under way',
    check: (context) => {
      const review = reviewIn(context, 'complete');
      const map = mapIn(context, ...mapWalk);
      for (const round of [1, 2, 5]) {
        review.write(`${folder}/rounds/round-${round}/final.md`, '# Final\n');
        map.write(`${folder}/map/runs/run-${round}/map.md`, '# Map\n');
      }
      const ofReview = review.answer('state', 'status');
      assert.deepEqual([ofReview.rounds_total, ofReview.current_round, ofReview.missing], [1, 1, []]);
      const ofMap = map.answer('state', 'status');
      assert.deepEqual([ofMap.rounds_total, ofMap.current_map_run, ofMap.has_terminal_artifact], [1, 1, false]);
    },
  },
  {
    quotes: ['Reviewers in round: list files in `rounds/round-{n}/reviews/`'],
    rule: 'the reviewers of a round are the files of its folder',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      for (const path of ['quality-1.md', 'principal-2.md', 'principal-10.md'])
        world.write(`${folder}/rounds/round-1/reviews/${path}`, '## Finding\n');
      const { files, present } = evidenceOf(world, 'reviews');
      assert.deepEqual([files, present], [['principal-2.md', 'principal-10.md', 'quality-1.md'], true]);
    },
  },
  {
    quotes: ['Discourse complete: check for `discourse.md` in round directory'],
    rule: 'whether the discourse is there its file says, and whether its phase was reached the events',
    check: (context) => {
      const world = reviewIn(context, 'discourse');
      assert.equal(evidenceOf(world, 'discourse').present, false);
      world.write(`${folder}/rounds/round-1/discourse.md`, '# Discourse\n');
      assert.equal(evidenceOf(world, 'discourse').present, true);
      assert.equal(world.answer('state', 'status').current_phase, 'discourse');
    },
  },
  {
    quotes: [
      '`workflow_type`: Current workflow type (`"review"` or `"map"`) — enables `ocr progress` to track correct workflow',
    ],
    rule: 'the type of the workflow decides which phases progress shows',
    check: (context) => {
      assert.match(reviewIn(context, 'analysis').run('progress').stdout, /Let the reviewers work side by side/);
      const { stdout } = mapIn(context).run('progress');
      assert.match(stdout, /Group the files into sections/);
      assert.doesNotMatch(stdout, /reviewers/);
    },
  },
  {
    quotes: ['`started_at`: When the session was created (first `/ocr-review` or `/ocr-map`)'],
    rule: 'started_at is when the session was begun first',
    check: (context) => {
      const world = reviewIn(context, 'complete').with({ now: '2026-03-18T09:00:00Z' });
      world.answer('state', 'finish');
      world.answer('state', 'begin', '--session-id', name, '--branch', 'main', '--workflow-type', 'review');
      assert.equal(world.answer('state', 'status').started_at, '2026-03-17T12:00:00.000Z');
    },
  },
  {
    quotes: ['`round_started_at`: When the current review round began (set when starting round ≥ 1)'],
    rule: 'round_started_at is when the current round began, from the first one on',
    check: (context) => {
      const world = reviewIn(context, 'complete');
      assert.equal(world.answer('state', 'status').round_started_at, '2026-03-17T12:00:00.000Z');
      world
        .with({ now: '2026-03-17T15:00:00Z' })
        .answer('state', 'advance', '--phase', 'context', '--current-round', '2');
      assert.equal(world.answer('state', 'status').round_started_at, '2026-03-17T15:00:00.000Z');
    },
  },
  {
    quotes: ['`map_started_at`: When the current map run began (set when starting a map run)'],
    rule: 'map_started_at is when the current run began',
    check: (context) => {
      const world = mapIn(context, 'topology');
      assert.equal(world.answer('state', 'status').map_started_at, '2026-03-17T12:00:00.000Z');
      world
        .with({ now: '2026-03-17T15:00:00Z' })
        .answer('state', 'advance', '--phase', 'map-context', '--current-map-run', '2');
      assert.equal(world.answer('state', 'status').map_started_at, '2026-03-17T15:00:00.000Z');
    },
  },
  {
    quotes: ['`current_map_run`: Current map run number (only present during map workflow)'],
    rule: 'current_map_run is there in a map only',
    check: (context) => {
      assert.equal('current_map_run' in reviewIn(context, 'context').answer('state', 'status'), false);
      assert.equal(mapIn(context).answer('state', 'status').current_map_run, 1);
    },
  },
  {
    quotes: ['`updated_at`: Last modification time (updated at every phase transition)'],
    rule: 'updated_at moves with every phase',
    check: (context) => {
      const world = reviewIn(context, 'context').with({ now: '2026-03-17T12:30:00Z' });
      world.answer('state', 'advance', '--phase', 'change-context');
      assert.equal(world.answer('state', 'status').updated_at, '2026-03-17T12:30:00.000Z');
    },
  },
  {
    quotes: [
      'In addition to the session state, SQLite tracks an **orchestration events timeline** in the `orchestration_events` table.',
      'Each `ocr state advance` call automatically logs an event, providing a complete history of phase transitions with timestamps.',
      'Events are stored with the session ID, phase name, phase number, and timestamp.',
    ],
    rule: 'every phase that is entered is an event with session, phase, number and time',
    check: (context) => {
      const world = reviewIn(context, 'context');
      for (const [index, phase] of phases.slice(1, 7).entries()) {
        const then = world.with({ now: `2026-03-17T13:0${index}:00Z` });
        then.answer('state', 'advance', '--phase', phase, '--session-id', name);
      }
      assert.deepEqual(
        eventsOf(world, session)
          .slice(2)
          .map(({ session: key, at, data }) => [key, data.phase, data.phase_number, at]),
        phases.slice(1, 7).map((phase, index) => [session, phase, index + 2, `2026-03-17T13:0${index}:00.000Z`]),
      );
    },
  },
  {
    quotes: ['Post-session analytics (time spent per phase)'],
    rule: 'the timeline tells the time that was spent in each phase',
    check: (context) => {
      const world = reviewIn(context, 'context');
      world.with({ now: '2026-03-17T12:10:00Z' }).answer('state', 'advance', '--phase', 'change-context');
      world.with({ now: '2026-03-17T12:25:00Z' }).answer('state', 'finish', '--abort');
      assert.deepEqual(
        listOf(world.answer('timeline', name).spans).map(({ position, ms }) => [String(position).split(' ')[0], ms]),
        [
          ['context', 600_000],
          ['change-context', 900_000],
        ],
      );
    },
  },
  {
    quotes: ['Debugging stalled reviews'],
    rule: 'a review that stands still shows since when, who worked on it and what is missing',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      world.answer('session', 'start-instance', '--vendor', 'claude', '--persona', 'principal');
      const late = world.with({ now: '2026-03-17T14:00:00Z' }).answer('state', 'status');
      assert.deepEqual([late.activity, late.activity_since], ['quiet', '2026-03-17T12:00:00.000Z']);
      assert.match(late.missing[0], /aggregation, discourse, synthesis/);
    },
  },
  {
    quotes: ['Progress timeline reconstruction'],
    rule: 'the session can be shown as it stood at every revision',
    check: (context) => {
      const world = reviewIn(context, 'synthesis');
      for (const [index, phase] of phases.slice(0, 7).entries())
        assert.equal(
          world.answer('state', 'show', '--at', String(index + 2)).session.current_phase,
          phase,
          'each phase has its revision',
        );
    },
  },
  {
    quotes: [
      'The `status` field controls session visibility:',
      '| `active` | In progress | Shows in auto-detect | Can resume |',
      '| `closed` | Complete and dismissed | Skipped | Cannot resume |',
      'The `ocr progress` command only auto-detects sessions with `status: "active"`.',
    ],
    rule: 'an open session is found without its name, can be gone on with, and comes before closed ones; a closed one is moved by a new start alone',
    differs: 'where none is open, progress shows the result of the last one instead of waiting for ever',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      world
        .with({ now: '2026-03-17T11:00:00Z' })
        .answer('state', 'begin', '--session-id', 'dismissed', '--branch', 'b', '--workflow-type', 'review');
      world.answer('state', 'finish', '--abort', '--session-id', 'dismissed');
      assert.deepEqual(
        listOf(world.answer('progress').sessions).map((one) => one.session),
        [session],
      );
      assert.equal(world.answer('state', 'status').session, session);
      assert.equal(world.answer('state', 'advance', '--phase', 'aggregation').session, session);
      world.refusal(5, 'state', 'advance', '--phase', 'change-context', '--session-id', 'dismissed');
      world.answer('state', 'finish', '--abort');
      world.refusal(4, 'state', 'status');
      assert.equal(listOf(world.answer('progress').sessions).length, 1);
    },
  },
  {
    quotes: [
      '**Lifecycle:** 1. Session created via `ocr state begin` → `status: "active"`',
      '2. Review in progress → `status: "active"`, `current_phase` updates via `ocr state advance`',
      '3. Phase 8 complete → `ocr state finish` sets `status: "closed"`, `current_phase: "complete"`',
    ],
    rule: 'a review is active from begin on, through every phase, until finish closes it in phase 8',
    check: (context) => {
      for (const [index, phase] of phases.entries()) {
        const { status, current_phase: current, phase_number: number } = reviewIn(context, phase).answer('status');
        assert.deepEqual([status, current, number], ['active', phase, index + 1]);
      }
      const world = reviewIn(context, 'complete');
      world.answer('state', 'finish');
      const { status, current_phase: phase } = world.answer('state', 'status', '--session-id', name);
      assert.deepEqual([status, phase], ['closed', 'complete']);
    },
  },
  {
    quotes: ['Closed sessions are accessible via `/ocr-history` and `/ocr-show`.'],
    rule: 'closed sessions are listed with --all and shown by their name',
    check: (context) => {
      const world = reviewIn(context, 'complete');
      world.answer('state', 'finish');
      assert.equal(world.answer('list').total, 0);
      assert.equal(world.answer('list', '--all').sessions[0].session, session);
      assert.equal(world.answer('state', 'show', '--session-id', name).session.rounds[0].verdict, 'APPROVE');
    },
  },
  {
    quotes: [
      "Each journaled process (`ocr session list --json`, the dashboard's `/api/agent-sessions`) carries a typed **`kind`** — branch on it instead of parsing the `command` string to tell what a process is:",
      '| `kind` | Meaning |',
    ],
    rule: 'every process that is listed has one of three kinds',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      for (const kind of ['supervisor', 'instance', 'utility']) world.answer('process', 'start', '--kind', kind);
      assert.deepEqual(sorted(listOf(world.answer('session', 'list').processes).map(({ kind }) => kind)), [
        'instance',
        'supervisor',
        'utility',
      ]);
      assert.equal(world.run('process', 'start', '--kind', 'thing').status, 2);
    },
  },
  {
    quotes: [
      '| `supervisor` | A workflow-owning process (a dashboard-spawned `review`/`map`). Its death cascade-closes its dependents. |',
    ],
    rule: 'the death of a supervisor ends its dependents with it',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      const lead = world.answer('process', 'start', '--kind', 'supervisor').id;
      const reviewer = world.answer('session', 'start-instance', '--vendor', 'claude').id;
      world.answer('process', 'end', lead, '--outcome', 'crashed');
      const rows = listOf(world.answer('session', 'list').processes);
      const dependent = rows.find(({ id }) => id === reviewer);
      assert.deepEqual([dependent.status, dependent.ended_at], ['cancelled', '2026-03-17T12:00:00.000Z']);
      assert.equal(world.answer('state', 'status').status, 'active', 'the session can be gone on with');
    },
  },
  {
    quotes: [
      "| `instance` | A reviewer instance journaled via `ocr session start-instance`. Never owns a workflow's lifecycle. |",
    ],
    rule: 'what start-instance records is an instance, and its end moves neither the session nor others',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      const [one, other] = [1, 2].map((instance) =>
        world.answer('session', 'start-instance', '--vendor', 'claude', '--instance', String(instance)),
      );
      assert.equal(one.kind, 'instance');
      const { revision } = world.answer('state', 'status');
      world.answer('session', 'end-instance', one.id, '--status', 'crashed');
      const status = world.answer('state', 'status');
      assert.deepEqual([status.status, status.current_phase, status.revision], ['active', 'reviews', revision]);
      assert.equal(listOf(status.processes).find(({ id }) => id === other.id).status, 'running');
    },
  },
  {
    quotes: ['| `utility` | A fire-and-forget command with no journaled heartbeat. |'],
    rule: 'a utility is never waited for',
    check: (context) => {
      const world = reviewIn(context, 'reviews');
      world.answer('process', 'start', '--kind', 'utility');
      assert.equal(world.answer('state', 'status').next_action_kind, 'advance');
    },
  },
  {
    quotes: [
      '> **Note**: These commands require the OCR CLI.',
      'Install globally with `npm install -g @open-code-review/cli` or prefix with `npx @open-code-review/cli`.',
    ],
    rule: 'the commands need nothing of the original: neither its program nor its folder',
    differs: 'its command lines are names of verbs here',
    check: (context) => {
      const world = createWorld(context).with({ env: { PATH: '/nowhere' } });
      world.answer('state', 'begin', '--session-id', name, '--branch', 'main', '--workflow-type', 'review');
      assert.equal(world.answer('state', 'status').session, session);
    },
  },
  {
    quotes: [
      'As of v2.0 the CLI exposes a small set of **atomic, invariant-checked** verbs.',
      'Prefer these — they make correct state updates the default and make incorrect ones impossible:',
      '| Verb | Use it to | Guarantee |',
    ],
    rule: 'the verbs of its version 1 are refused with their successors',
    check: (context) => {
      const world = createWorld(context);
      for (const verb of ['init', 'transition', 'close', 'round-complete', 'map-complete'])
        assert.match(world.refusal(2, 'state', verb).message, /was retired/);
    },
  },
  {
    quotes: ['| `ocr state begin` | start or resume a workflow | returns `{session_id, round, phase, completeness}` |'],
    rule: 'begin starts or goes on, and answers session_id, round, phase and completeness for a review and for a map',
    check: (context) => {
      for (const [type, first] of [
        ['review', 'context'],
        ['map', 'map-context'],
      ] as const) {
        const world = createWorld(context);
        for (const resumed of [false, true]) {
          const answer = world.answer(
            'state',
            'begin',
            '--session-id',
            name,
            '--branch',
            'main',
            '--workflow-type',
            type,
          );
          assert.partialDeepStrictEqual(answer, {
            session_id: name,
            round: 1,
            phase: first,
            completeness: 'open_no_artifact',
            resumed,
          });
        }
      }
    },
  },
  {
    quotes: [
      "| `ocr state advance --phase <name>` | mark you've reached a phase | graph-validated; rejects illegal jumps; phase number derived |",
    ],
    rule: 'advance goes along the phases alone, derives the number, and refuses every jump with the legal moves',
    check: (context) => {
      const world = reviewIn(context, 'analysis');
      for (const phase of ['context', 'change-context', 'aggregation', 'synthesis', 'complete', 'topology', 'x'])
        assert.ok(
          listOf(world.refusal(5, 'state', 'advance', '--phase', phase).legal).includes(
            `stint advance reviews --session ${session}`,
          ),
        );
      assert.equal(world.answer('state', 'advance', '--phase', 'reviews').phase_number, 4);
    },
  },
  {
    quotes: [
      "| `ocr state complete-round --stdin` | finalize a review round | **one transaction**: writes meta + `round_completed` + advances + transitions to `complete`. Refuses unless you've reached `synthesis`. Idempotent. |",
    ],
    rule: 'complete-round writes the meta file, completes the round and enters complete with one event; before synthesis it is refused; a repeat changes nothing',
    check: (context) => {
      for (const phase of phases.slice(0, 6)) {
        const early = reviewIn(context, phase).with({ input: json(approval) });
        assert.equal(early.refusal(6, 'state', 'complete-round', '--stdin').code, 'invariant-unmet');
        assert.equal(existsSync(early.path(folder, 'rounds')), false);
      }
      const world = reviewIn(context, 'synthesis');
      const complete = (): void =>
        void world.with({ input: json(approval) }).answer('state', 'complete-round', '--stdin');
      assert.deepEqual(causedBy(world, session, complete), ['RoundCompleted']);
      assert.equal(world.answer('state', 'status').current_phase, 'complete');
      assert.deepEqual(
        JSON.parse(readFileSync(world.path(folder, 'rounds/round-1/round-meta.json'), 'utf8')),
        approval,
      );
      assert.deepEqual(causedBy(world, session, complete), []);
    },
  },
  {
    quotes: ['| `ocr state complete-map --stdin` | finalize a map run | map analogue |'],
    rule: 'complete-map does for a run what complete-round does for a round',
    check: (context) => {
      const early = mapIn(context, 'topology').with({ input: json(mapped) });
      early.refusal(6, 'state', 'complete-map', '--stdin');
      const world = mapIn(context, ...mapWalk);
      const complete = (): void => void world.with({ input: json(mapped) }).answer('state', 'complete-map', '--stdin');
      assert.deepEqual(causedBy(world, `map:${name}`, complete), ['RoundCompleted']);
      assert.equal(world.answer('state', 'status').current_phase, 'complete');
      assert.deepEqual(JSON.parse(readFileSync(world.path(folder, 'map/runs/run-1/map-meta.json'), 'utf8')), mapped);
      assert.deepEqual(causedBy(world, `map:${name}`, complete), []);
    },
  },
  {
    quotes: [
      '| `ocr state finish [--abort]` | close the workflow | **refuses** unless the current round/run is complete; `--abort` records an abandoned session |',
      '**The CLI now enforces the lifecycle.** `ocr state finish` will *refuse* (exit code 6) to close a workflow whose current round/run has no `round_completed`/`map_completed`.',
      'This is by design — it makes the "completed too soon" failure impossible.',
      'If you genuinely need to abandon a workflow, use `ocr state finish --abort`.',
    ],
    rule: 'finish is refused (6) before the current round or run is complete, also a second one, and --abort records that it was given up',
    check: (context) => {
      const second = reviewIn(context, 'complete');
      second.answer('state', 'advance', '--phase', 'context', '--current-round', '2');
      const map = mapIn(context, ...mapWalk);
      for (const world of [reviewIn(context, 'synthesis'), second, map]) {
        world.write(`${folder}/rounds/round-1/final.md`, '# Final\n');
        world.write(`${folder}/map/runs/run-1/map.md`, '# Map\n');
        assert.equal(world.refusal(6, 'state', 'finish').code, 'invariant-unmet');
        assert.equal(world.answer('state', 'finish', '--abort').outcome, 'aborted');
        const status = world.answer('state', 'status', '--session-id', name);
        assert.equal(status.completeness_state, 'closed_without_artifact');
      }
    },
  },
  {
    quotes: [
      '| `ocr state status --json` | ask "is it done? what\'s missing?" | machine-readable completeness + `next_action` |',
    ],
    rule: 'status says as data whether it is done, what is missing and what comes next',
    check: (context) => {
      const open = reviewIn(context, 'discourse').answer('state', 'status');
      assert.deepEqual(
        [open.completeness, listOf(open.missing).length, open.next_action.command],
        ['open_no_artifact', 1, `stint advance synthesis --session ${session}`],
      );
      const done = reviewIn(context, 'complete').answer('state', 'status');
      assert.deepEqual(
        [done.completeness, done.missing, done.next_action.command],
        ['open_with_artifact', [], `stint finish --session ${session}`],
      );
    },
  },
  {
    quotes: ['**Exit codes** (branch on these instead of'],
    rule: 'every refusal has its exit code, the same on standard error and as JSON',
    check: (context) => {
      const world = reviewIn(context, 'analysis');
      world.answer('state', 'begin', '--session-id', 'other', '--branch', 'b', '--workflow-type', 'review');
      for (const [exit, ...args] of [
        [2, 'state', 'close'],
        [3, 'state', 'finish'],
        [4, 'state', 'status', '--session-id', 'nobody'],
        [5, 'state', 'advance', '--phase', 'synthesis', '--session-id', name],
        [6, 'state', 'finish', '--session-id', name],
        [7, 'state', 'complete-round', '--stdin', '--session-id', name],
      ] as const) {
        const asked = world.with({ input: '{}' });
        assert.equal(asked.refusal(exit, ...args).exit, exit);
        assert.equal(asked.run(...args).status, exit);
      }
    },
  },
];

/** What of the reference promises nothing: its headings and the syntax of its tables. */
const headings = [
  'session-state',
  'Session State Management',
  'Overview',
  'Cross-Mode Compatibility',
  'This means:',
  'State Data Model',
  '**Field descriptions**:',
  '**Derived from filesystem** (not stored):',
  'Orchestration Events Table',
  'This enables:',
  'Session Status',
  '| Status | Meaning | Progress CLI | Agent Resume |',
  'Agent-session journal: the `kind` field',
  'CLI Commands for State Management',
  'Atomic state API (preferred)',
];

test(
  'every sentence of the reference is quoted, once, and nothing is quoted that is not in it',
  {
    skip: withoutShared(...file),
  },
  () => {
    let rest = readFileSync(join(shared, ...file), 'utf8');
    const quotes = [...promises.flatMap((promise) => promise.quotes), ...headings];
    // The longest first: a heading may be part of a sentence.
    for (const quote of quotes.toSorted((a, b) => b.length - a.length)) {
      const at = rest.indexOf(quote);
      assert.ok(at >= 0, `it is not there, or there once only: ${quote}`);
      rest = `${rest.slice(0, at)}${rest.slice(at + quote.length)}`;
    }
    assert.equal(rest.replaceAll(/[\s|{}•-]/g, ''), '', 'nothing is left');
  },
);

for (const { rule, differs, check } of promises) {
  test(rule, (context) => {
    if (differs !== undefined) context.diagnostic(`not what the original does: ${differs}`);
    return check(context);
  });
}
