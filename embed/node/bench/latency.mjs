// Time of a `begin` and its `complete`, by store. `node bench/latency.mjs [PAIRS]`

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Ledger, MemoryStore } from "idempotency-ledger";

const pairs = Number(process.argv[2] ?? 50_000);

async function measure(name, ledger, count, payload) {
  const pair = async (key) => {
    const { token } = await ledger.begin(key);
    await ledger.complete(key, payload, { token });
  };
  for (let number = 0; number < count / 10; number += 1) {
    await pair(`warm-${number}`);
  }
  const start = performance.now();
  for (let number = 0; number < count; number += 1) {
    await pair(`key-${number}`);
  }
  const each = ((performance.now() - start) * 1_000) / count;
  console.log(`${name.padEnd(40)} ${each.toFixed(1).padStart(9)} µs a pair, ${count} pairs`);
}

const bytes = (size) => new Uint8Array(size).fill(120);
await measure("memory, 100 B", new Ledger({ store: new MemoryStore() }), pairs, bytes(100));
await measure("memory, 1 KiB", new Ledger({ store: new MemoryStore() }), pairs, bytes(1024));
await measure("memory, 64 KiB", new Ledger({ store: new MemoryStore() }), pairs / 20, bytes(65536));
