import { kinds } from '../kinds/registry.gen.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { hmacSha256, sha256 } from '../lib/sha256.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { allVerbs } from './verbs.ts';
import { namesOf } from './verb-names.ts';

/** Whether the program is whole on this machine: its verbs and kinds can be loaded, its hashes are right, its database works. */
export const selfCheck = async (): Promise<readonly string[]> => [
  ...verbProblems(),
  ...hashProblems(),
  ...(await storeProblems()),
];

const verbProblems = (): readonly string[] => {
  const names = namesOf(allVerbs);
  return [
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `two verbs are called ${name}`),
    ...allVerbs.flatMap((verb) => {
      const fields = Object.keys(verb.input.entries);
      return verb.positionals
        .filter((field) => !fields.includes(field))
        .map((field) => `${verb.name} has no field ${field}`);
    }),
  ];
};

/** Values that are published with the standards: FIPS 180-4, RFC 4231, RFC 8785. */
const hashProblems = (): readonly string[] => {
  const expected: readonly (readonly [string, string, string])[] = [
    ['SHA-256', sha256('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'HMAC',
      hmacSha256(Buffer.from('Jefe').toString('hex'), 'what do ya want for nothing?'),
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    ['canonical JSON', canonicalJson({ b: 100, a: '€' }), '{"a":"€","b":100}'],
  ];
  return expected.flatMap(([name, found, wanted]) =>
    found === wanted ? [] : [`${name} is not what its standard says`],
  );
};

const storeProblems = async (): Promise<readonly string[]> => {
  const store = openSqliteStore(':memory:', new Map(kinds.map((kind) => [kind.name, kind])), { create: true });
  const findings = await store.verify();
  await store.close();
  return findings.map(({ problem }) => `a store that was just made: ${problem}`);
};
