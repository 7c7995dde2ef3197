/**
 * `run`: the whole life of a claim around a piece of work.
 *
 * @module
 */

import { claimKey } from "./run/claim.js";
import { complete, release } from "./run/finish.js";
import { Renewer } from "./run/renewer.js";
import { checkOptions } from "./checks.js";
import { ClaimLostError, InvalidArgumentError, NotRecordedError } from "./errors.js";
import type { Ledger } from "./ledger.js";
import type { Claim, LostReason, Outcome, Run, RunningClaim, RunOptions } from "./types.js";

/** What to do, and how its result is recorded. */
export interface Work<R> {
  /** Does it. */
  start(claim: RunningClaim): R | Promise<R>;
  /** The payload; what it throws ends as `NotRecordedError`, as the work is done by then. */
  encode(result: R): Uint8Array | undefined;
}

/** One claim and what is needed to work under it. */
interface Held {
  ledger: Ledger;
  key: string;
  options: RunOptions;
  claim: Claim;
  renewer: Renewer;
}

/** See `Ledger.run`. */
export async function run<R>(
  ledger: Ledger,
  key: string,
  work: Work<R>,
  options: RunOptions,
): Promise<Run> {
  if (typeof work.start !== "function") {
    throw new InvalidArgumentError("the work must be a function");
  }
  const begun = await claimKey(ledger, key, checkOptions(options));
  if (begun.state !== "fresh") {
    return begun.state === "done" ? { ...begun, state: "replayed" } : begun;
  }
  const { token, expiresAtMs, attempt, issuedMs } = begun;
  const claim = { token, expiresAtMs, attempt };
  const renewer = new Renewer(ledger, key, claim, options, issuedMs);
  const held = { ledger, key, options, claim, renewer };
  const result = await perform(held, work);
  return { state: "ran", ...(await record(held, work, result)) };
}

/** What the work answers. If it throws, its claim is given back, unless it is lost. */
async function perform<R>(held: Held, work: Work<R>): Promise<R> {
  const { ledger, key, options, claim, renewer } = held;
  try {
    return await work.start({ ...claim, signal: renewer.signal });
  } catch (error) {
    await renewer.stop();
    if (renewer.lost !== undefined) {
      throw new ClaimLostError(renewer.lost, claim, undefined, error);
    }
    await release(ledger, key, claim.token, options);
    throw error;
  }
}

/** The work is done: whatever happens now, another must not begin it before its time. */
async function record<R>(held: Held, work: Work<R>, result: R): Promise<Outcome> {
  const { ledger, key, options, claim, renewer } = held;
  const leaseEndMs = await renewer.stop();
  if (renewer.lost !== undefined) {
    throw new ClaimLostError(renewer.lost, claim, result);
  }
  let ended: Outcome | LostReason;
  try {
    ended = await complete(ledger, key, work.encode(result), claim.token, options, leaseEndMs);
  } catch (error) {
    throw new NotRecordedError(claim, result, error);
  }
  if (typeof ended === "string") {
    throw new ClaimLostError(ended, claim, result);
  }
  return ended;
}
