import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planBatches, planGraph, type Edge, type Graph } from './plan.ts';

const nodesOf = (...names: readonly string[]): Graph['nodes'] =>
  names.map((name) => {
    const [id = '', group] = name.split('@');
    return { id, parallelGroup: group ?? null };
  });

const edgesOf = (...names: readonly string[]): readonly Edge[] =>
  names.map((name) => {
    const [from = '', to = ''] = name.split('>');
    return { from, to };
  });

const idsOf = (graph: Graph): readonly string[] => planBatches(graph).map(({ nodes }) => nodes.join('+'));

test('of nodes that are ready together the first of the template comes first', () => {
  assert.deepEqual(idsOf({ nodes: nodesOf('A', 'B', 'C', 'D'), edges: edgesOf('A>D', 'A>C', 'A>B') }), [
    'A',
    'B',
    'C',
    'D',
  ]);
  assert.deepEqual(idsOf({ nodes: nodesOf('D', 'B', 'A'), edges: edgesOf('A>D', 'A>B') }), ['A', 'D', 'B']);
  // What becomes ready later and stands earlier goes first.
  assert.deepEqual(idsOf({ nodes: nodesOf('X', 'A', 'Y', 'B'), edges: edgesOf('A>X') }), ['A', 'X', 'Y', 'B']);
});

test('a group is one batch, in the order of the template, and waits for what any of its members waits for', () => {
  const graph = {
    nodes: nodesOf('A', 'B@g', 'C', 'D@g', 'E'),
    edges: edgesOf('A>B', 'C>D', 'D>E', 'B>E', 'A>C'),
  };
  assert.deepEqual(planBatches(graph), [
    { batch: 1, nodes: ['A'], parallel: false },
    { batch: 2, nodes: ['C'], parallel: false },
    { batch: 3, nodes: ['B', 'D'], parallel: true },
    { batch: 4, nodes: ['E'], parallel: false },
  ]);
  assert.deepEqual(planBatches({ nodes: nodesOf('A@g'), edges: [] }), [{ batch: 1, nodes: ['A'], parallel: false }]);
});

test('an edge that stands twice is one, and one that leads nowhere is none', () => {
  assert.deepEqual(idsOf({ nodes: nodesOf('A', 'B'), edges: edgesOf('A>B', 'A>B', 'B>Z', 'Z>A') }), ['A', 'B']);
});

/** Graphs without rings: edges lead from an earlier node of a hidden order to a later one. */
const acyclic = fc
  .integer({ min: 1, max: 12 })
  .chain((count) =>
    fc.record({
      order: fc.shuffledSubarray(
        Array.from({ length: count }, (_, index) => index),
        { minLength: count, maxLength: count },
      ),
      pairs: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 30 }),
    }),
  )
  .map(({ order, pairs }): Graph => ({
    nodes: nodesOf(...order.map((_, index) => `N${index}`)),
    edges: pairs
      .filter(([one, other]) => one !== other)
      .map(([one, other]) => ({
        from: `N${order[Math.min(one, other)] ?? 0}`,
        to: `N${order[Math.max(one, other)] ?? 0}`,
      })),
  }));

test('a plan has every node once, behind everything it waits for, whatever the order of the edges', () => {
  fc.assert(
    fc.property(
      acyclic.chain((graph) =>
        fc.tuple(
          fc.constant(graph),
          fc.shuffledSubarray([...graph.edges], { minLength: graph.edges.length, maxLength: graph.edges.length }),
        ),
      ),
      ([graph, shuffled]) => {
        const batches = planBatches(graph);
        assert.deepEqual(
          batches.map(({ batch }) => batch),
          batches.map((_, index) => index + 1),
        );
        const ids = batches.flatMap(({ nodes }) => nodes);
        assert.deepEqual(ids.toSorted(), graph.nodes.map(({ id }) => id).toSorted());
        for (const { from, to } of graph.edges) assert.ok(ids.indexOf(from) < ids.indexOf(to), `${from} > ${to}`);
        assert.deepEqual(planBatches({ nodes: graph.nodes, edges: shuffled }), batches);
      },
    ),
  );
});

/** Any graph, groups and rings included. */
const anyGraph = fc.integer({ min: 1, max: 9 }).chain((count) =>
  fc.record({
    nodes: fc
      .constant(count)
      .chain((length) =>
        fc
          .array(fc.constantFrom('', '', '', '@g', '@h'), { minLength: length, maxLength: length })
          .map((groups) => nodesOf(...groups.map((group, index) => `N${index}${group}`))),
      ),
    edges: fc.array(
      fc.tuple(fc.nat(count - 1), fc.nat(count - 1)).map(([from, to]) => ({ from: `N${from}`, to: `N${to}` })),
      { maxLength: 14 },
    ),
  }),
);

