/**
 * The component's imports over a store and a clock.
 *
 * @module
 */

import { fits, guard, isBoolean, isCount, isNothing, isVersioned } from "./guard.js";
import type { Thrown } from "./guard.js";
import type { Store, Versioned } from "./store.js";

/** Reads milliseconds since the Unix epoch: a whole number. */
export type Clock = () => number;

/** The one store that a component can open. */
const DEFAULT = "default";

const MS_PER_SECOND = 1_000;
const NANOSECONDS_PER_MS = 1_000_000;

/** The imports of one instance. */
export function makeImports(store: Store, clock: Clock): Record<string, unknown> {
  return {
    "wasi:clocks/wall-clock": { now: () => now(clock) },
    "wasi:keyvalue/store": { Bucket, open: (identifier: string) => open(store, identifier) },
    "wasi:keyvalue/atomics": { Cas, increment, swap },
  };
}

/**
 * The clock's time, as the generated code of this package takes it: see `quicken.mjs`. A clock
 * that reads nonsense ends the call: there is no error for it.
 */
function now(clock: Clock): { seconds: number; nanoseconds: number } {
  const ms = clock();
  if (!Number.isSafeInteger(ms) || ms < 0) {
    throw new TypeError(`the clock must read whole milliseconds since 1970, not ${String(ms)}`);
  }
  const restMs = ms % MS_PER_SECOND;
  return {
    seconds: (ms - restMs) / MS_PER_SECOND,
    nanoseconds: restMs * NANOSECONDS_PER_MS,
  };
}

function open(store: Store, identifier: string): Bucket {
  if (identifier !== DEFAULT) {
    throw { payload: { tag: "no-such-store" } } satisfies Thrown;
  }
  return new Bucket(store);
}

function increment({ store }: Bucket, key: string, delta: bigint): bigint {
  const sum = () => store.increment(key, delta);
  return guard(() => fits(sum(), isCount, "increment", "a bigint of 64 bits"));
}

function swap(cas: Cas, value: Uint8Array): void {
  if (!cas.trySwap(value)) {
    throw { payload: { tag: "cas-failed", val: cas.again() } } satisfies Thrown;
  }
}

function look(store: Store, key: string): Versioned | undefined {
  return fits(store.get(key), isVersioned, "get", "a value and a version");
}

/** An open bucket. */
class Bucket {
  constructor(readonly store: Store) {}

  get(key: string): Uint8Array | undefined {
    return guard(() => look(this.store, key)?.value);
  }

  set(key: string, value: Uint8Array): void {
    guard(() => fits(this.store.set(key, value), isNothing, "set", "nothing"));
  }

  delete(key: string): void {
    guard(() => fits(this.store.delete(key), isNothing, "delete", "nothing"));
  }

  exists(key: string): boolean {
    return guard(() => look(this.store, key) !== undefined);
  }
}

/**
 * A compare-and-swap: the key, and what it is compared with. One made by `new` is read there,
 * once, so that `current` and `trySwap` speak of the same state.
 */
class Cas {
  readonly #store: Store;
  readonly #key: string;
  #seen: { found: Versioned | undefined } | undefined;

  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  static new({ store }: Bucket, key: string): Cas {
    const cas = new Cas(store, key);
    guard(() => cas.#look());
    return cas;
  }

  /**
   * The next one, after a lost swap. It is read when it is first used: a failing read must not
   * hide that the swap was lost.
   */
  again(): Cas {
    return new Cas(this.#store, this.#key);
  }

  current(): Uint8Array | undefined {
    return guard(() => this.#look()?.value);
  }

  /** Whether it was written. */
  trySwap(value: Uint8Array): boolean {
    const swap = () => {
      const expected = this.#look()?.version;
      const swapped = this.#store.compareAndSwap(this.#key, expected, value);
      return fits(swapped, isBoolean, "compareAndSwap", "a boolean");
    };
    return guard(swap, (error) => ({ tag: "store-error", val: error }));
  }

  #look(): Versioned | undefined {
    this.#seen ??= { found: look(this.#store, this.#key) };
    return this.#seen.found;
  }
}
