import * as v from 'valibot';
import { groundOf } from '../formats/handoff/live.ts';
import { findRoot, type Whereabouts } from '../formats/handoff/look.ts';
import { textAt } from '../kernel/answer.ts';
import { choice, optionalText } from '../kernel/fields.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type World } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffRoot = defineVerb({
  name: 'handoff root',
  summary: 'Where does this project keep its hand-off documents?',
  details: `The folder that --root names, else the first of docs/tests, docs/test, test-docs and test-documentation that is there, in the checkout of --start-dir or of the current folder; docs/tests where none is. A file in its place is refused (6). It is only looked for: --ensure makes it, with the folder of the handovers, of the session state, or both, in this checkout.`,
  examples: [
    'stint handoff root',
    'stint handoff root --start-dir packages/web --json',
    'stint handoff root --ensure both',
  ],
  input: () =>
    v.strictObject({
      root: optionalText('The folder itself.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
      ensure: v.optional(
        choice(['none', ...Object.keys(folders)], 'What is made where it is not there. Default: none'),
      ),
    }),
  printsValue: true,
  does: {
    reads: async (world, input) => {
      const root = await findRoot(world, input);
      if (!root.ok) return err({ refusal: root.error });
      const wanted = folders[input.ensure ?? 'none'] ?? [];
      const refusal = wanted.length === 0 ? undefined : await makeFolders(world, input, wanted);
      return refusal === undefined
        ? ok({ docs_root: root.value, exists: world.files.exists(root.value) })
        : err({ refusal });
    },
  },
  text: (answer) => textAt(answer, 'docs_root'),
});

/** The folders that are made, by the words for them. */
const folders: Readonly<Record<string, readonly string[]>> = {
  handover: ['handovers'],
  'session-state': ['session-state'],
  both: ['handovers', 'session-state'],
};

const makeFolders = async (
  world: World,
  where: Whereabouts,
  wanted: readonly string[],
): Promise<Refusal | undefined> => {
  const ground = await groundOf(world, where);
  if (!ground.ok) return ground.error;
  const { makeFolder } = await world.project();
  for (const folder of wanted) {
    const path = `${ground.value.root}/${folder}`;
    const problem = makeFolder(world.places.here.root, path);
    if (problem !== undefined)
      return refuse('invariant-unmet', `The folder ${path} was not made: it ${problem}.`, {
        expected: 'a folder that may be made',
      });
  }
  return undefined;
};
