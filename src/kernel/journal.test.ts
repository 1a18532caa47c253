import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '../lib/canonical-json.ts';
import type { StoredEvent } from './event.ts';
import {
  blockerOf,
  entryOf,
  entryToJson,
  entryTypes,
  foldJournal,
  recentLimits,
  type EntryType,
  type Journal,
} from './journal.ts';

const stored = (seq: number, type: string, data: JsonObject): StoredEvent => ({
  session: 'review:a',
  seq,
  type,
  v: 2,
  at: '2026-03-17T12:00:00.000Z',
  actor: 'ana',
  place: 'here',
  cause: 'request',
  data,
  hash: '',
});

/** What happens in a journal; `of` picks an earlier event. */
type Happening =
  | { readonly does: 'note'; readonly type: EntryType; readonly of: number | null }
  | { readonly does: 'block' }
  | { readonly does: 'unblock'; readonly of: number };

const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    fc.record({
      does: fc.constant('note' as const),
      type: fc.constantFrom(...entryTypes),
      of: fc.option(fc.nat(), { freq: 2 }),
    }),
    fc.record({ does: fc.constant('block' as const) }),
    fc.record({ does: fc.constant('unblock' as const), of: fc.nat() }),
  ),
  { maxLength: 120, size: 'max' },
);

/** The events of what happens; entries and blockers that are named are there, and hold or are open. */
const eventsOf = (all: readonly Happening[]): readonly StoredEvent[] => {
  const standing: { id: number; type: EntryType }[] = [];
  const open: number[] = [];
  return all.flatMap((one, index) => {
    const seq = index + 1;
    if (one.does === 'block') {
      open.push(seq);
      return [stored(seq, 'BlockerRaised', { reason: `reason ${seq}` })];
    }
    if (one.does === 'unblock') {
      const [blocker] = open.splice(open.length === 0 ? 0 : one.of % open.length, 1);
      return blocker === undefined ? [] : [stored(seq, 'BlockerCleared', { blocker })];
    }
    const like = standing.filter(({ type }) => type === one.type);
    const superseded = one.of === null ? undefined : like[one.of % Math.max(1, like.length)];
    if (superseded !== undefined) standing.splice(standing.indexOf(superseded), 1);
    standing.push({ id: seq, type: one.type });
    return [
      stored(seq, 'Noted', {
        entry: one.type,
        text: `text ${seq}`,
        ...(superseded === undefined ? {} : { supersedes: superseded.id }),
      }),
    ];
  });
};

const folded = (events: readonly StoredEvent[]): Journal | undefined =>
  events.reduce<Journal | undefined>((journal, event) => foldJournal(journal, event), undefined);

suite('what is kept of a journal with its session', () => {
  test('everything is counted, what is open is what was raised and not cleared, and what holds is never crowded out by what does not', () => {
    fc.assert(
      fc.property(happenings, (all) => {
        const events = eventsOf(all);
        const journal = folded(events);
        if (journal === undefined) return;
        const noted = events.filter(({ type }) => type === 'Noted');
        const gone = new Set(noted.map(({ data }) => data['supersedes']));
        for (const type of entryTypes) {
          const ids = noted.filter(({ data }) => data['entry'] === type).map(({ seq }) => seq);
          assert.equal(journal.counts[type] ?? 0, ids.length);
          const recent: readonly number[] = (journal.recent[type] ?? []).map(({ id }) => id);
          const holding = ids.filter((id) => !gone.has(id));
          assert.ok(recent.length <= recentLimits[type]);
          assert.deepEqual(recent, recent.length === 0 ? [] : holding.slice(-recent.length), 'the newest that hold');
          if (ids.length <= recentLimits[type]) assert.deepEqual(recent, holding);
        }
        const cleared = new Set(events.map(({ data }) => data['blocker']));
        const raised = events.filter(({ type }) => type === 'BlockerRaised');
        assert.equal(journal.counts.blocker ?? 0, raised.length);
        assert.deepEqual(
          journal.blockers,
          raised.filter(({ seq }) => !cleared.has(seq)).map((event) => blockerOf(event)),
        );
      }),
    );
  });

  test('a decision may take the place of an assumption, and the other way round', () => {
    const assumed = stored(1, 'Noted', { entry: 'assumption', text: 'it is fast' });
    const decided = stored(2, 'Noted', { entry: 'decision', text: 'it is measured', supersedes: 1 });
    const journal = folded([assumed, decided]);
    assert.deepEqual(journal?.recent.assumption, []);
    assert.deepEqual(
      journal.recent.decision?.map(({ id }) => id),
      [2],
    );
  });

  test('long texts are cut, whole characters at a time; the end of an output is kept, not its beginning', () => {
    const family = '👩‍👩‍👧‍👦';
    fc.assert(
      fc.property(fc.nat({ max: 30 }), (shift) => {
        const long = 'x'.repeat(shift) + family.repeat(400);
        const data = {
          entry: 'decision',
          text: long,
          rationale: long,
          alternatives: Array.from({ length: 20 }, () => long),
          output: { sha256: 'h', size: 1, tail: `${long}the end` },
        };
        const [entry] = folded([stored(1, 'Noted', data)])?.recent.decision ?? [];
        assert.ok(entry !== undefined && JSON.stringify(entry).length < 5000);
        for (const text of [entry.text, entry.rationale ?? '', ...(entry.alternatives ?? []), entry.output?.tail ?? ''])
          assert.match(text, /^(?:x*(?:👩‍👩‍👧‍👦)+…|…(?:👩‍👩‍👧‍👦)+the end)$/u);
        assert.match(entry.output?.tail ?? '', /the end$/);
      }),
    );
  });
});

suite('an entry', () => {
  test('of the first version is a remark, and one of a type that is not known too', () => {
    assert.deepEqual(entryOf({ ...stored(3, 'Noted', { text: 'x' }), v: 1 }), {
      id: 3,
      type: 'remark',
      at: '2026-03-17T12:00:00.000Z',
      actor: 'ana',
      text: 'x',
    });
    assert.equal(entryOf(stored(3, 'Noted', { entry: 'dream', text: 'x' })).type, 'remark');
  });

  test('is told whole, in the words of the event', () => {
    const data = {
      entry: 'validation',
      text: 'y'.repeat(5000),
      rationale: 'r'.repeat(5000),
      alternatives: Array.from({ length: 30 }, () => 'a'.repeat(500)),
      path: 'report.md',
      file: null,
      exit_code: 137,
      output: { sha256: 'h', size: 9000, tail: 't'.repeat(2000) },
      was_run: true,
      timed_out: true,
      supersedes: 2,
    };
    const { entry, ...said } = data;
    assert.deepEqual(entryToJson(entryOf(stored(7, 'Noted', data))), {
      id: 7,
      type: entry,
      at: '2026-03-17T12:00:00.000Z',
      actor: 'ana',
      ...said,
    });
  });
});
