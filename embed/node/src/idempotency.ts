/**
 * A client with typed results, by the names and the behaviour of the Convex component of the
 * same purpose, so that its users can move over: leave out the `ctx`.
 *
 * @module
 */

import { decode, encode } from "./codec.js";
import type { ResultParser } from "./codec.js";
import { InvalidArgumentError } from "./errors.js";
import type { Ledger } from "./ledger.js";
import { sweep } from "./purger.js";
import { run } from "./run.js";
import type { Lease, Mismatch, RunningClaim, RunOptions, Token, Whole } from "./types.js";

export type { ResultParser } from "./codec.js";

/** Settings of an {@link Idempotency}. */
export interface IdempotencyOptions<TResult> {
  /** Scope of calls that give none; `global` unless set. */
  defaultScope?: string | undefined;
  /** Lease of a `begin` that gives none: 60 000 unless set. */
  defaultInflightTtlMs?: Whole | undefined;
  /** How long an outcome replays where `complete` does not say: 86 400 000 (24 h) unless set. */
  defaultDoneTtlMs?: Whole | undefined;
  /** Whether `complete` records also where the claim is missing or expired; `false` unless set. */
  upsertOnMissing?: boolean | undefined;
  /**
   * Narrows a result to `TResult` or throws: on the way in, before anything is stored, and on
   * the way out. The `parse` of a zod schema fits.
   */
  resultValidator?: ResultParser<TResult> | undefined;
}

/** Answer of `begin`. */
export type BeginResult<TResult> =
  | {
      /** The key is yours: do the work, then `complete`. */
      state: "fresh";
      /** For `complete`, and for whatever the work calls. */
      token: Token;
      /** When another may claim the key. */
      expiresAt: number;
      /** 1 for the first claim; above 1 the work of an earlier one may have happened. */
      attempt: number;
    }
  | { state: "inflight"; expiresAt: number; retryAfterMs: number }
  | { state: "done"; result?: TResult | undefined }
  /** The key is in use for a request with another fingerprint. */
  | Mismatch;

/** Answer of `complete`. */
export type CompleteResult =
  | { recorded: true }
  | { recorded: false; reason: "missing" | "expired" | "superseded" | "already_done" };

/** Answer of `get`. */
export interface KeyState<TResult> {
  status: "inflight" | "done";
  /** Of an outcome; `undefined` also where it was recorded without one. */
  result?: TResult | undefined;
  /** From here on the key may be claimed again. */
  expiresAt: number;
  /** Token of the claim. */
  token: Token;
}

/** How a `run` ended. */
export type TypedRun<TResult> =
  | { state: "ran" | "replayed"; result: TResult | undefined; token: Token }
  | { state: "inflight"; expiresAt: number; retryAfterMs: number }
  | Mismatch;

/** Purges pass after pass with this many keys unless told otherwise. */
const DEFAULT_BATCH = 200;

/**
 * Records one result of type `TResult` per key. Results are kept as JSON; `undefined` is an
 * outcome without a result. Errors are those of `Ledger`, and:
 *
 * - `ResultRefusedError`: the result cannot be recorded. Nothing was stored; the claim stays.
 * - `ResultUnfitError`: what is recorded is no `TResult`. It stays as it is.
 */
export class Idempotency<TResult = unknown> {
  readonly #ledger: Ledger;
  readonly #options: IdempotencyOptions<TResult>;
  readonly #parse: ResultParser<TResult>;

  constructor(ledger: Ledger, options: IdempotencyOptions<TResult> = {}) {
    const { resultValidator } = options;
    if (resultValidator !== undefined && typeof resultValidator !== "function") {
      throw new InvalidArgumentError("resultValidator must be a function");
    }
    this.#ledger = ledger;
    this.#options = options;
    this.#parse = resultValidator ?? ((value) => value as TResult);
  }

