import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { findBrokenLink } from './chain.ts';
import { hashEvent, isLifecycle, type StoredEvent } from './event.ts';

const chain = (texts: readonly string[]): readonly StoredEvent[] => {
  let previous = '';
  return texts.map((text, index) => {
    const unhashed = {
      session: 'review:a',
      seq: index + 1,
      type: 'Noted',
      v: 1,
      at: '2026-03-17T10:00:00.000Z',
      actor: 'ana',
      place: 'here',
      cause: 'c',
      data: { text },
    };
    previous = hashEvent(previous, unhashed);
    return { ...unhashed, hash: previous };
  });
};

test('the hash is SHA-256 of the previous hash, a newline and the canonical event, as anybody can compute it', () => {
  const [first, second] = chain(['a', 'b']);
  const canonical = (text: string, seq: number): string =>
    `{"actor":"ana","at":"2026-03-17T10:00:00.000Z","cause":"c","data":{"text":"${text}"},"place":"here","seq":${seq},"session":"review:a","type":"Noted","v":1}`;
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
  assert.equal(first?.hash, sha(`\n${canonical('a', 1)}`));
  assert.equal(second?.hash, sha(`${first?.hash}\n${canonical('b', 2)}`));
});

test('the order of keys in data does not matter to the hash', () => {
  const [event] = chain(['a']);
  assert.ok(event !== undefined);
  assert.equal(hashEvent('', { ...event, data: { a: 1, b: 2 } }), hashEvent('', { ...event, data: { b: 2, a: 1 } }));
});

test('any change, any removal and any swap in the middle of a chain is found at its place', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 3, maxLength: 12 }), fc.nat(), (texts, pick) => {
      const events = chain(texts);
      assert.equal(findBrokenLink(events), undefined);
      const at = pick % (events.length - 1);
      const changed = events.map((event, index) => (index === at ? { ...event, actor: 'eve' } : event));
      assert.equal(findBrokenLink(changed)?.seq, at + 1);
      assert.equal(findBrokenLink(events.toSpliced(at, 1))?.seq, at + 1);
    }),
  );
});

test('remarks move no revision; everything of a kind does', () => {
  assert.deepEqual(['Noted', 'SessionClosed', 'RoundCompleted', 'AnythingElse'].map(isLifecycle), [
    false,
    true,
    true,
    true,
  ]);
});
