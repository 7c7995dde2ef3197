/**
 * Keeps a lease alive while the work runs.
 *
 * @module
 */

import { performance } from "node:perf_hooks";

import { ClaimLostError } from "../errors.js";
import type { Ledger } from "../ledger.js";
import type { Claim, LostReason, RunOptions } from "../types.js";

/** The lease where the caller gives none; the component's default. */
const DEFAULT_LEASE_MS = 60_000;

/** To what length renewals double a lease, so that long work needs few of them. */
const LONGEST_LEASE_MS = 600_000;

/** A lease is renewed after this part of it, and after a failure once more after the smaller. */
const RENEWED_AFTER = 1 / 3;
const RETRIED_AFTER = 1 / 15;

/** The longest and the shortest pause after a failure. */
const LONGEST_PAUSE_MS = 5_000;
const SHORTEST_PAUSE_MS = 5;

/** The longest that a timer of Node waits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Renews one claim until it is stopped or the claim is lost. */
export class Renewer {
  readonly #ledger: Ledger;
  readonly #key: string;
  readonly #claim: Claim;
  readonly #scope: string | undefined;
  readonly #abort = new AbortController();
  #leaseMs: number;
  /** When the lease ends, by this process: counted from the call that granted it. */
  #endMs: number;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #stopped = false;
  #lost: LostReason | undefined;

  /** `issuedMs` is when the `begin` that answered `claim` was issued. */
  constructor(ledger: Ledger, key: string, claim: Claim, options: RunOptions, issuedMs: number) {
    this.#ledger = ledger;
    this.#key = key;
    this.#claim = claim;
    this.#scope = options.scope;
    this.#leaseMs = Number(options.leaseMs ?? DEFAULT_LEASE_MS);
    this.#endMs = issuedMs + this.#leaseMs;
    this.#wait(this.#leaseMs * RENEWED_AFTER);
  }

  /** Aborted when the claim is lost. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the claim is lost, if it is. */
  get lost(): LostReason | undefined {
    return this.#lost;
  }

  /** Stop renewing; answers when the lease ends, after the renewal under way if there is one. */
  async stop(): Promise<number> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#renewing;
    return this.#endMs;
  }

  #wait(pauseMs: number): void {
    const renew = () => {
      this.#renewing = this.#renew();
    };
    // A timer that is waited for would keep a process alive whose work hangs.
    this.#timer = setTimeout(renew, Math.min(pauseMs, MAX_TIMER_MS)).unref();
  }

  async #renew(): Promise<void> {
    const leaseMs = Math.max(this.#leaseMs, Math.min(this.#leaseMs * 2, LONGEST_LEASE_MS));
    const issuedMs = performance.now();
    const options = { scope: this.#scope, leaseMs };
    const answer = await this.#ledger
      .renew(this.#key, this.#claim.token, options)
      .catch(() => undefined);
    if (answer?.state === "lost") {
      this.#lose(answer.reason);
    } else if (answer !== undefined) {
      this.#leaseMs = leaseMs;
      this.#endMs = issuedMs + leaseMs;
      this.#next(leaseMs * RENEWED_AFTER);
    } else if (performance.now() >= this.#endMs) {
      this.#lose("expired");
    } else {
      const pauseMs = this.#leaseMs * RETRIED_AFTER;
      this.#next(Math.min(Math.max(pauseMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
    }
  }

  #next(pauseMs: number): void {
    if (!this.#stopped) {
      this.#wait(pauseMs);
    }
  }

  #lose(reason: LostReason): void {
    this.#lost = reason;
    this.#abort.abort(new ClaimLostError(reason, this.#claim));
  }
}
