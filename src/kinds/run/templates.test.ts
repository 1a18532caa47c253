import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Apart, Verb, VerbRefusal } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { createProjectFiles } from '../../surfaces/project-files.ts';
import { templateList } from './template-list.ts';
import { templateShow } from './template-show.ts';
import { templateValidate } from './template-validate.ts';

/** What a verb answers in a project with some files; no store is opened for it. */
const ask = async (
  verb: Verb,
  input: JsonObject,
  contents: Readonly<Record<string, string>>,
): Promise<Result<JsonObject, VerbRefusal>> => {
  const read: Apart['files']['read'] = (path) => {
    const text = contents[path];
    return text === undefined ? err({ problem: 'does not exist', isMissing: true }) : ok(text);
  };
  const call = verb.prepare(input);
  assert.ok(call.ok && call.value.apart !== undefined);
  return call.value.apart({
    root: '/project',
    named: undefined,
    open: () => assert.fail('a store is opened'),
    files: Object.assign(createProjectFiles('/project', '/project'), {
      read,
      list: (folder) =>
        Object.keys(contents)
          .filter((path) => path.startsWith(`${folder}/`))
          .map((path) => path.slice(folder.length + 1)),
      readNamed: (path, limit) => {
        const text = read(path.replace(/^\.\//, ''), limit);
        return text.ok ? ok({ path, text: text.value }) : text;
      },
    } satisfies Partial<Apart['files']>),
    clock: { now: '2026-03-17T14:30:22.000Z', offsetAt: () => 0 },
    variable: () => undefined,
    signWithSsh: () => assert.fail('something is signed'),
    ask: () => assert.fail('a verb is asked'),
  });
};

const audit = {
  template_id: 'wft-audit-20260301',
  name: 'Audit\nof the night',
  description: 'Look, then repair',
  tags: ['review'],
  context_schema: {
    goal: { type: 'string', required: true, description: 'What to look at' },
    scope: { type: 'path', required: true, default: 'src/**/*', description: 'Where' },
    quick: { type: 'boolean' },
  },
  nodes: [
    { id: 'N-1', name: 'Look', type: 'skill', executor: 'look', args_template: '{goal} {scope}' },
    { id: 'CP-1', name: 'Seen', type: 'checkpoint', auto_continue: true },
    {
      id: 'N-2',
      name: 'Scan',
      type: 'cli',
      cli_tool: 'gemini',
      cli_mode: 'analysis',
      parallel_group: 'g',
      on_fail: 'skip',
    },
    { id: 'N-3', name: 'Read', type: 'agent', executor: 'reader', parallel_group: 'g' },
    { id: 'CP-2', name: 'Ready', type: 'checkpoint' },
    { id: 'N-4', name: 'Repair', type: 'command', executor: 'repair', args_template: '{prev_session_id}' },
  ],
  edges: [
    { from: 'N-1', to: 'CP-1' },
    { from: 'CP-1', to: 'N-2' },
    { from: 'CP-1', to: 'N-3' },
    { from: 'N-2', to: 'CP-2' },
    { from: 'N-3', to: 'CP-2' },
    { from: 'CP-2', to: 'N-4' },
  ],
};

const path = '.workflow/templates/audit.json';
const files = { [path]: JSON.stringify(audit) };
const warning = `${path}:1:${JSON.stringify(audit).indexOf('"{prev_session_id}') + 1}: In N-4: {prev_session_id} comes from a parallel batch (N-2, N-3): it is that of the last one in the order of the plan that has completed; {N-2.session_id} names one.`;

test('a template that is valid is told with its plan and the command that runs it', async () => {
  const answer = await ask(templateValidate, { template: 'audit' }, files);
  assert.ok(answer.ok);
  assert.deepEqual(answer.value, {
    template: 'audit',
    path,
    valid: true,
    faults: [],
    warnings: [warning],
    batches: [
      { batch: 1, nodes: ['N-1'], parallel: false },
      { batch: 2, nodes: ['CP-1'], parallel: false },
      { batch: 3, nodes: ['N-2', 'N-3'], parallel: true },
      { batch: 4, nodes: ['CP-2'], parallel: false },
      { batch: 5, nodes: ['N-4'], parallel: false },
    ],
    nodes: 4,
    checkpoints: 2,
    command: 'stint run audit --context goal=...',
  });
  assert.equal(
    templateValidate.text(answer.value),
    [
      `warning: ${warning}`,
      'audit is valid: 4 nodes and 2 checkpoints in 5 batches',
      'next: stint run audit --context goal=...',
    ].join('\n'),
  );
});

test('a template that is not valid is refused with the same report, a fault a line, each with its place', async () => {
  const broken = JSON.stringify({ ...audit, edges: [...audit.edges, { from: 'N-4', to: 'N-1' }] }, null, 2).replace(
    '{prev_session_id}',
    '{gaol}',
  );
  const answer = await ask(templateValidate, { template: './draft.json' }, { 'draft.json': broken });
  assert.ok(!answer.ok);
  const { refusal, report } = answer.error;
  assert.deepEqual(
    [refusal.code, refusal.message, refusal.hint],
    [
      'invalid-input',
      'The template ./draft.json is not valid: it has 2 faults.',
      'stint template validate ./draft.json',
    ],
  );
  const lines = broken.split('\n');
  const placeOf = (text: string, after = 0): readonly [number, number] => {
    const line = lines.findIndex((one, index) => index >= after && one.includes(text));
    return [line + 1, (lines[line] ?? '').indexOf(text) + 1];
  };
  const [gaol] = placeOf('"{gaol}"');
  const ring = lines.lastIndexOf('    {') + 1;
  assert.deepEqual(report, {
    template: 'draft',
    path: './draft.json',
    valid: false,
    faults: [
      {
        line: gaol,
        column: placeOf('"{gaol}"')[1],
        path: '$.nodes[5].args_template',
        problem: 'In N-4: {gaol} is not declared in context_schema; perhaps goal; {{ and }} are braces.',
      },
      {
        line: ring,
        column: 5,
        path: '$.edges[6]',
        problem: 'The nodes wait for each other in a ring: N-1 > CP-1 > N-2 > CP-2 > N-4 > N-1.',
      },
    ],
    warnings: [],
    batches: [],
    nodes: null,
    checkpoints: null,
  });
  assert.equal(
    templateValidate.text(report ?? {}),
    [
      `./draft.json:${gaol}:${placeOf('"{gaol}"')[1]}: In N-4: {gaol} is not declared in context_schema; perhaps goal; {{ and }} are braces.`,
      `./draft.json:${ring}:5: The nodes wait for each other in a ring: N-1 > CP-1 > N-2 > CP-2 > N-4 > N-1.`,
      'draft: 2 faults; correct them in ./draft.json and validate again',
    ].join('\n'),
  );
});

test('a template is shown as it will be done, batch by batch, and a text in it forges no line', async () => {
  const answer = await ask(templateShow, { template: 'audit' }, files);
  assert.ok(answer.ok);
  assert.equal(
    templateShow.text(answer.value),
    `audit: Audit of the night
description  Look, then repair
template_id  wft-audit-20260301
version      1.0
file         .workflow/templates/audit.json
context:
  goal   string   required            What to look at
  scope  path     default "src/**/*"  Where
  quick  boolean  optional
plan: 4 nodes and 2 checkpoints in 5 batches
  1.  N-1   Look    skill       look     on failure abort
  2.  CP-1  Seen    checkpoint           goes on by itself
  3.  N-2   Scan    cli         ccw cli  on failure skip    in parallel
  3.  N-3   Read    agent       reader   on failure abort   in parallel
  4.  CP-2  Ready   checkpoint           pauses for you
  5.  N-4   Repair  command     repair   on failure abort
warning: ${warning}
next: stint run audit --context goal=...`,
  );
  assert.deepEqual((answer.value['batches'] as readonly JsonObject[])[2]?.['nodes'], [
    {
      id: 'N-2',
      name: 'Scan',
      type: 'cli',
      executor: 'ccw cli',
      args_template: '',
      on_fail: 'skip',
      idempotent: false,
      cli_tool: 'gemini',
      cli_mode: 'analysis',
      cli_rule: null,
    },
    {
      id: 'N-3',
      name: 'Read',
      type: 'agent',
      executor: 'reader',
      args_template: '',
      on_fail: 'abort',
      idempotent: false,
      run_in_background: false,
    },
  ]);
});

test('a template with faults is not shown: they are', async () => {
  const answer = await ask(templateShow, { template: 'x' }, { '.workflow/templates/x.json': '{' });
  assert.ok(!answer.ok);
  assert.deepEqual(
    [answer.error.refusal.code, answer.error.refusal.faults, answer.error.refusal.hint],
    ['invalid-input', ['.workflow/templates/x.json:1:2: This is not JSON.'], 'stint template validate x'],
  );
});

test('what is not there is not found, and a command that is suggested can be typed', async () => {
  for (const verb of [templateShow, templateValidate]) {
    const answer = await ask(verb, { template: 'adit' }, files);
    assert.ok(!answer.ok);
    assert.deepEqual([answer.error.refusal.code, answer.error.refusal.candidates], ['not-found', ['audit']]);
  }
  const name = "./it's $(x).json";
  const answer = await ask(templateShow, { template: name }, { "it's $(x).json": JSON.stringify(audit) });
  assert.ok(answer.ok);
  assert.equal(answer.value['command'], `stint run './it'\\''s $(x).json' --context goal=...`);
});

test('a list tells what is there, what is no template and what is wrong with the index', async () => {
  const empty = await ask(templateList, {}, {});
  assert.ok(empty.ok);
  assert.deepEqual(empty.value, { templates: [], unreadable: [] });
  assert.equal(templateList.text(empty.value), 'no templates in .workflow/templates');
  const answer = await ask(
    templateList,
    {},
    { ...files, '.workflow/templates/index.json': '[]', '.workflow/templates/bad.json': '7' },
  );
  assert.ok(answer.ok);
  assert.deepEqual(answer.value, {
    templates: [
      {
        slug: 'audit',
        path,
        template_id: 'wft-audit-20260301',
        name: 'Audit\nof the night',
        tags: ['review'],
        nodes: 4,
        checkpoints: 2,
        indexed: false,
      },
    ],
    unreadable: [{ path: '.workflow/templates/bad.json', problem: 'is no template: it has no nodes' }],
    notes: ['.workflow/templates/index.json holds no list of templates.'],
  });
  assert.equal(
    templateList.text(answer.value),
    [
      'audit  Audit of the night  review  4 nodes, 2 checkpoints',
      'not read: .workflow/templates/bad.json is no template: it has no nodes',
    ].join('\n'),
  );
});
