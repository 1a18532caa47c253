/**
 * A map with texts as keys that is never changed: `put` answers another one, which shares all but one bucket with it. It is
 * plain JSON, so that it can lie in a snapshot. Its order is that of nothing: who needs one has it elsewhere.
 */
export interface PersistentMap<Value> {
  readonly size: number;
  readonly buckets: readonly Bucket<Value>[];
}

type Bucket<Value> = readonly (readonly [key: string, value: Value])[];

/** A map without entries. */
export const emptyMap: PersistentMap<never> = { size: 0, buckets: [[]] };

/** How many entries a bucket holds on average before there are twice as many buckets. */
const fullBucket = 8;

/** The value of a key; undefined where it has none. */
export const valueIn = <Value>({ buckets }: PersistentMap<Value>, key: string): Value | undefined => {
  for (const [known, value] of buckets[hashOf(key) % buckets.length] ?? []) if (known === key) return value;
  return undefined;
};

/** The map with a value under a key, in place of the one before. */
export const put = <Value>(map: PersistentMap<Value>, key: string, value: Value): PersistentMap<Value> => {
  const { size, buckets } = map.size < map.buckets.length * fullBucket ? map : widened(map);
  const at = hashOf(key) % buckets.length;
  const bucket = buckets[at] ?? [];
  const isKnown = bucket.some(([known]) => known === key);
  const changed: Bucket<Value> = isKnown
    ? bucket.map((entry) => (entry[0] === key ? [key, value] : entry))
    : [...bucket, [key, value]];
  return { size: isKnown ? size : size + 1, buckets: buckets.with(at, changed) };
};

/** All entries, in no order. */
export const entriesOf = <Value>({ buckets }: PersistentMap<Value>): readonly (readonly [string, Value])[] =>
  buckets.flat();

const widened = <Value>({ size, buckets }: PersistentMap<Value>): PersistentMap<Value> => {
  const wider: (readonly [string, Value])[][] = Array.from({ length: buckets.length * 2 }, () => []);
  for (const entry of buckets.flat()) wider[hashOf(entry[0]) % wider.length]?.push(entry);
  return { size, buckets: wider };
};

/** FNV-1a over UTF-16 code units, http://www.isthe.com/chongo/tech/comp/fnv/. */
const hashOf = (key: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};
