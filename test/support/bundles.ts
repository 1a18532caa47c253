/** Bundles as tests need them: of a session of a world, and as whoever forges one would make them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { printBundle, sealBundle } from '../../src/formats/bundle/bundle.ts';
import { sampleBundle3 } from '../../src/formats/bundle/samples.ts';
import type { StoredEvent } from '../../src/kernel/event.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { listOf, type Printed, type TestWorld } from './world.ts';

/** A bundle of version 3 with the log of a session of a world, and no documents. */
export const bundleOf = (world: TestWorld, session: string, changed: JsonObject = {}): JsonObject => {
  const shown = world.answer('show', session);
  const events: readonly StoredEvent[] = listOf(shown.events).map((event) => ({ ...event, session }));
  return bundleOfEvents(session, events, { state: shown.session, revision: revisionOf(shown) }, changed);
};

const revisionOf = (shown: Printed): number => Number(shown.session.revision);

/** The same with the documents that describe it. */
export const bundleWithDocuments = (world: TestWorld, session: string, changed: JsonObject = {}): JsonObject => {
  const found = world.answer('handoff', 'locate');
  const { source } = bundleOf(world, session);
  const { task, status, next_owner: owner } = world.answer('handoff', 'summarize');
  const says = { task, status, next_owner: owner };
  const [handover, state] = [String(found.handover), String(found.session_state)];
  return bundleOf(world, session, {
    source: {
      ...(source as JsonObject),
      docs_root: 'docs/tests',
      handover_name: basename(handover),
      session_state_name: basename(state),
    },
    documents: {
      handover_markdown: readFileSync(handover, 'utf8'),
      session_state_markdown: readFileSync(state, 'utf8'),
    },
    report: { result: 'clean', ...says, warnings: [], errors: [] },
    readiness: { verdict: 'ready', ...says },
    ...changed,
  });
};

/** The same from its events. */
export const bundleOfEvents = (
  session: string,
  events: readonly StoredEvent[],
  { state = {}, revision }: { readonly state?: JsonObject; readonly revision: number },
  changed: JsonObject = {},
): JsonObject => {
  const [kind = '', name = ''] = session.split(':');
  const { source, ...sample } = sampleBundle3({}, events);
  return sealBundle(3, {
    ...sample,
    source: { ...(source as JsonObject), kind, name, session, handover_name: null, session_state_name: null },
    documents: null,
    session: { version: 1, seq: events.length, revision, hash: events.at(-1)?.hash ?? '', state },
    ...changed,
  });
};

/** Writes a bundle beside the project of a world; answers its path. */
export const bundleFile = (world: TestWorld, bundle: JsonObject, name = 'bundle.json'): string => {
  const path = join(world.root, name);
  writeFileSync(path, printBundle(bundle['bundle_version'] === 2 ? 2 : 3, bundle));
  return path;
};
