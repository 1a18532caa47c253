import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { caseFile } from '../../../test/support/cases.ts';
import { shared, withoutShared } from '../../../test/support/world.ts';
import { planBatches } from './plan.ts';
import { faultLine, readTemplate, type Fault, type Template } from './template.ts';

/** A node as a file has it. */
const skill = (id: string, more: object = {}): object => ({ id, name: id, type: 'skill', executor: 'do-it', ...more });

const edgesOf = (...names: readonly string[]): readonly object[] =>
  names.map((name) => {
    const [from, to] = name.split('>');
    return { from, to };
  });

/** The text of a template that can be run as it is. */
const textOf = (more: object = {}): string =>
  JSON.stringify(
    {
      template_id: 'wft-tidy-20260301',
      name: 'Tidy',
      nodes: [skill('A'), skill('B')],
      edges: edgesOf('A>B'),
      context_schema: { goal: { type: 'string', required: true, description: 'What to tidy' } },
      ...more,
    },
    null,
    2,
  );

const templateOf = (text: string): { readonly template: Template; readonly warnings: readonly string[] } => {
  const read = readTemplate(text, 'tidy.json');
  if (!read.ok) assert.fail(read.error.map((fault) => faultLine('tidy.json', fault)).join('\n'));
  return read.value;
};

const faultsOf = (text: string): readonly Fault[] => {
  const read = readTemplate(text, 'tidy.json');
  return read.ok ? [] : read.error;
};

/** The faults of a template as `path: problem`. */
const problemsOf = (more: object): readonly string[] =>
  faultsOf(textOf(more)).map(({ path, problem }) => `${path}: ${problem}`);

/** The same with what a text holds where each fault is said to be. */
const placesOf = (text: string): readonly string[] =>
  faultsOf(text).map(({ line, column }) => (text.split('\n')[line - 1] ?? '').slice(column - 1, column + 11));

test('a template is read with what it leaves out, and everything it holds is kept', () => {
  const { template, warnings } = templateOf(
    textOf({
      version: 2,
      own: { key: [1] },
      nodes: [
        skill('A', { parallel_group: null, on_fail: 'retry', idempotent: true, ports: ['x'] }),
        { id: 'CP-1', type: 'checkpoint' },
        { id: 'B', type: 'cli', cli_tool: 'gemini', cli_mode: 'analysis', args_template: 'look at {goal}' },
        { id: 'C', type: 'agent', executor: 'reviewer', run_in_background: true },
      ],
      edges: edgesOf('A>CP-1', 'CP-1>B', 'B>C'),
    }),
  );
  const work = { parallelGroup: null, onFail: 'abort', idempotent: false, argsTemplate: '' };
  assert.deepEqual(warnings, []);
  assert.deepEqual(template.nodes, [
    { ...work, id: 'A', name: 'A', type: 'skill', executor: 'do-it', onFail: 'retry', idempotent: true },
    { type: 'checkpoint', id: 'CP-1', name: 'CP-1', description: '', autoContinue: false, parallelGroup: null },
    {
      ...work,
      id: 'B',
      name: 'B',
      type: 'cli',
      executor: 'ccw cli',
      argsTemplate: 'look at {goal}',
      cliTool: 'gemini',
      cliMode: 'analysis',
      cliRule: null,
    },
    { ...work, id: 'C', name: 'C', type: 'agent', executor: 'reviewer', runInBackground: true },
  ]);
  assert.equal(template.version, '2');
  assert.deepEqual(template.json['own'], { key: [1] });
  assert.deepEqual(template.contextSchema.get('goal'), {
    type: 'string',
    required: true,
    description: 'What to tidy',
    default: null,
  });
});

test('a file that is empty, no JSON or no object is told with its place', () => {
  const told = (text: string): string =>
    faultsOf(text)
      .map((fault) => faultLine('tidy.json', fault))
      .join('\n');
  assert.equal(told(' \n'), 'tidy.json:1:1: The file is empty.');
  assert.equal(told('{\n  "nodes": [,]\n}'), 'tidy.json:2:13: This is not JSON.');
  assert.equal(told('[]'), 'tidy.json:1:1: A template is an object with template_id, nodes, edges and context_schema.');
  assert.match(told('['.repeat(5000)), /not JSON|nested deeper/);
  assert.match(told(`${'['.repeat(200)}${']'.repeat(200)}`), /nested deeper than 100 levels/);
});

