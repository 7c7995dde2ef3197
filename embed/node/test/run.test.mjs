// `run`: the work happens once, its lease is kept alive, and whatever fails is told apart.

import assert from "node:assert/strict";
import test, { after } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import {
  ClaimLostError,
  Ledger,
  MemoryStore,
  NotRecordedError,
  UnavailableError,
} from "idempotency-ledger";

import { FaultyStore } from "./faulty.mjs";

// Claims are renewed by timers that keep no process alive; the tests stay for what they await.
const stay = setInterval(() => undefined, 1_000);
after(() => clearInterval(stay));

const text = (payload) => new TextDecoder().decode(payload);
const inMemory = () => new Ledger({ store: new MemoryStore() });

test("runs once and replays byte for byte", async () => {
  const ledger = inMemory();
  let times = 0;
  const work = (claim) => {
    times += 1;
    assert.equal(typeof claim.token, "bigint");
    assert.equal(claim.attempt, 1);
    return new Uint8Array([0, 255, times]);
  };
  const first = await ledger.run("k", work);
  const second = await ledger.run("k", work);
  assert.deepEqual([first.state, second.state, times], ["ran", "replayed", 1]);
  assert.deepEqual({ ...second, state: "ran" }, first);
});

test("no payload, no bytes and null are three outcomes", async () => {
  const ledger = inMemory();
  for (const [key, payload] of [
    ["none", undefined],
    ["empty", ""],
    ["null", "null"],
  ]) {
    await ledger.run(key, () => payload);
    const { payload: replayed } = await ledger.run(key, () => "another");
    assert.equal(replayed && text(replayed), payload);
  }
});

test("work that throws is released, and its error comes out as it is", async () => {
  const ledger = inMemory();
  const refused = new Error("the card is blocked");
  for (const fail of [
    () => {
      throw refused;
    },
    () => Promise.reject(refused),
  ]) {
    await assert.rejects(ledger.run("k", fail), (error) => error === refused);
  }
  const again = await ledger.run("k", ({ attempt }) => String(attempt));
  assert.equal(text(again.payload), "3");
});

test("somebody else's claim: told at once, or waited for", async () => {
  const ledger = inMemory();
  let end;
  const first = ledger.run("k", () => new Promise((resolve) => (end = resolve)));
  await pause(5);
  const busy = await ledger.run("k", () => "never");
  assert.equal(busy.state, "inflight");
  assert.ok(busy.retryAfterMs > 0 && busy.retryAfterMs <= 60_000);
  const waiting = ledger.run("k", () => "never", { waitMs: 60_000 });
  await pause(30);
  end("worked");
  assert.equal((await first).state, "ran");
  const waited = await waiting;
  assert.deepEqual([waited.state, text(waited.payload)], ["replayed", "worked"]);
});

test("another request under the same key is a mismatch", async () => {
  const ledger = inMemory();
  await ledger.run("k", () => "x", { fingerprint: new Uint8Array([1]) });
  const other = await ledger.run("k", () => "y", { fingerprint: new Uint8Array([2]) });
  assert.equal(other.state, "mismatch");
});

test("the lease is renewed while the work runs, and doubles", async () => {
  const ledger = inMemory();
  const leases = [];
  const renew = ledger.renew.bind(ledger);
  ledger.renew = (key, token, options) => {
    leases.push(options.leaseMs);
    return renew(key, token, options);
  };
  const run = await ledger.run("k", () => pause(3_500, "slow"), { leaseMs: 3_000 });
  assert.equal(run.state, "ran");
  assert.deepEqual(leases.slice(0, 2), [6_000, 12_000]);
});

test("a lost claim aborts the signal; the result is in hand, and nothing is recorded", async () => {
  const ledger = inMemory();
  let lost;
  const work = async ({ token, signal }) => {
    await ledger.release("k", token);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    lost = signal.reason;
    return "worked all the same";
  };
  await assert.rejects(ledger.run("k", work, { leaseMs: 30 }), (error) => {
    assert.ok(error instanceof ClaimLostError);
    assert.deepEqual([error.reason, error.result], ["missing", "worked all the same"]);
    return true;
  });
  assert.ok(lost instanceof ClaimLostError);
  assert.equal((await ledger.begin("k")).state, "fresh");
});

test("work that throws after its claim was lost: the loss is told, its error is the cause", async () => {
  const ledger = inMemory();
  const work = async ({ token, signal }) => {
    await ledger.release("k", token);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    signal.throwIfAborted();
  };
  await assert.rejects(ledger.run("k", work, { leaseMs: 30 }), (error) => {
    assert.equal(error.code, "CLAIM_LOST");
    return error.cause instanceof ClaimLostError && error.result === undefined;
  });
});

test("a claim that is lost after its last renewal is found out by complete", async () => {
  const ledger = inMemory();
  const work = async ({ token }) => {
    await ledger.release("k", token);
    await ledger.complete("k", "somebody else", { upsertOnMissing: true });
    return "late";
  };
  await assert.rejects(ledger.run("k", work), {
    code: "CLAIM_LOST",
    reason: "already-done",
    result: "late",
  });
  assert.equal(text((await ledger.get("k")).payload), "somebody else");
});

test("a store that fails for a while delays the recording only", async () => {
  const store = new FaultyStore();
  const ledger = new Ledger({ store });
  const run = await ledger.run("k", () => {
    store.arm(1, () => {
      throw new Error("away");
    });
    return "worked";
  });
  assert.equal(run.state, "ran");
  assert.equal(text((await ledger.get("k")).payload), "worked");
});

test("a swap that landed and was answered by an error is known as one's own", async () => {
  const store = new FaultyStore();
  const ledger = new Ledger({ store });
  const run = await ledger.run("k", () => {
    store.arm(2, (effect) => {
      effect();
      throw new Error("the answer was lost");
    });
    return "worked";
  });
  assert.equal(run.state, "ran");
});

test("an outcome that cannot be recorded comes with its claim and its result", async () => {
  const store = new FaultyStore();
  const ledger = new Ledger({ store });
  const run = ledger.run(
    "k",
    () => {
      store.get = () => {
        throw new Error("away");
      };
      return "worked";
    },
    { leaseMs: 400 },
  );
  await assert.rejects(run, (error) => {
    assert.ok(error instanceof NotRecordedError);
    assert.ok(error.cause instanceof UnavailableError);
    assert.deepEqual([error.result, error.claim.attempt], ["worked", 1]);
    return true;
  });
});

test("what is no payload is not recorded, and the claim stays: the work was done", async () => {
  const ledger = inMemory();
  await assert.rejects(
    ledger.run("k", () => 7),
    { code: "NOT_RECORDED", result: 7 },
  );
  assert.equal((await ledger.begin("k")).state, "inflight");
});

test("64 runs at once: the work happens once", async () => {
  const ledger = inMemory();
  let times = 0;
  const work = async () => {
    times += 1;
    await pause(10);
    return "once";
  };
  const runs = Array.from({ length: 64 }, () => ledger.run("k", work, { waitMs: 60_000 }));
  const payloads = (await Promise.all(runs)).map(({ payload }) => text(payload));
  assert.deepEqual([times, new Set(payloads)], [1, new Set(["once"])]);
});
