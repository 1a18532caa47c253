import * as v from 'valibot';
import { budgets, type BriefBudget, type BriefWish } from './brief.ts';
import { readers } from './brief-forms.ts';
import { choice } from './fields.ts';
import type { Caller } from './ports.ts';

/** The input fields of verbs that give a brief. */
export const briefFields = {
  budget: v.optional(choice(budgets, 'How long the brief may be; default 8KB')),
  for: v.optional(choice(readers, 'For whom the brief is; default agent in the conversation of one, else human')),
};

/** What is wanted, with what was not said. */
export const wishOfBrief = (
  { agent }: Pick<Caller, 'agent'>,
  given: {
    readonly budget?: BriefBudget | undefined;
    readonly for?: BriefWish['reader'] | undefined;
    readonly format?: BriefWish['format'] | undefined;
  },
): BriefWish => ({
  budget: given.budget ?? '8KB',
  reader: given.for ?? (agent === null ? 'human' : 'agent'),
  format: given.format ?? 'text',
});
