import type { Order } from '../../kernel/dispatch.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, type Result } from '../../lib/result.ts';
import { readDocument, valueOf } from './document.ts';
import { withChange, type Change } from './edit.ts';
import { describedSession, groundOf } from './live.ts';
import { meantPair, mostBytes } from './look.ts';
import { halves } from './print.ts';
import { printSections, readSections, withBody, type Sections } from './sections.ts';
import { currentPath } from './workspace.ts';
import { orderFiles, type Signed } from './write.ts';

/**
 * A change of a pair that is named and describes no session: written into its files. Undefined where none is named, or where
 * it is the pair of this checkout.
 */
export const orderNamed = async (
  world: World,
  named: { readonly handover?: string | undefined; readonly session_state?: string | undefined },
  change: Change & Signed,
): Promise<Result<Order<JsonObject>, Refusal> | undefined> => {
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
  if (isLive) return undefined;
  const project = await world.project();
  const files = [];
  for (const [half, path] of [
    ['handover', pair.handover],
    ['session_state', pair.sessionState],
  ] as const) {
    const text = project.whole(look.root, path, mostBytes);
    if (!text.ok) return err(refuse('not-found', `${look.root}/${path} ${text.error.problem}.`));
    const changed = withChange(half, readSections(text.value), change);
    if (!changed.ok) return changed;
    files.push({ path, text: printSections(signed(changed.value, change, world.caller.now)) });
  }
  const state = readDocument(halves.session_state, files[1]?.text ?? '');
  return orderFiles(world, ground.value, files, true, {
    docs_root: look.root,
    handover: `${look.root}/${pair.handover}`,
    session_state: `${look.root}/${pair.sessionState}`,
    status: valueOf(state, 'Status'),
    next_owner: valueOf(state, 'Next owner'),
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
