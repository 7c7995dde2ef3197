// Begins and completes many keys in one process, and prints how its memory grew, in bytes: from the
// first thousand to the end, and in the second half. `node --expose-gc pairs.mjs PAIRS [FILE]`

import { Ledger, MemoryStore, SqliteStore } from "idempotency-ledger";

const [, , count, file] = process.argv;
const pairs = Number(count);
const FIRST = 1_000;
/** After so many the store in memory forgets. */
const KEPT = 50;
const PAYLOAD = new Uint8Array(1_024).fill(120);

/** In memory the records themselves would grow: this store forgets them now and then. */
class ForgetfulStore {
  #inner = new MemoryStore();

  forget() {
    this.#inner = new MemoryStore();
  }

  get(key) {
    return this.#inner.get(key);
  }

  set(key, value) {
    this.#inner.set(key, value);
  }

  delete(key) {
    this.#inner.delete(key);
  }

  increment(key, delta) {
    return this.#inner.increment(key, delta);
  }

  compareAndSwap(key, expected, value) {
    return this.#inner.compareAndSwap(key, expected, value);
  }
}

const store = file === undefined ? new ForgetfulStore() : new SqliteStore(file);
const ledger = new Ledger({ store, threads: 0 });

function memory() {
  store.forget?.();
  globalThis.gc();
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, used: heapUsed + external };
}

const marks = new Map([
  [FIRST, undefined],
  [pairs / 2, undefined],
  [pairs, undefined],
]);
for (let number = 1; number <= pairs; number += 1) {
  const { token } = await ledger.begin(`key-${number}`);
  await ledger.complete(`key-${number}`, PAYLOAD, { token });
  if (number % KEPT === 0) {
    store.forget?.();
  }
  if (marks.has(number)) {
    marks.set(number, memory());
  }
}
const [first, half, last] = [...marks.values()];
const grown = {
  resident: last.resident - first.resident,
  secondHalf: last.resident - half.resident,
  used: last.used - first.used,
};
console.log(JSON.stringify(grown));