test('every key that stands twice is a fault where it stands again', () => {
  const text = '{\n "nodes": [],\n "edges": [], "nodes": [],\r\n "a": [0, {"b": 1, "b": 2}]\n}';
  assert.deepEqual(
    faultsOf(text).map(({ line, column, path, problem }) => [line, column, path, problem]),
    [
      [3, 15, '$.nodes', 'This key stands in its object before.'],
      [4, 20, '$.a[1].b', 'This key stands in its object before.'],
    ],
  );
});

test('what is missing is told all at once', () => {
  assert.deepEqual(
    faultsOf('{}').map(({ problem }) => problem),
    [
      'The template has no template_id.',
      'The template has no context_schema.',
      'The template has no nodes.',
      'The template has no edges.',
    ],
  );
  assert.deepEqual(problemsOf({ template_id: ' ', nodes: [], edges: {}, context_schema: [] }), [
    '$.template_id: template_id is empty.',
    '$.nodes: nodes is empty: there is nothing to do.',
    '$.edges: edges is not a list.',
    '$.context_schema: context_schema is not an object.',
  ]);
});

test('a node with faults is told with all of them, and what leads to it is no fault', () => {
  assert.deepEqual(
    problemsOf({
      nodes: [
        { id: 'A', type: 'skil', executor: 'x' },
        { id: 'B', type: 'command', on_fail: 'stop', idempotent: 'yes', args_template: 1 },
        { id: 'C' },
        { type: 'cli', cli_mode: 'wirte' },
        7,
        skill('E', { args_template: '{C.output}' }),
      ],
      edges: [...edgesOf('A>B', 'B>C', 'C>E'), { from: 'A' }, null],
    }),
    [
      '$.nodes[0].type: type is none of skill, cli, command, agent, checkpoint; perhaps skill.',
      '$.nodes[1]: The node B has no executor.',
      '$.nodes[1].on_fail: on_fail is none of abort, skip, retry; perhaps skip.',
      '$.nodes[1].idempotent: idempotent is neither true nor false.',
      '$.nodes[1].args_template: args_template is not a text.',
      '$.nodes[2]: The node C has no type.',
      '$.nodes[3]: A node has no id that is a text.',
      '$.nodes[3].cli_mode: cli_mode is none of analysis, write; perhaps write.',
      '$.nodes[4]: A node is an object with id and type.',
      '$.edges[3]: An edge is an object with from and to, each the id of a node.',
      '$.edges[4]: An edge is an object with from and to, each the id of a node.',
    ],
  );
});

test('an id is the name of a file on every system, and nobody else has it, in any case', () => {
  for (const id of ['', '../x', 'a/b', 'CON', 'x.', '.x', 'a b', 'ü', 'x'.repeat(129), '\uD800', '__proto__'])
    assert.match(
      problemsOf({ nodes: [skill('A'), skill(id)], edges: [] }).join('\n'),
      /nodes\[1\]\.id: The id .* cannot become the name of a file\./,
      id,
    );
  assert.deepEqual(problemsOf({ nodes: [skill('A'), skill('B'), skill('A'), skill('b')] }), [
    '$.nodes[2].id: The id A is taken: nodes[0] has it.',
    '$.nodes[3].id: The id b differs from B of nodes[1] in case alone: as names of files they are one.',
  ]);
});

test('an edge that dangles names both ends, and what is not there', () => {
  assert.deepEqual(problemsOf({ nodes: [skill('N-1'), skill('N-2')], edges: edgesOf('N-1>N-2', 'N-2>N-20', 'x>y') }), [
    '$.edges[1].to: The edge N-2 > N-20 dangles: there is no node N-20; perhaps N-2 or N-1.',
    '$.edges[2].from: The edge x > y dangles: there is no node x, and no node y.',
  ]);
});

