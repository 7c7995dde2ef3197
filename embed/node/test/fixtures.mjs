// Stores that a test opens in threads.

import { MemoryStore } from "idempotency-ledger";

export class SoundStore extends MemoryStore {}

/** Every read takes a while, and holds up its thread. */
export class SlowStore extends MemoryStore {
  #pauseMs;

  constructor(pauseMs) {
    super();
    this.#pauseMs = pauseMs;
  }

  get(key) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, this.#pauseMs);
    return super.get(key);
  }
}

/** The thread ends within a call. */
export class DyingStore extends MemoryStore {
  get() {
    process.exit(1);
  }
}

export class RefusingStore {
  constructor() {
    throw new Error("not here");
  }
}
