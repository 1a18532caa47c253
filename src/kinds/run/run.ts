import * as v from 'valibot';
import { checkName, keyOf, resolve } from '../../kernel/address.ts';
import { objectsAt, standingText, table, textAt } from '../../kernel/answer.ts';
import { wishOfBrief } from '../../kernel/brief-fields.ts';
import { loadedIn, sessionIn, standingOf, type Order } from '../../kernel/dispatch.ts';
import { flag, optionalName, optionalPairs, optionalText, pairsOf, twiceIn } from '../../kernel/fields.ts';
import { folderOf } from '../../kernel/kind.ts';
import { decideBegin, decideCommand } from '../../kernel/lifecycle.ts';
import type { Guard } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { appendEvents, type Session } from '../../kernel/session.ts';
import { orderResume } from '../../kernel/step-orders.ts';
import { defineVerb, type World } from '../../kernel/verb.ts';
import { reopenCommand } from '../../kernel/view.ts';
import type { Batch } from '../../formats/run-state/document.ts';
import { planBatches } from '../../formats/run-state/plan.ts';
import { previewArgs, tokenize } from '../../formats/run-state/references.ts';
import { bindContext } from '../../formats/run-state/context.ts';
import type { Template } from '../../formats/run-state/template.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { nameFrom } from '../../lib/name.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { oneLine } from '../../lib/text.ts';
import type { Node, RunCommand } from './events.ts';
import { folderOfRun } from './paths.ts';
import { templateList } from './template-list.ts';
import { nodeOfTemplate } from './template-nodes.ts';
import { listProject, readNamedTemplate, refuseFaults, runCommand, showCommand } from './templates.ts';

export const run = defineVerb({
  name: 'run',
  summary: 'Start a workflow run from a template.',
  details: `Reads a template by its slug, its template_id, or a path that is absolute or begins with a dot, checks it (7), binds the values of its context (2 where a required one is missing; on a terminal they are asked for), and starts a session that holds template and plan: a later change of the file changes nothing. The answer has the plan, in the order in which it is done. With --dry-run nothing is started.

The session is called WFR-<slug>-<date>-<time>, unless --name says otherwise; it always starts a new one. Its files lie in .workflow/sessions/<name>/, as the workflow player keeps them. Then: stint next --claim.

--resume goes on with a run instead, as stint resume does. --list lists the templates.`,
  examples: [
    'stint run feature-tdd-review --context goal="add login" scope=src/auth --json',
    'stint run ./audit.json --context-file values.json --dry-run',
    'stint run --resume WFR-feature-tdd-review-20260317-143022',
  ],
  input: () =>
    v.strictObject({
      template: optionalText('The template: its slug, its template_id, or a path.'),
      context: optionalPairs('A value of its context.'),
      name: optionalName('The name of the session.'),
      resume: optionalText('Go on with this run.'),
      list: flag('List the templates.'),
    }),
  positionals: ['template'],
  pairs: { field: 'context', file: 'context-file' },
  creates: true,
  contradiction: ({ template, context, name, resume, list }) => {
    const asked = [template, resume, list === true ? true : undefined].filter((one) => one !== undefined).length;
    if (asked > 1) return 'a template, --resume and --list do not go together';
    if (asked === 0) return 'the template is missing: stint run --list shows which there are';
    if (template === undefined && (context !== undefined || name !== undefined))
      return '--context and --name go with a template';
    const twice = twiceIn(context ?? []);
    return twice === undefined ? undefined : `${JSON.stringify(twice)} is given two values`;
  },
  does: {
    isReading: ({ list }) => list === true,
    orReads: async (world) => ok(await listProject(await world.project())),
    writes: async (world, { template, context = [], name, resume }) => {
      if (template !== undefined) return orderRun(world, template, pairsOf(context), name);
      const row = await resolve(world, resume, { kind: 'run' });
      if (!row.ok) return row;
      const { actor, takeOver } = world.caller;
      return orderResume(
        world,
        row.value,
        { again: [], done: [], reason: `said by ${actor}`, takesOver: takeOver },
        wishOfBrief(world.caller, {}),
      );
    },
  },
  text: (answer) =>
    answer['templates'] === undefined
      ? [
          ...(answer['dry_run'] === true ? planText(answer) : []),
          `${answer['dry_run'] === true ? 'would begin' : answer['resumed'] === true ? 'resumed' : 'begun'}  ${standingText(answer)}`,
        ].join('\n')
      : templateList.text(answer),
});

/** The context, and the plan line by line. */
const planText = (answer: JsonObject): readonly string[] => [
  ...Object.entries(contextIn(answer)).map(([name, value]) => `${oneLine(name)} = ${JSON.stringify(value)}`),
  table(
    objectsAt(answer, 'plan').map((node, index) => [
      `${index + 1}.`,
      `batch ${textAt(node, 'batch')}${node['parallel'] === true ? ' ||' : ''}`,
      textAt(node, 'id'),
      textAt(node, 'type'),
      textAt(node, 'type') === 'checkpoint'
        ? node['auto_continue'] === true
          ? 'goes on by itself'
          : 'waits for you'
        : textAt(node, 'executor'),
      textAt(node, 'args'),
    ]),
  ),
];

const contextIn = ({ context }: JsonObject): JsonObject =>
  typeof context === 'object' && context !== null && !Array.isArray(context) ? (context as JsonObject) : {};

