/** The verbs about templates in a checkout: from where files are named, and what is not reached. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { openStint } from '../../src/index.ts';
import { templateList } from '../../src/kinds/run/template-list.ts';
import { templateShow } from '../../src/kinds/run/template-show.ts';
import { templateValidate } from '../../src/kinds/run/template-validate.ts';
import { createWorld } from '../support/world.ts';

const template = JSON.stringify({
  template_id: 'wft-tidy',
  name: 'Tidy',
  nodes: [{ id: 'A', type: 'skill', executor: 'tidy' }],
  edges: [],
  context_schema: {},
});

test('templates are read from the root of the checkout, a named file from where the caller is, and no link leads out', async (context) => {
  const world = createWorld(context);
  world.write('.workflow/templates/tidy.json', template);
  world.write('.workflow/templates/index.json', '{"templates": [{"path": "out/away.json"}]}');
  mkdirSync(world.path('../elsewhere'));
  world.write('../elsewhere/away.json', template);
  symlinkSync('../elsewhere', world.path('out'));
  const sub = world.path('sub');
  mkdirSync(sub);
  const stint = openStint({ cwd: sub, verbs: [templateList, templateShow, templateValidate] });
  assert.ok(stint.ok);
  context.after(async () => stint.value.close());
  const pathOf = async (name: string): Promise<unknown> => {
    const answer = await stint.value.run('template validate', { template: name });
    return answer.ok ? answer.value['path'] : answer.error.refusal.code;
  };
  assert.equal(await pathOf('tidy'), '.workflow/templates/tidy.json');
  assert.equal(await pathOf('../.workflow/templates/tidy.json'), '.workflow/templates/tidy.json');
  assert.equal(await pathOf('./.workflow/templates/tidy.json'), 'not-found');
  assert.equal(await pathOf('../../elsewhere/away.json'), world.path('../elsewhere/away.json'));
  assert.equal(await pathOf('away'), 'invalid-input');
  const list = await stint.value.run('template list');
  assert.ok(list.ok);
  assert.deepEqual(list.value['unreadable'], [
    { path: 'out/away.json', problem: 'is not read: it leads out of the project, or nowhere' },
  ]);
});
