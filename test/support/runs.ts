/** Workflow runs: templates, runs of them, and hands that work on those without a process of their own. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openStint, type Stint } from '../../src/postgres.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { storeIn } from './environment.ts';
import { createWorld, listOf, type Printed, type TestWorld } from './world.ts';

/** A node as a template holds it. */
export type NodeJson = JsonObject & { readonly id: string };

/** A node that does work, in a template. */
export const work = (id: string, more: JsonObject = {}): NodeJson => ({
  id,
  name: `do ${id}`,
  type: 'skill',
  executor: 'worker',
  args_template: '{goal}',
  ...more,
});

/** A checkpoint, in a template. */
export const checkpoint = (id: string, auto: boolean): NodeJson => ({
  id,
  name: `after ${id}`,
  type: 'checkpoint',
  auto_continue: auto,
});

/** A template: one row for each batch, each waiting for the one before it; the nodes of a row are done in parallel. */
export const templateOf = (rows: readonly (readonly NodeJson[])[], more: JsonObject = {}): JsonObject => ({
  template_id: 'wft-flow-20260310',
  name: 'Flow',
  context_schema: { goal: { type: 'string', required: false, description: 'What is to be done', default: 'the goal' } },
  nodes: rows.flatMap((row, at) => (row.length > 1 ? row.map((node) => ({ parallel_group: `g${at}`, ...node })) : row)),
  edges: rows.flatMap((row, at) =>
    (rows[at - 1] ?? []).flatMap((from) => row.map((to) => ({ from: from.id, to: to.id }))),
  ),
  ...more,
});

/** Writes a template into the project; answers its path there. */
export const writeTemplate = (world: TestWorld, slug: string, template: JsonObject): string => {
  const path = `.workflow/templates/${slug}.json`;
  world.write(path, `${JSON.stringify(template, null, 2)}\n`);
  return path;
};

/** The key of the run that `flowIn` begins, and where its files lie. */
export const runKey = 'run:flow';
export const runFolder = '.workflow/sessions/flow';

/** Claims one step; answers it as it was handed out. */
export const claimStep = (world: TestWorld, ...flags: readonly string[]): Printed => {
  const [step, ...others] = listOf(world.answer('next', '--claim', ...flags).steps);
  assert.ok(step !== undefined, 'a step is handed out');
  assert.deepEqual(others, []);
  return step;
};

/** Somebody who works on the sessions of a world, in this process. */
export interface Hand {
  readonly ask: (verb: string, input?: JsonObject, call?: Parameters<Stint['run']>[2]) => Promise<Printed>;
  /** The refusal that a verb must answer with. */
  readonly refused: (verb: string, input?: JsonObject, call?: Parameters<Stint['run']>[2]) => Promise<Printed>;
  /** Claims a step, which must be there. */
  readonly claim: (input?: JsonObject) => Promise<Printed>;
}

/** Time, in minutes after noon. */
export interface Clock {
  minutes: number;
}

/** A hand for each name, all with one clock. */
export const handsIn = (context: TestContext, world: TestWorld, clock: Clock) => {
  const now = (): string => new Date(Date.parse('2026-03-17T12:00:00Z') + clock.minutes * 60_000).toISOString();
  return (actor: string, host = 'desk'): Hand => {
    const opening = openStint({ cwd: world.project, actor, host, now, ...storeIn(world.env) });
    context.after(async () => {
      const opened = await opening;
      if (opened.ok) await opened.value.close();
    });
    const run: Stint['run'] = async (...call) => {
      const opened = await opening;
      if (!opened.ok) assert.fail(opened.error.message);
      const [verb, input, options] = call;
      return opened.value.run(verb, input, { user: () => 'ana', ...options });
    };
    const ask: Hand['ask'] = async (verb, input = {}, call = {}) => {
      const answer = await run(verb, input, call);
      if (!answer.ok) assert.fail(`${verb}: ${answer.error.refusal.message}`);
      return answer.value;
    };
    return {
      ask,
      refused: async (verb, input = {}, call = {}) => {
        const answer = await run(verb, input, call);
        if (answer.ok) assert.fail(`${verb}: ${JSON.stringify(answer.value)}`);
        return answer.error.refusal;
      },
      claim: async (input = {}) => {
        const [step] = listOf((await ask('next', { claim: true, ...input })).steps);
        assert.ok(step !== undefined, 'a step is handed out');
        return step;
      },
    };
  };
};

/** A run of a template of those rows, called `flow`, that was begun at noon, and two hands on it. */
export const flowIn = async (
  context: TestContext,
  rows: readonly (readonly NodeJson[])[],
  { template = {}, values = [] }: { readonly template?: JsonObject; readonly values?: readonly string[] } = {},
) => {
  const world = createWorld(context);
  const clock: Clock = { minutes: 0 };
  const hand = handsIn(context, world, clock);
  const [ana, bob] = [hand('ana'), hand('bob')];
  writeTemplate(world, 'flow', templateOf(rows, template));
  await ana.ask('run', { template: 'flow', name: 'flow', ...(values.length === 0 ? {} : { context: values }) });
  return { world, clock, hand, ana, bob };
};

/** What a session's log says of its steps, in order: type, step, attempt, and why. */
export const stepEvents = async ({ ask }: Hand, session = runKey): Promise<readonly string[]> =>
  listOf((await ask('log', { session })).events)
    .filter(({ type }) => /^(?:Step|Node|Checkpoint|Result|Session|Run)/.test(String(type)))
    .map(({ type, data }) =>
      [type, data.step ?? data.node, data.attempt ?? data.as ?? data.answer ?? data.outcome, data.because]
        .filter((part) => part !== undefined)
        .join(' '),
    );