const orderRun = async (
  world: World,
  named: string,
  given: ReadonlyMap<string, string>,
  name: string | undefined,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const illegal = name === undefined ? undefined : checkName(name, 'The name');
  if (illegal !== undefined) return err(illegal);
  const read = await readNamedTemplate(named, await world.project());
  if (!read.ok) return read;
  const { found } = read.value;
  if (!read.value.read.ok) return err({ ...refuseFaults(read.value), faults: read.value.faultLines });
  const { template, warnings } = read.value.read.value;
  const bound = bindContext(template.contextSchema, given);
  if (!bound.ok) return err(refuseContext(named, template, bound.error));
  const meant = name === undefined ? await freeName(world, found.slug) : { name, guards: [] };
  const plan = planBatches(template);
  const digest = digestOf(world, found.path);
  const command = {
    type: 'plan' as const,
    template_id: template.templateId,
    template_path: found.path,
    template_name: template.name,
    ...(digest === undefined ? {} : { digest }),
    template: template.json,
    nodes: template.nodes.map(nodeOfTemplate),
    plan: plan.map(({ batch, nodes, parallel }) => ({ batch, nodes: [...nodes], parallel })),
    context: bound.value,
  } satisfies RunCommand;
  const key = keyOf('run', meant.name);
  return ok({
    keys: [key],
    guards: meant.guards,
    fence: 'joins',
    decide: (sessions) => {
      const session = loadedIn(sessions, key);
      const { branch, worktree } = world.places.here;
      const begun = decideBegin(session, { branch, worktree });
      if (!begun.ok) return begun;
      const planned = decideCommand(after(session, begun.value, world.caller.now), command);
      if (planned.ok) return ok(new Map([[key, [...begun.value, ...planned.value]]]));
      const goOn = session.common?.status === 'closed' ? reopenCommand(session.common) : undefined;
      return err(goOn === undefined ? planned.error : { ...planned.error, legal: [goOn], hint: goOn });
    },
    answer: (sessions) => {
      const session = sessionIn(sessions, key);
      return {
        ...standingOf(session),
        resumed: false,
        folder: folderOf({ folder: folderOfRun }, session.common),
        template_path: found.path,
        template_digest: digest ?? null,
        context: bound.value,
        plan: planToJson(plan, command.nodes, bound.value),
        revision: session.common.revision,
        ...([...found.remarks, ...warnings].length === 0 ? {} : { notes: [...found.remarks, ...warnings] }),
      };
    },
  });
};

/** A session after events that are not stored yet. */
const after = (session: Session, events: Parameters<typeof appendEvents>[1], now: string): Session =>
  appendEvents(session, events, { now, actor: '', place: '', cause: '' }).session;

/** `WFR-<slug>-<YYYYMMDD>-<HHmmss>`, with a number behind it where that is taken. */
const freeName = async (
  { store, caller }: World,
  slug: string,
): Promise<{ readonly name: string; readonly guards: readonly Guard[] }> => {
  const [date = '', time = ''] = caller.now.slice(0, 19).replaceAll(/[-:]/g, '').split('T');
  const base = `WFR-${nameFrom(slug)}-${date}-${time}`;
  const taken = new Set((await store.rows({ kind: 'run', namePrefix: base })).map((row) => row.name));
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  return { name, guards: [{ filter: { kind: 'run', name }, keys: [] }] };
};

/** The digest of a template's file; its path is absolute where it lies outside the checkout. */
const digestOf = ({ files, places }: World, path: string): string | undefined =>
  (path.startsWith('/') ? files.digest('/', path.slice(1)) : files.digest(places.here.root, path))?.sha256;

/** The nodes in the order of the plan, as they are going to be done. */
const planToJson = (
  plan: readonly Batch[],
  nodes: readonly Node[],
  context: Readonly<Record<string, string>>,
): readonly JsonObject[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return plan.flatMap(({ batch, nodes: ids, parallel }) =>
    ids.flatMap((id): readonly JsonObject[] => {
      const node = byId.get(id);
      if (node === undefined) return [];
      const { name, type, executor, on_fail, auto_continue, details } = node;
      const common = { batch, parallel, id, name, type };
      return [
        type === 'checkpoint'
          ? { ...common, auto_continue }
          : { ...common, executor, args: previewArgs(tokenize(node.args), context), on_fail, ...details },
      ];
    }),
  );
};

const refuseContext = (
  named: string,
  template: Template,
  { missing, faults }: Extract<ReturnType<typeof bindContext>, { readonly ok: false }>['error'],
): Refusal => {
  const lines = [
    ...faults,
    ...missing.map(
      ({ name, type, description }) => `${name} (${type}) is missing${description === '' ? '' : `: ${description}`}`,
    ),
  ];
  const isIncomplete = faults.length === 0;
  return refuse(
    'usage',
    `The context of ${named} is not ${isIncomplete ? 'complete' : 'valid'}: ${lines[0]?.replace(/\.$/, '') ?? ''}${lines.length > 1 ? ` (and ${lines.length - 1} more)` : ''}.`,
    {
      expected: isIncomplete
        ? 'a value for each that is required (--context NAME=VALUE, --context-file F)'
        : 'values that the template takes (--context NAME=VALUE, --context-file F)',
      faults: lines,
      // What is wrong is not set right by giving what is there once more.
      hint: isIncomplete ? runCommand(named, template) : showCommand(named),
      ...(isIncomplete
        ? { asks: missing.map(({ name, description }) => ({ field: 'context', name, description })) }
        : {}),
    },
  );
};
