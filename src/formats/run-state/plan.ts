import type { Batch } from './document.ts';

/**
 * The order in which the nodes of a template are done. It depends on the template alone: of nodes that are ready together
 * the one that stands first in the template comes first, so that a run that is resumed has the plan it began with.
 *
 * Nothing here calls itself: a chain of thousands of nodes is a plan like any other.
 */

/** What of a node its place in the plan depends on. */
export interface PlannedNode {
  readonly id: string;
  /** The nodes of one group are one batch; null stands alone. */
  readonly parallelGroup: string | null;
}

/** One node after another. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** What is planned. */
export interface Graph {
  readonly nodes: readonly PlannedNode[];
  readonly edges: readonly Edge[];
}

/**
 * The batches of a template that was read without a fault: a group is one batch, every other node stands alone.
 *
 * @throws for a template that has no plan, which `readTemplate` does not let through
 */
export const planBatches = (template: Graph): readonly Batch[] => {
  const planned = planGraph(template);
  if (planned.batches === undefined) throw new Error('a template that waits for itself has no plan');
  return planned.batches;
};

/** Nodes that wait for themselves: each is followed by the next one, the last one by the first. `closes` is an edge's place. */
export interface Ring {
  readonly nodes: readonly string[];
  readonly closes: number;
}

/** A group that cannot be one batch, because something leads from its members to its members. */
export interface SplitGroup {
  /** The groups concerned: several where each of them waits for another one. */
  readonly groups: readonly string[];
  /** Ways from a member to a member, of the same group or of the next one. */
  readonly ways: readonly (readonly string[])[];
  readonly closes: number;
}

/** The plan of a graph, or why there is none. */
export interface Planned {
  /** Undefined where there is a ring or a group that is split. */
  readonly batches: readonly Batch[] | undefined;
  readonly rings: readonly Ring[];
  readonly splits: readonly SplitGroup[];
}

/** Plans whatever is given: ids are expected to be different, and edges that lead nowhere are left out. */
export const planGraph = ({ nodes, edges }: Graph): Planned => {
  const indexById = new Map(nodes.map(({ id }, index) => [id, index]));
  const idOf = (index: number): string => nodes[index]?.id ?? '';
  const arrows = edges.flatMap(({ from, to }, edge): readonly Arrow[] => {
    const [tail, head] = [indexById.get(from), indexById.get(to)];
    return tail === undefined || head === undefined ? [] : [{ tail, head, edge }];
  });
  const own = arrows.filter(({ tail, head }) => tail === head);
  const others = arrows.filter(({ tail, head }) => tail !== head);
  const sorted = sortArrows(nodes.length, others);
  const rings: readonly Ring[] = [
    ...own.map(({ tail, edge }) => ({ nodes: [idOf(tail)], closes: edge })),
    ...sorted.rings.map((ring) => ({ nodes: ring.map(({ tail }) => idOf(tail)), closes: ring.at(-1)?.edge ?? 0 })),
  ];

  const { unitOf, units } = unitsOf(nodes);
  const inside = others.filter(({ tail, head }) => unitOf[tail] === unitOf[head]);
  const between = others.flatMap((arrow): readonly UnitArrow[] => {
    const [tail, head] = [unitOf[arrow.tail] ?? 0, unitOf[arrow.head] ?? 0];
    return tail === head ? [] : [{ tail, head, edge: arrow.edge, arrow }];
  });
  const batched = sortArrows(units.length, between);
  const splits: readonly SplitGroup[] = [
    ...inside.map(({ tail, head, edge }) => ({
      groups: [nodes[tail]?.parallelGroup ?? ''],
      ways: [[idOf(tail), idOf(head)]],
      closes: edge,
    })),
    // What a ring of nodes makes of groups is told with the ring.
    ...(rings.length > 0 ? [] : batched.rings.map((ring) => splitOf(ring, units, idOf))),
  ];
  return {
    batches:
      rings.length > 0 || splits.length > 0
        ? undefined
        : batched.order.map((unit, place) => {
            const members = units[unit]?.members ?? [];
            return { batch: place + 1, nodes: members.map(idOf), parallel: members.length > 1 };
          }),
    rings,
    splits,
  };
};

/** An edge between things that are numbered in the order of the template. */
interface Arrow {
  readonly tail: number;
  readonly head: number;
  readonly edge: number;
}

/** An edge between units, with the edge between nodes that it is. */
interface UnitArrow extends Arrow {
  readonly arrow: Arrow;
}

/** What becomes one batch: a node, or a group. */
interface Unit {
  readonly group: string | null;
  readonly members: number[];
}

