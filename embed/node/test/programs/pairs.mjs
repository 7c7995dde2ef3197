// Begins and completes many keys in one process, and prints how its memory grew after the first
// thousand, in bytes. `node --expose-gc pairs.mjs PAIRS [FILE]`

import { Ledger, MemoryStore, SqliteStore } from "idempotency-ledger";

const [, , pairs, file] = process.argv;
const FIRST = 1_000;
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

let first;
for (let number = 1; number <= Number(pairs); number += 1) {
  const { token } = await ledger.begin(`key-${number}`);
  await ledger.complete(`key-${number}`, PAYLOAD, { token });
  if (number % FIRST === 0) {
    store.forget?.();
  }
  if (number === FIRST) {
    first = memory();
  }
}
const { resident, used } = memory();
console.log(JSON.stringify({ resident: resident - first.resident, used: used - first.used }));
