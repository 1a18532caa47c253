/**
 * The defects that bundles have elsewhere: each kind of them cannot happen here, and a test says so. The numbers are those of
 * our notes: of a weakness (W), or of an input that broke something (N).
 */
import assert from 'node:assert/strict';
import fs, { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { printBundle } from '../src/formats/bundle/bundle.ts';
import { sampleBundle3 } from '../src/formats/bundle/samples.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { openStint } from '../src/postgres.ts';
import { storeIn } from './support/environment.ts';
import { sharedSecret, signed } from './support/signed-bundles.ts';
import { createWorld, noon, repository, say } from './support/world.ts';

const here = 'bundle-defects.test.ts';
const bundle = '../src/formats/bundle/bundle.test.ts';
const signature = '../src/formats/bundle/signature.test.ts';
const judgement = '../src/formats/policy/judge.test.ts';
const policy = '../src/formats/policy/policy.test.ts';
const strict = '../src/lib/strict-json.test.ts';
const repositories = '../src/surfaces/repository.test.ts';
const exporting = 'bundle-export.test.ts';
const inspecting = 'bundle-inspect.test.ts';
const signing = 'bundle-signing.test.ts';
const trusting = 'bundle-trust.test.ts';
const importing = 'bundle-import.test.ts';
const parts = 'bundle-import-parts.test.ts';
const hostile = 'hostile-bundles.test.ts';

/** The tests of each kind, as the file from here and the name. */
const defects: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  W1: [
    [bundle, 'the name of a document is a plain name of a file with a stamp that is a time'],
    [inspecting, 'writes nothing, wherever the names in a bundle lead'],
    [hostile, 'hostile bundles do nothing: no file elsewhere, no crash, no false trust, whichever verb reads them'],
  ],
  W2: [
    [
      signature,
      'in version 3 whatever a signature says of itself cannot be changed; in version 2 it can, and that is told',
    ],
    [signature, 'a signature of one bundle is none of another, or of the same one that was changed'],
    [judgement, 'what becomes of a bundle in time is what the table of the guide says'],
  ],
  W3: [
    [signature, "a key that came with the bundle is nobody's, whatever the signer is called"],
    [signing, 'with a key of OpenSSH of each type: it needs somebody who vouches for it'],
    [
      judgement,
      'W3: a key that comes with the bundle proves nothing, whoever it says it is, and whatever names are accepted',
    ],
    [
      policy,
      'W3: sshsig without a pinned key is no policy, whoever names it; a key or a file of signers of the root is enough',
    ],
  ],
  W4: [
    [judgement, 'W4: whoever changes a bundle can make its checksums anew, and not its signature'],
    [
      importing,
      'what is not trusted is refused with every reason, and taken only when somebody says so, on the record',
    ],
  ],
  W5: [
    [parts, 'a name of the original that climbs is refused before anything is written'],
    [hostile, 'no link leads an import out of its checkout, and no pipe holds it up'],
  ],
  W6: [
    [judgement, 'W6: a signature that is there has to hold, also where none is required'],
    [
      judgement,
      'N37: what the caller revokes comes to what the policy revokes, and what he accepts takes nothing of it away',
    ],
    [policy, 'N38: a profile inherits from the root; revocations are taken together, of allow-lists what both accept'],
    [
      trusting,
      'N36: the policy that is checked in counts without a flag, with the profile that it names, or another one of it',
    ],
    [trusting, 'N80: a profile that is not there is an error, also where there is no policy at all'],
    [importing, 'a policy that is checked in counts for what is taken, and is not widened without a reason'],
  ],
  W10: [
    [
      exporting,
      'the texts of documents that were edited, the log, the changes and names: no secret of M01 is in a bundle',
    ],
    [exporting, 'what others have to find again stays, whatever a policy denies'],
    [exporting, 'a keyword of a policy applies to texts too, and a log that it changes is chained anew'],
  ],
  W17: [[signing, 'signing on a full disk leaves the bundle as it was, and nothing beside it']],
  W19: [
    [repositories, 'paths are whole: the first one, those of other alphabets, and what was renamed'],
    [repositories, 'a file that git does not know counts with its content'],
    [repositories, 'what is no UTF-8 is told, and told from other bytes'],
    [repositories, 'variables and programs of others do not change what is looked at'],
  ],
  W23: [
    [signing, 'what cannot be signed with is refused, and the bundle stays what it was'],
    [signing, 'without ssh-keygen a key signs nothing, and what it has signed is verified'],
  ],
  N39: [[judgement, 'N39: a bundle from the future is not trusted, and neither is one whose time is none']],
  N40: [
    [bundle, 'what is no bundle is refused with the path of what is wrong'],
    [inspecting, 'refuses what is no file, or too large, or no text, and does not wait for a pipe'],
    [signing, 'a bundle that is a link, a pipe, a folder or none is refused, and what a link names is not written'],
  ],
  N43: [[importing, 'a rehearsal writes nothing at all']],
  N44: [[bundle, 'a bundle from Windows is read as one from here']],
  N52: [['../src/lib/linear-pattern.test.ts', 'each character is looked at as often however long the text is']],
  N55: [[policy, 'N55: what could not be used is refused when it is made, all of it at once']],
  N60: [
    [strict, 'depth and number of values end where they are said to, before anything is made of them'],
    [bundle, 'a long text stands once, however often it is held, and a few bytes never become more than can be held'],
  ],
  N70: [['../src/lib/redact.test.ts', 'the work grows linearly with the text, whoever wrote it']],
  N81: [[here, 'N81: what is looked at and what is used are the same bytes: a bundle is read once']],
  N90: [
    [exporting, 'does without git, and tells a documentation that is none'],
    [signing, 'without ssh-keygen a key signs nothing, and what it has signed is verified'],
  ],
  N91: [[here, 'N91: what is printed is UTF-8, whatever the locale says']],
  N97: [
    [strict, 'half of a character is a fault, a whole one in two escapes is none'],
    [strict, 'a number that would come out as another one is a fault'],
  ],
  N99: [[exporting, 'lies where git does not see it, under the next free minute, and is found whole or not at all']],
};

