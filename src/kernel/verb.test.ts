import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { openStint } from '../index.ts';
import { ok } from '../lib/result.ts';
import { orderOne } from './dispatch.ts';
import { requiredText } from './fields.ts';
import { decideNote } from './lifecycle.ts';
import { defineVerb } from './verb.ts';

/** A verb that takes a text and a payload, and writes both down. */
const record = defineVerb({
  name: 'record',
  summary: 'Write a text and a payload down.',
  details: 'For tests.',
  examples: [],
  input: v.strictObject({ text: requiredText('The text.') }),
  payload: { summary: 'anything', check: () => ok({ notes: [] }) },
  does: {
    writes: async (_, { text }, payload) =>
      ok(
        orderOne(
          'review:a',
          (session) => decideNote(session, `${text} ${JSON.stringify(payload?.json)}`),
          () => ({ session: 'review:a' }),
        ),
      ),
  },
  text: () => '',
});

test('what is redacted in the text and in the payload is counted together, and neither is stored', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'stint-verb-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const stint = openStint({ cwd, actor: 'ana', verbs: [record] });
  assert.ok(stint.ok);
  t.after(stint.value.close);
  assert.ok((await stint.value.run('begin', { kind: 'review', name: 'a' })).ok);
  const secret = ['ghp', '0123456789abcdefghijABCDEFGHIJ012345'].join('_');
  const answer = await stint.value.run('record', { text: `with ${secret}` }, { payload: { one: secret, two: secret } });
  assert.ok(answer.ok);
  assert.deepEqual(answer.value['redacted'], { 'github-token': 3 });
  const log = await stint.value.run('log');
  assert.ok(log.ok && !JSON.stringify(log.value).includes(secret));
});
