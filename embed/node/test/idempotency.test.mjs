// The typed client: the ancestor's names and behaviour, and what JSON keeps.

import assert from "node:assert/strict";
import test from "node:test";

import { z } from "zod";

import { Idempotency, Ledger, MemoryStore, Purger, sweep } from "idempotency-ledger";

const receipt = z.object({ chargeId: z.string(), cents: z.number().int() });
const good = { chargeId: "c-1", cents: 1_999 };

function scene(options) {
  let nowMs = 0;
  const store = new MemoryStore();
  const ledger = new Ledger({ store, clock: () => nowMs });
  const charges = new Idempotency(ledger, options);
  return { store, ledger, charges, at: (ms) => (nowMs = ms) };
}

test("the story of a key, by the names of old", async () => {
  const { charges, at } = scene({ resultValidator: receipt.parse });
  const fresh = await charges.begin("k");
  assert.deepEqual(fresh, { state: "fresh", token: fresh.token, expiresAt: 60_000, attempt: 1 });
  assert.deepEqual(await charges.get("k"), {
    ...{ status: "inflight", result: undefined, expiresAt: 60_000, token: fresh.token },
  });
  at(1_000);
  assert.deepEqual(await charges.begin("k"), {
    state: "inflight",
    expiresAt: 60_000,
    retryAfterMs: 59_000,
  });
  assert.deepEqual(await charges.complete("k", good, { token: fresh.token }), { recorded: true });
  assert.deepEqual(await charges.begin("k"), { state: "done", result: good });
  assert.deepEqual(await charges.complete("k", good), { recorded: false, reason: "already_done" });
  assert.equal(await charges.get("never"), null);
  assert.deepEqual(await charges.complete("never", good), { recorded: false, reason: "missing" });
});

test("without a result: recorded, and done with none", async () => {
  const { charges } = scene({ resultValidator: receipt.parse });
  await charges.begin("k");
  assert.deepEqual(await charges.complete("k"), { recorded: true });
  assert.deepEqual(await charges.begin("k"), { state: "done", result: undefined });
});

test("a claim whose lease ended: expired, or recorded by an upsert", async () => {
  const { charges, at } = scene({ defaultInflightTtlMs: 10 });
  await charges.begin("k");
  at(100);
  assert.deepEqual(await charges.complete("k", 1), { recorded: false, reason: "expired" });
  assert.deepEqual(await charges.complete("k", 1, { upsertOnMissing: true }), { recorded: true });
  const always = new Idempotency(scene().ledger, { upsertOnMissing: true });
  assert.deepEqual(await always.complete("missing", 1), { recorded: true });
});

test("a late worker that gives its token completes nothing of another's", async () => {
  const { charges, at } = scene();
  const late = await charges.begin("k", { inflightTtlMs: 1 });
  at(5);
  await charges.begin("k");
  const ended = await charges.complete("k", 1, { token: late.token });
  assert.deepEqual(ended, { recorded: false, reason: "superseded" });
});

test("a result that the validator refuses is refused before anything is stored", async () => {
  const { charges, store } = scene({ resultValidator: receipt.parse });
  await charges.begin("k");
  const before = store.list().keys.length;
  await assert.rejects(charges.complete("k", { chargeId: 7 }), { code: "RESULT_REFUSED" });
  assert.equal((await charges.get("k")).status, "inflight");
  assert.equal(store.list().keys.length, before);
});

test("what is recorded and does not fit is told, and stays", async () => {
  const { charges, ledger } = scene({ resultValidator: receipt.parse });
  for (const [key, payload] of [
    ["json", "{"],
    ["other", '{"id":1}'],
    ["bytes", new Uint8Array([255])],
  ]) {
    await ledger.complete(key, payload, { upsertOnMissing: true });
    for (const call of [
      () => charges.begin(key),
      () => charges.get(key),
      () => charges.run(key, () => good),
    ]) {
      await assert.rejects(call, { code: "RESULT_UNFIT" });
    }
  }
});

test("scopes and defaults", async () => {
  const { ledger, at } = scene();
  const one = new Idempotency(ledger, {
    defaultScope: "one",
    defaultInflightTtlMs: 5,
    defaultDoneTtlMs: 7,
  });
  assert.equal((await one.begin("k")).expiresAt, 5);
  assert.equal((await one.begin("k", { scope: "two", inflightTtlMs: 9 })).expiresAt, 9);
  assert.equal(await one.get("k", "three"), null);
  await one.complete("k", 1);
  assert.equal((await one.get("k")).expiresAt, 7);
  at(7);
  assert.equal((await one.begin("k")).state, "fresh");
});

