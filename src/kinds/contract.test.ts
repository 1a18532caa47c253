import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exploreKind } from '../kernel/explore.ts';
import { kinds } from './registry.gen.ts';

for (const kind of kinds) {
  test(`the kind ${kind.name} keeps what every kind promises, in every situation that its examples reach`, () => {
    const { situations, faults } = exploreKind(kind);
    assert.deepEqual(faults, []);
    assert.ok(situations > 10, `only ${situations} situations were reached`);
  });
}