test('a ring is named, at the edge that closes it; a node that waits for itself is one', () => {
  const nodes = ['A', 'B', 'C'].map((id) => skill(id));
  assert.deepEqual(problemsOf({ nodes, edges: edgesOf('C>A', 'A>B', 'B>C') }), [
    '$.edges[0]: The nodes wait for each other in a ring: A > B > C > A.',
  ]);
  assert.deepEqual(problemsOf({ nodes, edges: edgesOf('A>B', 'B>C', 'B>B') }), [
    '$.edges[2]: The node B waits for itself: B > B.',
  ]);
});

test('a node without edges is unreachable, unless it is all there is, or one batch with all the others', () => {
  assert.deepEqual(problemsOf({ nodes: [skill('A'), skill('B'), skill('C')] }), [
    '$.nodes[2].id: The node C is unreachable: no edge leads to it or from it.',
  ]);
  assert.deepEqual(problemsOf({ nodes: [skill('A')], edges: [] }), []);
  const group = { parallel_group: 'g' };
  assert.deepEqual(problemsOf({ nodes: [skill('A', group), skill('B', group)], edges: [] }), []);
  // Several nodes may be the first.
  assert.deepEqual(
    problemsOf({ nodes: ['A', 'B', 'C', 'D'].map((id) => skill(id)), edges: edgesOf('A>B', 'C>D') }),
    [],
  );
});

test('the members of a group are one batch: nothing leads from one to another', () => {
  const group = { parallel_group: 'g' };
  const other = { parallel_group: 'h' };
  assert.deepEqual(problemsOf({ nodes: [skill('A', group), skill('B', group)] }), [
    '$.edges[0]: B waits for A, but both are in the parallel group g, whose members start together: A > B.',
  ]);
  const checkpoint = { id: 'CP', type: 'checkpoint' };
  assert.deepEqual(
    problemsOf({ nodes: [skill('A', group), checkpoint, skill('B', group)], edges: edgesOf('A>CP', 'CP>B') }),
    [
      '$.edges[1]: The parallel group g is split: its members start together, but one waits for another through what stands between them: A > CP > B.',
    ],
  );
  assert.deepEqual(
    problemsOf({
      nodes: [skill('A', group), skill('B', group), skill('C', other), skill('D', other)],
      edges: edgesOf('A>C', 'D>B'),
    }),
    [
      '$.edges[1]: The parallel groups g and h wait for each other, so that none of them can be one batch: A > C, D > B.',
    ],
  );
  assert.deepEqual(
    problemsOf({ nodes: [skill('A'), { ...checkpoint, parallel_group: 'g' }], edges: edgesOf('A>CP') }),
    ['$.nodes[1].parallel_group: The node CP is a checkpoint, and stands alone: it is in no group.'],
  );
  const { template, warnings } = templateOf(textOf({ nodes: [skill('A'), skill('B', group)] }));
  assert.deepEqual(planBatches(template)[1], { batch: 2, nodes: ['B'], parallel: false });
  assert.match(
    warnings.join('\n'),
    /^tidy\.json:\d+:\d+: B is alone in the parallel group g: nothing is done beside it\.$/,
  );
});

/** The faults of a reference in the node B, which stands behind A and before C, beside D in a group. */
const referenceProblem = (reference: string): string =>
  problemsOf({
    nodes: [
      skill('A'),
      { id: 'CP', type: 'checkpoint' },
      skill('B', { parallel_group: 'g', args_template: `x ${reference} y` }),
      skill('D', { parallel_group: 'g' }),
      skill('C'),
    ],
    edges: edgesOf('A>CP', 'CP>B', 'CP>D', 'B>C', 'D>C'),
  }).join('\n');

