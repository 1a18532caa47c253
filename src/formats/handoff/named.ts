import type { Order } from '../../kernel/dispatch.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { readDocument, valueOf } from './document.ts';
import { withChange, type Change } from './edit.ts';
import { describedSession, groundOf, type Ground } from './live.ts';
import { meantPair, mostBytes, refuseText } from './look.ts';
import { halves } from './print.ts';
import { printSections, readSections, withBody, type Sections } from './sections.ts';
import { reconcile } from './reconcile.ts';
import type { Reconciling } from './reconciling.ts';
import { currentPath, type Pair } from './workspace.ts';
import { orderFiles, type Signed } from './write.ts';

/** The pair that is named, where it is not the one that this checkout works on. */
export const otherPair = async (
  world: World,
  named: { readonly handover?: string | undefined; readonly session_state?: string | undefined },
): Promise<Result<NamedPair, Refusal> | undefined> => {
  if (named.handover === undefined && named.session_state === undefined) return undefined;
  const meant = await meantPair(world, named);
  if (!meant.ok) return meant;
  const { look, pair } = meant.value;
  const ground = await groundOf(world, { root: look.root });
  if (!ground.ok) return ground;
  const described = await describedSession(world, ground.value.root);
  const documents = described?.common.documents;
  const isLive =
    documents === undefined
      ? pair.sessionState === currentPath
      : pair.sessionState === documents.sessionState || pair.handover === documents.handover;
  return isLive ? undefined : readPair(world, ground.value, pair);
};

/** Reads a pair as it lies there. */
export const readPair = async (
  world: World,
  ground: Ground,
  pair: Pick<Pair, 'handover' | 'sessionState'>,
): Promise<Result<NamedPair, Refusal>> => {
  const { root } = ground.look;
  const project = await world.project();
  const handover = project.whole(root, pair.handover, mostBytes);
  if (!handover.ok) return err(refuse('not-found', `${root}/${pair.handover} ${handover.error.problem}.`));
  const state = project.whole(root, pair.sessionState, mostBytes);
  if (!state.ok) return err(refuse('not-found', `${root}/${pair.sessionState} ${state.error.problem}.`));
  return ok({ ground, pair, handover: readSections(handover.value), state: readSections(state.value) });
};

/** A pair of files. */
export interface NamedPair {
  readonly ground: Ground;
  readonly pair: Pick<Pair, 'handover' | 'sessionState'>;
  readonly handover: Sections;
  readonly state: Sections;
}

/**
 * A change of a pair that is named and describes no session: written into its files. Undefined where none is named, or where
 * it is the pair of this checkout.
 */
export const orderNamed = async (
  world: World,
  named: { readonly handover?: string | undefined; readonly session_state?: string | undefined },
  change: Change & Signed,
): Promise<Result<Order<JsonObject>, Refusal> | undefined> => {
  const found = await otherPair(world, named);
  return found?.ok === true ? changeFiles(world, found.value, change) : found;
};

/** The same for one account of such a pair. */
export const orderNamedReconciled = async (
  world: World,
  named: { readonly handover?: string | undefined; readonly session_state?: string | undefined },
  input: Reconciling,
): Promise<Result<Order<JsonObject>, Refusal> | undefined> => {
  const found = await otherPair(world, named);
  if (found?.ok !== true) return found;
  const { handover, state } = found.value;
  const said = { status: input.status, owner: input.next_owner, by: input.updated_by };
  const { change } = reconcile(handover, state, said, { against: [] });
  return changeFiles(world, found.value, { ...input, ...change });
};

const changeFiles = (
  world: World,
  { ground, pair, handover, state }: NamedPair,
  change: Change & Signed,
): Result<Order<JsonObject>, Refusal> => {
  const { look } = ground;
  const files = [];
  for (const [half, path, document] of [
    ['handover', pair.handover, handover],
    ['session_state', pair.sessionState, state],
  ] as const) {
    const refusal = refuseText(halves[half], `${look.root}/${path}`, printSections(document));
    if (refusal !== undefined) return err(refusal);
    const changed = withChange(half, document, change);
    if (!changed.ok) return changed;
    files.push({ path, text: printSections(signed(changed.value, change, world.caller.now)) });
  }
  const written = readDocument(halves.session_state, files[1]?.text ?? '');
  return orderFiles(world, ground, files, true, {
    docs_root: look.root,
    handover: `${look.root}/${pair.handover}`,
    session_state: `${look.root}/${pair.sessionState}`,
    status: valueOf(written, 'Status'),
    next_owner: valueOf(written, 'Next owner'),
    session: null,
  });
};

/** A document with who has written it last, and when. */
const signed = (document: Sections, { updated_by: by, last_updated: time }: Signed, now: string): Sections => {
  let changed = document;
  for (const [name, value] of [
    ['Last updated', time ?? now],
    ['Updated by', by],
  ] as const) {
    const next = withBody(changed, name, [value]);
    if (next.ok) changed = next.value;
  }
  return changed;
};
