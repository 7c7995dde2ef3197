/**
 * What passes between a ledger and its threads.
 *
 * @module
 */

import type { CallName } from "./calls.js";
import * as errors from "./errors.js";
import type { LedgerError } from "./errors.js";

/** One call. */
export interface Request {
  id: number;
  name: CallName;
  parameters: unknown[];
}

/** What came of it. */
export type Answer = { id: number; value: unknown } | { id: number; error: Flat };

/** An error without its class, which would not survive the way. */
export interface Flat {
  code: string;
  message: string;
  /** Of the errors that carry one. */
  detail: number;
}

/** To send an error. */
export function flatten(error: LedgerError): Flat {
  const { code, message } = error;
  if (error instanceof errors.PayloadTooLargeError) {
    return { code, message, detail: error.limitBytes };
  }
  return { code, message, detail: error instanceof errors.ContendedError ? error.retryAfterMs : 0 };
}

/** The error that was sent. */
export function revive({ code, message, detail }: Flat): LedgerError {
  switch (code) {
    case "PAYLOAD_TOO_LARGE":
      return new errors.PayloadTooLargeError(detail);
    case "CONTENDED":
      return new errors.ContendedError(detail);
    default:
      return new (PLAIN[code] ?? errors.OutcomeUnknownError)(message);
  }
}

/** The errors that carry a message only. */
const PLAIN: Record<string, new (message: string) => LedgerError> = {
  INVALID_KEY: errors.InvalidKeyError,
  INVALID_TTL: errors.InvalidTtlError,
  INVALID_LIMIT: errors.InvalidLimitError,
  INVALID_ARGUMENT: errors.InvalidArgumentError,
  NO_SUCH_STORE: errors.NoSuchStoreError,
  ACCESS_DENIED: errors.AccessDeniedError,
  UNAVAILABLE: errors.UnavailableError,
  OUTCOME_UNKNOWN: errors.OutcomeUnknownError,
  DEADLINE_EXCEEDED: errors.DeadlineExceededError,
  CORRUPT: errors.CorruptError,
};
