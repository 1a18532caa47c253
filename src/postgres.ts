/** For programs whose store may lie on a PostgreSQL server: `openStint` as the library has it, which waits for the server. */
import type { Refusal } from './kernel/refusal.ts';
import { ok, type Result } from './lib/result.ts';
import { createStint, locationOf, type Stint, type StintOptions } from './surfaces/library.ts';
import { openWorkplace } from './surfaces/world.ts';

export type { Stint, StintOptions, Watched, WatchOptions } from './surfaces/library.ts';
export { StoreFailure } from './kernel/ports.ts';

/** Opens the store that is named, on a server or in a file, and makes it where there is none. */
export const openStint = async (options: StintOptions = {}): Promise<Result<Stint, Refusal>> => {
  const location = locationOf(options, { cwd: process.cwd(), env: process.env });
  if (!location.ok) return location;
  const workplace = await openWorkplace(location.value, 'make');
  return workplace.ok ? ok(createStint(location.value, workplace.value, options)) : workplace;
};
