import type { Verb } from '../../kernel/verb.ts';
import { agentCancel, agentContinue, agentPause } from './agent-change.ts';
import { agentComplete } from './agent-complete.ts';
import { agentFail } from './agent-fail.ts';
import { agentList } from './agent-list.ts';
import { agentProgress } from './agent-progress.ts';
import { agentStart } from './agent-start.ts';
import { importOrchestrator } from './import-orchestrator.ts';
import { compress } from './compress.ts';
import { history, historyResume, historyShow } from './history.ts';
import { newOrchestration } from './new.ts';
import { report } from './report.ts';
import { focus, mode, save } from './steer.ts';
import { todoAdd, todoDone, todoDrop } from './todo.ts';
import { usageReport } from './usage-report.ts';

/** The verbs that only this kind has. */
export const verbs: readonly Verb[] = [
  newOrchestration,
  agentStart,
  agentProgress,
  agentComplete,
  agentFail,
  agentCancel,
  agentPause,
  agentContinue,
  agentList,
  todoAdd,
  todoDone,
  todoDrop,
  mode,
  focus,
  save,
  usageReport,
  compress,
  importOrchestrator,
  history,
  historyShow,
  historyResume,
  report,
];
