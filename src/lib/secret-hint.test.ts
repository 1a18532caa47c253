import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { redact } from './redact.ts';
import { mayHoldSecret } from './secret-hint.ts';

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
    ...['sig=', '?', '&', '8Q~', ':AA', 'value', '|', '\n  ', ' is '],
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
  for (const text of ['the second reviewer waits', 'two findings, none of them blocks', 'aggregation']) {
    assert.equal(mayHoldSecret(text), false, text);
  }
});