test('N81: what is looked at and what is used are the same bytes: a bundle is read once', async (context) => {
  const world = createWorld(context);
  const path = world.write('b.json', printBundle(3, signed(sampleBundle3())));
  world.write('secret', sharedSecret);
  const stint = await openStint({ ...storeIn(world.env), cwd: world.project, actor: 'ben', now: () => noon });
  assert.ok(stint.ok);
  const original: (...args: never[]) => unknown = fs.openSync;
  let reads = 0;
  context.mock.method(fs, 'openSync', (...args: never[]) => {
    if (String(args[0]) === path) reads += 1;
    return original(...args);
  });
  syncBuiltinESMExports();
  try {
    const proof = { bundle: 'b.json', secret_file: 'secret' };
    const verbs: readonly (readonly [string, JsonObject])[] = [
      ['bundle inspect', { bundle: 'b.json' }],
      ['bundle verify', proof],
      ['bundle trust', { ...proof, require_signature: true }],
      ['bundle sign', { ...proof, signer: 'ana', key_id: 'k2', force: true }],
      ['bundle import', { ...proof, require_signature: true }],
    ];
    for (const [verb, input] of verbs) {
      reads = 0;
      const answer = await stint.value.run(verb, input);
      assert.ok(answer.ok, `${verb}: ${JSON.stringify(answer)}`);
      assert.equal(reads, 1, verb);
    }
  } finally {
    context.mock.restoreAll();
    syncBuiltinESMExports();
    await stint.value.close();
  }
});

test('N91: what is printed is UTF-8, whatever the locale says', (context) => {
  const world = createWorld(context, { name: 'projet-é' }).with({ env: { LC_ALL: 'C', LANG: 'C' } });
  world.write('bündel.json', printBundle(3, signed(sampleBundle3(), { signer: 'Zoë' })));
  world.write('secret', sharedSecret);
  for (const verb of ['inspect', 'verify', 'trust']) {
    const words = verb === 'inspect' ? [] : ['--secret-file', 'secret'];
    const printed = say(world, 'bundle', verb, '--bundle', 'bündel.json', ...words);
    assert.match(printed, /projet-é\/bündel\.json[^]*Zoë/, verb);
  }
});

/** The inputs that have to do with bundles; those of documents are in handoff-defects.test.ts. */
const rows = [39, 40, 43, 44, 52, 55, 60, 70, 81, 90, 91, 97, 99];

test('every kind of defect has a test that is named here', () => {
  const expected = [
    ...[1, 2, 3, 4, 5, 6, 10, 17, 19, 23].map((number) => `W${number}`),
    ...rows.map((row) => `N${row}`),
  ];
  assert.deepEqual(Object.keys(defects), expected);
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
