// Bad input: a typed error, before any call of the store.

import assert from "node:assert/strict";
import test from "node:test";

import * as api from "idempotency-ledger";

const { Ledger, LedgerError, MemoryStore } = api;

/** A store that must not be called. */
const untouchable = new Proxy(new MemoryStore(), {
  get(store, name) {
    if (typeof store[name] === "function") {
      throw new Error(`${String(name)} was called`);
    }
    return undefined;
  },
});

const ledger = new Ledger({ store: untouchable });

/** What needs a whole number of milliseconds. */
const NO_DURATION = [0, -1, -1n, 1.5, NaN, Infinity, -Infinity, 2 ** 64, 2n ** 64n, "60000", null, {}];

function rows() {
  const begin = (key, options) => [`begin ${show(key)}`, () => ledger.begin(key, options)];
  const found = [];
  const add = (code, ...calls) => found.push(...calls.map((call) => [code, ...call]));
  const keys = ["", "k".repeat(1_025), "k".repeat(50_000_000), "\u{1f600}".repeat(257), "\ud800", "a\udfff"];
  for (const key of [...keys, undefined, null, 7, 7n, {}, ["k"], Symbol("k")]) {
    add("INVALID_KEY", begin(key));
    add("INVALID_KEY", ["complete", () => ledger.complete(key)]);
    add("INVALID_KEY", ["renew", () => ledger.renew(key, 1n)]);
    add("INVALID_KEY", ["release", () => ledger.release(key, 1n)]);
    add("INVALID_KEY", ["get", () => ledger.get(key)]);
    add("INVALID_KEY", ["forget", () => ledger.forget(key, 1n)]);
  }
  for (const scope of ["", "s".repeat(257), "\udc00", 7, null, {}]) {
    add("INVALID_KEY", begin("k", { scope }), ["get", () => ledger.get("k", { scope })]);
  }
  for (const fingerprint of [new Uint8Array(0), new Uint8Array(65), new Uint8Array(1e7), "f", [1], null]) {
    add("INVALID_KEY", begin("k", { fingerprint }));
  }
  for (const leaseMs of [...NO_DURATION, 2_592_000_001]) {
    add("INVALID_TTL", begin("k", { leaseMs }), ["renew", () => ledger.renew("k", 1n, { leaseMs })]);
  }
  for (const ttlMs of [...NO_DURATION, 315_360_000_001n]) {
    add("INVALID_TTL", [`complete, ttl ${show(ttlMs)}`, () => ledger.complete("k", "", { ttlMs })]);
  }
  for (const payload of [new Uint8Array(524_289), "x".repeat(524_289), "é".repeat(262_145), Buffer.alloc(1e8)]) {
    add("PAYLOAD_TOO_LARGE", ["complete", () => ledger.complete("k", payload)]);
  }
  for (const payload of [null, 7, {}, [1], new Uint16Array(1), new ArrayBuffer(1), "\ud800"]) {
    add("INVALID_ARGUMENT", [`complete with ${show(payload)}`, () => ledger.complete("k", payload)]);
  }
  for (const token of [undefined, null, 1, "1", -1n, 2n ** 64n, {}]) {
    add("INVALID_ARGUMENT", [`renew under ${show(token)}`, () => ledger.renew("k", token)]);
    add("INVALID_ARGUMENT", [`release under ${show(token)}`, () => ledger.release("k", token)]);
  }
  for (const limit of [0, -1, 10_001, 1.5, NaN, 2 ** 32 + 1, "1", 1n, null]) {
    add("INVALID_LIMIT", [`purge of ${show(limit)}`, () => ledger.purge({ limit })]);
  }
  for (const beforeMs of [-1, 1.5, NaN, 2n ** 64n, new Date(), "0"]) {
    add("INVALID_ARGUMENT", [`purge before ${show(beforeMs)}`, () => ledger.purge({ beforeMs })]);
  }
  for (const options of [null, 60_000, "scope"]) {
    add("INVALID_ARGUMENT", begin("k", options));
  }
  add("INVALID_ARGUMENT", ["run without work", () => ledger.run("k", "work")]);
  add("INVALID_ARGUMENT", ["a wait", () => ledger.run("k", () => "", { waitMs: -1 })]);
  return found;
}

function show(value) {
  return String(typeof value === "string" ? value.slice(0, 20) : typeof value);
}

for (const [code, name, call] of rows()) {
  test(`${name.slice(0, 60)}: ${code}`, async () => {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof LedgerError, String(error));
      assert.equal(error.code, code, String(error));
      assert.equal(error.constructor.name, error.name);
      assert.equal(error.constructor, api[error.name]);
      return true;
    });
  });
}

test("60 s are 60 000 ms", async () => {
  const real = new Ledger({ store: new MemoryStore(), clock: () => 1_000 });
  const { expiresAtMs } = await real.begin("k");
  assert.equal(expiresAtMs, 61_000);
  assert.equal((await real.begin("k2", { leaseMs: 60_000 })).expiresAtMs, 61_000);
  assert.equal((await real.begin("k3", { leaseMs: 60_000n })).expiresAtMs, 61_000);
});

test("a ledger is made of a store and threads that fit it", () => {
  const wrong = [{ threads: 1 }, { threads: -1 }, { threads: 1.5 }, { threads: 65 }, { threads: "1" }];
  for (const options of wrong) {
    assert.throws(() => new Ledger({ store: new MemoryStore(), ...options }), { code: "INVALID_ARGUMENT" });
  }
});
