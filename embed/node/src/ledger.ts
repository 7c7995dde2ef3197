/**
 * The ledger, as applications use it.
 *
 * @module
 */

import type { Backend } from "./calls.js";
import { checkPayload } from "./checks.js";
import { Core } from "./core.js";
import { InvalidArgumentError } from "./errors.js";
import type { Clock } from "./imports.js";
import { run } from "./run.js";
import type { Store } from "./store.js";
import { Threads } from "./threads.js";
import type {
  Begin,
  BeginOptions,
  Complete,
  CompleteOptions,
  Entry,
  Forget,
  Payload,
  PurgeOptions,
  PurgeReport,
  Release,
  Renew,
  RenewOptions,
  Run,
  RunningClaim,
  RunOptions,
  ScopeOptions,
  StoreReport,
  Token,
} from "./types.js";

/** Most threads of one ledger. */
const MAX_THREADS = 64;

/** What a {@link Ledger} is made of. */
export interface LedgerOptions {
  /** Where the records are kept. Many ledgers, in many processes, may share one. */
  store: Store;
  /**
   * How many threads serve the calls: 1 unless set for stores that wait (SQLite, Redis), so that
   * the event loop never does. With 0 calls run on the caller's thread and hold it up meanwhile;
   * for a store that cannot be opened in a thread, such as `MemoryStore`, that is the only way.
   */
  threads?: number | undefined;
  /** The clock, in milliseconds since 1970, for tests. Only without threads. */
  clock?: Clock | undefined;
}

/**
 * Records each operation's outcome once per key: 1 to 1 024 bytes, unique within a scope.
 *
 * Every call rejects with a `LedgerError`, and nothing else; lost races are answers. Times and
 * sizes are bounded, see the options.
 *
 * @example
 * ```ts
 * const ledger = new Ledger({ store: new SqliteStore("ledger.db") });
 * const run = await ledger.run("order-42", async (claim) => charge(order, claim.token));
 * ```
 */
export class Ledger {
  readonly #backend: Backend;

  constructor(options: LedgerOptions) {
    this.#backend = backend(options);
  }

  /**
   * Claim a key. While a claim lives nobody else is answered `fresh`; who loses a race is
   * answered `inflight`. A failing store never leads to `fresh`. If the answer is lost on its way
   * to you, the claim blocks the key for its lease.
   */
  begin(key: string, options: BeginOptions = {}): Promise<Begin> {
    return this.#backend.call("begin", [key, options]);
  }

  /**
   * Record the outcome: at most 524 288 bytes, returned as given. Record failures too, in a form
   * of your own, if a retry shall not repeat them; `release` otherwise. Safe to repeat:
   * `already-done` with your token in `get` means that it had landed.
   */
  complete(key: string, payload?: Payload, options: CompleteOptions = {}): Promise<Complete> {
    return this.#backend.call("complete", [key, payload, options]);
  }

  /** Extend a live claim from now, never shortening it. At a third of the lease, say. */
  renew(key: string, token: Token, options: RenewOptions = {}): Promise<Renew> {
    return this.#backend.call("renew", [key, token, options]);
  }

  /** Give a live claim back without an outcome, so that a retry need not wait. */
  release(key: string, token: Token, options: ScopeOptions = {}): Promise<Release> {
    return this.#backend.call("release", [key, token, options]);
  }

  /**
   * Look without claiming. `undefined`: never claimed, released, or purged. No substitute for
   * `begin`: the answer may be out of date when you read it.
   */
  get(key: string, options: ScopeOptions = {}): Promise<Entry | undefined> {
    return this.#backend.call("get", [key, options]);
  }

  /**
   * Remove expired keys, oldest expiry first. A live key survives any `beforeMs`. Costs what is
   * due, not what is stored; `Purger` does it daily.
   */
  purge(options: PurgeOptions = {}): Promise<PurgeReport> {
    return this.#backend.call("purge", [options]);
  }

  /**
   * Remove one recorded outcome or expired claim before its time. `token` is the one that `get`
   * showed, so that nothing newer is removed.
   */
  forget(key: string, token: Token, options: ScopeOptions = {}): Promise<Forget> {
    return this.#backend.call("forget", [key, token, options]);
  }

  /** Try what the ledger needs of the store, on keys of its own that it deletes again. */
  checkStore(): Promise<StoreReport> {
    return this.#backend.call("checkStore", []);
  }

  /**
   * Run `work` at most once for `key`, and answer its recorded outcome from then on.
   *
   * `work` is given its claim (pass the token downstream) and answers the payload to record.
   * While it runs the claim is renewed at a third of the lease; each renewal doubles the lease,
   * up to 10 minutes. If `work` throws, the claim is released and `run` throws the same. Work
   * that was done is recorded even if the store fails for a while.
   *
   * Throws `ClaimLostError` or `NotRecordedError` where the work ran and nothing is recorded;
   * any other `LedgerError` that the work did not throw means that it did not run. The work can
   * run again if this process dies.
   */
  run(
    key: string,
    work: (claim: RunningClaim) => Payload | Promise<Payload>,
    options: RunOptions = {},
  ): Promise<Run> {
    return run(this, key, { start: work, encode: checkPayload }, options);
  }

  /** End the threads and close the store. Calls under way may be cut short. */
  close(): Promise<void> {
    return this.#backend.close();
  }
}

function backend(options: LedgerOptions): Backend {
  if (typeof (options as LedgerOptions | undefined)?.store?.get !== "function") {
    throw new InvalidArgumentError("a ledger needs a store: new Ledger({ store })");
  }
  const { store, clock, threads = defaultThreads(options) } = options;
  if (!Number.isInteger(threads) || threads < 0 || threads > MAX_THREADS) {
    throw new InvalidArgumentError(`threads must be a whole number from 0 to ${MAX_THREADS}`);
  }
  if (threads === 0) {
    return new Inline(new Core(store, clock ?? Date.now));
  }
  if (store.thread === undefined) {
    throw new InvalidArgumentError("this store cannot be opened in a thread: set threads to 0");
  }
  if (clock !== undefined) {
    throw new InvalidArgumentError("threads have the system's clock: set threads to 0");
  }
  return new Threads(store, threads);
}

function defaultThreads({ store, clock }: LedgerOptions): number {
  return store.thread !== undefined && clock === undefined ? 1 : 0;
}

/** Serves the calls on the caller's thread. */
class Inline implements Backend {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  // Being asynchronous it turns what is thrown into a rejection.
  call: Backend["call"] = async (name, parameters) => this.#core.call(name, parameters);

  async close(): Promise<void> {
    this.#core.close();
  }
}