test('a reference leads to what is declared or done by then, at a field that there is', () => {
  for (const legal of [
    '{goal}',
    '{A.session_id}{A.output_path}{A.output}{A.status}{A.artifacts[12]}',
    '{prev_output}',
    '{{gaol}}',
    '{"a": 1}',
    '{}',
  ])
    assert.equal(referenceProblem(legal), '', legal);
  const at = '$.nodes[2].args_template: In B: ';
  const faults: readonly (readonly [string, string])[] = [
    ['{gaol}', '{gaol} is not declared in context_schema; perhaps goal; {{ and }} are braces.'],
    [
      '{prev_session}',
      '{prev_session} is not declared in context_schema; perhaps prev_session_id; {{ and }} are braces.',
    ],
    ['{__proto__}', '{__proto__} is not declared in context_schema; {{ and }} are braces.'],
    ['{A}', '{A} names a node, but none of its results: {A.output} is one.'],
    ['{AA.output}', '{AA.output} refers to no node; perhaps A; {{ and }} are braces.'],
    ['{C.output}', '{C.output} refers forward: C is done after B (batch 4, and 3).'],
    ['{B.output}', '{B.output} refers to the node itself.'],
    ['{D.output}', '{D.output} refers to a node of the same parallel group, which starts together with B.'],
    ['{CP.output}', '{CP.output} refers to a checkpoint, which has no results.'],
    [
      '{A.outputs}',
      '{A.outputs} refers to no result of a node: there are session_id, output_path, output, status and artifacts[0]; perhaps output.',
    ],
    [
      '{A.artifacts}',
      '{A.artifacts} refers to no result of a node: there are session_id, output_path, output, status and artifacts[0]; perhaps artifacts[0].',
    ],
    [
      '{A.output[0]}',
      '{A.output[0]} refers to no result of a node: there are session_id, output_path, output, status and artifacts[0]; perhaps output or output_path.',
    ],
    [
      '{A.error}',
      '{A.error} refers to no result of a node: there are session_id, output_path, output, status and artifacts[0].',
    ],
  ];
  for (const [reference, problem] of faults) assert.equal(referenceProblem(reference), at + problem);
  assert.equal(referenceProblem('{gaol} {gaol} {C.status}').split('\n').length, 2, 'the same is told once');
});

test('a fault is told where it stands, with the lines and columns of an editor', () => {
  const text = textOf({
    nodes: [skill('A', { args_template: '{gaol}' }), skill('B', { on_fail: 'stop' })],
    edges: edgesOf('A>B', 'B>Z'),
    context_schema: { prev_output: {}, 'my field': { type: 'text' }, goal: { default: [] }, x: 1 },
  });
  const places = ['"{gaol}"', '"stop"', '"Z"', '{}', '"text"', '[]', '1'];
  assert.deepEqual(
    placesOf(text).map((found, index) => found.slice(0, places[index]?.length)),
    places,
  );
  // Neither a mark at the beginning nor line ends move them.
  assert.deepEqual(faultsOf(`\uFEFF${text.replaceAll('\n', '\r\n')}`), faultsOf(text));
});

test('what may be meant otherwise is warned of, with its place', () => {
  const warningsOf = (more: object): readonly string[] =>
    templateOf(textOf(more)).warnings.map((line) => line.replace(/^tidy\.json:\d+:\d+: /, ''));
  const group = { parallel_group: 'g' };
  assert.deepEqual(
    warningsOf({
      nodes: [
        skill('A', { args_template: '{prev_output} {"a": {"b": 1}}' }),
        skill('B', group),
        skill('C', group),
        { id: 'CP', type: 'checkpoint' },
        skill('D', { args_template: '{prev_output} {prev_outputs}' }),
      ],
      edges: edgesOf('A>B', 'A>C', 'B>CP', 'C>CP', 'CP>D', 'A>B'),
      context_schema: { 'my field': {} },
    }).toSorted(),
    [
      'In A: "{\\"a\\": {\\"b\\": 1}}" is no reference and stays as it is, and so do 1 more; {{ and }} say so without a warning.',
      'In A: {prev_output} is always empty: no work is before it.',
      'In D: {prev_output} comes from a parallel batch (B, C): it is that of the last one in the order of the plan that has completed; {B.output} names one, {prev_outputs} all.',
      'No reference can name the field "my field".',
      'The edge A > B stands there before.',
    ],
  );
});

