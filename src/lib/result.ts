/**
 * The outcome of something that may be refused. A refusal is data in the return type; a defect is thrown and stops the
 * program. The variable that holds a result is named after its value.
 */
export type Result<Value, Failure> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: Failure };

/** Wraps a value as a success. */
export const ok = <Value>(value: Value): { readonly ok: true; readonly value: Value } => ({ ok: true, value });

/** Wraps a failure. */
export const err = <Failure>(error: Failure): { readonly ok: false; readonly error: Failure } => ({ ok: false, error });
