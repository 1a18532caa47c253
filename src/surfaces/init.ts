import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { textAt } from '../kernel/answer.ts';
import { requiredText } from '../kernel/fields.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import { errnoCode, fileProblem, writeFileAtomic } from '../lib/atomic-file.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';
import { checkProject } from '../store/postgres/address.ts';
import { refuseFolder } from '../store/places.ts';
import { readSettings, settingsFile } from './settings.ts';

export const init = defineVerb({
  name: 'init',
  summary: 'Say in stint.json which store this project uses.',
  details: `Writes stint.json at the root of the checkout, to be committed: with --store the name of the variable that holds the address of the server (env:NAME; never the address itself, which holds a password), and the name of the project, under which the server keeps its sessions. Keys that are there already stay. A file that says something else is not changed (9): edit it.

Nothing is connected and no store is made: that is done by the first session that is begun.`,
  examples: ['stint init --store env:TEAM_STORE --project shop'],
  input: () =>
    v.strictObject({
      project: requiredText('The name of the project on the server.'),
    }),
  does: {
    apart: async ({ root, named: to }, { project }) => {
      if (to === undefined || !/^env:[A-Za-z_][A-Za-z0-9_]*$/.test(to))
        return err({
          refusal: refuse('usage', 'init: the store of a team is named by a variable, with --store.', {
            expected: 'env:NAME, with the name of the variable that holds the address',
            hint: 'stint init --store env:TEAM_STORE --project NAME',
          }),
        });
      const illegal = checkProject(project);
      if (illegal !== undefined) return err({ refusal: illegal });
      const known = readSettings(root);
      if (!known.ok) return err({ refusal: known.error });
      const path = join(root, settingsFile);
      const said = { store: known.value.store, project: known.value.project };
      for (const [key, wanted] of Object.entries({ store: to, project })) {
        const is = said[key === 'store' ? 'store' : 'project'];
        if (is !== undefined && is !== wanted)
          return err({
            refusal: refuse(
              'conflict',
              `${path} says ${JSON.stringify(is)} for ${key}, not ${JSON.stringify(wanted)}.`,
              {
                expected: 'a file that says the same, or nothing',
              },
            ),
          });
      }
      const isNew = said.store === undefined || said.project === undefined;
      try {
        if (isNew) writeFileAtomic(path, `${JSON.stringify({ ...rest(path), store: to, project }, null, 2)}\n`);
      } catch (error) {
        if (errnoCode(error) === null) throw error;
        return err({ refusal: refuseFolder(fileProblem(path, error)) });
      }
      return ok({ path: settingsFile, store: to, project, written: isNew });
    },
  },
  text: (answer) =>
    `${textAt(answer, 'path')}: ${textAt(answer, 'store')}, project ${textAt(answer, 'project')}${answer['written'] === true ? '' : ' (as it was)'}\nnext: stint begin KIND`,
});

/** What the file says besides. */
const rest = (path: string): JsonObject => {
  try {
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch {
    return {};
  }
};
