import type { Verb } from '../../kernel/verb.ts';
import { importWorkflowRun } from './import-workflow-run.ts';
import { run } from './run.ts';
import { templateList } from './template-list.ts';
import { templateShow } from './template-show.ts';
import { templateValidate } from './template-validate.ts';

/** The verbs that only this kind has. */
export const verbs: readonly Verb[] = [run, importWorkflowRun, templateList, templateShow, templateValidate];