/** Whether anything reaches itself: the plain way, for comparison. */
const reachesItself = (ids: readonly string[], edges: readonly Edge[]): boolean => {
  const reached = new Map(ids.map((id) => [id, new Set(edges.flatMap(({ from, to }) => (from === id ? [to] : [])))]));
  for (const middle of ids)
    for (const start of ids)
      if (reached.get(start)?.has(middle) === true)
        for (const end of reached.get(middle) ?? []) reached.get(start)?.add(end);
  return ids.some((id) => reached.get(id)?.has(id) === true);
};

test('there is a ring where something reaches itself and nowhere else, and each that is named is one', () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const { rings, batches } = planGraph(graph);
      const ids = graph.nodes.map(({ id }) => id);
      assert.equal(rings.length > 0, reachesItself(ids, graph.edges));
      if (rings.length > 0) assert.equal(batches, undefined);
      for (const { nodes, closes } of rings) {
        assert.equal(new Set(nodes).size, nodes.length);
        for (const [index, from] of nodes.entries()) {
          const to = nodes[(index + 1) % nodes.length];
          assert.ok(
            graph.edges.some((edge) => edge.from === from && edge.to === to),
            `${from} > ${to}`,
          );
        }
        assert.deepEqual(graph.edges[closes], { from: nodes.at(-1), to: nodes[0] });
      }
    }),
    { numRuns: 500 },
  );
});

test('without rings there is a plan, or a group whose members wait for members of groups, by ways that are there', () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const { rings, splits, batches } = planGraph(graph);
      fc.pre(rings.length === 0);
      const groupById = new Map(graph.nodes.map(({ id, parallelGroup }) => [id, parallelGroup ?? id]));
      const units = [...new Set(groupById.values())];
      const between = graph.edges.map(({ from, to }) => ({
        from: groupById.get(from) ?? '',
        to: groupById.get(to) ?? '',
      }));
      assert.equal(batches === undefined, reachesItself(units, between));
      assert.equal(batches === undefined, splits.length > 0);
      for (const { groups, ways } of splits) {
        assert.equal(groups.length, ways.length);
        for (const [index, way] of ways.entries()) {
          assert.equal(groupById.get(way[0] ?? ''), groups[index]);
          assert.equal(groupById.get(way.at(-1) ?? ''), groups[(index + 1) % groups.length]);
          for (const [step, from] of way.slice(0, -1).entries())
            assert.ok(graph.edges.some((edge) => edge.from === from && edge.to === way[step + 1]));
        }
      }
      const ids = (batches ?? []).flatMap(({ nodes }) => nodes);
      if (batches !== undefined) for (const { from, to } of graph.edges) assert.ok(ids.indexOf(from) < ids.indexOf(to));
    }),
    { numRuns: 500 },
  );
});

test('rings that share nothing are all named, and what waits for them is not', () => {
  const { rings } = planGraph({
    nodes: nodesOf('S', 'A', 'B', 'C', 'X', 'Y', 'Z'),
    edges: edgesOf('S>A', 'A>B', 'B>A', 'B>C', 'C>Z', 'X>Y', 'Y>X', 'Z>Z'),
  });
  assert.deepEqual(
    rings.map(({ nodes }) => nodes),
    [['Z'], ['A', 'B'], ['X', 'Y']],
  );
});

test('what has no plan is not planned', () => {
  assert.throws(() => planBatches({ nodes: nodesOf('A'), edges: edgesOf('A>A') }));
});

test('a chain, a ring, a batch and a fan of thousands are planned in a moment', () => {
  const count = 5000;
  const ids = Array.from({ length: count }, (_, index) => `N${index}`);
  const chain = ids.slice(1).map((to, index) => ({ from: `N${index}`, to }));
  const started = performance.now();
  const backwards = { nodes: nodesOf(...ids.toReversed()), edges: chain };
  assert.equal(planBatches(backwards).length, count);
  assert.equal(
    planGraph({ ...backwards, edges: [...chain, { from: 'N4999', to: 'N0' }] }).rings[0]?.nodes.length,
    count,
  );
  const wide = ids.slice(0, 2000);
  const fan = {
    nodes: nodesOf('A', ...wide.map((id) => `${id}@g`), 'Z'),
    edges: wide.flatMap((id) => [
      { from: 'A', to: id },
      { from: id, to: 'Z' },
    ]),
  };
  assert.deepEqual(
    planBatches(fan).map(({ nodes }) => nodes.length),
    [1, 2000, 1],
  );
  assert.ok(performance.now() - started < 20_000);
});
