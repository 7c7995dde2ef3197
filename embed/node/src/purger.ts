/**
 * The regular removal of what has expired.
 *
 * @module
 */

import { setTimeout as pause } from "node:timers/promises";

import { ContendedError, InvalidArgumentError } from "./errors.js";
import type { Ledger } from "./ledger.js";
import type { PurgeOptions } from "./types.js";

/** The pause between two passes of a sweep, so that other calls get their turn. */
const PASS_PAUSE_MS = 20;

/** Most passes of one sweep, and most attempts at one that is answered `contended`. */
const MAX_PASSES = 100_000;
const CONTENDED_ATTEMPTS = 20;

/** The longest pause before a pass that was answered `contended`. */
const CONTENDED_PAUSE_MS = 5_000;

/** After a sweep that failed, the next one starts this soon. */
const RETRY_MS = 300_000;

/** The longest that a timer of Node waits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Options of {@link sweep}; `limit` is that of one pass. */
export type SweepOptions = PurgeOptions;

/** What a sweep did. */
export interface Sweep {
  /** Expired keys removed. */
  removed: number;
  /** Keys removed earlier whose last traces are now deleted too. */
  reclaimed: number;
  /** How many passes that took. */
  passes: number;
}

/** Purge pass after pass, until nothing is due. Rejects with the error of a pass that failed. */
export async function sweep(ledger: Ledger, options: SweepOptions = {}): Promise<Sweep> {
  const done: Sweep = { removed: 0, reclaimed: 0, passes: 0 };
  for (let contended = 0; done.passes < MAX_PASSES;) {
    try {
      const { removed, reclaimed, more } = await ledger.purge(options);
      done.removed += removed;
      done.reclaimed += reclaimed;
      done.passes += 1;
      if (!more) {
        break;
      }
      await pause(PASS_PAUSE_MS);
    } catch (error) {
      contended += 1;
      if (!(error instanceof ContendedError) || contended >= CONTENDED_ATTEMPTS) {
        throw error;
      }
      await pause(Math.min(error.retryAfterMs, CONTENDED_PAUSE_MS));
    }
  }
  return done;
}

/** When and how much a {@link Purger} removes. */
export interface PurgerOptions {
  /** Before the first sweep: 10 000 unless set. */
  firstAfterMs?: number | undefined;
  /** From the end of a sweep to the start of the next: 86 400 000 (24 h) unless set. */
  intervalMs?: number | undefined;
  /** Most keys that one pass removes: 200 unless set, 1 to 10 000. */
  limit?: number | undefined;
  /** Told of each sweep that came to its end. */
  onSweep?: ((sweep: Sweep) => void) | undefined;
  /** Told of each that failed; the next one starts within five minutes. */
  onError?: ((error: unknown) => void) | undefined;
}

/**
 * Sweeps a ledger in the background, daily unless set otherwise. Several at once on one store,
 * in as many processes, do no harm. It keeps no process alive.
 */
export class Purger {
  readonly #ledger: Ledger;
  readonly #options: PurgerOptions;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(ledger: Ledger, options: PurgerOptions = {}) {
    this.#ledger = ledger;
    this.#options = options;
    this.#intervalMs = checkPause(options.intervalMs ?? 86_400_000, "intervalMs");
    this.#wait(checkPause(options.firstAfterMs ?? 10_000, "firstAfterMs"));
  }

  /** Stop; resolves after the sweep under way, if there is one. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  #wait(pauseMs: number): void {
    const start = () => {
      this.#sweeping = this.#sweep();
    };
    this.#timer = setTimeout(start, pauseMs).unref();
  }

  async #sweep(): Promise<void> {
    let pauseMs = this.#intervalMs;
    try {
      const done = await sweep(this.#ledger, { limit: this.#options.limit });
      this.#options.onSweep?.(done);
    } catch (error) {
      pauseMs = Math.min(pauseMs, RETRY_MS);
      this.#options.onError?.(error);
    }
    if (!this.#stopped) {
      this.#wait(pauseMs);
    }
  }
}

function checkPause(pauseMs: number, what: string): number {
  if (!Number.isInteger(pauseMs) || pauseMs < 1 || pauseMs > MAX_TIMER_MS) {
    throw new InvalidArgumentError(`${what} must be a whole number from 1 to ${MAX_TIMER_MS}`);
  }
  return pauseMs;
}
