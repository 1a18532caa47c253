import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { kind as task } from '../../kinds/task/index.ts';
import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import { decideBegin, decideCommand } from '../../kernel/lifecycle.ts';
import { decideBlock, decideEntry } from '../../kernel/journal-rules.ts';
import { absentSession, appendEvents, isOpened, type OpenedSession, type Session } from '../../kernel/session.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Result } from '../../lib/result.ts';
import { bodyOf } from './document.ts';
import type { Change } from './edit.ts';
import { pairFieldsOf } from './fields.ts';
import { standingTexts } from './live.ts';
import { halves, type Half } from './print.ts';
import { readSections } from './sections.ts';
import { rebase } from './seen.ts';
import { takeIn, type Bases, type TakenIn } from './take-in.ts';
import { listItems } from './values.ts';
import { decideChange } from './write.ts';

const origin = { now: '2026-03-17T14:00:00.000Z', actor: 'ana', place: 'here', cause: 'first' };
const later = { ...origin, now: '2026-03-17T15:00:00.000Z', cause: 'second' };
const where = {
  place: 'here',
  root: 'docs/tests',
  handover: 'handovers/a.md',
  session_state: 'session-state/CURRENT.md',
};
const noBases: Bases = { handover: undefined, session_state: undefined };

const behind = (session: Session, decided: Result<readonly DecidedEvent[], Refusal>, at = origin): OpenedSession => {
  assert.ok(decided.ok, decided.ok ? '' : decided.error.message);
  const { session: after } = appendEvents(session, decided.value, at);
  assert.ok(isOpened(after));
  return after;
};

/** A task with two steps and documents that nobody has written in. */
const begun = (): OpenedSession => {
  const opening = { branch: 'main', worktree: 'main', goal: 'Ship it' };
  let session = behind(absentSession(task, 'task:a'), decideBegin(absentSession(task, 'task:a'), opening));
  for (const text of ['Write the parser', 'Write its tests'])
    session = behind(session, decideCommand(session, { type: 'add-step', text }));
  session = behind(session, decideCommand(session, { type: 'move-task', to: 'in-progress', owner: 'ben' }));
  return behind(session, {
    ok: true,
    value: [kernelEvent('DocumentEdited', { ...where, origin: 'verb', texts: {} })],
  });
};

/** A review with its documents. */
const reviewed = async (): Promise<OpenedSession> => {
  const { kind: review } = await import('../../kinds/review/index.ts');
  const opening = { branch: 'main', worktree: 'main' };
  const opened = behind(absentSession(review, 'review:a'), decideBegin(absentSession(review, 'review:a'), opening));
  return behind(opened, {
    ok: true,
    value: [kernelEvent('DocumentEdited', { ...where, origin: 'verb', texts: {} })],
  });
};

const written = (session: OpenedSession, half: Half, text: string, bases = noBases): TakenIn => {
  const taken = takeIn(session, bases, { written: { [half]: { text } }, origin: 'file' }, later);
  assert.ok(taken.ok);
  return taken.value;
};

const stateOf = (worked: Pick<TakenIn, 'session' | 'bases'>): string => standingTexts(worked).session_state;
const section = (text: string, name: string): string => bodyOf(readSections(text), name);
const typesOf = (events: readonly DecidedEvent[]): readonly string[] => events.map(({ type }) => type);

