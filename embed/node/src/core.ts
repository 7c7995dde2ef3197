/**
 * The ledger's calls, on this thread and synchronous: what the component answers, as the types
 * of this package.
 *
 * @module
 */

import { ledgerError, newInstance } from "./component.js";
import type { Exports, WitError } from "./component.js";
import {
  AccessDeniedError,
  ContendedError,
  CorruptError,
  DeadlineExceededError,
  InvalidArgumentError,
  InvalidKeyError,
  InvalidLimitError,
  InvalidTtlError,
  LedgerError,
  NoSuchStoreError,
  OutcomeUnknownError,
  PayloadTooLargeError,
  UnavailableError,
} from "./errors.js";
import type { Clock } from "./imports.js";
import type { Store } from "./store.js";
import { answers } from "./answers.js";
import type { Calls, CallName } from "./calls.js";

/**
 * Calls that an instance serves before it is replaced: its handles are numbered, and the
 * generated code has 2^30 numbers; a call takes a handful.
 */
const CALLS_PER_INSTANCE = 1_000_000;

/** Calls that change nothing. */
const READS: ReadonlySet<CallName> = new Set(["get", "checkStore"]);

/** The ledger on one store. */
export class Core {
  readonly #store: Store;
  readonly #clock: Clock;
  #instance: Exports | undefined;
  #calls = 0;
  #busy = false;
  #closed = false;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** One call. Throws a {@link LedgerError}, and nothing else. */
  call<N extends CallName>(name: N, parameters: Parameters<Calls[N]>): ReturnType<Calls[N]> {
    if (this.#closed) {
      throw new InvalidArgumentError("the ledger is closed");
    }
    if (this.#busy) {
      throw new InvalidArgumentError("a store must not call the ledger that it serves");
    }
    this.#busy = true;
    try {
      const call = answers[name] as (exports: Exports, ...rest: unknown[]) => ReturnType<Calls[N]>;
      return call(this.#serving(), ...parameters);
    } catch (error) {
      throw this.#failed(name, error);
    } finally {
      this.#busy = false;
    }
  }

  /** Closes the store. */
  close(): void {
    if (!this.#closed) {
      this.#closed = true;
      this.#instance = undefined;
      this.#store.close?.();
    }
  }

  /** The instance for one more call. */
  #serving(): Exports {
    if (this.#instance === undefined || this.#calls >= CALLS_PER_INSTANCE) {
      this.#instance = newInstance(this.#store, this.#clock);
      this.#calls = 0;
    }
    this.#calls += 1;
    return this.#instance;
  }

  /** An instance that failed otherwise than by an answer may be in any state: it is dropped. */
  #failed(name: CallName, thrown: unknown): LedgerError {
    if (thrown instanceof LedgerError) {
      return thrown;
    }
    const error = ledgerError(thrown);
    if (error !== undefined) {
      return ours(error);
    }
    this.#instance = undefined;
    const message = `the instance failed: ${thrown instanceof Error ? thrown.message : thrown}`;
    const Kind = READS.has(name) ? UnavailableError : OutcomeUnknownError;
    return new Kind(message, { cause: thrown });
  }
}

function ours(error: WitError): LedgerError {
  switch (error.tag) {
    case "invalid-key":
      return new InvalidKeyError(error.val);
    case "invalid-ttl":
      return new InvalidTtlError(error.val);
    case "invalid-limit":
      return new InvalidLimitError(error.val);
    case "payload-too-large":
      return new PayloadTooLargeError(error.val);
    case "no-such-store":
      return new NoSuchStoreError("no such store");
    case "access-denied":
      return new AccessDeniedError("access to the store was denied");
    case "unavailable":
      return new UnavailableError(error.val);
    case "outcome-unknown":
      return new OutcomeUnknownError(error.val);
    case "contended":
      return new ContendedError(Number(error.val));
    case "deadline-exceeded":
      return new DeadlineExceededError("the call ran for too long, and recorded nothing");
    case "corrupt":
      return new CorruptError(error.val);
  }
}
