import type { PrintDocuments } from './documents.ts';
import { folderOf, type Kind, type Kinds } from './kind.ts';
import { StoreFailure } from './ports.ts';
import { refuse } from './refusal.ts';

/** A kind that is loaded when a session of it is first met. */
export interface LazyKind {
  readonly name: string;
  /** Loads the module that exports it, once or as often as it is asked. */
  readonly load: () => Promise<{ readonly kind: Kind }>;
}

/** Says that a kind was asked for that is not there yet. Whoever can wait loads it, and begins anew: see `whenLoaded`. */
export class NotLoaded extends Error {
  readonly load: () => Promise<void>;
  constructor(name: string, load: () => Promise<void>) {
    super(`${name} is not loaded`);
    this.load = load;
  }
}

/** The kinds by name. That one could not be loaded is told to everybody who asks for it; those who need others go on. */
export const createKinds = (
  given: readonly (Kind | LazyKind)[],
  loadPrinter?: () => Promise<{ readonly printDocuments: PrintDocuments }>,
): Kinds => {
  const found = new Map<string, Kind | LazyKind | StoreFailure>(given.map((one) => [one.name, one]));
  let printer: PrintDocuments | undefined;
  return {
    ...(loadPrinter === undefined
      ? {}
      : {
          printDocuments: () => {
            if (printer !== undefined) return printer;
            throw new NotLoaded('what prints documents', async () => {
              printer = (await loadPrinter()).printDocuments;
            });
          },
        }),
    has: (name) => found.has(name),
    keys: () => found.keys(),
    get: (name) => {
      const one = found.get(name);
      if (one instanceof StoreFailure) throw one;
      if (one === undefined || !('load' in one)) return one;
      throw new NotLoaded(name, async () => void found.set(name, await loadOne(one)));
    },
  };
};

const loadOne = async ({ name, load }: LazyKind): Promise<Kind | StoreFailure> => {
  try {
    const { kind } = await load();
    if (kind.name === name) return kind;
    throw new Error(`it is ${kind.name}`);
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split('\n');
    return new StoreFailure(
      refuse('invariant-unmet', `The kind ${name} could not be loaded: ${reason}.`, {
        hint: 'install stint again',
      }),
      error,
    );
  }
};

/** Does what asks for kinds at once; where one is not there yet, it is loaded, and everything done again from its start. */
export const whenLoaded = async <Value>(action: () => Value | Promise<Value>): Promise<Value> => {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      await error.load();
    }
  }
};

/** The kind of that name, loaded where it is not there yet; undefined where nobody knows it. */
export const loadKind = async (kinds: Kinds, name: string): Promise<Kind | undefined> =>
  whenLoaded(() => kinds.get(name));

/** The same for whoever can do without it: undefined also for one that cannot be loaded. */
export const knownKind = async (kinds: Kinds, name: string): Promise<Kind | undefined> => {
  try {
    return await loadKind(kinds, name);
  } catch (error) {
    if (error instanceof StoreFailure) return undefined;
    throw error;
  }
};

/** Whether sessions of a kind have steps that are handed out; not of one that nobody knows, or that cannot be loaded. */
export const handsOutSteps = async (kinds: Kinds, name: string): Promise<boolean> =>
  (await knownKind(kinds, name))?.empty.steps !== undefined;

/** The folder of a session, whatever kind it is of, relative to the checkout's root; empty where that is not known. */
export const folderIn = async (
  kinds: Kinds,
  session: { readonly kind: string; readonly name: string; readonly archivedAt: string | null },
): Promise<string> => {
  const kind = await loadKind(kinds, session.kind);
  return kind === undefined ? '' : folderOf(kind, session);
};
