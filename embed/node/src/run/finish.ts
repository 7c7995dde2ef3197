/**
 * Recording what the work answered, or giving its claim back; through a failing store if need be.
 *
 * @module
 */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";

import {
  ContendedError,
  DeadlineExceededError,
  OutcomeUnknownError,
  UnavailableError,
} from "../errors.js";
import type { Ledger } from "../ledger.js";
import type { Entry, LostReason, Outcome, RunOptions, Token } from "../types.js";

/** Attempts at a `complete`, and the pauses between them: from the first, doubling. */
const ATTEMPTS = 12;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Attempts at a `release`, and the pause between two. If they fail, the lease ends by itself. */
const RELEASE_ATTEMPTS = 3;
const RELEASE_PAUSE_MS = 100;

/**
 * Complete the claim `token`; where that fails for a reason that may pass, repeat it until
 * `leaseEndMs`. Answers why the claim is lost, if it is; throws the last error.
 */
export async function complete(
  ledger: Ledger,
  key: string,
  payload: Uint8Array | undefined,
  token: Token,
  options: RunOptions,
  leaseEndMs: number,
): Promise<Outcome | LostReason> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await completeOnce(ledger, key, payload, token, options);
    } catch (error) {
      const waitMs = pauseBefore(error, pauseMs);
      if (
        waitMs === undefined ||
        attempt === ATTEMPTS ||
        performance.now() + waitMs >= leaseEndMs
      ) {
        throw error;
      }
      await pause(waitMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
}

/** How long to wait before the next attempt; `undefined` where another would fail too. */
function pauseBefore(error: unknown, pauseMs: number): number | undefined {
  if (error instanceof ContendedError) {
    return Math.min(error.retryAfterMs, LONGEST_PAUSE_MS);
  }
  const passes = [UnavailableError, OutcomeUnknownError, DeadlineExceededError];
  return passes.some((Kind) => error instanceof Kind) ? pauseMs : undefined;
}

/**
 * One `complete`. If an outcome is there already, it may be this one: an earlier attempt whose
 * fate was unknown. Token and payload tell.
 */
async function completeOnce(
  ledger: Ledger,
  key: string,
  payload: Uint8Array | undefined,
  token: Token,
  { scope, ttlMs }: RunOptions,
): Promise<Outcome | LostReason> {
  const completed = await ledger.complete(key, payload, { scope, ttlMs, token });
  if (completed.state === "recorded") {
    const { completedAtMs, expiresAtMs } = completed;
    return { payload, token, completedAtMs, expiresAtMs };
  }
  if (completed.reason !== "already-done") {
    return completed.reason;
  }
  const found = await ledger.get(key, { scope });
  if (found === undefined || !isOurs(found, token, payload)) {
    return completed.reason;
  }
  const { completedAtMs = 0, expiresAtMs } = found;
  return { payload, token, completedAtMs, expiresAtMs };
}

function isOurs(found: Entry, token: Token, payload: Uint8Array | undefined): boolean {
  if (found.state !== "done" || found.token !== token) {
    return false;
  }
  return payload === undefined || found.payload === undefined
    ? payload === found.payload
    : Buffer.compare(payload, found.payload) === 0;
}

/** Give the claim back, as far as the store allows. */
export async function release(
  ledger: Ledger,
  key: string,
  token: Token,
  { scope }: RunOptions,
): Promise<void> {
  for (let attempt = 1; attempt <= RELEASE_ATTEMPTS; attempt += 1) {
    try {
      await ledger.release(key, token, { scope });
      return;
    } catch {
      await pause(RELEASE_PAUSE_MS);
    }
  }
}
