import type { Refusal } from './kernel/refusal.ts';
import { ok, type Result } from './lib/result.ts';
import { createStint, locationOf, type Stint, type StintOptions } from './surfaces/library.ts';
import { openFileWorkplace } from './surfaces/world.ts';

export type { Json, JsonObject } from './lib/canonical-json.ts';
export type { Result } from './lib/result.ts';
export type { Refusal, RefusalCode } from './kernel/refusal.ts';
export type { NewEvent, StoredEvent } from './kernel/event.ts';
export type { Kind, KindDefinition } from './kernel/kind.ts';
export type { LazyKind } from './kernel/kinds.ts';
export type { PhaseWorkflow } from './kernel/phase-table.ts';
export type { Verb, VerbRefusal } from './kernel/verb.ts';
export { refusals } from './kernel/refusal.ts';
export { StoreFailure } from './kernel/ports.ts';
export { defineKind } from './kernel/kind.ts';
export { definePhaseWorkflow } from './kernel/phases.ts';
export { completionVerb } from './kernel/phases-verb.ts';
export { version } from './version.gen.ts';

export type { Stint, StintOptions, Watched, WatchOptions } from './surfaces/library.ts';

/** Opens the store of a checkout, and makes it where there is none. One on a server is opened by `stint/postgres`. */
export const openStint = (options: StintOptions = {}): Result<Stint, Refusal> => {
  const location = locationOf(options, { cwd: process.cwd(), env: process.env });
  if (!location.ok) return location;
  const workplace = openFileWorkplace(location.value, 'make');
  return workplace.ok ? ok(createStint(location.value, workplace.value, options)) : workplace;
};