describe('what somebody writes into a document', () => {
  it('becomes steps, blockers and entries of the journal, and stays as it was written', () => {
    const session = begun();
    const text = stateOf({ session, bases: noBases })
      .replace('1. Write the parser\n2. Write its tests', '1. Write its tests\n2. Write a guide')
      .replace('## Blockers\n- None', '## Blockers\n\n* no token\n  for the registry\n- Needed to unblock: ask ops')
      .replace('- Decision: None', '- Decision: by hand\n  because it is small');
    const { events, session: after, bases, conflicts } = written(session, 'session_state', text);
    assert.deepEqual(conflicts, []);
    assert.deepEqual(typesOf(events), ['BlockerRaised', 'Noted', 'StepDropped', 'StepAdded', 'DocumentEdited']);
    assert.deepEqual(events[0]?.data, { reason: 'no token\nfor the registry', needs: 'ask ops' });
    assert.deepEqual(events[1]?.data, { entry: 'decision', text: 'by hand\nbecause it is small' });
    const now = stateOf({ session: after, bases });
    for (const name of ['Remaining steps', 'Blockers', 'Decisions and assumptions'])
      assert.equal(section(now, name), section(text, name), name);
    assert.equal(section(now, 'Status').trim(), 'blocked');
  });

  it('is told with both sides where the task cannot follow it, and nothing of it is lost', () => {
    const session = begun();
    const text = stateOf({ session, bases: noBases }).replace('## Status\nin-progress', '## Status\ndone');
    const { events, session: after, bases, conflicts } = written(session, 'session_state', text);
    assert.deepEqual(conflicts, [
      {
        section: 'Status',
        written: 'done',
        stands: 'in-progress',
        because: 'done does not follow in-progress.',
      },
    ]);
    assert.deepEqual(typesOf(events), ['DocumentEdited']);
    assert.match(JSON.stringify(events[0]?.data), /## Status\\ndone/);
    assert.equal(section(stateOf({ session: after, bases }), 'Status').trim(), 'in-progress');
  });

  it('is told where it says nothing that a task could take, and what stands is said again', () => {
    const session = begun();
    const text = stateOf({ session, bases: noBases })
      .replace('## Task\nShip it', '## Task\nTODO')
      .replace('## Status\nin-progress', '## Status\nfinished')
      .replace('## Next owner\nben', '## Next owner\nNone');
    const { session: after, bases, conflicts } = written(session, 'session_state', text);
    assert.deepEqual(
      conflicts.map(({ section: name, written: said, stands }) => [name, said, stands]),
      [
        ['Status', 'finished', 'in-progress'],
        ['Next owner', 'None', 'ben'],
      ],
    );
    const now = stateOf({ session: after, bases });
    assert.deepEqual([section(now, 'Status').trim(), section(now, 'Next owner').trim()], ['in-progress', 'ben']);
    assert.equal(after.common.goal, 'Ship it', 'what was never filled in is no goal');
  });

  it('over an older version is carried to the newest one, and a section of one line says one thing', () => {
    const over = stateOf({ session: begun(), bases: noBases });
    const newest = over.replace('## Next owner\nben', '## Next owner\ncarl').replace('- None', '- no token');
    const text = over.replace('## Next owner\nben', '## Next owner\ndora');
    const carried = rebase(halves.session_state, over, text, newest);
    assert.equal(carried, newest.replace('## Next owner\ncarl', '## Next owner\ndora'));
  });

  it('says of the steps what the other half says too, also where no step is meant', () => {
    const session = begun();
    const { handover } = standingTexts({ session, bases: noBases });
    const text = handover.replace('## Current step\nNone', '## Current step\nLooking around');
    const taken = written(session, 'handover', text);
    assert.deepEqual(typesOf(taken.events), ['DocumentEdited']);
    assert.equal(section(stateOf(taken), 'Current step').trim(), 'Looking around');
    assert.equal(standingTexts(taken).handover, text.replace(origin.now, later.now));
    const own = text.replace('Looking around', '');
    assert.equal(section(stateOf(written(session, 'handover', own)), 'Current step').trim(), 'None');
  });

  it('moves nothing where a section is there twice: nobody knows which of them counts', () => {
    const session = begun();
    const text = `${stateOf({ session, bases: noBases })}\n## Status\nblocked\n`;
    const { events } = written(session, 'session_state', text);
    assert.deepEqual(typesOf(events), ['DocumentEdited']);
  });

  it('is not taken in where the two halves were changed to say two things', () => {
    const session = begun();
    const texts = standingTexts({ session, bases: noBases });
    const edit = (text: string, status: string) => ({
      text: text.replace('## Status\nin-progress', `## Status\n${status}`),
    });
    const taken = takeIn(
      session,
      noBases,
      {
        written: {
          handover: edit(texts.handover, 'ready-for-review'),
          session_state: edit(texts.session_state, 'blocked'),
        },
        origin: 'file',
      },
      later,
    );
    assert.ok(taken.ok);
    assert.deepEqual(taken.value.events, []);
    assert.deepEqual(taken.value.conflicts, [
      { section: 'Status', written: 'ready-for-review', stands: 'blocked', because: 'the two documents disagree' },
    ]);
  });

  it('shows in both halves what was added to a list in either of them at once, and drops what either has dropped', () => {
    const session = begun();
    const texts = standingTexts({ session, bases: noBases });
    const replaced = (text: string, ...changes: readonly (readonly [before: string, after: string])[]): string => {
      for (const [before] of changes) assert.ok(text.includes(before), before);
      return changes.reduce((changed, [before, after]) => changed.replace(before, after), text);
    };
    const steps = '1. Write the parser\n2. Write its tests';
    const edits = {
      handover: {
        text: replaced(
          texts.handover,
          [steps, '1. Write its tests\n2. Of the handover'],
          ['- Blockers:\n  None', '- Blockers:\n  no time (needed to unblock: a week)'],
          ['- Decisions:\n  None', '- Decisions:\n  Of the handover'],
          ['- Passed:\n  None', '- Passed:\n  npm test'],
        ),
      },
      session_state: {
        text: replaced(
          texts.session_state,
          [steps, `${steps}\n3. Of the state`],
          ['## Blockers\n- None', '## Blockers\n- no token\n- Needed to unblock: a token'],
          ['- Decision: None', '* Of the state'],
          ['- Passed:\n  None', '- Passed:\n  npm run lint'],
        ),
      },
    };
    const taken = takeIn(session, noBases, { written: edits, origin: 'file' }, later);
    assert.ok(taken.ok);
    assert.deepEqual(taken.value.conflicts, []);
    const now = standingTexts(taken.value);
    const left = '1. Write its tests\n2. Of the state\n3. Of the handover';
    assert.equal(section(now.session_state, 'Remaining steps').trim(), left);
    const both = (text: string, name: string, ...said: readonly string[]): void => {
      for (const one of said) assert.equal(section(text, name).split(one).length, 2, `${one} once in ${name}`);
    };
    both(now.handover, 'Remaining work', 'Write its tests', 'Of the state', 'Of the handover');
    assert.ok(!section(now.handover, 'Remaining work').includes('Write the parser'));
    both(now.session_state, 'Blockers', 'no token', 'a token', 'no time', 'a week');
    both(now.handover, 'Blockers and decisions', 'no token', 'no time', 'Of the state', 'Of the handover');
    both(now.session_state, 'Decisions and assumptions', '* Of the state', 'Of the handover');
    both(now.session_state, 'Validation snapshot', 'npm test', 'npm run lint');
    both(now.handover, 'Validation status', 'npm test', 'npm run lint');
    const again = standingTexts({
      ...taken.value,
      session: behind(
        taken.value.session,
        decideEntry(taken.value.session, 'decision', { text: 'Later' }, undefined),
        later,
      ),
    });
    both(again.session_state, 'Decisions and assumptions', 'Of the state', 'Of the handover', 'Later');
  });

  it('of a kind whose steps follow from its work keeps what was added to them, and goes on with the work', async () => {
    const session = await reviewed();
    const text = stateOf({ session, bases: noBases }).replace(
      /## Remaining steps\n(?:\d.*\n)+/,
      '## Remaining steps\n1. Of mine\n',
    );
    const { bases, conflicts, session: after } = written(session, 'session_state', text);
    const left = pairFieldsOf(session).remaining;
    assert.equal(conflicts.length, left.length);
    const now = (one: OpenedSession): readonly string[] =>
      listItems(section(stateOf({ session: one, bases }), 'Remaining steps'));
    assert.deepEqual(now(after), [...left, 'Of mine']);
    const on = behind(after, decideCommand(after, { type: 'advance', phase: 'change-context' }), later);
    assert.deepEqual(now(on), [...left.slice(1), 'Of mine']);
  });

  it('does not move a session of a kind whose status follows from its work', async () => {
    const session = await reviewed();
    const text = stateOf({ session, bases: noBases }).replace('## Status\nin-progress', '## Status\ndone');
    const { events, conflicts } = written(session, 'session_state', text);
    assert.deepEqual(typesOf(events), ['DocumentEdited']);
    assert.equal(conflicts[0]?.because, 'The status of a review follows from its work.');
  });
});

describe('what happens in a session', () => {
  it('shows whatever it is called: a text of nothing but the marks of a fence too', () => {
    for (const text of ['`', '``', '```', '~~~', '````']) {
      const session = begun();
      const noted = behind(session, decideEntry(session, 'decision', { text }, undefined), later);
      const texts = standingTexts({ session: noted, bases: noBases });
      for (const [half, name] of [
        ['session_state', 'Decisions and assumptions'],
        ['handover', 'Blockers and decisions'],
      ] as const) {
        const document = readSections(texts[half]);
        assert.equal(document.sections.length, halves[half].sections.length, text);
        assert.ok(bodyOf(document, name).includes(text), `${text} in ${name}`);
        assert.equal(bodyOf(document, name).split('None').length, half === 'handover' ? 3 : 2, text);
      }
      const updated = decideChange(
        { session: noted, bases: noBases },
        { decision: 'And this' },
        { updated_by: 'ana' },
        later,
      );
      assert.ok(updated.ok);
      for (const half of ['session_state', 'handover'] as const)
        assert.ok(standingTexts(updated.value)[half].includes(text), `${text} stays in the ${half}`);
    }
  });

  it('shows in the section that it is about, beside what somebody wrote there', () => {
    const session = begun();
    const text = stateOf({ session, bases: noBases }).replace(
      '## Files touched\n- None',
      '## Files touched\nRead these first:\n\n- src/a.ts\n- None',
    );
    const taken = written(session, 'session_state', text);
    const noted = behind(taken.session, decideEntry(taken.session, 'file', { text: 'src/b.ts' }, undefined), later);
    const now = stateOf({ session: noted, bases: taken.bases });
    assert.equal(section(now, 'Files touched').trim(), 'Read these first:\n\n- src/a.ts\n- src/b.ts');
    const blocked = behind(noted, decideBlock(noted, 'no token', null), later);
    assert.equal(section(stateOf({ session: blocked, bases: taken.bases }), 'Blockers').trim(), '- no token');
  });
});

describe('any edit by hand, then any update', () => {
  const line = fc
    .oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom(
        '- item',
        '* other',
        '1. first',
        '2) second',
        '   continued',
        '',
        '- Passed:',
        '- Decision: x',
        'None',
      ),
    )
    .map((text) => text.replaceAll(/[\r\n\u2028\u2029\v\f]/g, ' ').replace(/^(?:##? |```|~~~|[<=>]{7})/, '- '))
    .filter((text) => !/^\s{0,3}(?:`{3}|~{3})/.test(text) && !text.startsWith('## '));
  const body = fc.array(line, { maxLength: 5 });
  const fence = fc.array(line, { maxLength: 3 }).map((lines) => ['```md', '## not a section', ...lines, '```']);
  const owned = new Set(['Status', 'Last updated', 'Updated by', 'Next owner', 'Task', 'Task summary']);
  const changes: Readonly<Record<string, { readonly change: Change; readonly names: readonly string[] }>> = {
    current: { change: { current_step: 'Now this' }, names: ['Current step'] },
    last: { change: { last_completed_step: 'That' }, names: ['Last completed step'] },
    blocker: {
      change: { blocker: ['no token'] },
      names: ['Blockers', 'Blockers and decisions'],
    },
    steps: { change: { remaining_step: ['one', 'two'] }, names: ['Remaining steps', 'Remaining work', 'Current step'] },
    decision: {
      change: { decision: 'so be it' },
      names: ['Decisions and assumptions', 'Blockers and decisions'],
    },
    nothing: { change: {}, names: [] },
  };

  for (const half of ['session_state', 'handover'] as const)
    it(`leaves every byte of the ${halves[half].called} that the update does not name, and has the rest in the log`, () => {
      const kind = halves[half];
      const editable = kind.sections.filter((name) => !owned.has(name) && name !== kind.pointer);
      fc.assert(
        fc.property(
          fc.dictionary(fc.constantFrom(...editable), fc.oneof(body, fence), { maxKeys: 4 }),
          fc.option(fc.oneof(body, fence)),
          fc.boolean(),
          fc.boolean(),
          fc.constantFrom(...Object.keys(changes)),
          (bodies, unknown, hasMark, isDos, named) => {
            const session = begun();
            const fresh = readSections(standingTexts({ session, bases: noBases })[half]);
            const sections = fresh.sections.map((one) => {
              const lines = bodies[one.name];
              return `${one.heading}${lines === undefined ? one.body : `${lines.join('\n')}\n\n`}`;
            });
            const extra = unknown === null ? '' : `## Nobody knows\n${unknown.join('\n')}\n`;
            const plain = `${hasMark ? '\uFEFF' : ''}${fresh.head}A line of mine.\n\n${sections.join('')}${extra}`;
            const text = isDos ? plain.replaceAll('\n', '\r\n') : plain;

            const taken = written(session, half, text);
            const edited = taken.events.at(-1);
            assert.equal(edited?.type, 'DocumentEdited');
            assert.ok(JSON.stringify(edited.data).includes(JSON.stringify(text)), 'what was written is in the log');

            const { change, names } = changes[named] ?? { change: {}, names: [] };
            const updated = decideChange(taken, change, { updated_by: 'ana' }, { ...later, cause: 'third' });
            // Some things that are written close the way for others, for example a hundred blockers.
            if (!updated.ok) return;
            const now = standingTexts(updated.value)[half];
            const [before, after] = [readSections(text), readSections(now)];
            assert.equal(after.head, before.head);
            assert.deepEqual(
              after.sections.map(({ heading }) => heading),
              before.sections.map(({ heading }) => heading),
            );
            for (const [at, one] of before.sections.entries())
              if (!owned.has(one.name) && one.name !== kind.pointer && !names.includes(one.name))
                assert.equal(after.sections[at]?.body, one.body, one.name);
          },
        ),
        { numRuns: 300 },
      );
    });
});
