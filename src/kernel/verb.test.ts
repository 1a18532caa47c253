import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import * as v from 'valibot';
import { openStint, type Stint } from '../index.ts';
import { ok } from '../lib/result.ts';
import { orderOne } from './dispatch.ts';
import { optionalTexts, requiredText } from './fields.ts';
import { decideNote } from './lifecycle.ts';
import { defineVerb } from './verb.ts';

/** A verb that takes a text, a list of texts and a payload, and writes all of them down. */
const record = defineVerb({
  name: 'record',
  summary: 'Write texts and a payload down.',
  details: 'For tests.',
  examples: [],
  input: () => v.strictObject({ text: requiredText('The text.'), more: optionalTexts('More texts.') }),
  payload: { summary: 'anything', check: () => ok({ notes: [] }) },
  does: {
    writes: async (_, { text, more = [] }, payload) =>
      ok(
        orderOne(
          'review:a',
          (session) => decideNote(session, `${[text, ...more].join(' ')} ${JSON.stringify(payload?.json)}`),
          () => ({ session: 'review:a' }),
        ),
      ),
  },
  text: () => '',
});

/** A store with the session that is written to. */
const begun = async (t: TestContext): Promise<Stint> => {
  const cwd = mkdtempSync(join(tmpdir(), 'stint-verb-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const stint = openStint({ cwd, actor: 'ana', verbs: [record] });
  assert.ok(stint.ok);
  t.after(stint.value.close);
  assert.ok((await stint.value.run('begin', { kind: 'review', name: 'a' })).ok);
  return stint.value;
};

const secret = ['ghp', '0123456789abcdefghijABCDEFGHIJ012345'].join('_');

test('what is redacted in texts and in the payload is counted together, and nothing of it is stored', async (t) => {
  const stint = await begun(t);
  const answer = await stint.run(
    'record',
    { text: `with ${secret}`, more: ['without', `token=${secret}`] },
    { payload: { one: secret, two: secret } },
  );
  assert.ok(answer.ok);
  assert.deepEqual(answer.value['redacted'], { 'github-token': 4 });
  const log = await stint.run('log');
  assert.ok(log.ok && !JSON.stringify(log.value).includes(secret));
});

test('the texts of a list are cleaned where they alone are in need of it, and stay as they are where the caller wants it', async (t) => {
  const stint = await begun(t);
  const cleaned = await stint.run('record', { text: 'x', more: [`a ${secret}`, 'b \ud800'] }, { payload: {} });
  assert.ok(cleaned.ok);
  assert.deepEqual(cleaned.value['redacted'], { 'github-token': 1 });
  const broken = await stint.run('record', { text: 'x', more: ['c \ud800', secret] }, { payload: {}, redact: false });
  assert.ok(broken.ok);
  const log = await stint.run('log');
  assert.ok(log.ok);
  const printed = JSON.stringify(log.value);
  assert.match(printed, /"x a [^"]*redacted[^"]* b \uFFFD \{/i);
  assert.ok(printed.includes(`x c \uFFFD ${secret} {`), printed);
});

test('a list belongs to its request: other texts, or another order, are a conflict', async (t) => {
  const stint = await begun(t);
  const recordAll = async (more: readonly string[]) =>
    stint.run('record', { text: 'x', more: [...more] }, { payload: {}, requestId: 'once' });
  assert.ok((await recordAll(['a', 'b'])).ok);
  const again = await recordAll(['a', 'b']);
  assert.ok(again.ok && again.value['replayed'] === true);
  for (const more of [['b', 'a'], ['a'], ['a', 'b', 'b'], ['a b']]) {
    const other = await recordAll(more);
    assert.ok(!other.ok && other.error.refusal.code === 'conflict');
  }
});