test("purge removes what expired, pass after pass", async () => {
  const { charges, ledger, at } = scene();
  for (const key of ["a", "b", "c", "d", "e"]) {
    await charges.begin(key, { inflightTtlMs: 10 });
  }
  await charges.begin("alive");
  at(100);
  assert.equal(await charges.purge({ batch: 2 }), 5);
  assert.equal(await charges.purge(), 0);
  assert.deepEqual(await sweep(ledger), { removed: 0, reclaimed: 0, passes: 1 });
  assert.equal((await charges.get("alive")).status, "inflight");
});

test("a purger sweeps by itself, and stops", async () => {
  const { charges, ledger, at } = scene();
  await charges.begin("k", { inflightTtlMs: 10 });
  at(100);
  let purger;
  const swept = new Promise((resolve, reject) => {
    purger = new Purger(ledger, { firstAfterMs: 1, onSweep: resolve, onError: reject });
    // A purger keeps no process alive; this test does.
    setTimeout(reject, 30_000, new Error("it never swept")).unref();
  });
  const keep = setInterval(() => undefined, 1_000);
  assert.equal((await swept).removed, 1);
  clearInterval(keep);
  await purger.stop();
});

const KEPT = [
  0,
  -1,
  1.5,
  1e21,
  2 ** 60,
  5e-324,
  false,
  true,
  "",
  "é\u0000",
  [],
  {},
  null,
  [null],
  { a: { b: [1] } },
];

test("what JSON keeps is replayed as it was", async () => {
  const { charges } = scene();
  for (const [index, value] of KEPT.entries()) {
    await charges.begin(`k${index}`);
    await charges.complete(`k${index}`, value);
    assert.deepEqual(await charges.begin(`k${index}`), { state: "done", result: value });
  }
});

test("what JSON would change in silence is refused", async () => {
  const { charges, store } = scene();
  const cycle = {};
  cycle.self = cycle;
  const values = [
    NaN,
    Infinity,
    { a: [-Infinity] },
    7n,
    () => 1,
    Symbol("s"),
    new Map(),
    { s: new Set() },
    cycle,
  ];
  for (const value of values) {
    await assert.rejects(charges.complete("k", value, { upsertOnMissing: true }), {
      code: "RESULT_REFUSED",
    });
  }
  assert.deepEqual(store.list().keys, []);
});

test("numbers of other runtimes that a JavaScript number cannot hold are told", async () => {
  const { charges, ledger } = scene();
  for (const json of ["9007199254740993", "[1,18446744073709551615]", "1e400", '{"a":-1e999}']) {
    await ledger.complete(json, json, { upsertOnMissing: true });
    await assert.rejects(charges.get(json), { code: "RESULT_UNFIT" });
  }
  for (const json of [
    '"9007199254740993"',
    "9007199254740992",
    "1.10",
    "1e-400",
    '"\\"9007199254740993"',
  ]) {
    await ledger.complete(json, json, { upsertOnMissing: true });
    assert.deepEqual((await charges.get(json)).result, JSON.parse(json));
  }
});

test("run: the effect happens once, and both calls have the same result", async () => {
  const { charges } = scene({ resultValidator: receipt.parse, defaultScope: "charges" });
  let times = 0;
  const work = () => ({ ...good, cents: (times += 1), extra: "the validator drops it" });
  const first = await charges.run("k", work);
  const second = await charges.run("k", work);
  assert.deepEqual(first, {
    state: "ran",
    result: { chargeId: "c-1", cents: 1 },
    token: first.token,
  });
  assert.deepEqual(second, { ...first, state: "replayed" });
});

test("run: a crash delays the effect, which happens once more, then replays", async () => {
  const { charges, at } = scene();
  const crashed = await charges.begin("k");
  at(60_000);
  const after = await charges.run("k", ({ attempt, token }) => ({
    attempt,
    late: token < crashed.token,
  }));
  assert.deepEqual(after.result, { attempt: 2, late: false });
  assert.equal((await charges.run("k", () => 7)).state, "replayed");
});

test("run: a result that is refused stays with its holder, not released", async () => {
  const { charges } = scene({ resultValidator: receipt.parse });
  const run = charges.run("k", () => ({ chargeId: "c-2", cents: 0.5 }));
  await assert.rejects(
    run,
    (error) => error.code === "NOT_RECORDED" && error.cause.code === "RESULT_REFUSED",
  );
  assert.equal((await charges.begin("k")).state, "inflight");
});
