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
    this.#version(key);
    this.#put(key, value);
  }

  delete(key: string): void {
    this.#slots.delete(checkKey(key));
  }

  increment(key: string, delta: bigint): bigint {
    const before = this.#slots.get(checkKey(key))?.content ?? 0n;
    if (typeof before !== "bigint") {
      throw wrongKind("value");
    }
    const sum = addToCounter(before, delta);
    this.#put(key, sum);
    return sum;
  }

  compareAndSwap(key: string, expected: bigint | undefined, value: Uint8Array): boolean {
    if (this.#version(key) !== expected) {
      return false;
    }
    this.#put(key, value);
    return true;
  }

  list(cursor?: string): Page {
    const all = [...this.#slots.keys()].sort();
    const rest = cursor === undefined ? all : all.filter((key) => key > cursor);
    const keys = rest.slice(0, PAGE_KEYS);
    return { keys, cursor: rest.length > PAGE_KEYS ? keys.at(-1) : undefined };
  }

  /** The version of the value at `key`, which must not be a counter. */
  #version(key: string): bigint | undefined {
    const slot = this.#slots.get(checkKey(key));
    if (typeof slot?.content === "bigint") {
      throw wrongKind("counter");
    }
    return slot?.version;
  }

  #put(key: string, content: Uint8Array | bigint): void {
    this.#lastVersion += 1n;
    this.#slots.set(key, { content, version: this.#lastVersion });
  }
}
