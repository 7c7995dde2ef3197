/**
 * The component's imports over a store and a clock.
 *
 * The generated code turns only what is thrown with a `payload` into an error of the component;
 * anything else would end the instance. So every call of the store is guarded, and what it
 * answers is checked.
 *
 * @module
 */

import { StoreError } from "./store.js";
import type { Store, Versioned } from "./store.js";

/** Reads milliseconds since the Unix epoch: a whole number. */
export type Clock = () => number;

/** The one store that a component can open. */
const DEFAULT = "default";

const MS_PER_SECOND = 1_000;
const NANOSECONDS_PER_MS = 1_000_000;

/** An error of the store, in the words of its interface. */
type WitError = { tag: "no-such-store" } | { tag: "access-denied" } | { tag: "other"; val: string };

/** What the generated code takes for an error of the component. */
interface Thrown {
  payload: unknown;
}

/** The imports of one instance. */
export function makeImports(store: Store, clock: Clock): Record<string, unknown> {
  const { Bucket, Cas } = makeResources(store);
  return {
    "wasi:clocks/wall-clock": { now: () => now(clock) },
    "wasi:keyvalue/store": {
      Bucket,
      open(identifier: string): object {
        if (identifier !== DEFAULT) {
          throw thrown({ tag: "no-such-store" });
        }
        return new Bucket();
      },
    },
    "wasi:keyvalue/atomics": {
      Cas,
      increment: (_bucket: unknown, key: string, delta: bigint): bigint =>
        guard(() => fits(store.increment(key, delta), isCount, "increment", "a bigint of 64 bits")),
      swap(cas: InstanceType<typeof Cas>, value: Uint8Array): void {
        if (!cas.trySwap(value)) {
          throw { payload: { tag: "cas-failed", val: new Cas(cas.key) } } satisfies Thrown;
        }
      },
    },
  };
}

/** The resources of the imports; classes of their own for each store. */
function makeResources(store: Store) {
  const look = (key: string) => fits(store.get(key), isVersioned, "get", "a value and a version");

  /** An open bucket. All stand for the same store. */
  class Bucket {
    get(key: string): Uint8Array | undefined {
      return guard(() => look(key)?.value);
    }

    set(key: string, value: Uint8Array): void {
      guard(() => fits(store.set(key, value), isNothing, "set", "nothing"));
    }

    delete(key: string): void {
      guard(() => fits(store.delete(key), isNothing, "delete", "nothing"));
    }

    exists(key: string): boolean {
      return guard(() => look(key) !== undefined);
    }
  }

  /**
   * A compare-and-swap: the key, and what it is compared with. One made by `new` is read there,
   * once, so that `current` and `trySwap` speak of the same state. One that comes with
   * `cas-failed` is read when it is first used: a failing read must not hide that the swap was
   * lost.
   */
  class Cas {
    #seen: { found: Versioned | undefined } | undefined;

    constructor(readonly key: string) {}

    static new(_bucket: unknown, key: string): Cas {
      const cas = new Cas(key);
      guard(() => cas.#look());
      return cas;
    }

    current(): Uint8Array | undefined {
      return guard(() => this.#look()?.value);
    }

    /** Whether it was written. */
    trySwap(value: Uint8Array): boolean {
      const swap = () => {
        const expected = this.#look()?.version;
        const swapped = store.compareAndSwap(this.key, expected, value);
        return fits(swapped, isBoolean, "compareAndSwap", "a boolean");
      };
      return guard(swap, (error) => ({ tag: "store-error", val: error }));
    }

    #look(): Versioned | undefined {
      this.#seen ??= { found: look(this.key) };
      return this.#seen.found;
    }
  }

  return { Bucket, Cas };
}

/** The clock's time. One that reads nonsense ends the call: there is no error for it. */
function now(clock: Clock): { seconds: bigint; nanoseconds: number } {
  const ms = clock();
  if (!Number.isSafeInteger(ms) || ms < 0) {
    throw new TypeError(`the clock must read whole milliseconds since 1970, not ${String(ms)}`);
  }
  const restMs = ms % MS_PER_SECOND;
  return {
    seconds: BigInt((ms - restMs) / MS_PER_SECOND),
    nanoseconds: restMs * NANOSECONDS_PER_MS,
  };
}

/** The answer of `call`; what it throws becomes an error of the component. */
function guard<R>(call: () => R, wrap: (error: WitError) => unknown = (error) => error): R {
  try {
    return call();
  } catch (error) {
    throw thrown(wrap(witError(error)));
  }
}

function thrown(payload: unknown): Thrown {
  return { payload };
}

function witError(error: unknown): WitError {
  if (error instanceof StoreError && error.code !== "other") {
    return { tag: error.code };
  }
  return { tag: "other", val: describe(error) };
}

/** Words for whatever was thrown; also for what cannot be made a text. */
function describe(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return String(text).toWellFormed().slice(0, MAX_MESSAGE);
  } catch {
    return "the store threw something that has no text";
  }
}

const MAX_MESSAGE = 1_000;

/** `answer` if it is one; a store of the caller's own may answer anything. */
function fits<T>(answer: T, is: (answer: unknown) => boolean, call: string, wanted: string): T {
  if (is(answer)) {
    return answer;
  }
  const got =
    answer instanceof Promise ? "a promise; its calls must be synchronous" : typeof answer;
  throw new StoreError(`the store's ${call} must answer ${wanted}, and answered ${got}`);
}

function isNothing(answer: unknown): boolean {
  return answer === undefined;
}

function isBoolean(answer: unknown): boolean {
  return typeof answer === "boolean";
}

function isCount(answer: unknown): boolean {
  return typeof answer === "bigint" && BigInt.asIntN(64, answer) === answer;
}

function isVersioned(answer: unknown): boolean {
  if (answer === undefined) {
    return true;
  }
  const found = answer as Partial<Versioned> | null;
  return found?.value instanceof Uint8Array && typeof found.version === "bigint";
}
