// A store whose chosen call fails, in whatever way.

import { MemoryStore, StoreError } from "idempotency-ledger";

/** Everything that a store may throw, and what it counts as. */
export const THROWN = [
  ["no such store", () => new StoreError("gone", "no-such-store"), "NO_SUCH_STORE"],
  ["access denied", () => new StoreError("no", "access-denied"), "ACCESS_DENIED"],
  ["other", () => new StoreError("the disk is full"), undefined],
  ["an error", () => new Error("boom"), undefined],
  ["an error of the system", () => Object.assign(new Error("x"), { code: "EIO" }), undefined],
  ["a RangeError", () => new RangeError("boom"), undefined],
  ["an error with a payload", () => Object.assign(new Error("x"), { payload: 7 }), undefined],
  ["a payload", () => ({ payload: { tag: "cas-failed", val: {} } }), undefined],
  ["a tag", () => ({ tag: "no-such-store" }), undefined],
  ["a string", () => "boom", undefined],
  ["half a letter", () => new Error("\ud800"), undefined],
  ["a long text", () => new Error("x".repeat(1e6)), undefined],
  ["undefined", () => undefined, undefined],
  ["null", () => null, undefined],
  ["a number", () => 7, undefined],
  ["a symbol", () => Symbol("boom"), undefined],
  ["what has no text", () => Object.create(null), undefined],
  [
    "what throws again",
    () => ({
      toString: () => {
        throw new Error("again");
      },
    }),
    undefined,
  ],
];

/** Answers that are none, for every call. */
export const ANSWERED = [
  null,
  {},
  "text",
  7,
  Promise.resolve(undefined),
  NaN,
  2n ** 63n,
  [],
  Symbol("s"),
];

const CALLS = ["get", "set", "delete", "increment", "compareAndSwap"];

/** A store in memory whose call number `at` fails by `fail(perform)`, counted from 1. */
export class FaultyStore extends MemoryStore {
  at = Infinity;
  calls = 0;
  fail = undefined;

  /** Fail call `at` from now. */
  arm(at, fail) {
    this.at = at;
    this.fail = fail;
    this.calls = 0;
  }
}

for (const name of CALLS) {
  const perform = MemoryStore.prototype[name];
  FaultyStore.prototype[name] = function (...parameters) {
    this.calls += 1;
    const effect = () => perform.apply(this, parameters);
    return this.calls === this.at ? this.fail(effect) : effect();
  };
}
