import type { Kinds } from '../../kernel/kind.ts';
import { loadKind, whenLoaded } from '../../kernel/kinds.ts';
import { StoreFailure, type CommitOutcome, type SessionRow, type Store } from '../../kernel/ports.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, type Result } from '../../lib/result.ts';
import type { Backend, Locks } from './backend.ts';
import { createCache, type Folded } from './cache.ts';
import { commit } from './commit.ts';
import { selectProved, wasAppended } from './events.ts';
import { selectRenewals } from './leases.ts';
import { selectSamples } from './samples.ts';
import { kindOf, loadCommon, loadSession, readSession, remakeRow } from './load.ts';
import { selectMirrorAt, selectMirrors, selectVersion, settleMirror, wasMirror } from './mirrors.ts';
import { selectProcesses } from './processes.ts';
import { selectRequest } from './requests.ts';
import { selectRows } from './sessions.ts';
import type { Work } from './work.ts';

/** The store that lies in a database: the same work on every backend. */
export const createStore = (given: Backend, kinds: Kinds): Store => {
  const backend = awaitingKinds(given);
  const { readOnly } = backend;
  const cache = createCache();
  const remake = (key: string): Work<SessionRow> => remakeRow(kinds, backend.name, key);

  return {
    name: backend.name,
    get identity() {
      return backend.identity();
    },
    readOnly,
    recall: async (id) => backend.ask(() => selectRequest(id)),
    commit: async (request) => {
      let folded: readonly Folded[] = [];
      const outcome = await backend.write(
        {
          // What a guard is about may be any session: nobody else writes meanwhile.
          alone: [...(request.guards.length > 0 ? [everything] : []), ...new Set(request.keys.toSorted())],
          shared: request.guards.length > 0 ? [] : [everything],
        },
        function* carryOut() {
          const made = yield* commit(kinds, remake, cache, request);
          folded = made.commit ? (made.folded ?? []) : [];
          return made;
        },
        {
          isRepeatable: request.request.given,
          wasDone: (made) =>
            // Of a refusal only what was put on record stays.
            request.request.given && made.value.ok
              ? wasAnswered(request.request.id, made.value)
              : wasAppended(made.newest),
        },
      );
      for (const one of folded) cache.keep(one);
      return outcome;
    },
    rows: async (filter) => backend.ask(() => selectRows(filter, remake)),
    read: async (key, until) => backend.snapshot(() => readSession(kinds, key, until)),
    load: async (key, until) =>
      backend.snapshot(function* load() {
        return (yield* loadSession(kindOf(kinds, key), key, { until, cache }))?.session;
      }),
    events: async (key, query) => backend.ask(() => selectProved(key, query)),
    event: async (key, seq) =>
      backend.ask(function* one() {
        return (yield* selectProved(key, { after: seq - 1, until: seq }))[0];
      }),
    stamp: async () => backend.ask(() => backend.stamp()),
    heads: async (sessions) => {
      const { selectHeads } = await import('./follow.ts');
      return backend.ask(() => selectHeads(sessions));
    },
    readOn: async (stretches, enough) => {
      const { readOn } = await import('./follow.ts');
      return backend.snapshot(() => readOn(stretches, enough));
    },
    mirrors: async (sessions) => backend.ask(() => selectMirrors(sessions)),
    mirrorAt: async (place, path) => backend.ask(() => selectMirrorAt(place, path)),
    wasMirror: async (place, path, digest) => backend.ask(() => wasMirror(place, path, digest)),
    versionOf: async (path, digest) => backend.ask(() => selectVersion(path, digest)),
    settleMirror: async (record, file, wait) => {
      // One for all files of a folder, which may be that of several kinds: it is moved under the same lock. Or sessions are in a
      // file by turns, those of one kind, or all that documents describe.
      const [kind = '', name = ''] = record.session.split(':');
      const current = (await loadKind(kinds, kind))?.current;
      const turns = file.isDocument === true ? 'documents' : current === undefined ? name : kind;
      const locks = { alone: [`mirror ${record.place} ${turns}`], shared: [] };
      const settle = () => settleMirror(record, file);
      return wait ? backend.write(locks, settle) : ((await backend.writeAtOnce(locks, settle)) ?? false);
    },
    rebuild: async (key) => {
      const { rebuildSession } = await import('./rebuild.ts');
      try {
        return await backend.write(onlyThis(key), () => rebuildSession(kinds, kindOf(kinds, key), key));
      } catch (error) {
        // What cannot be read of one session does not keep the others from being rebuilt.
        if (error instanceof StoreFailure && error.refusal.code !== 'busy') return err(error.refusal);
        throw error;
      }
    },
    orphans: async () => {
      const { selectOrphans } = await import('./verify.ts');
      return backend.ask(() => selectOrphans());
    },
    verify: async () => {
      const { verifyStore } = await import('./verify.ts');
      return backend.snapshot(() => verifyStore(backend, kinds));
    },
    processes: async (filter) => backend.ask(() => selectProcesses(filter)),
    renewals: async (key) => backend.ask(() => selectRenewals(key)),
    samples: async (key) => backend.ask(() => selectSamples(key)),
    countRefusal: async (key, at) => {
      const { countRefusal } = await import('./refusals.ts');
      try {
        await backend.write(onlyThis(key), function* count() {
          const token = (yield* loadCommon(kindOf(kinds, key), key))?.session.common.token ?? 0;
          if (token > 0) yield* countRefusal(key, token, at);
          return { commit: token > 0, value: undefined };
        });
      } catch (error) {
        // It costs the count, not the refusal that was to be counted.
        if (!(error instanceof StoreFailure)) throw error;
      }
    },
    refusals: async (key) => {
      const { selectRefusals } = await import('./refusals.ts');
      return backend.snapshot(function* refusals() {
        const token = (yield* loadCommon(kindOf(kinds, key), key))?.session.common.token ?? 0;
        return yield* selectRefusals(key, token);
      });
    },
    adopt: async (key, events, beside) => {
      const { adoptEvents } = await import('./adopt.ts');
      return backend.write(onlyThis(key), () => adoptEvents(kinds, kindOf(kinds, key), key, events, beside));
    },
    requests: async (after, limit) => {
      const { selectRequests } = await import('./adopt.ts');
      return backend.ask(() => selectRequests(after, limit));
    },
    remember: async (requests) => {
      const { rememberRequests } = await import('./adopt.ts');
      await backend.write({ alone: [], shared: [everything] }, function* remember() {
        yield* rememberRequests(requests);
        return { commit: requests.length > 0, value: undefined };
      });
    },
    adoptKey: async (key) => {
      const { adoptKey } = await import('./adopt.ts');
      return backend.write({ alone: [everything], shared: [] }, () => adoptKey(key));
    },
    copyTo: backend.copyTo,
    close: backend.close,
  };
};

/** The same backend for work that asks for kinds: where one is to be loaded, the work is left and done again with it. */
const awaitingKinds = (backend: Backend): Backend => ({
  ...backend,
  ask: async (work) => whenLoaded(async () => backend.ask(work)),
  snapshot: async (work) => whenLoaded(async () => backend.snapshot(work)),
  write: async (locks, work, doubt) => whenLoaded(async () => backend.write(locks, work, doubt)),
  writeAtOnce: async (locks, work) => whenLoaded(async () => backend.writeAtOnce(locks, work)),
});

/** The lock that stands for all sessions of the store. */
const everything = 'store';

const onlyThis = (key: string): Locks => ({ alone: [key], shared: [everything] });

/** Whether what is known of a request is what was made: else somebody else has carried it out meanwhile. */
function* wasAnswered(id: string, made: Result<CommitOutcome<JsonObject>, Refusal>): Work<boolean> {
  const known = yield* selectRequest(id);
  return (
    made.ok && made.value.kind === 'committed' && JSON.stringify(known?.answer) === JSON.stringify(made.value.answer)
  );
}
