import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';

/** The code of an error: SQLSTATE where the server raised it, else what the system calls it (ECONNREFUSED). */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/**
 * Whether the server has said something: what it says are five characters, and the first two are of a class that it has
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html). EPIPE is none of them.
 */
const isSqlState = (code: string): boolean => /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/.test(code);

/**
 * Whether the connection is gone, so that nobody knows what became of the last statement: nothing was said by the server, or
 * that it goes down (57P01 to 57P03), that it did not want to wait for us any longer (57P05, 25P03, 25P04), or that the
 * connection failed (08).
 */
export const isConnectionLost = (error: unknown): boolean => {
  const code = codeOf(error);
  if (isSetUpWrong(error)) return false;
  if (code !== undefined && isSqlState(code)) return /^(?:57P0[1-35]|25P0[34]|08)/.test(code);
  if (code !== undefined) return /^E(?!RR_)|^ERR_(?:SOCKET|STREAM)/.test(code);
  return (
    error instanceof Error &&
    /^(?:connection|timeout|query read timeout|client was closed|client has encountered)/i.test(error.message)
  );
};

/** Whether both sides cannot agree on who they are: certificates, encryption, passwords. */
const isSetUpWrong = (error: unknown): boolean =>
  error instanceof Error &&
  (/CERT|TLS|SSL|SIGNED|SIGNATURE/.test(codeOf(error) ?? '') || /^SASL|SSL|password/i.test(error.message)) &&
  !isSqlState(codeOf(error) ?? '');

/**
 * Whether the same transaction may succeed when it is done again: others were in its way, had taken all connections, or this
 * one was lost. A name that nobody knows does not become known by asking again.
 */
export const isPassing = (error: unknown): boolean =>
  ['40001', '40P01', '23505', '53300'].includes(codeOf(error) ?? '') ||
  (isConnectionLost(error) && codeOf(error) !== 'ENOTFOUND');

/** What a failed statement means for the caller; anything else is a defect and stays what it is. */
export const asFailure = (shown: string, error: unknown): unknown => {
  if (error instanceof StoreFailure) return error;
  const refusal = refusalOf(shown, error);
  return refusal === undefined ? error : new StoreFailure(refusal, error);
};

const refusalOf = (shown: string, error: unknown): Refusal | undefined => {
  const code = codeOf(error);
  const said = saidBy(error);
  if (code !== undefined && isSqlState(code)) {
    if (/^(?:57014|55P03|40001|40P01|23505)$/.test(code))
      return refuse('busy', `The store ${shown} is busy: ${said}.`, { hint: 'run the same command again' });
    if (/^(?:53300|53400|57P|25P0[34]|08)/.test(code)) return refuseUnreachable(shown, said);
    if (/^(?:28|3D000|0LP01)/.test(code)) return refuseEntry(shown, said);
    if (/^(?:42501|25006)/.test(code))
      return refuse('invariant-unmet', `The store ${shown} is not open to this user for that: ${said}.`, {
        expected: 'the grants that the team guide lists, on a server that takes writes',
      });
    if (/^(?:53100|53200|54)/.test(code))
      return refuse('invariant-unmet', `There is no room left where the store ${shown} is: ${said}.`, {
        hint: 'make room and run the same command again',
      });
    if (/^(?:XX|58|42P01|42703|42883|3F000)/.test(code))
      return refuse('damaged', `The store ${shown} is damaged: ${said}.`, { hint: 'restore it from a backup' });
    return undefined;
  }
  if (isSetUpWrong(error)) return refuseEntry(shown, said);
  return isConnectionLost(error) ? refuseUnreachable(shown, said) : undefined;
};

/** What an error says; where several addresses were tried, it is what each of them said. */
const saidBy = (error: unknown): string => {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(saidBy))].join(', ');
  return error instanceof Error ? error.message : String(error);
};

const refuseEntry = (shown: string, said: string): Refusal =>
  refuse('invariant-unmet', `The store ${shown} does not let this user in: ${said}.`, {
    expected: 'a user and a database that are there, with the right password, and certificates that both sides take',
    hint: 'check the address of the store (STINT_STORE, or the variable that stint.json names)',
  });

/** The refusal of a server that does not answer, or not in time. */
const refuseUnreachable = (shown: string, said: string): Refusal =>
  refuse('busy', `The store ${shown} cannot be reached: ${said}.`, {
    expected: 'a server that answers',
    hint: 'run the same command again',
  });
