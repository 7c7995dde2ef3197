/**
 * The errors: what needs another action than the answers do. Programs look at `code`, or at the
 * class; messages are for people.
 *
 * @module
 */

import type { Claim, LostReason } from "./types.js";

/** The base of all errors of this package. */
export abstract class LedgerError extends Error {
  /** What happened, for programs. */
  abstract readonly code: string;

  override get name(): string {
    return this.constructor.name;
  }
}

/** Key, scope or fingerprint outside its size, or no well-formed text. No store call was made. */
export class InvalidKeyError extends LedgerError {
  readonly code = "INVALID_KEY";
}

/** Lease or ttl outside its range, or no whole number. No store call was made. */
export class InvalidTtlError extends LedgerError {
  readonly code = "INVALID_TTL";
}

/** `limit` outside its range. No store call was made. */
export class InvalidLimitError extends LedgerError {
  readonly code = "INVALID_LIMIT";
}

/** An argument of a wrong type, or a wrong use of the package. No store call was made. */
export class InvalidArgumentError extends LedgerError {
  readonly code = "INVALID_ARGUMENT";
}

/** The payload is over the limit. No store call was made; the claim stays with its holder. */
export class PayloadTooLargeError extends LedgerError {
  readonly code = "PAYLOAD_TOO_LARGE";

  /** @param limitBytes - The limit. */
  constructor(readonly limitBytes: number) {
    super(`payload too large: the limit is ${limitBytes} bytes`);
  }
}

/** The ledger is given no store. */
export class NoSuchStoreError extends LedgerError {
  readonly code = "NO_SUCH_STORE";
}

/** The store denies access. */
export class AccessDeniedError extends LedgerError {
  readonly code = "ACCESS_DENIED";
}

/** The store failed; this call changed nothing. Retry. */
export class UnavailableError extends LedgerError {
  readonly code = "UNAVAILABLE";
}

/**
 * The change may have happened, now or later. Do not start the work. `get` and compare the
 * token, or repeat the call.
 */
export class OutcomeUnknownError extends LedgerError {
  readonly code = "OUTCOME_UNKNOWN";
}

/** Others kept changing the key, or stopped half-way; this call changed nothing. Retry. */
export class ContendedError extends LedgerError {
  readonly code = "CONTENDED";

  /** @param retryAfterMs - How long to wait before the retry. */
  constructor(readonly retryAfterMs: number) {
    super(`contended: retry after ${retryAfterMs} ms`);
  }
}

/** The call ran for longer than 60 s, or the clock stepped back under it. Retry. */
export class DeadlineExceededError extends LedgerError {
  readonly code = "DEADLINE_EXCEEDED";
}

/** The stored record is unreadable. Never treated as absent. Needs an operator. */
export class CorruptError extends LedgerError {
  readonly code = "CORRUPT";
}

/** What `run` throws where the claim was lost, so that nothing was recorded. */
export class ClaimLostError extends LedgerError {
  readonly code = "CLAIM_LOST";

  /**
   * @param reason - Why. `expired` also where the claim could not be renewed in time.
   * @param claim - The claim that was lost.
   * @param result - What the work answered, where it came to its end. Somebody else may have
   *   done the work too.
   * @param cause - What the work threw, where it ended so after the loss.
   */
  constructor(
    readonly reason: LostReason,
    readonly claim: Claim,
    readonly result?: unknown,
    cause?: unknown,
  ) {
    super(`the claim was lost, nothing is recorded (${reason})`, { cause });
  }
}

/**
 * What `run` throws where the work was done and its outcome could not be recorded; `cause` is
 * why. The claim stays until its lease ends: until then `complete` with its token can record
 * this result or another. After an {@link OutcomeUnknownError} it may be recorded all the same.
 */
export class NotRecordedError extends LedgerError {
  readonly code = "NOT_RECORDED";

  /**
   * @param claim - Whose token to use.
   * @param result - What the work answered.
   * @param cause - The last error.
   */
  constructor(
    readonly claim: Claim,
    readonly result: unknown,
    cause: unknown,
  ) {
    super(`the outcome could not be recorded: ${cause}`, { cause });
  }
}

/** A result that cannot be recorded: the validator refused it, or JSON cannot hold it. */
export class ResultRefusedError extends LedgerError {
  readonly code = "RESULT_REFUSED";
}

/**
 * The recorded outcome does not fit: the validator refused it, it is no JSON, or a number in it
 * does not fit a JavaScript number. It stays as it is.
 */
export class ResultUnfitError extends LedgerError {
  readonly code = "RESULT_UNFIT";

  /**
   * @param payload - What is recorded.
   * @param cause - What does not fit.
   */
  constructor(
    readonly payload: Uint8Array,
    cause: unknown,
  ) {
    super(`the recorded outcome does not fit: ${cause}`, { cause });
  }
}
