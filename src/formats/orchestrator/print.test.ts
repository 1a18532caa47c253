import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingUnknown, type OrchestratorDocument } from './document.ts';
import { printOrchestrator } from './print.ts';

const document: OrchestratorDocument = {
  schema_version: '1.0',
  session_id: 's',
  created: '2026-05-02T08:00:00Z',
  updated: '2026-05-02T08:00:00Z',
  project: { name: 'tea', path: null, git_branch: null },
  goal: 'Tee für zwei 🍵\u007f\n"',
  mode: 'default',
  status: 'created',
  agents: [],
  completed_work: [],
  pending_tasks: ['Pour', 'Serve'],
  decisions_made: [],
  context_usage: { estimated_tokens: 0, percentage: 0.5, last_compression: null },
  errors: [],
};

test('a document is printed as json.dumps of Python does with an indent of 2: keys in order, ASCII, no line end', () => {
  assert.equal(
    printOrchestrator(document),
    String.raw`{
  "schema_version": "1.0",
  "session_id": "s",
  "created": "2026-05-02T08:00:00Z",
  "updated": "2026-05-02T08:00:00Z",
  "project": {
    "name": "tea",
    "path": null,
    "git_branch": null
  },
  "goal": "Tee f\u00fcr zwei \ud83c\udf75\u007f\n\"",
  "mode": "default",
  "status": "created",
  "agents": [],
  "completed_work": [],
  "pending_tasks": [
    "Pour",
    "Serve"
  ],
  "decisions_made": [],
  "context_usage": {
    "estimated_tokens": 0,
    "percentage": 0.5,
    "last_compression": null
  },
  "errors": []
}`,
  );
});

test('keys are in the order of the original however the document was made, and those that are unknown stand behind', () => {
  const agent = {
    progress: 60,
    started: null,
    status: 'in_progress',
    task: 'Pour',
    type: 'code',
    id: 'pour-1',
  } as const;
  const printed = JSON.parse(
    printOrchestrator(
      { ...document, agents: [agent], completed_work: [{ files: [], outcome: 'hot', task: 'Water' }] },
      {
        ...nothingUnknown,
        file: { x: 1 },
        agents: { 'pour-1': { a: 1 } },
        completed_work: { 0: { b: 1 }, 7: { c: 1 } },
        pending_tasks: { 1: { status: 'open' } },
      },
    ),
  );
  assert.deepEqual(Object.keys(printed.agents[0]), ['id', 'type', 'task', 'status', 'started', 'progress', 'a']);
  assert.deepEqual(Object.keys(printed.completed_work[0]), ['task', 'outcome', 'files', 'b']);
  assert.deepEqual(printed.pending_tasks, ['Pour', { task: 'Serve', status: 'open' }]);
  assert.equal(Object.keys(printed).at(-1), 'x');
});
