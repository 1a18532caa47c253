import type { Verb } from '../../kernel/verb.ts';
import { agentCancel, agentContinue, agentPause } from './verbs/agent-change.ts';
import { agentComplete } from './verbs/agent-complete.ts';
import { agentFail } from './verbs/agent-fail.ts';
import { agentList } from './verbs/agent-list.ts';
import { agentProgress } from './verbs/agent-progress.ts';
import { agentStart } from './verbs/agent-start.ts';
import { importOrchestrator } from './import-orchestrator.ts';
import { compress } from './verbs/compress.ts';
import { history, historyResume, historyShow } from './verbs/history.ts';
import { newOrchestration } from './verbs/new.ts';
import { report } from './verbs/report.ts';
import { focus, mode, save } from './verbs/steer.ts';
import { todoAdd, todoDone, todoDrop } from './verbs/todo.ts';
import { usageReport } from './verbs/usage-report.ts';

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
