// A ledger in threads: the event loop never waits for the store, and a thread that dies is told.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { InvalidKeyError, Ledger, MemoryStore, SqliteStore } from "idempotency-ledger";

import { withFolder } from "./folder.mjs";

const run = promisify(execFile);

/** A ledger whose store is the class of a fixture, opened in threads. */
function onFixture(name, threads, ...parameters) {
  const store = new MemoryStore();
  store.thread = { module: new URL("./fixtures.mjs", import.meta.url).href, name, parameters };
  return new Ledger({ store, threads });
}

test("a ledger on SQLite runs in a thread, whatever is called", () =>
  withFolder(async (folder) => {
    const ledger = new Ledger({ store: new SqliteStore(`${folder}/ledger.db`), threads: 2 });
    const first = await ledger.run("k", () => new Uint8Array([1, 2, 3]));
    const second = await ledger.run("k", () => "never");
    assert.deepEqual({ ...first, state: "replayed" }, second);
    await assert.rejects(ledger.begin(""), InvalidKeyError);
    await assert.rejects(ledger.begin("k", { leaseMs: -1 }), { code: "INVALID_TTL" });
    await assert.rejects(
      ledger.begin(() => 1),
      { code: "INVALID_ARGUMENT" },
    );
    const big = ledger.complete("k", Buffer.alloc(600_000));
    await assert.rejects(big, { code: "PAYLOAD_TOO_LARGE", limitBytes: 524_288 });
    assert.equal((await ledger.checkStore()).sound, true);
    const begun = await Promise.all(Array.from({ length: 32 }, () => ledger.begin("race")));
    assert.equal(begun.filter(({ state }) => state === "fresh").length, 1);
    await ledger.close();
    await ledger.close();
    await assert.rejects(ledger.begin("k"), { code: "INVALID_ARGUMENT" });
  }));

test("the event loop goes on while the store is waited for", async () => {
  const ledger = onFixture("SlowStore", 1, 100);
  let turns = 0;
  const turning = setInterval(() => (turns += 1), 5);
  assert.equal((await ledger.begin("k")).state, "fresh");
  clearInterval(turning);
  assert.ok(turns >= 5, `${turns} turns`);
  await ledger.close();
});

test("a thread that dies: the call may have happened, and the next one goes on", async () => {
  const ledger = onFixture("DyingStore", 1);
  await assert.rejects(ledger.begin("k"), { code: "OUTCOME_UNKNOWN" });
  await assert.rejects(ledger.get("k"), { code: "UNAVAILABLE" });
  const sound = onFixture("SoundStore", 1);
  assert.equal((await sound.begin("k")).state, "fresh");
  await Promise.all([ledger.close(), sound.close()]);
});

test("a store that cannot be opened in its thread is told, at every call", async () => {
  for (const ledger of [onFixture("RefusingStore", 1), onFixture("NoSuchClass", 1)]) {
    await assert.rejects(ledger.begin("k"), { code: "UNAVAILABLE" });
    await assert.rejects(ledger.begin("k"), { code: "UNAVAILABLE" });
    await ledger.close();
  }
});

test("closing cuts calls short", async () => {
  const ledger = onFixture("SlowStore", 1, 200);
  const cut = assert.rejects(ledger.begin("k"), { code: "OUTCOME_UNKNOWN" });
  await pause(50);
  await ledger.close();
  await cut;
});

test("threads keep a process alive for calls under way only", () =>
  withFolder(async (folder) => {
    const program = fileURLToPath(new URL("./programs/begin-once.mjs", import.meta.url));
    const parameters = [program, `${folder}/ledger.db`];
    const { stdout } = await run(process.execPath, parameters, { timeout: 120_000 });
    assert.equal(stdout, "INVALID_ARGUMENT\nfresh\n");
  }));
