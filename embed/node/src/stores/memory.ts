/**
 * The store in memory.
 *
 * @module
 */

import { PAGE_KEYS, addToCounter, checkKey, counterBytes, wrongKind } from "../store.js";
import type { Page, Store, Versioned } from "../store.js";

interface Slot {
  content: Uint8Array | bigint;
  version: bigint;
}

/**
 * A store in memory, for tests, demonstrations, and ledgers that need not outlive the process.
 * One process, one thread. Its size is bounded by memory alone.
 */
export class MemoryStore implements Store {
  readonly #slots = new Map<string, Slot>();
  #lastVersion = 0n;

  get(key: string): Versioned | undefined {
    const slot = this.#slots.get(checkKey(key));
    if (slot === undefined) {
      return undefined;
    }
    const { content, version } = slot;
    return { value: typeof content === "bigint" ? counterBytes(content) : content, version };
  }

  set(key: string, value: Uint8Array): void {
    this.#put(key, this.#holdsNoCounter(key), value);
  }

  delete(key: string): void {
    this.#slots.delete(checkKey(key));
  }

  increment(key: string, delta: bigint): bigint {
    const slot = this.#slots.get(checkKey(key));
    const before = slot?.content ?? 0n;
    if (typeof before !== "bigint") {
      throw wrongKind("value");
    }
    const sum = addToCounter(before, delta);
    this.#put(key, slot, sum);
    return sum;
  }

  compareAndSwap(key: string, expected: bigint | undefined, value: Uint8Array): boolean {
    const slot = this.#holdsNoCounter(key);
    if (slot?.version !== expected) {
      return false;
    }
    this.#put(key, slot, value);
    return true;
  }

  list(cursor?: string): Page {
    const all = [...this.#slots.keys()].sort();
    const rest = cursor === undefined ? all : all.filter((key) => key > cursor);
    const keys = rest.slice(0, PAGE_KEYS);
    return { keys, cursor: rest.length > PAGE_KEYS ? keys.at(-1) : undefined };
  }

  /** The slot of `key`, which must not hold a counter. */
  #holdsNoCounter(key: string): Slot | undefined {
    const slot = this.#slots.get(checkKey(key));
    if (typeof slot?.content === "bigint") {
      throw wrongKind("counter");
    }
    return slot;
  }

  /** Writes to the slot that `key` has, or to a new one. */
  #put(key: string, slot: Slot | undefined, content: Uint8Array | bigint): void {
    this.#lastVersion += 1n;
    if (slot === undefined) {
      this.#slots.set(key, { content, version: this.#lastVersion });
    } else {
      slot.content = content;
      slot.version = this.#lastVersion;
    }
  }
}
