import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { shellWord } from '../../lib/text.ts';
import { noLease, type LeaseFile } from './lease-file.ts';
import { leaseToJson } from './summary.ts';
import { leaseIn, leasePath, type Look } from './workspace.ts';

/** The file of a lease that another program has written: it counts where nobody holds the session. */

/** What was found in its place. */
export interface FoundLease {
  readonly look: Look;
  /** What another program has written: `none` where the file is one of ours, or there is none. */
  readonly file: LeaseFile;
  /** SHA-256 of it; null where there is none that can be read. */
  readonly digest: string | null;
  /** Whether a file is there, whoever has written it. */
  readonly exists: boolean;
}

/** Looks for it. `root` is the root of the documents from that of the checkout; undefined outside of it. */
export const findLease = async (
  world: Pick<World, 'store' | 'caller' | 'files'>,
  look: Look,
  root: string | undefined,
): Promise<FoundLease> => {
  const digest = world.files.digest(look.root, leasePath)?.sha256 ?? null;
  const isOurs = root !== undefined && (await isOwnLease(world, root, digest));
  return { look, file: isOurs ? noLease : leaseIn(look, world.caller.now), digest, exists: digest !== null };
};

/** Whether the file of a lease with that digest was made here, or in another checkout of the same store. */
export const isOwnLease = async (
  { store }: Pick<World, 'store'>,
  root: string,
  digest: string | null,
): Promise<boolean> => digest !== null && (await store.versionOf(`${root}/${leasePath}`, digest)) !== undefined;

/** Why what another program has written keeps somebody out; undefined where it does not. */
export const refuseFile = (
  { file, look }: Pick<FoundLease, 'file' | 'look'>,
  who: string | undefined,
): Refusal | undefined => {
  const show = `stint handoff lease show --root ${shellWord(look.root)}`;
  if (file.state === 'invalid')
    return refuse('invalid-input', `${look.root}/${leasePath} is no lease.`, {
      expected: 'a lease, no file, or --take-over',
      faults: file.problems,
      hint: show,
    });
  if (file.state !== 'active' || file.holder === who) return undefined;
  return refuse(
    'lease',
    `The documents are held by ${file.holder} since ${file.acquiredAt} until ${file.expiresAt}, for: ${file.purpose}; so says ${leasePath}.`,
    {
      expected: `its holder, --take-over, or that it ends at ${file.expiresAt}`,
      hint: show,
      retryable: true,
      lease: leaseToJson(file),
    },
  );
};
