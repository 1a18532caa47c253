import * as v from 'valibot';
import { acceptBundle } from '../formats/bundle/accepting.ts';
import { orderImport } from '../formats/bundle/importing.ts';
import { reportText } from '../formats/handoff/verdict.ts';
import { groundOf } from '../formats/handoff/live.ts';
import { contradictionIn } from '../formats/policy/choose.ts';
import { trustFlags } from '../formats/policy/trust-flags.ts';
import { policyFields } from '../formats/policy/trust-bundle.ts';
import { textAt } from '../kernel/answer.ts';
import { flag, optionalText, requiredText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err } from '../lib/result.ts';

export const bundleImport = defineVerb({
  name: 'bundle import',
  summary: 'Take over the session that a bundle brings.',
  details: `The file is read once; what is judged and what is taken are the same bytes. Everything is decided in memory and written in one commit, so that it happens whole or not at all; --dry-run writes nothing. Only a trusted bundle is taken (11), by the rules of bundle trust; --untrusted takes one all the same, on the record of the session.

A session that comes with its log lands under its own name, with its events, times and chain as they are. Where its beginning is here already it goes on from there; where all of it is, nothing is done (unchanged). One that has gone on in another way here is refused (9), and stays as it is: --as lands a duplicate beside it, chained anew, which says whose it is. A bundle of version 2, or one without history, begins a task of what it holds.

Documents come to this checkout, with pointers that name the files here; with --no-documents they stay where they are until somebody resumes the session here. What lies in their place is refused (9) without --force: with it the pair that was live is archived, and its session stays. Whatever somebody else holds is left alone (10). A lease never comes along: who held the session is told. A patch is never applied. Files that come with it are written with --with-artifacts alone, and over nothing.`,
  examples: [
    'stint bundle import --bundle ../work.json --dry-run',
    'stint bundle import --bundle ../work.json --json',
    'stint bundle import --bundle ../work.json --as work-from-ana',
  ],
  input: () =>
    v.strictObject({
      bundle: requiredText('The file of the bundle.'),
      as: optionalText('The name of a duplicate, where the session is here already and has gone on in another way.'),
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
      handover_output: optionalText('The file of the handover. Default: the name that it had.'),
      session_output: optionalText(
        'The file of the session state. Default: session-state/CURRENT.md; with another one two files are written, and no session.',
      ),
      no_documents: flag('Leave its documents where they are.'),
      with_artifacts: flag('Write the files that come with it where they lay: where nothing is, or the same.'),
      strip_lease: flag('Say nothing of who held it.'),
      ...policyFields(),
      ...trustFlags(),
      trusted_only: flag('Take it only where it is trusted: as it is done anyway.'),
      untrusted: flag('Take it whatever the verdict is, on the record.'),
      force: flag('Replace documents that are there; they are archived.'),
    }),
  creates: true,
  contradiction: ({ trusted_only: only, untrusted, ...call }) =>
    only === true && untrusted === true
      ? '--trusted-only takes what is trusted, and --untrusted whatever comes'
      : contradictionIn(call),
  does: {
    writes: async (world, input) => {
      const ground = await groundOf(world, input);
      const accepted = await acceptBundle(world, input);
      if (!accepted.ok) return accepted;
      const order = await orderImport(world, ground, accepted.value, input);
      return order.ok ? order : err({ refusal: order.error, report: accepted.value.refused(order.error) });
    },
  },
  text: (answer) =>
    reportText(answer, [
      ['Result', textAt(answer, 'result')],
      ['Bundle', textAt(answer, 'bundle_path')],
      ...(textAt(answer, 'session') === '' ? [] : [['Session', textAt(answer, 'session')] as const]),
      ...(textAt(answer, 'landed') === '' ? [] : [['Landed', landedText(answer)] as const]),
      ['Docs root', textAt(answer, 'docs_root') || 'None'],
      ['Handover', textAt(answer, 'handover') || 'None'],
      ['Session-state', textAt(answer, 'session_state') || 'None'],
      ['Status', textAt(answer, 'status')],
      ['Next owner', textAt(answer, 'next_owner') || 'None'],
      ['Lease restored', textAt(answer, 'lease_restored')],
      ['Lease state', textAt(answer, 'lease_state')],
      ['Source readiness verdict', textAt(answer, 'source_readiness_verdict')],
      ['Dry run', textAt(answer, 'dry_run')],
    ]),
});

const landedText = (answer: JsonObject): string => {
  const events = textAt(answer, 'events');
  const count = events === '' ? '' : `, ${events} ${events === '1' ? 'event' : 'events'}`;
  return `${textAt(answer, 'landed')}${count}`;
};
