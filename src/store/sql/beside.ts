import type { Beside } from '../../kernel/ports.ts';
import { changeRenewal } from './leases.ts';
import { beatProcess } from './processes.ts';
import { changeSample } from './samples.ts';
import type { Work } from './work.ts';

/** Keeps what stands beside the log. */
export function* keepBeside(one: Beside): Work<void> {
  if ('process' in one) yield* beatProcess(one.process, one.heartbeatAt);
  else if ('sample' in one) yield* changeSample(one.session, one.sample, one.value);
  else yield* changeRenewal(one.session, one.step, one.renewal);
}
