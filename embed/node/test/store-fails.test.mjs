// Whatever a store throws or answers, in whichever call: a typed error, never `fresh` by mistake,
// and a ledger that goes on.

import assert from "node:assert/strict";
import test from "node:test";

import { Ledger, LedgerError } from "idempotency-ledger";

import { ANSWERED, FaultyStore, THROWN } from "./faulty.mjs";

/** Each call of the ledger, with what it needs to stand before. */
const SCENES = {
  begin: async () => (ledger) => ledger.begin("k"),
  "begin again": async (ledger) => {
    await ledger.begin("k", { leaseMs: 1 });
    return () => ledger.begin("k");
  },
  complete: async (ledger) => {
    const { token } = await ledger.begin("k");
    return () => ledger.complete("k", "done", { token, ttlMs: 1 });
  },
  upsert: async () => (ledger) => ledger.complete("k", "done", { upsertOnMissing: true }),
  renew: async (ledger) => {
    const { token } = await ledger.begin("k");
    return () => ledger.renew("k", token, { leaseMs: 120_000 });
  },
  release: async (ledger) => {
    const { token } = await ledger.begin("k");
    return () => ledger.release("k", token);
  },
  get: async () => (ledger) => ledger.get("k"),
  forget: async (ledger) => {
    const { token } = await ledger.complete("k", "x", { upsertOnMissing: true });
    return () => ledger.forget("k", token);
  },
  purge: async (ledger) => {
    await ledger.begin("k", { leaseMs: 1 });
    return () => ledger.purge();
  },
  checkStore: async () => (ledger) => ledger.checkStore(),
};

/** A ledger whose clock is a second further at each scene. */
async function stage(scene) {
  const store = new FaultyStore();
  let nowMs = 1_000_000;
  const ledger = new Ledger({ store, clock: () => nowMs });
  const call = await SCENES[scene](ledger);
  nowMs += 1_000;
  return { store, ledger, call: () => call(ledger) };
}

/** How many calls of the store a scene makes. */
async function callsOf(scene) {
  const { store, call } = await stage(scene);
  store.arm(Infinity);
  await call();
  return store.calls;
}

/** One scene whose store call number `at` fails by `fail`. */
async function failing(scene, at, fail, code) {
  const { store, ledger, call } = await stage(scene);
  store.arm(at, fail);
  const error = await call().then(
    () => undefined,
    (thrown) => thrown,
  );
  store.arm(Infinity);
  const where = `${scene}, store call ${at}`;
  // A failure on the way back may leave nothing to complain about: a check, or an optional write.
  if (error !== undefined) {
    assert.ok(error instanceof LedgerError, `${where}: ${String(error)}`);
    assert.notEqual(error.name, "InvalidArgumentError", `${where}: ${error.message}`);
    assert.doesNotMatch(error.message, /the instance failed/, where);
  }
  if (code !== undefined && at === 1 && ["begin", "get"].includes(scene)) {
    assert.equal(error?.code, code, where);
  }
  await goesOn(ledger, where);
  return error;
}

async function goesOn(ledger, where) {
  const begun = await ledger.begin("another key");
  assert.equal(begun.state, "fresh", where);
  const done = await ledger.complete("another key", "fine", { token: begun.token });
  assert.equal(done.state, "recorded", where);
}

for (const scene of Object.keys(SCENES)) {
  test(`${scene}: whatever the store throws`, async () => {
    const calls = await callsOf(scene);
    assert.ok(calls > 0);
    let errors = 0;
    for (let at = 1; at <= calls; at += 1) {
      for (const [, make, code] of THROWN) {
        const before = await failing(
          scene,
          at,
          () => {
            throw make();
          },
          code,
        );
        const after = await failing(
          scene,
          at,
          (effect) => {
            effect();
            throw make();
          },
          code,
        );
        errors += Number(before !== undefined) + Number(after !== undefined);
      }
    }
    assert.ok(errors >= THROWN.length, `${errors} errors in ${calls} calls`);
  });

  test(`${scene}: whatever the store answers`, async () => {
    for (let at = 1; at <= (await callsOf(scene)); at += 1) {
      for (const answer of ANSWERED) {
        await failing(scene, at, () => answer);
      }
    }
  });
}

test("a store that fails for good never leads to fresh", async () => {
  const store = new FaultyStore();
  const ledger = new Ledger({ store });
  for (const name of ["get", "increment", "set", "compareAndSwap"]) {
    store[name] = () => {
      throw new Error("down");
    };
    await assert.rejects(ledger.begin("k"), { code: /UNAVAILABLE|OUTCOME_UNKNOWN/ });
    delete store[name];
  }
  assert.equal((await ledger.begin("another")).state, "fresh");
});

test("a clock that fails ends the call, and the next goes on", async () => {
  const store = new FaultyStore();
  let read = () => 1_000;
  const ledger = new Ledger({ store, clock: () => read() });
  for (const bad of [
    () => NaN,
    () => -1,
    () => 1.5,
    () => "7",
    () => 2 ** 60,
    () => {
      throw new Error("no clock");
    },
  ]) {
    read = bad;
    await assert.rejects(ledger.begin("k"), { code: "OUTCOME_UNKNOWN" });
    await assert.rejects(ledger.get("k"), { code: "UNAVAILABLE" });
    read = () => 1_000;
    await goesOn(new Ledger({ store: new FaultyStore() }), "a new ledger");
    assert.equal(await ledger.get("k"), undefined);
  }
  assert.equal((await ledger.begin("k")).state, "fresh");
});

test("a value that the component's memory cannot hold ends the instance, not the ledger", async () => {
  const store = new FaultyStore();
  const ledger = new Ledger({ store });
  const huge = { value: new Uint8Array(32 << 20), version: 1n };
  for (let round = 0; round < 3; round += 1) {
    store.get = () => huge;
    await assert.rejects(ledger.begin("k"), { code: "OUTCOME_UNKNOWN" });
    await assert.rejects(ledger.get("k"), { code: "UNAVAILABLE" });
    delete store.get;
    assert.equal((await ledger.begin(`k${round}`)).state, "fresh");
  }
});

test("a store that calls its own ledger is told so", async () => {
  const store = new FaultyStore();
  const ledger = new Ledger({ store });
  const inner = [];
  store.arm(1, (effect) => {
    inner.push(ledger.begin("inner").catch((error) => error.code));
    return effect();
  });
  assert.equal((await ledger.begin("k")).state, "fresh");
  assert.deepEqual(await Promise.all(inner), ["INVALID_ARGUMENT"]);
});
