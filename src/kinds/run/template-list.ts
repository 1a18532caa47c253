import * as v from 'valibot';
import { objectsAt, table, textAt, textsAt } from '../../kernel/answer.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { ok } from '../../lib/result.ts';
import { countText, listProject } from './templates.ts';

export const templateList = defineVerb({
  name: 'template list',
  summary: 'List the templates of this project.',
  details: `Lists what lies in .workflow/templates, and what its index.json names elsewhere in the project: the slug of each template, its name and tags, and how many nodes and checkpoints it has. A file that holds no template is listed with the reason. A damaged index is told, and hides no file.

Templates are not validated here (template validate).`,
  examples: ['stint template list', 'stint template list --json'],
  input: () => v.strictObject({}),
  does: {
    apart: async ({ files }) => ok(await listProject(files)),
  },
  text: (answer) => {
    const templates = objectsAt(answer, 'templates');
    const rows = templates.map((one) => [
      textAt(one, 'slug'),
      textAt(one, 'name'),
      textsAt(one, 'tags').join(', '),
      `${countText(Number(one['nodes']), 'node')}, ${countText(Number(one['checkpoints']), 'checkpoint')}`,
    ]);
    return [
      templates.length === 0 ? 'no templates in .workflow/templates' : table(rows),
      ...objectsAt(answer, 'unreadable').map((one) => `not read: ${textAt(one, 'path')} ${textAt(one, 'problem')}`),
    ].join('\n');
  },
});