test('names that objects have by themselves are names like any other', () => {
  const text = textOf({ nodes: [skill('constructor', { args_template: '{constructor}' }), skill('toString')] })
    .replace('"context_schema": {', '"context_schema": { "constructor": {}, "__proto__": {"default": "x"},')
    .replace(/"edges": \[[^\]]*\]/, '"edges": [{"from": "constructor", "to": "toString"}]');
  const { template } = templateOf(text);
  assert.deepEqual([...template.contextSchema.keys()], ['constructor', '__proto__', 'goal']);
  assert.equal(template.contextSchema.get('__proto__')?.default, 'x');
  assert.deepEqual(
    planBatches(template).map(({ nodes }) => nodes[0]),
    ['constructor', 'toString'],
  );
});

test('a default is of its type: a path in the project, true or false', () => {
  const defaultProblem = (type: string, value: unknown): string =>
    problemsOf({ context_schema: { goal: { type, default: value } } }).join('\n');
  for (const [type, value] of [
    ['boolean', true],
    ['boolean', 'false'],
    ['string', 3],
    ['path', 'src/**/*'],
    ['string', null],
    ['path', ''],
  ] as const)
    assert.equal(defaultProblem(type, value), '', type);
  assert.equal(
    defaultProblem('boolean', 'yes'),
    '$.context_schema.goal.default: The default is neither true nor false.',
  );
  assert.match(defaultProblem('path', '../x'), /The default leads out of the project/);
  assert.match(defaultProblem('string', ['x']), /default is not a text/);
});

test('half a character is read as U+FFFD, and told', () => {
  const { template, warnings } = templateOf(textOf({ description: 'a\uD800b', x: ['\uDC00'] }));
  assert.equal(template.description, 'a\uFFFDb');
  assert.ok(JSON.stringify(template.json).isWellFormed());
  assert.deepEqual(template.json['x'], ['\uFFFD']);
  assert.match(warnings.join('\n'), /half a character/);
});

test('whatever a file holds, it is read or its faults are told, in the order of the text', () => {
  const messy = fc
    .json({ maxDepth: 3 })
    .chain((json) =>
      fc.constantFrom(
        json,
        textOf({ nodes: JSON.parse(json) }),
        textOf({ edges: JSON.parse(json) }),
        textOf({ context_schema: JSON.parse(json) }),
        json.slice(1),
      ),
    );
  fc.assert(
    fc.property(fc.oneof(messy, fc.string({ unit: 'binary' })), (text) => {
      const read = readTemplate(text, 'x');
      if (read.ok) return;
      assert.ok(read.error.length > 0);
      const places = read.error.map(({ line, column }) => line * 1e6 + column);
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
    }),
    { numRuns: 500 },
  );
});

test('a chain of 5,000 nodes and a batch of 2,000 are read in a moment, with and without faults', () => {
  const chainOf = (count: number, more: (index: number) => object) => ({
    nodes: Array.from({ length: count }, (_, index) => skill(`N${index}`, more(index))),
    edges: edgesOf(...Array.from({ length: count - 1 }, (_, index) => `N${index}>N${index + 1}`)),
  });
  const started = performance.now();
  const chain = chainOf(5000, (index) =>
    index === 0 ? {} : { args_template: `{N${index - 1}.output} {prev_output}` },
  );
  assert.equal(planBatches(templateOf(textOf(chain)).template).length, 5000);
  const ring = { ...chain, edges: [...chain.edges, ...edgesOf('N4999>N0')] };
  assert.match(problemsOf(ring)[0] ?? '', /N0 > N1 > .* \.\.\. 4977 more \.\.\. > .*N4999 > N0\.$/);
  const names = Array.from({ length: 2000 }, (_, index) => `W${index}`);
  const wide = {
    nodes: [
      skill('A'),
      ...names.map((id) => skill(id, { parallel_group: 'wide' })),
      skill('Z', { args_template: '{prev_output}' }),
    ],
    edges: edgesOf(...names.flatMap((id) => [`A>${id}`, `${id}>Z`])),
  };
  assert.deepEqual(
    planBatches(templateOf(textOf(wide)).template).map(({ nodes }) => nodes.length),
    [1, 2000, 1],
  );
  const faulty = chainOf(5000, () => ({ args_template: '{gaol} {M.output}' }));
  assert.equal(problemsOf({ ...faulty, edges: edgesOf(...names.map((id) => `N1>${id}`)) }).length > 10_000, true);
  assert.ok(performance.now() - started < 20_000);
});

