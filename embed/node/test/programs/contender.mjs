// Begins every key some times, beside other processes, completes what is fresh, and prints how
// often it was. `node contender.mjs FILE NAME KEYS ROUNDS`

import { Ledger, LedgerError, SqliteStore } from "idempotency-ledger";

const [, , file, name, keys, rounds] = process.argv;
const MAX_TRIES = 1_000;

const ledger = new Ledger({ store: new SqliteStore(file), threads: 2 });

/** The answer of a call that may be repeated, however often others are in the way. */
async function insist(call) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const passes = ["UNAVAILABLE", "CONTENDED"].includes(error.code);
      if (!(error instanceof LedgerError) || !passes || attempt === MAX_TRIES) {
        throw error;
      }
    }
  }
}

const fresh = [];
for (let round = 0; round < Number(rounds); round += 1) {
  await Promise.all(
    Array.from({ length: 8 }, async (_, lane) => {
      for (let number = lane; number < Number(keys); number += 8) {
        const key = `key-${number}`;
        const begun = await insist(() => ledger.begin(key, { leaseMs: 3_600_000 }));
        if (begun.state === "fresh") {
          fresh.push(key);
          const { token } = begun;
          await insist(() => ledger.complete(key, `by ${name}`, { token }));
        }
      }
    }),
  );
}
await ledger.close();
console.log(JSON.stringify(fresh));
