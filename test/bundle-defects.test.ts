/**
 * The defects that bundles have elsewhere: each kind of them cannot happen here, and a test says so. The numbers are those of
 * our notes: of a weakness (W), or of an input that broke something (N).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repository } from './support/world.ts';

const signature = '../src/formats/bundle/signature.test.ts';
const signing = 'bundle-signing.test.ts';

/** The tests of each kind, as the file from here and the name. */
const defects: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  W2: [
    [
      signature,
      'in version 3 whatever a signature says of itself cannot be changed; in version 2 it can, and that is told',
    ],
    [signature, 'a signature of one bundle is none of another, or of the same one that was changed'],
  ],
  W3: [
    [signature, "a key that came with the bundle is nobody's, whatever the signer is called"],
    [signing, 'with a key of OpenSSH of each type: it needs somebody who vouches for it'],
  ],
  W17: [[signing, 'signing on a full disk leaves the bundle as it was, and nothing beside it']],
  W23: [
    [signing, 'what cannot be signed with is refused, and the bundle stays what it was'],
    [signing, 'without ssh-keygen a key signs nothing, and what it has signed is verified'],
  ],
};

test('every kind of defect has a test that is named here', () => {
  for (const [id, tests] of Object.entries(defects)) {
    assert.ok(tests.length > 0, id);
    for (const [file, name] of tests) {
      const source = readFileSync(join(repository, 'test', file), 'utf8');
      const quoted = [`'${name}',`, `"${name}",`];
      assert.ok(
        quoted.some((one) => source.includes(one)),
        `${id}: ${name} in ${file}`,
      );
    }
  }
});
