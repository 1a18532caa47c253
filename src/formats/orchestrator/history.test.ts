import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { copiesOf, historyOf } from './history.ts';
import { readOrchestratorFile } from './read.ts';

const clock = { now: '2026-06-01T00:00:00Z', offsetAt: () => 0 };

const historyFile = (id: string, more: string | JsonObject) => {
  const path = `.claude/orchestrator-history/${id}.json`;
  const text = typeof more === 'string' ? more : JSON.stringify({ session_id: id, goal: id, agents: [], ...more });
  return { path, found: readOrchestratorFile(text, { path, clock }) };
};

test('the history is in the order of its times, newest first, and what cannot be read is in it', () => {
  const day = '2026-05-02T';
  const history = historyOf([
    historyFile('2026-05-02-zzz', { created: `${day}08:00:00Z`, updated: `${day}09:00:00Z`, status: 'complete' }),
    historyFile('2026-05-02-torn', '{"session_id": "x"'),
    historyFile('2026-05-02-aaa', { created: `${day}10:00:00Z`, updated: `${day}10:00:00Z`, status: 'aborted' }),
    historyFile('2026-05-02-mmm', { created: `${day}10:00:00+02:00`, updated: `${day}12:00:00Z` }),
    historyFile('newer', { schema_version: '2.0' }),
    historyFile('other', { steps: [], complete: true }),
  ]);
  assert.deepEqual(
    history.map(({ path, id, status }) => [path.split('/').at(-1), id, status]),
    [
      ['2026-05-02-aaa.json', '2026-05-02-aaa', 'aborted'],
      ['2026-05-02-mmm.json', '2026-05-02-mmm', 'paused'],
      ['2026-05-02-zzz.json', '2026-05-02-zzz', 'complete'],
      ['other.json', null, null],
      ['newer.json', 'newer', null],
      ['2026-05-02-torn.json', null, null],
    ],
  );
  const problems = history.map(({ problem }) => problem?.slice(0, 20) ?? null);
  assert.deepEqual(problems, [
    null,
    null,
    null,
    'It is a status of th',
    'It was written by a ',
    'It ends in the middl',
  ]);
});

test('of the files beside a damaged one those that may be copies are named, the likeliest first', () => {
  const name = 'orchestrator-session.json';
  const paths = [
    'settings.json',
    name,
    `${name}.bak`,
    `${name}.bak.2`,
    `${name}~`,
    `${name}.kept-1a2b3c4d`,
    `${name}.lock`,
    'orchestrator-history/2026-05-01-a.json',
    'orchestrator-history/2026-05-02-b.json',
    'orchestrator-history/2026-05-10-c.json',
    'orchestrator-history/corrupt/x.json',
  ];
  const copies = copiesOf(name, paths, '2026-05-01-a');
  assert.deepEqual(
    copies.map(({ path }) => path),
    [
      `${name}.kept-1a2b3c4d`,
      `${name}~`,
      `${name}.bak.2`,
      `${name}.bak`,
      'orchestrator-history/2026-05-01-a.json',
      'orchestrator-history/2026-05-10-c.json',
      'orchestrator-history/2026-05-02-b.json',
    ],
  );
  assert.equal(copiesOf(name, [name]).length, 0);
});
