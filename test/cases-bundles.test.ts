/** The public cases about bundles; the table of all cases is in support/cases.ts. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { printBundle, sealBundle } from '../src/formats/bundle/bundle.ts';
import { sampleBundle3 } from '../src/formats/bundle/samples.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { caseFile } from './support/cases.ts';
import { sharedSecret, signed } from './support/signed-bundles.ts';
import { createKey } from './support/ssh.ts';
import { createWorld, listOf, withoutShared, type Printed } from './support/world.ts';

const skip = withoutShared('cases');

test(
  'M14: no signature, an empty one, one of nothing and one of something else are refused, each by its name',
  { skip },
  (context) => {
    const world = createWorld(context);
    world.write('secret', `${sharedSecret}\n`);
    /** What verify and trust say of a bundle: exit code, and the kinds of what is wrong. */
    const verdictsOf = (bundle: JsonObject, ...flags: readonly string[]): readonly string[] => {
      world.write('b.json', printBundle(3, bundle));
      const of = ['--bundle', 'b.json', '--secret-file', 'secret', '--json'];
      const verified = world.run('bundle', 'verify', ...of);
      const trusted = world.run('bundle', 'trust', ...of, ...flags);
      const codes = (list: Printed): string =>
        (list === undefined ? [] : listOf(list).map(({ code }) => String(code))).join(' ');
      return [`${verified.status} ${codes(verified.json.faults)}`, `${trusted.status} ${codes(trusted.json.reasons)}`];
    };
    const sound = sampleBundle3();
    const ours = signed(sound);
    assert.deepEqual(verdictsOf(ours, '--require-signature'), ['0 ', '0 ']);

    const verdicts: Record<string, readonly string[]> = {};
    const folder = dirname(caseFile('M14', 'README.md'));
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
      const { signature } = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as JsonObject;
      const bundle = signature === undefined ? sound : { ...sound, signature };
      verdicts[name.slice('bundle-'.length, -'.json'.length)] = verdictsOf(bundle, '--require-signature');
    }
    verdicts['of another bundle'] = verdictsOf({
      ...sampleBundle3({ report: { result: 'x' } }),
      signature: ours['signature'] ?? null,
    });
    verdicts['changed since'] = verdictsOf(sealBundle(3, { ...ours, git: { available: false, patch: 'x' } }));
    verdicts['revoked'] = verdictsOf(ours, '--revoked-key-id', 'k1');
    verdicts['of a stranger'] = verdictsOf(signed(sound, { with: createKey('ed25519') }));
    const signature = (count: number): string => Array.from({ length: count }, () => 'signature').join(' ');
    assert.deepEqual(verdicts, {
      missing: ['11 unsigned', '11 unsigned'],
      null: ['7 ', '7 '],
      emptystr: ['7 ', '7 '],
      emptyobj: ['11 field field field field', `11 ${signature(4)}`],
      schemenone: ['11 field field field scheme', `11 ${signature(4)}`],
      unknown: ['11 field field scheme', `11 ${signature(3)}`],
      zerobytes: ['11 field field field', `11 ${signature(3)}`],
      'of another bundle': ['11 broken', '11 signature'],
      'changed since': ['11 broken', '11 signature'],
      // Whether a key is revoked is for a policy to say.
      revoked: ['0 ', '11 revoked'],
      'of a stranger': ['11 unvouched', '11 key'],
    });

    const loose = ['inspection-warnings', 'source-not-ready', 'active-lease', 'expired-lease'].map(
      (one) => `--allow-${one}`,
    );
    const tampered = { ...ours, signature: { ...(ours['signature'] as JsonObject), signer: 'ben' } };
    for (const flags of [
      loose,
      ['--no-policy-file'],
      ['--allowed-signer', 'ben'],
      ['--override', 'It is urgent', ...loose],
    ])
      assert.equal(verdictsOf(tampered, ...flags)[1]?.slice(0, 2), '11', flags.join(' '));
  },
);
