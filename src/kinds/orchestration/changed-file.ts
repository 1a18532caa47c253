import type { ChangedFile, FileWorld } from '../../kernel/kind.ts';
import { openReader } from './found-sessions.ts';

/** What another program has made of the file of an orchestration. */
export const changed = async (world: FileWorld, root: string, path: string): Promise<ChangedFile> => {
  const read = await openReader(world, root, { isOurs: true });
  const { found, digest } = read({ path: `${root}/${path}`, isListed: true });
  if (found.what === 'newer')
    return {
      digest,
      is: `was written by a newer version: its schema is ${JSON.stringify(found.version)}, and 1 is what is understood here`,
      more: 'a newer stint takes it over: upgrade stint',
    };
  return { digest };
};
