import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { kinds } from '../kinds/registry.gen.ts';
import { ok } from '../lib/result.ts';
import { kernelEvent } from './event.ts';
import { defineKind, type Kind } from './kind.ts';
import { kindBriefOf, type KindBrief } from './kind-brief.ts';
import { absentSession, appendEvents, isOpened, viewOfSession, type Session } from './session.ts';

const origin = { now: '2026-03-17T12:00:00.000Z', actor: 'ana', place: 'here', cause: 'test' };

const briefOf = (session: Session): KindBrief => {
  assert.ok(isOpened(session));
  return kindBriefOf(session, viewOfSession(session), 'folder');
};

/** A session of a kind after these commands of its own. */
const after = (kind: Kind, ...commands: readonly { readonly type: string; readonly [key: string]: string }[]) => {
  let session: Session = absentSession(kind, `${kind.name}:a`);
  session = appendEvents(session, [kernelEvent('SessionOpened', { branch: 'main' })], origin).session;
  for (const command of commands) {
    const decided = session.folded.decide(command, { common: session.common, samples: new Map() });
    assert.ok(decided.ok, JSON.stringify(decided));
    session = appendEvents(session, decided.value, origin).session;
  }
  return session;
};

const review = kinds.find(({ name }) => name === 'review');

test('of a phase workflow the phases before the current one are done, and those behind it are left', () => {
  assert.ok(review !== undefined);
  const brief = briefOf(
    after(
      review,
      { type: 'begin' },
      { type: 'advance', phase: 'change-context' },
      { type: 'advance', phase: 'analysis' },
    ),
  );
  assert.deepEqual(brief.done, {
    steps: [
      { id: 'context', text: 'Discover the project and its standards' },
      { id: 'change-context', text: 'Gather the context of the change' },
    ],
    total: 2,
  });
  assert.deepEqual(brief.current.steps, [{ id: 'analysis', text: 'Analyse the change and guide the reviewers' }]);
  assert.deepEqual(
    [brief.remaining.steps.map(({ id }) => id), brief.remaining.total],
    [['reviews', 'aggregation', 'discourse', 'synthesis', 'complete'], 5],
  );
  assert.deepEqual(brief.progress, { percent: 25, formula: '2 of 8 steps done in round 1' });
  assert.deepEqual(
    brief.files.map(({ path }) => path),
    ['folder/discovered-standards.md', 'folder/context.md'],
  );
});

/** A kind that says some of its brief itself. */
const speaking = defineKind({
  name: 'speaking',
  summary: 'says some of its brief itself',
  stateVersion: 1,
  commands: v.variant('type', [
    v.strictObject({ type: v.literal('begin') }),
    v.object({ type: v.literal('continue') }),
  ]),
  events: v.strictObject({ type: v.literal('Begun') }),
  eventVersions: { Begun: 1 },
  initial: 0,
  evolve: (state) => state + 1,
  decide: () => ok([{ type: 'Begun' as const }]),
  view: () => ({
    position: 'begun',
    where: {},
    fields: {},
    remaining: ['this', 'that'],
    missing: ['this'],
    next: { kind: 'advance', text: 'Go on.', command: 'stint next' },
    evidence: [],
  }),
  folder: (name) => name,
  mirrors: () => [],
  brief: (state) => ({
    usage: [`Tokens used: ~${state}`],
    progress: { percent: 60, formula: 'the mean of 2 agents' },
  }),
  examples: [{ type: 'begin' }],
});

test('what a kind says itself is taken, and the rest is made of its view', () => {
  const brief = briefOf(after(speaking, { type: 'begin' }));
  assert.deepEqual(brief, {
    goal: null,
    focus: null,
    root: null,
    done: { steps: [], total: 0 },
    current: { steps: [], total: 0 },
    inDoubt: { steps: [], total: 0 },
    remaining: { steps: [{ text: 'this' }, { text: 'that' }], total: 2 },
    progress: { percent: 60, formula: 'the mean of 2 agents' },
    files: [],
    commands: [],
    usage: ['Tokens used: ~1'],
    lost: [],
  });
});
