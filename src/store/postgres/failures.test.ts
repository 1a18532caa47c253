import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFailure } from '../../kernel/ports.ts';
import { asFailure, isConnectionLost, isPassing } from './failures.ts';

const failure = (code: string | undefined, message = 'it says so'): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

/** The code of the refusal, whether it is asked again, and whether nobody knows what became of it. */
const said = (error: unknown): string => {
  const made = asFailure('there', error);
  const code = made instanceof StoreFailure ? made.refusal.code : 'a bug';
  return [code, ...(isPassing(error) ? ['again'] : []), ...(isConnectionLost(error) ? ['lost'] : [])].join(', ');
};

test('what a server or the way to it says is a refusal, tried again only where that may help', () => {
  const table: readonly (readonly [code: string | undefined, message: string, said: string])[] = [
    // The way there. EPIPE has five letters, as what a server says.
    ['EPIPE', 'write EPIPE', 'busy, again, lost'],
    ['ECONNRESET', 'read ECONNRESET', 'busy, again, lost'],
    ['ECONNREFUSED', 'connect ECONNREFUSED', 'busy, again, lost'],
    ['EHOSTUNREACH', 'connect EHOSTUNREACH', 'busy, again, lost'],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND', 'busy, lost'],
    ['ERR_SOCKET_CLOSED', 'closed', 'busy, again, lost'],
    [undefined, 'Connection terminated unexpectedly', 'busy, again, lost'],
    [undefined, 'timeout exceeded when trying to connect', 'busy, again, lost'],
    [undefined, 'Query read timeout', 'busy, again, lost'],
    [undefined, 'Client has encountered a connection error and is not queryable', 'busy, again, lost'],
    // The server goes down, comes up, or does not want to wait any longer.
    ['57P01', 'terminating connection due to administrator command', 'busy, again, lost'],
    ['57P02', 'crash', 'busy, again, lost'],
    ['57P03', 'the database system is starting up', 'busy, again, lost'],
    ['25P03', 'terminating connection due to idle-in-transaction timeout', 'busy, again, lost'],
    ['08006', 'connection failure', 'busy, again, lost'],
    ['53300', 'sorry, too many clients already', 'busy, again'],
    // Others were in the way.
    ['40001', 'could not serialize access', 'busy, again'],
    ['40P01', 'deadlock detected', 'busy, again'],
    ['23505', 'duplicate key', 'busy, again'],
    ['55P03', 'canceling statement due to lock timeout', 'busy'],
    ['57014', 'canceling statement due to statement timeout', 'busy'],
    // Who is not let in, or may not write.
    ['28P01', 'password authentication failed', 'invariant-unmet'],
    ['28000', 'no pg_hba.conf entry', 'invariant-unmet'],
    ['3D000', 'database does not exist', 'invariant-unmet'],
    [undefined, 'The server does not support SSL connections', 'invariant-unmet'],
    [undefined, 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'invariant-unmet'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'invariant-unmet'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host', 'invariant-unmet'],
    ['42501', 'permission denied for table event', 'invariant-unmet'],
    ['25006', 'cannot execute INSERT in a read-only transaction', 'invariant-unmet'],
    ['53100', 'could not extend file: No space left on device', 'invariant-unmet'],
    // What is in it.
    ['XX001', 'invalid page in block 0', 'damaged'],
    ['42P01', 'relation "event" does not exist', 'damaged'],
    // Bugs stay bugs.
    ['42601', 'syntax error', 'a bug'],
    ['ERR_INVALID_ARG_TYPE', 'the "x" argument must be a string', 'a bug'],
    [undefined, 'x is not a function', 'a bug'],
  ];
  assert.deepEqual(
    table.map(([code, message]) => [code, message, said(failure(code, message))]),
    table,
  );
});

test('where several addresses of a host were tried, what each of them said is told', () => {
  const several = Object.assign(
    new AggregateError([
      failure('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432'),
      failure('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'),
    ]),
    { code: 'ECONNREFUSED' },
  );
  const made = asFailure('there', several);
  assert.ok(made instanceof StoreFailure);
  assert.equal(
    made.refusal.message,
    'The store there cannot be reached: connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432.',
  );
});
