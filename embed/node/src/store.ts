/**
 * The store that keeps a ledger's records: the contract, and what the stores share.
 *
 * @module
 */

/**
 * A key-value store fit for a ledger. Its calls are synchronous. Whoever implements it promises:
 *
 * - **Linearizable.** Each call takes effect at one instant between its start and its return, for
 *   all callers together: those in other processes and on other machines too. A read never
 *   answers a value that was overwritten before it started.
 * - **An error leaves it open** whether the call took effect or will do so shortly: within
 *   minutes or never. Throw a {@link StoreError}; whatever else is thrown counts as `other`.
 * - **Nothing is evicted** and nothing expires. A full store is an error.
 * - **A key holds a value or a counter** until it is deleted: a value is what `set` or
 *   `compareAndSwap` made, a counter what `increment` made. Each of these on the other kind
 *   changes nothing and is an error. `get` of a counter answers its eight bytes, little-endian,
 *   in two's complement; `delete` and `list` take both kinds.
 * - **Versions never recur** for a key, also after it was deleted and made again.
 * - **Any key** of 1 to 1 024 bytes of UTF-8 works, compared byte by byte; others are an error.
 *   Any value of 0 bytes to 1 MiB works; a ledger needs 640 KiB.
 */
export interface Store {
  /** The value of `key` and its version, or `undefined` where it does not exist. */
  get(key: string): Versioned | undefined;
  /**
   * Write `key`, whether it exists or not. The store may keep `value`; nobody changes it. It may
   * be a part of a larger buffer: what counts is `value`, not `value.buffer`.
   */
  set(key: string, value: Uint8Array): void;
  /** Remove `key`. Nothing happens where it does not exist. */
  delete(key: string): void;
  /**
   * Add `delta` to the counter `key` and answer the sum; a counter that does not exist is made.
   * A sum beyond 64 bits is an error and changes nothing.
   */
  increment(key: string, delta: bigint): bigint;
  /**
   * Write `key` if its version is `expected`, where `undefined` means that it does not exist.
   * Answers whether it did; otherwise nothing changed, and that is no error.
   */
  compareAndSwap(key: string, expected: bigint | undefined, value: Uint8Array): boolean;
  /**
   * A page of the keys, in any order. `cursor` is that of the page before. A key that exists
   * throughout the listing comes exactly once.
   */
  list(cursor?: string): Page;
  /** Let go of files and connections. Calls after it are errors. */
  close?(): void;
  /**
   * How a thread opens the same store. A ledger on a store that has it runs in threads, so that
   * waiting for the store does not hold up the event loop.
   */
  readonly thread?: ThreadSpec;
}

/** A value and the version that its last write gave it. */
export interface Versioned {
  value: Uint8Array;
  /** For `compareAndSwap`. */
  version: bigint;
}

/** Answer of `list`. */
export interface Page {
  keys: string[];
  /** For the next page; `undefined` where this was the last. */
  cursor: string | undefined;
}

/** How to open a store in another thread: `new (await import(module))[name](...parameters)`. */
export interface ThreadSpec {
  /** URL of the module. */
  module: string;
  /** Name of the class that it exports. */
  name: string;
  /** What its constructor takes; must be fit for a structured clone. */
  parameters: unknown[];
}

/** Why a store call failed. */
export type StoreErrorCode = "no-such-store" | "access-denied" | "other";

/** A store call that failed. It may have taken effect, or may do so yet. */
export class StoreError extends Error {
  /**
   * @param message - For people.
   * @param code - For the ledger.
   */
  constructor(
    message: string,
    readonly code: StoreErrorCode = "other",
  ) {
    super(message);
    this.name = "StoreError";
  }
}

/** Most keys that the stores of this package answer in one page. */
export const PAGE_KEYS = 1_000;

const MAX_KEY_BYTES = 1_024;
const MIN_COUNTER = -(2n ** 63n);
const MAX_COUNTER = 2n ** 63n - 1n;

/** `key` if it is one, by the contract of {@link Store}. */
export function checkKey(key: string): string {
  // Most keys are short: a unit of UTF-16 has three bytes at most.
  const { length } = key;
  if (length >= 1 && length <= MAX_KEY_BYTES / 3) {
    return key;
  }
  const bytes = Buffer.byteLength(key);
  if (bytes < 1 || bytes > MAX_KEY_BYTES) {
    throw new StoreError(`a key has 1 to ${MAX_KEY_BYTES} bytes, not ${bytes}`);
  }
  return key;
}

/** The error of a call on a key of the other kind. */
export function wrongKind(found: string): StoreError {
  return new StoreError(`the key holds a ${found}`);
}

/** The sum, if a counter can hold it. */
export function addToCounter(before: bigint, delta: bigint): bigint {
  const sum = before + delta;
  if (sum < MIN_COUNTER || sum > MAX_COUNTER) {
    throw new StoreError("the counter would overflow");
  }
  return sum;
}

/** What `get` answers of a counter. */
export function counterBytes(count: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, count, true);
  return bytes;
}
