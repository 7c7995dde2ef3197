// Bad input: a typed error, before any call of the store.

import assert from "node:assert/strict";
import test from "node:test";

import * as api from "idempotency-ledger";

const { Ledger, LedgerError, MemoryStore } = api;

/** A store that must not be called. */
const untouchable = new Proxy(new MemoryStore(), {
  get(store, name) {
    const refuse = () => {
      throw new Error(`${name} was called`);
    };
    return typeof store[name] === "function" ? refuse : undefined;
  },
});

const ledger = new Ledger({ store: untouchable });

/** What needs a whole number of milliseconds. */
const NO_DURATION = [
  0,
  -1,
  -1n,
  1.5,
  NaN,
  Infinity,
  -Infinity,
  2 ** 64,
  2n ** 64n,
  "60000",
  null,
  {},
];

/** Codes, names and calls. */
function rows() {
  return [...keyRows(), ...durationRows(), ...otherRows()];
}

function keyRows() {
  const calls = (key, options) => [
    ["begin", () => ledger.begin(key, options)],
    ["complete", () => ledger.complete(key, "", options)],
    ["renew", () => ledger.renew(key, 1n, options)],
    ["release", () => ledger.release(key, 1n, options)],
    ["get", () => ledger.get(key, options)],
    ["forget", () => ledger.forget(key, 1n, options)],
  ];
  const long = ["k".repeat(1_025), "k".repeat(50_000_000), "\u{1f600}".repeat(257)];
  const keys = ["", ...long, "\ud800", "a\udfff", undefined, null, 7, 7n, {}, ["k"], Symbol("k")];
  const scopes = ["", "s".repeat(257), "\udc00", 7, null, {}];
  const sizes = [0, 65, 1e7].map((size) => new Uint8Array(size));
  return [
    ...keys.flatMap((key) => row("INVALID_KEY", key, calls(key))),
    ...scopes.flatMap((scope) => row("INVALID_KEY", scope, calls("k", { scope }))),
    ...[...sizes, "f", [1], null].flatMap((fingerprint) =>
      row("INVALID_KEY", fingerprint, [["begin", () => ledger.begin("k", { fingerprint })]]),
    ),
  ];
}

function durationRows() {
  const leases = [...NO_DURATION, 2_592_000_001].flatMap((leaseMs) =>
    row("INVALID_TTL", leaseMs, [
      ["begin", () => ledger.begin("k", { leaseMs })],
      ["renew", () => ledger.renew("k", 1n, { leaseMs })],
    ]),
  );
  const ttls = [...NO_DURATION, 315_360_000_001n].flatMap((ttlMs) =>
    row("INVALID_TTL", ttlMs, [["complete", () => ledger.complete("k", "", { ttlMs })]]),
  );
  return [...leases, ...ttls];
}

function otherRows() {
  const large = [
    new Uint8Array(524_289),
    "x".repeat(524_289),
    "é".repeat(262_145),
    Buffer.alloc(1e8),
  ];
  const payloads = [null, 7, {}, [1], new Uint16Array(1), new ArrayBuffer(1), "\ud800"];
  const tokens = [undefined, null, 1, "1", -1n, 2n ** 64n, {}];
  const limits = [0, -1, 10_001, 1.5, NaN, 2 ** 32 + 1, "1", 1n, null];
  const times = [-1, 1.5, NaN, 2n ** 64n, new Date(), "0"];
  const each = (code, values, call) => values.flatMap((value) => row(code, value, call(value)));
  const wrong = "INVALID_ARGUMENT";
  return [
    ...each("PAYLOAD_TOO_LARGE", large, (it) => [["complete", () => ledger.complete("k", it)]]),
    ...each(wrong, payloads, (it) => [["complete", () => ledger.complete("k", it)]]),
    ...each(wrong, tokens, (it) => [["renew", () => ledger.renew("k", it)]]),
    ...each(wrong, tokens, (it) => [["release", () => ledger.release("k", it)]]),
    ...each("INVALID_LIMIT", limits, (limit) => [["purge", () => ledger.purge({ limit })]]),
    ...each(wrong, times, (beforeMs) => [["purge", () => ledger.purge({ beforeMs })]]),
    ...each(wrong, [null, 60_000, "s"], (it) => [["begin", () => ledger.begin("k", it)]]),
    ...each(wrong, [null, 7], (it) => [["run", () => ledger.run("k", () => "", it)]]),
    ...each(wrong, ["work", null], (it) => [["run", () => ledger.run("k", it)]]),
    ...each(wrong, [-1, NaN, "1"], (waitMs) => [
      ["run", () => ledger.run("k", () => "", { waitMs })],
    ]),
  ];
}

/** The rows of one value in the calls that must refuse it. */
function row(code, value, calls) {
  return calls.map(([name, call]) => [code, `${name} with ${show(value)}`, call]);
}

function show(value) {
  return String(typeof value === "string" ? value.slice(0, 20) : typeof value);
}

test("bad input is told apart, and no call of the store is made", async () => {
  for (const [code, name, call] of rows()) {
    const error = await call().then(
      () => undefined,
      (thrown) => thrown,
    );
    assert.ok(error instanceof LedgerError, `${name}: ${String(error)}`);
    assert.equal(error.code, code, `${name}: ${error}`);
    assert.equal(error.constructor, api[error.name]);
  }
});

test("60 s are 60 000 ms", async () => {
  const real = new Ledger({ store: new MemoryStore(), clock: () => 1_000 });
  const { expiresAtMs } = await real.begin("k");
  assert.equal(expiresAtMs, 61_000);
  assert.equal((await real.begin("k2", { leaseMs: 60_000 })).expiresAtMs, 61_000);
  assert.equal((await real.begin("k3", { leaseMs: 60_000n })).expiresAtMs, 61_000);
});

test("a ledger is made of a store and threads that fit it", () => {
  const wrong = [
    { threads: 1 },
    { threads: -1 },
    { threads: 1.5 },
    { threads: 65 },
    { threads: "1" },
  ];
  for (const options of [undefined, {}, { store: "memory" }]) {
    assert.throws(() => new Ledger(options), { code: "INVALID_ARGUMENT" });
  }
  for (const options of wrong) {
    assert.throws(() => new Ledger({ store: new MemoryStore(), ...options }), {
      code: "INVALID_ARGUMENT",
    });
  }
});