  /** Claim `key`. While a claim lives nobody else is answered `fresh`. */
  async begin(
    key: string,
    options: {
      scope?: string | undefined;
      inflightTtlMs?: Whole | undefined;
      fingerprint?: Uint8Array | undefined;
    } = {},
  ): Promise<BeginResult<TResult>> {
    const begun = await this.#ledger.begin(key, {
      scope: this.#scope(options.scope),
      leaseMs: options.inflightTtlMs ?? this.#options.defaultInflightTtlMs,
      fingerprint: options.fingerprint,
    });
    switch (begun.state) {
      case "fresh": {
        const { token, expiresAtMs: expiresAt, attempt } = begun;
        return { state: "fresh", token, expiresAt, attempt };
      }
      case "inflight":
        return inflight(begun);
      case "done":
        return { state: "done", result: decode(begun.payload, this.#parse) };
      case "mismatch":
        return begun;
    }
  }

  /**
   * Record the outcome of the claim `token`. Without a token, which the names of old allow, a
   * late worker can complete a successor's claim.
   */
  async complete(
    key: string,
    result?: TResult,
    options: {
      scope?: string | undefined;
      token?: Token | undefined;
      doneTtlMs?: Whole | undefined;
      upsertOnMissing?: boolean | undefined;
    } = {},
  ): Promise<CompleteResult> {
    const { payload } = encode(result, this.#parse);
    const completed = await this.#ledger.complete(key, payload, {
      scope: this.#scope(options.scope),
      token: options.token,
      ttlMs: options.doneTtlMs ?? this.#options.defaultDoneTtlMs,
      upsertOnMissing: options.upsertOnMissing ?? this.#options.upsertOnMissing,
    });
    if (completed.state === "recorded") {
      return { recorded: true };
    }
    const { reason } = completed;
    return { recorded: false, reason: reason === "already-done" ? "already_done" : reason };
  }

  /** Look without claiming. `null`: never claimed, released, or purged. */
  async get(key: string, scope?: string): Promise<KeyState<TResult> | null> {
    const found = await this.#ledger.get(key, { scope: this.#scope(scope) });
    if (found === undefined) {
      return null;
    }
    const { state: status, payload, expiresAtMs: expiresAt, token } = found;
    return { status, result: decode(payload, this.#parse), expiresAt, token };
  }

  /** Remove what expired before `before`, pass after pass until clean; answers how many. */
  async purge(options: { before?: number; batch?: number } = {}): Promise<number> {
    const { before: beforeMs, batch: limit = DEFAULT_BATCH } = options;
    const { removed } = await sweep(this.#ledger, { beforeMs, limit });
    return removed;
  }

  /**
   * Run `work` at most once for `key`, as `Ledger.run` does, and answer its result from then on:
   * the same on the first run and on every replay, as JSON has kept it. A result that is refused
   * ends as `NotRecordedError`: the work was done, and the claim stays with its holder.
   */
  async run(
    key: string,
    work: (claim: RunningClaim) => TResult | Promise<TResult>,
    options: RunOptions = {},
  ): Promise<TypedRun<TResult>> {
    let kept: TResult | undefined;
    const encoded = (result: TResult) => {
      const { payload, result: replayed } = encode(result, this.#parse);
      kept = replayed;
      return payload;
    };
    const ended = await run(
      this.#ledger,
      key,
      { start: work, encode: encoded },
      {
        ...options,
        scope: this.#scope(options.scope),
        leaseMs: options.leaseMs ?? this.#options.defaultInflightTtlMs,
        ttlMs: options.ttlMs ?? this.#options.defaultDoneTtlMs,
      },
    );
    switch (ended.state) {
      case "ran":
        return { state: "ran", result: kept, token: ended.token };
      case "replayed": {
        const result = decode(ended.payload, this.#parse);
        return { state: "replayed", result, token: ended.token };
      }
      case "inflight":
        return inflight(ended);
      case "mismatch":
        return ended;
    }
  }

  #scope(scope: string | undefined): string | undefined {
    return scope ?? this.#options.defaultScope;
  }
}

function inflight({ expiresAtMs: expiresAt, retryAfterMs }: Lease) {
  return { state: "inflight", expiresAt, retryAfterMs } as const;
}
