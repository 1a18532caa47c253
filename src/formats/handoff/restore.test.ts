/** What becomes of the texts of an archived pair that is restored. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { handover, sessionState, valueOf } from './document.ts';
import { restoredTexts } from './restore.ts';
import { sample } from './samples.ts';
import { readSections } from './sections.ts';
import { withPointer, withoutMark } from './superseded.ts';

const paths = { handover: 'handovers/20260401_0800_handover.md', sessionState: 'session-state/CURRENT.md' };
const said = { by: 'cem', at: '2026-04-01T08:00:00.000Z' };

/** The texts that come of a pair; it must be sound. */
const restored = (
  texts: Readonly<Record<'handover' | 'session_state', string>>,
  more: Omit<Parameters<typeof restoredTexts>[1], 'by' | 'at'> = {},
) => {
  const result = restoredTexts(texts, { ...said, ...more }, paths);
  assert.ok(result.ok, result.ok ? '' : result.error.join('\n'));
  return result.value.texts;
};

const pair = (more: Readonly<Record<string, string>> = {}) => ({
  handover: sample(handover, more),
  session_state: sample(sessionState, more),
});

suite('a restored pair', () => {
  test('keeps every byte but those of who, when and where', () => {
    const odd = (text: string): string =>
      `\uFEFF${text.replace('## Next owner\n', '## Notes\n```\n## no section\n```\n\n## Next owner\n').replaceAll('\n', '\r\n')}`;
    const before = { handover: odd(pair().handover), session_state: odd(pair().session_state) };
    const anew = (text: string): string =>
      text.replace('2026-03-12T10:15:00+01:00', said.at).replace('## Updated by\r\nana', '## Updated by\r\ncem');
    assert.deepEqual(restored(before), {
      handover: anew(before.handover),
      session_state: anew(before.session_state).replace('20260312_0915', '20260401_0800'),
    });
  });

  test('says what is said anew, in both halves; who is done has nobody to act next, who is not has somebody', () => {
    for (const [more, expected] of [
      [{}, ['in-progress', 'ben']],
      [{ status: 'blocked', owner: 'ops' }, ['blocked', 'ops']],
      [{ status: 'done', owner: 'ops' }, ['done', 'None']],
    ] as const) {
      const texts = restored(pair(), more);
      for (const text of [texts.handover, texts.session_state]) {
        const document = readSections(text);
        assert.deepEqual([valueOf(document, 'Status'), valueOf(document, 'Next owner')], expected);
      }
    }
    const back = restored(pair({ Status: 'done', 'Next owner': 'None' }), { status: 'in-progress' });
    assert.equal(valueOf(readSections(back.handover), 'Next owner'), 'cem');
    assert.equal(valueOf(readSections(back.handover), handover.pointer), '../session-state/CURRENT.md');
    const done = restored(pair(), { status: 'done' });
    assert.equal(valueOf(readSections(done.handover), handover.pointer), 'None');
  });

  test('is one account: of the task the handover counts, of the rest the session state', () => {
    const texts = restored({
      handover: sample(handover, { 'Task summary': 'Ship', Status: 'blocked', 'Current step': 'Old' }),
      session_state: sample(sessionState, { Task: 'Ship it', Status: 'in-progress', 'Current step': 'New' }),
    });
    const [transfer, state] = [readSections(texts.handover), readSections(texts.session_state)];
    assert.deepEqual([valueOf(transfer, 'Task summary'), valueOf(state, 'Task')], ['Ship', 'Ship']);
    assert.deepEqual([valueOf(transfer, 'Status'), valueOf(transfer, 'Current step')], ['in-progress', 'New']);
  });

  test('is refused with every fault of what would come of it', () => {
    const texts = {
      ...pair({ Status: 'finished' }),
      handover: pair().handover.replace('## Patterns used\nNone\n\n', ''),
    };
    const result = restoredTexts(texts, said, paths);
    assert.deepEqual(result.ok ? [] : result.error.map((fault) => fault.split(';')[0]), [
      'the handover: the section Patterns used is missing',
      'the session state, line 6: the status is none of the five',
    ]);
  });
});

test('a handover that is superseded says so once, and not any more when it comes back', () => {
  for (const end of ['\n', '\r\n']) {
    const before = sample(handover).replaceAll('\n', end);
    const marked = withPointer('handover', before, '../session-state/20260312_0915_session-state.md', true);
    assert.match(marked, /^# Handover\r?\n\r?\n> Superseded: /);
    assert.equal(withPointer('handover', marked, '../session-state/20260312_0915_session-state.md', true), marked);
    const { head, sections } = withoutMark(readSections(marked));
    assert.equal(head, readSections(before).head);
    assert.equal(sections.length, handover.sections.length);
  }
});
