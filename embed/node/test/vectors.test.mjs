// The conformance vectors on the stores of this package.

import assert from "node:assert/strict";
import test from "node:test";

import { Ledger, MemoryStore, SqliteStore } from "idempotency-ledger";

import { withFolder } from "./folder.mjs";
import { readAll } from "./vectors/file.mjs";
import { runAll } from "./vectors/run.mjs";

/** There are no fewer of them with compare-and-swap; more come, none goes. */
const SCENARIOS = 368;
const STEPS = 1_898;

async function check(name, makeStore) {
  const report = await runAll(readAll(), async () => {
    let nowMs = 0;
    const store = makeStore();
    const ledger = new Ledger({ store, threads: 0, clock: () => nowMs });
    const setClock = (ms) => (nowMs = ms);
    return { ledger, store, setClock, end: () => ledger.close() };
  });
  console.log(`${name}: ${report.scenarios} scenarios, ${report.steps} steps`);
  assert.deepEqual(report.failures, []);
  assert.ok(report.scenarios >= SCENARIOS && report.steps >= STEPS);
}

test("the vectors in memory", () => check("memory", () => new MemoryStore()));

test("the vectors in SQLite files", () =>
  withFolder(async (folder) => {
    let number = 0;
    await check("SQLite", () => new SqliteStore(`${folder}/${(number += 1)}.db`));
  }));