/** Units are numbered by their first node. */
const unitsOf = (
  nodes: readonly PlannedNode[],
): { readonly unitOf: readonly number[]; readonly units: readonly Unit[] } => {
  const units: Unit[] = [];
  const unitByGroup = new Map<string, number>();
  const unitOf = nodes.map(({ parallelGroup: group }, index) => {
    const known = group === null ? undefined : unitByGroup.get(group);
    if (known !== undefined) {
      units[known]?.members.push(index);
      return known;
    }
    if (group !== null) unitByGroup.set(group, units.length);
    return units.push({ group, members: [index] }) - 1;
  });
  return { unitOf, units };
};

/** What leads from a group back to it, in ways that begin and end at a member. */
const splitOf = (ring: readonly UnitArrow[], units: readonly Unit[], idOf: (index: number) => string): SplitGroup => {
  const isGroup = ({ tail }: UnitArrow): boolean => (units[tail]?.members.length ?? 0) > 1;
  const first = ring.findIndex(isGroup);
  const turned = [...ring.slice(first), ...ring.slice(0, first)];
  const ways: string[][] = [];
  for (const step of turned) {
    if (isGroup(step)) ways.push([idOf(step.arrow.tail)]);
    ways.at(-1)?.push(idOf(step.arrow.head));
  }
  return {
    groups: turned.filter(isGroup).map(({ tail }) => units[tail]?.group ?? ''),
    ways,
    closes: turned.at(-1)?.edge ?? 0,
  };
};

/**
 * Kahn's order, the lowest number first, and rings that share nothing; what only waits for a ring is ordered as if that
 * were none. A ring is told by its arrows and begins at its lowest number.
 */
const sortArrows = <One extends Arrow>(
  count: number,
  arrows: readonly One[],
): { readonly order: readonly number[]; readonly rings: readonly (readonly One[])[] } => {
  const leaving = Array.from({ length: count }, (): One[] => []);
  const arriving = Array.from({ length: count }, (): One[] => []);
  const waiting = Array.from({ length: count }, () => 0);
  for (const arrow of arrows) {
    leaving[arrow.tail]?.push(arrow);
    arriving[arrow.head]?.push(arrow);
    waiting[arrow.head] = (waiting[arrow.head] ?? 0) + 1;
  }
  const isDone = Array.from({ length: count }, () => false);
  const ready = createHeap();
  for (const [index, before] of waiting.entries()) if (before === 0) ready.push(index);

  const order: number[] = [];
  const rings: One[][] = [];
  const finish = (index: number): void => {
    isDone[index] = true;
    for (const { head } of leaving[index] ?? []) {
      const left = (waiting[head] ?? 0) - 1;
      waiting[head] = left;
      if (left === 0 && isDone[head] === false) ready.push(head);
    }
  };
  for (let lowest = 0; ;) {
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      order.push(next);
      finish(next);
    }
    while (isDone[lowest] === true) lowest += 1;
    if (lowest >= count) return { order, rings };
    const ring = ringBefore(lowest, arriving, isDone);
    rings.push(ring);
    // All of it is done before anything becomes ready because of it.
    for (const { tail } of ring) isDone[tail] = true;
    for (const { tail } of ring) finish(tail);
  }
};

/** The ring that is reached from something that waits, going back: everything that is not done waits for something else. */
const ringBefore = <One extends Arrow>(
  start: number,
  arriving: readonly (readonly One[])[],
  isDone: readonly boolean[],
): One[] => {
  const stepOf = new Map<number, number>();
  const back: One[] = [];
  let at = start;
  while (!stepOf.has(at)) {
    stepOf.set(at, back.length);
    let arrow: One | undefined;
    for (const one of arriving[at] ?? [])
      if (isDone[one.tail] === false && (arrow === undefined || one.tail < arrow.tail)) arrow = one;
    if (arrow === undefined) throw new Error('something waits for nothing');
    back.push(arrow);
    at = arrow.tail;
  }
  const ring = back.slice(stepOf.get(at)).toReversed();
  let first = 0;
  for (const [place, { tail }] of ring.entries()) if (tail < (ring[first]?.tail ?? 0)) first = place;
  return [...ring.slice(first), ...ring.slice(0, first)];
};

/** Numbers, of which the lowest comes first. */
const createHeap = (): { readonly push: (value: number) => void; readonly pop: () => number | undefined } => {
  const heap: number[] = [];
  const at = (index: number): number => heap[index] ?? Number.POSITIVE_INFINITY;
  const swap = (one: number, other: number): void => {
    const kept = at(one);
    heap[one] = at(other);
    heap[other] = kept;
  };
  return {
    push: (value) => {
      heap.push(value);
      for (let index = heap.length - 1; index > 0;) {
        const parent = (index - 1) >> 1;
        if (at(parent) <= at(index)) return;
        swap(parent, index);
        index = parent;
      }
    },
    pop: () => {
      const [lowest] = heap;
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return lowest;
      heap[0] = last;
      for (let index = 0; ;) {
        const left = index * 2 + 1;
        const child = at(left + 1) < at(left) ? left + 1 : left;
        if (at(child) >= at(index)) return lowest;
        swap(child, index);
        index = child;
      }
    },
  };
};
