import { hashEvent, type StoredEvent } from '../../kernel/event.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { handover, sessionState } from '../handoff/document.ts';
import { sample } from '../handoff/samples.ts';
import { sealBundle } from './bundle.ts';
import { shareTexts } from './texts.ts';

/** Sound bundles of both versions, for tests. */

const name = '20260312_0915_handover.md';
const says = { task: 'None', status: 'in-progress', next_owner: 'ben' };
const git = {
  available: false,
  branch: 'None',
  commit_sha: 'None',
  is_dirty: false,
  dirty_paths: [],
  dirty_fingerprint: 'None',
  status_fingerprint: 'None',
  error: 'None',
};
const redaction = {
  enabled: true,
  policy_source: 'default',
  redaction_count: 0,
  redacted_paths: [],
  rules_triggered: [],
};
const documents = {
  handover_markdown: sample(handover),
  session_state_markdown: sample(sessionState),
};

/** A bundle of version 2, with other values in some of its parts. */
export const sampleBundle2 = (changed: JsonObject = {}): JsonObject =>
  sealBundle(2, {
    bundle_version: 2,
    exported_at: '2026-03-12T11:00:00+01:00',
    source: {
      resolution: 'current-pointer',
      docs_root: '/projects/shop/docs/tests',
      handover: `/projects/shop/docs/tests/handovers/${name}`,
      session_state: '/projects/shop/docs/tests/session-state/CURRENT.md',
      handover_name: name,
      session_state_name: 'CURRENT.md',
    },
    documents,
    lease: { payload: null, inspection: { state: 'none', warnings: [], errors: [] } },
    report: { result: 'clean', summary: says, warnings: [], errors: [] },
    readiness: { verdict: 'ready', ready: true, ...says },
    git: { ...git, project_root: '/projects/shop' },
    redaction,
    ...changed,
  });

/** The events of a session of any kind, with their chain. */
export const sampleEvents = (key: string, data: readonly JsonObject[] = [{}]): readonly StoredEvent[] => {
  const events: StoredEvent[] = [];
  for (const [index, one] of data.entries()) {
    const event = {
      session: key,
      seq: index + 1,
      type: index === 0 ? 'SessionOpened' : 'Noted',
      v: 1,
      at: '2026-03-12T10:00:00.000Z',
      actor: 'ana',
      place: 'place-1',
      cause: 'request-1',
      data: one,
    };
    events.push({ ...event, hash: hashEvent(events.at(-1)?.hash ?? '', event) });
  }
  return events;
};

/** A bundle of version 3, with other values in some of its parts. */
export const sampleBundle3 = (
  changed: JsonObject = {},
  events: readonly StoredEvent[] = sampleEvents('task:login'),
): JsonObject => {
  const { values, texts } = shareTexts<Record<'documents' | 'events', Json>>({
    documents,
    events: events.map(({ session: _session, ...event }) => event),
  });
  return sealBundle(3, {
    bundle_version: 3,
    bundle_id: '0b0e7a4e-8a1c-4c7e-9d55-0a6a2d9f1b11',
    exported_at: '2026-03-12T10:00:00.000Z',
    source: {
      kind: 'task',
      name: 'login',
      session: 'task:login',
      store_id: 'store-1',
      project: null,
      resolution: 'current-pointer',
      docs_root: 'docs/tests',
      handover_name: name,
      session_state_name: 'CURRENT.md',
    },
    documents: values.documents,
    session: { version: 1, seq: events.length, revision: 1, hash: events.at(-1)?.hash ?? '', state: {} },
    events: values.events,
    texts,
    lease: { payload: null, inspection: { state: 'none' } },
    report: { result: 'clean', ...says, warnings: [], errors: [] },
    readiness: { verdict: 'ready', ...says },
    git: { ...git, patch: null },
    artifacts: [],
    redaction,
    ...changed,
  });
};
