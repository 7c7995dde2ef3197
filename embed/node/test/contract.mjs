// What every store of the package must do; the contract stands at `Store`.

import assert from "node:assert/strict";

import { StoreError } from "idempotency-ledger";

const bytes = (text) => new TextEncoder().encode(text);
const text = (found) => found && new TextDecoder().decode(found.value);

/** Each check, by name; they use keys of their own. */
export const CONTRACT = {
  "values are written, read, replaced and deleted"(store) {
    assert.equal(store.get("v"), undefined);
    store.delete("v");
    for (const value of ["one", "", "two\u0000", "x".repeat(1 << 20)]) {
      store.set("v", bytes(value));
      assert.equal(text(store.get("v")), value);
    }
    const binary = Uint8Array.from({ length: 256 }, (_, index) => index);
    store.set("v", binary);
    assert.deepEqual(Uint8Array.from(store.get("v").value), binary);
    store.delete("v");
    assert.equal(store.get("v"), undefined);
  },

  "a swap writes only what nobody has changed"(store) {
    assert.equal(store.compareAndSwap("s", undefined, bytes("a")), true);
    assert.equal(store.compareAndSwap("s", undefined, bytes("b")), false);
    const { version } = store.get("s");
    assert.equal(store.compareAndSwap("s", version, bytes("c")), true);
    assert.equal(store.compareAndSwap("s", version, bytes("d")), false);
    assert.equal(text(store.get("s")), "c");
    const seen = store.get("s").version;
    store.set("s", bytes("c"));
    assert.equal(store.compareAndSwap("s", seen, bytes("e")), false);
  },

  "versions never recur"(store) {
    const versions = [];
    for (let round = 0; round < 5; round += 1) {
      store.set("w", bytes("same"));
      versions.push(store.get("w").version);
      store.delete("w");
      assert.equal(store.compareAndSwap("w", versions.at(-1), bytes("x")), false);
    }
    assert.deepEqual(
      [...versions].sort((a, b) => Number(a - b)),
      versions,
    );
    assert.equal(new Set(versions).size, versions.length);
  },

  "counters count, both ways, to their bounds"(store) {
    assert.equal(store.increment("c", 5n), 5n);
    assert.equal(store.increment("c", -7n), -2n);
    const found = store.get("c").value;
    assert.deepEqual(Uint8Array.from(found), Uint8Array.of(254, 255, 255, 255, 255, 255, 255, 255));
    assert.equal(store.increment("c", 2n), 0n);
    assert.equal(store.increment("c", 2n ** 63n - 1n), 2n ** 63n - 1n);
    assert.throws(() => store.increment("c", 1n), StoreError);
    assert.equal(store.increment("c", 0n), 2n ** 63n - 1n);
    store.delete("c");
    assert.equal(store.increment("c", -(2n ** 63n)), -(2n ** 63n));
  },

  "a counter is no value, and a value no counter"(store) {
    store.increment("count", 1n);
    store.set("value", bytes("v"));
    assert.throws(() => store.set("count", bytes("v")), StoreError);
    assert.throws(() => store.compareAndSwap("count", undefined, bytes("v")), StoreError);
    assert.throws(() => store.increment("value", 1n), StoreError);
    assert.equal(store.increment("count", 1n), 2n);
    assert.equal(text(store.get("value")), "v");
  },

  "keys of 1 to 1 024 bytes are told apart byte by byte"(store) {
    const keys = ["k", "K", "k ", "é", "e\u0301", "😀", "a:b", "{x}", "%", "*", "x".repeat(1_024)];
    for (const key of keys) {
      store.set(key, bytes(key));
    }
    for (const key of keys) {
      assert.equal(text(store.get(key)), key);
    }
    for (const key of ["", "x".repeat(1_025), "é".repeat(513)]) {
      for (const call of [
        () => store.get(key),
        () => store.set(key, bytes("")),
        () => store.delete(key),
      ]) {
        assert.throws(call, StoreError);
      }
    }
  },

  "every key is listed once"(store) {
    const wanted = Array.from({ length: 2_100 }, (_, index) => `list-${index}`);
    wanted.forEach((key) => store.set(key, bytes("")));
    const found = [];
    let cursor;
    do {
      const page = store.list(cursor);
      found.push(...page.keys.filter((key) => key.startsWith("list-")));
      ({ cursor } = page);
    } while (cursor !== undefined);
    assert.deepEqual(found.sort(), wanted.sort());
  },
};
