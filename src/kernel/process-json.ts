import type { JsonObject } from '../lib/canonical-json.ts';
import { callProcess, livenessOfAll, resumeCommandOf, type Host, type Liveness, type Process } from './process.ts';

/** A process as it is shown: the original review workflow's keys, and ours. */
export const processToJson = (process: Process, liveness: Liveness): JsonObject => ({
  id: process.id,
  session: process.session,
  workflow_id: process.session.slice(process.session.indexOf(':') + 1),
  vendor: process.vendor,
  vendor_session_id: process.vendorSession,
  persona: process.persona,
  instance_index: process.instance,
  name: process.name,
  role: process.role,
  resolved_model: process.model,
  phase: process.phase,
  status: process.outcome ?? 'running',
  liveness,
  kind: process.kind,
  parent: process.parent,
  host: process.host,
  pid: process.pid,
  started_at: process.startedAt,
  last_heartbeat_at: process.heartbeatAt,
  ended_at: process.endedAt,
  exit_code: process.exitCode,
  notes: process.note,
  called: callProcess(process),
  resume_command: resumeCommandOf(process),
});

/** Processes as they are shown. */
export const processesToJson = (processes: readonly Process[], host: Host, now: string): readonly JsonObject[] => {
  const looked = livenessOfAll(processes, host, now);
  return processes.map((process) => processToJson(process, looked.get(process.id) ?? 'unknown'));
};
