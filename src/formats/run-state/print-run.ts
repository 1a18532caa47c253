import type { JsonObject } from '../../lib/canonical-json.ts';
import { printDocument, type RunDocument } from './document.ts';

/** A document with what an import found beside it. */
export interface RunWithUnknown {
  readonly document: RunDocument;
  readonly unknown: JsonObject;
  readonly unknownOfNodes: Readonly<Record<string, JsonObject>>;
  readonly unknownOfBatches: Readonly<Record<string, JsonObject>>;
}

/** A run as its file holds it: keys that are not of the format stand where they stood, behind those that are. */
export const printRun = ({ document, unknown, unknownOfNodes, unknownOfBatches }: RunWithUnknown): string =>
  printDocument(
    {
      ...document,
      execution_plan: document.execution_plan.map((batch) => ({
        ...batch,
        ...ownOf(unknownOfBatches, `${batch.batch}`),
      })),
      node_states: Object.fromEntries(
        Object.entries(document.node_states).map(([id, node]) => [id, { ...node, ...ownOf(unknownOfNodes, id) }]),
      ),
    },
    unknown,
  );

const ownOf = (unknown: Readonly<Record<string, JsonObject>>, key: string): JsonObject =>
  Object.hasOwn(unknown, key) ? (unknown[key] ?? {}) : {};
