// Time of a `begin` and its `complete` on keys that are new, by store and size of the payload.
// `npm run bench [-- REDIS_URL]`
//
// Rounds of a hundred pairs: the quickest tells what the code takes, the median what this machine
// made of it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Ledger, MemoryStore, RedisStore, SqliteStore } from "idempotency-ledger";

const ROUND = 100;

/** Prints what one row took; calls one after the other. */
async function measure(name, options, rounds, payloadBytes) {
  const ledger = new Ledger(options);
  const payload = new Uint8Array(payloadBytes).fill(120);
  const times = [];
  let number = 0;
  const warming = Math.ceil(rounds / 4);
  for (let round = -warming; round < rounds; round += 1) {
    const start = performance.now();
    for (let index = 0; index < ROUND; index += 1) {
      const key = `key-${(number += 1)}`;
      const { token } = await ledger.begin(key);
      await ledger.complete(key, payload, { token });
    }
    if (round >= 0) {
      times.push(((performance.now() - start) * 1_000) / ROUND);
    }
  }
  await ledger.close();
  times.sort((one, other) => one - other);
  const shown = [times[0], times[times.length >> 1]].map((time) => time.toFixed(1).padStart(9));
  console.log(`| ${name.padEnd(32)} | ${shown.join(" | ")} |`);
}

const folder = mkdtempSync(join(tmpdir(), "ledger-"));
const sqlite = (name) => new SqliteStore(join(folder, name));
console.log(`| µs for a pair, Node ${process.versions.node.padEnd(12)} |  quickest |    median |`);
console.log(`| ${"-".repeat(32)} | --------- | --------- |`);
await measure("memory, 100 B", { store: new MemoryStore() }, 500, 100);
await measure("memory, 1 KiB", { store: new MemoryStore() }, 500, 1_024);
await measure("memory, 64 KiB", { store: new MemoryStore() }, 20, 65_536);
await measure("SQLite, 100 B", { store: sqlite("a.db"), threads: 0 }, 10, 100);
await measure("SQLite in a thread, 100 B", { store: sqlite("b.db") }, 10, 100);
const url = process.argv[2];
if (url !== undefined) {
  const store = () => new RedisStore(url, { prefix: `bench-${process.pid}:` });
  await measure("Redis in a thread, 100 B", { store: store() }, 10, 100);
}
rmSync(folder, { recursive: true });
