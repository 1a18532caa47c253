import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { redact } from './redact.ts';
import { mayHoldSecret } from './secret-hint.ts';
import { tokenPrefixes } from './secret-tokens.ts';

/** Pieces of which secrets and ordinary texts are made. */
const piece = fc.oneof(
  fc.constantFrom(
    ...[
      'ghp_',
      'AKIA',
      'sk-ant-',
      'xoxb-',
      'eyJ',
      '.eyJ',
      'password',
      'PASSWORD ',
      'passwd',
      'pwd',
      '<password>',
      '</password>',
    ],
    ...[
      '--token ',
      'token',
      'api_key',
      'API-KEY',
      'DB_PASSWORD ',
      'Authorization',
      'Bearer ',
      'Basic ',
      'secret',
      'credential',
    ],
    ...['://', '@', '=', ': ', ' = ', ' ', '-----', 'BEGIN', ' PRIVATE KEY', 'ENV ', 'hunter2x', 's3cret', 'abc123'],
    ...['curl', 'sshpass', 'mysql', ' -u ', ' -p', ' --user ', ' -a ', 'redis-cli', 'me:', 'Cookie', 'creds', '~', '%'],
    ...['sig=', '?', '&', '8Q~', ':AA', 'value', '|', '\n  ', ' is ', 'passed', 'Passing', 'Pass', '_'],
    ...tokenPrefixes(),
  ),
  fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ0189_-./+ \n')), maxLength: 24 }),
);

test('a text that the scanner would change is never taken for harmless', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      if (redact(text).text !== text) assert.ok(mayHoldSecret(text), JSON.stringify(text));
    }),
    { numRuns: 3000 },
  );
});

test('what begins like any token is never taken for harmless, whatever it is made of', () => {
  const parts = ['a1B2c3D4e5F6', '0123456789', 'abcdef', 'ABCDEF', 'Zz9_', 'x-y', '/+', 'q.r'].map((part) =>
    part.repeat(24),
  );
  let taken = 0;
  for (const prefix of tokenPrefixes())
    for (const before of ['', ' ', '1a2b3c4d'.repeat(4), '1234567890', 'aB3', '?'])
      for (const part of parts)
        for (const length of [10, 16, 20, 22, 24, 27, 28, 30, 32, 33, 36, 37, 40, 43, 48, 60, 64, 200]) {
          const text = `${before}${prefix}${part.slice(0, length)}`;
          if (redact(text).text === text) continue;
          taken += 1;
          assert.ok(mayHoldSecret(text), text);
        }
  assert.ok(taken > 1000);
});

const cases = join(import.meta.dirname, '../../../shared/cases/M01-secrets-on-disk/secrets.b64');

test(
  'the known shapes of secrets are never taken for harmless',
  { skip: !existsSync(cases) && 'the case files are not here' },
  () => {
    for (const line of Buffer.from(readFileSync(cases, 'utf8'), 'base64').toString('utf8').split('\n')) {
      if (redact(line).text !== line) assert.ok(mayHoldSecret(line), line);
    }
  },
);

test('an everyday remark is taken for harmless', () => {
  for (const text of [
    'the second reviewer waits',
    'two findings, none of them blocks',
    'aggregation',
    'the implementation in src/kernel/dispatch.ts is done: all tests passed',
    'handovers/20260312_0915_handover.md is ready-for-review',
  ]) {
    assert.equal(mayHoldSecret(text), false, text);
  }
});