const skipFiles = withoutShared('fixtures', 'synthetic', 'synthetic-wfr');

test(
  'the templates of the collection of synthetic files are valid, or told as what they are',
  { skip: skipFiles },
  () => {
    const read = (name: string): readonly string[] => {
      const text = readFileSync(join(shared, 'fixtures', 'synthetic', 'synthetic-wfr', name), 'utf8');
      const parsed = readTemplate(text, name);
      return parsed.ok
        ? planBatches(parsed.value.template).map(({ nodes }) => nodes.join('+'))
        : parsed.error.map((fault) => faultLine(name, fault));
    };
    assert.deepEqual(read('t1-template.json'), ['N-001', 'CP-01', 'N-002a+N-002b', 'CP-02', 'N-003']);
    assert.deepEqual(read('t2-template-cycle.json'), [
      't2-template-cycle.json:136:5: The nodes wait for each other in a ring: N-001 > CP-01 > N-002a > CP-02 > N-003 > N-001.',
    ]);
    assert.deepEqual(read('t3-template-dangling-edge-duplicate-id.json'), [
      't3-template-dangling-edge-duplicate-id.json:111:13: The id N-001 is taken: nodes[0] has it.',
      't3-template-dangling-edge-duplicate-id.json:153:13: The edge N-003 > N-404 dangles: there is no node N-404; perhaps N-001 or N-003.',
    ]);
    assert.deepEqual(read('t4-template-dependency-inside-parallel-group.json'), [
      't4-template-dependency-inside-parallel-group.json:136:5: N-002b waits for N-002a, but both are in the parallel group scan, whose members start together: N-002a > N-002b.',
    ]);
  },
);

const skip = withoutShared('cases');

/** A template of a case, whose nodes have `needs` instead of edges. */
const ofCase = (json: {
  readonly nodes: readonly { readonly id: string; readonly needs?: readonly string[] }[];
}): object => ({
  nodes: json.nodes.map(({ id }) => skill(id)),
  edges: json.nodes.flatMap(({ id, needs = [] }) => needs.map((need) => ({ from: need, to: id }))),
});

const caseOf = (id: string, name: string): object => ofCase(JSON.parse(readFileSync(caseFile(id, name), 'utf8')));

test('O03: nodes that depend on each other in a ring are refused by the name of the ring', { skip }, () => {
  assert.deepEqual(problemsOf(caseOf('O03', 'template.json')), [
    '$.edges[0]: The nodes wait for each other in a ring: A > B > C > A.',
  ]);
  // A template includes no other one here: what is left of one that does is no template.
  assert.ok(
    faultsOf(readFileSync(caseFile('O03', 'include-a.json'), 'utf8')).some(
      ({ problem }) => problem === 'The template has no nodes.',
    ),
  );
});

test('O05: odd graphs are told by name, and a chain of 5,000 is none', { skip }, () => {
  assert.deepEqual(problemsOf(caseOf('O05', 'self.json')), ['$.edges[0]: The node A waits for itself: A > A.']);
  assert.deepEqual(problemsOf(caseOf('O05', 'unknown.json')), [
    '$.edges[0].from: The edge Z > A dangles: there is no node Z.',
  ]);
  assert.deepEqual(problemsOf(caseOf('O05', 'twin.json')), ['$.nodes[1].id: The id A is taken: nodes[0] has it.']);
  const chain = Array.from({ length: 5000 }, (_, index) => ({
    id: `N${index}`,
    needs: index === 0 ? [] : [`N${index - 1}`],
  }));
  assert.equal(planBatches(templateOf(textOf(ofCase({ nodes: chain }))).template).length, 5000);
});
