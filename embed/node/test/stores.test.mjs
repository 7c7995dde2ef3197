// The contract of a store, on every store; and the vectors on Redis.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { Ledger, MemoryStore, RedisStore, SqliteStore, StoreError } from "idempotency-ledger";

import { CONTRACT } from "./contract.mjs";
import { withFolder } from "./folder.mjs";
import { execute } from "./raw-sqlite.mjs";
import { withRedis } from "./redis.mjs";
import { readAll } from "./vectors/file.mjs";
import { runAll } from "./vectors/run.mjs";

async function check(context, store) {
  for (const [name, holds] of Object.entries(CONTRACT)) {
    await context.test(name, () => holds(store));
  }
  store.close?.();
}

test("memory", (context) => check(context, new MemoryStore()));

test("SQLite", (context) =>
  withFolder((folder) => check(context, new SqliteStore(`${folder}/a/new/folder/ledger.db`))));

test("Redis", (context) =>
  withRedis(async ({ url, command }) => {
    await check(context, new RedisStore(url));
    await context.test("prefixes never meet", () => prefixes(url));
    await context.test("the vectors", () => vectors(url, command));
    await context.test("a server that evicts is refused", () => refusesEviction(url, command));
    await context.test("a server that does not flush is refused where asked", () => {
      assert.throws(() => new RedisStore(url, { fsync: "always" }).get("k"), /appendonly/);
    });
    await context.test("a cut connection is made again", () => reconnects(url, command));
    await context.test("a server that hangs is given up", () => givesUp(url, command));
    await context.test("replicas that are missing fail a write", () => {
      const store = new RedisStore(url, { replicas: 1, replicasMs: 10 });
      assert.throws(() => store.set("k", new Uint8Array(1)), /0 of 1 replicas/);
      store.close();
    });
  }));

function prefixes(url) {
  const one = new RedisStore(url, { prefix: "a*[b]:" });
  const other = new RedisStore(url, { prefix: "a:" });
  one.set("k", new Uint8Array(1));
  assert.equal(other.get("k"), undefined);
  assert.deepEqual([one.list().keys, other.list().keys], [["k"], []]);
  one.close();
  other.close();
}

async function vectors(url, command) {
  const store = new RedisStore(url);
  const report = await runAll(readAll(), async () => {
    await command("FLUSHALL");
    let nowMs = 0;
    const ledger = new Ledger({ store, threads: 0, clock: () => nowMs });
    return { ledger, store, setClock: (ms) => (nowMs = ms), end: () => undefined };
  });
  store.close();
  console.log(`Redis: ${report.scenarios} scenarios, ${report.steps} steps`);
  assert.deepEqual(report.failures, []);
  assert.ok(report.scenarios > 0);
}

async function refusesEviction(url, command) {
  await command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
  assert.throws(() => new RedisStore(url).get("k"), /evicts keys/);
  await command("CONFIG", "SET", "maxmemory-policy", "noeviction");
}

/** Calls may fail meanwhile; which, is a matter of the moment. */
async function reconnects(url, command) {
  const ledger = new Ledger({ store: new RedisStore(url, { prefix: "cut:" }) });
  for (let round = 0; round < 5; round += 1) {
    assert.equal((await ledger.begin(`before ${round}`)).state, "fresh");
    await command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    let state;
    for (let attempt = 0; attempt < 100 && state === undefined; attempt += 1) {
      ({ state } = await ledger.begin(`after ${round}`).catch(async (error) => {
        assert.match(error.code, /^(UNAVAILABLE|OUTCOME_UNKNOWN)$/);
        await pause(50);
        return {};
      }));
    }
    // In flight, where the claim had landed and its answer was lost.
    assert.match(state, /^(fresh|inflight)$/);
  }
  await ledger.close();
}

async function givesUp(url, command) {
  const ledger = new Ledger({ store: new RedisStore(url, { prefix: "hang:" }) });
  assert.equal((await ledger.begin("before")).state, "fresh");
  // Longer than a command may take, by less than another one may.
  await command("CLIENT", "PAUSE", "6000", "ALL");
  await assert.rejects(ledger.begin("k"), { code: /^(UNAVAILABLE|OUTCOME_UNKNOWN)$/ });
  assert.equal((await ledger.begin("after")).state, "fresh");
  await ledger.close();
}

test("Redis: what cannot be reached, and what is no URL", async () => {
  const ledger = new Ledger({ store: new RedisStore("redis://127.0.0.1:1") });
  await assert.rejects(ledger.begin("k"), (error) => {
    return error.code === "UNAVAILABLE" && /ECONNREFUSED/.test(error.message);
  });
  await ledger.close();
  for (const wrong of ["http://x", "localhost", 7, undefined]) {
    assert.throws(() => new RedisStore(wrong), TypeError);
  }
  for (const options of [{ prefix: "{" }, { fsync: "no" }, { replicas: -1 }, { replicasMs: 1e9 }]) {
    assert.throws(() => new RedisStore("redis://x", options), TypeError);
  }
});

test("SQLite: another program's file, and a newer one, are left alone", async () => {
  await withFolder(async (folder) => {
    writeFileSync(
      `${folder}/text.db`,
      "this is no database, and long enough to be looked at".repeat(9),
    );
    await execute(`${folder}/other.db`, "CREATE TABLE t (x)");
    new SqliteStore(`${folder}/newer.db`).set("k", new Uint8Array(1));
    await execute(`${folder}/newer.db`, "PRAGMA user_version = 2");
    const rows = [
      ["text", /not a database/],
      ["other", /another program/],
      ["newer", /newer version/],
    ];
    for (const [name, why] of rows) {
      const store = new SqliteStore(`${folder}/${name}.db`);
      assert.throws(() => store.get("k"), why);
      assert.throws(() => store.get("k"), StoreError);
      const ledger = new Ledger({ store });
      await assert.rejects(ledger.begin("k"), { code: "UNAVAILABLE" });
      await ledger.close();
    }
  });
});

test("SQLite: a closed store is an error", () =>
  withFolder((folder) => {
    const store = new SqliteStore(`${folder}/ledger.db`);
    store.set("k", new Uint8Array(1));
    store.close();
    assert.throws(() => store.get("k"), /closed/);
  }));
