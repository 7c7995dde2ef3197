/**
 * `begin`, again and again for as long as the caller wants to wait.
 *
 * @module
 */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";

import { ContendedError, InvalidArgumentError } from "../errors.js";
import type { Ledger } from "../ledger.js";
import type { Done, Fresh, Inflight, Mismatch, RunOptions } from "../types.js";

/** The first and the longest pause between two looks at a key that somebody else holds. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** The longest wait: 30 days. */
const MAX_WAIT_MS = 2_592_000_000;

/** Attempts at a `begin` that is answered `contended`, whether the caller waits or not. */
const CONTENDED_ATTEMPTS = 5;

/** A claim, and when the `begin` that made it was issued, by `performance.now()`. */
export type Claimed = Fresh & { issuedMs: number };

/** Claim `key`, waiting for another holder for as long as `options` say. */
export async function claimKey(
  ledger: Ledger,
  key: string,
  options: RunOptions,
): Promise<Claimed | Inflight | Done | Mismatch> {
  const waitEndMs = performance.now() + checkWait(options.waitMs);
  let pauseMs = FIRST_PAUSE_MS;
  let contended = 0;
  while (true) {
    const issuedMs = performance.now();
    const answer = await ledger.begin(key, options).catch(contention);
    const leftMs = Math.max(0, waitEndMs - performance.now());
    let nextMs: number;
    if (answer instanceof ContendedError && contended < CONTENDED_ATTEMPTS) {
      contended += 1;
      nextMs = Math.min(LONGEST_PAUSE_MS, answer.retryAfterMs);
    } else if (answer instanceof ContendedError) {
      nextMs = Math.min(pauseMs, leftMs);
    } else if (answer.state === "inflight") {
      nextMs = Math.min(pauseMs, answer.retryAfterMs, leftMs);
    } else {
      return answer.state === "fresh" ? { ...answer, issuedMs } : answer;
    }
    if (nextMs <= 0) {
      return given(answer);
    }
    await pause(nextMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function contention(error: unknown): ContendedError {
  if (error instanceof ContendedError) {
    return error;
  }
  throw error;
}

function given(answer: ContendedError | Inflight): Inflight {
  if (answer instanceof ContendedError) {
    throw answer;
  }
  return answer;
}

function checkWait(waitMs: number = 0): number {
  if (typeof waitMs !== "number" || !(waitMs >= 0 && waitMs <= MAX_WAIT_MS)) {
    throw new InvalidArgumentError(`waitMs must be a number from 0 to ${MAX_WAIT_MS}`);
  }
  return waitMs;
}
