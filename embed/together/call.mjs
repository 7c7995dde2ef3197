// Makes calls on the ledger in an SQLite file: `node call.mjs FILE`. Each line of the input is a
// call as the vectors write it; an answer of each is printed, in the words of the WIT.

import { createInterface } from "node:readline";
import { Ledger, SqliteStore } from "../node/dist/index.js";
import { bytesOf } from "../node/test/vectors/expect.mjs";
import { callLedger } from "../node/test/vectors/words.mjs";

const given = (value, convert) => (value == null ? undefined : convert(value));

function resolve({ payload, token, fingerprint, ...call }) {
  return {
    ...call,
    payload: given(payload, bytesOf),
    token: given(token, BigInt),
    fingerprint: given(fingerprint, (hex) => Buffer.from(hex, "hex")),
  };
}

/** JSON has no bigint. Tokens of a new ledger are times, which a number holds exactly. */
function plain(_, value) {
  if (typeof value === "bigint" && value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Error(`${value} would not be printed exactly`);
  }
  return typeof value === "bigint" ? Number(value) : value;
}

const ledger = new Ledger({ store: new SqliteStore(process.argv[2]) });
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await callLedger(ledger, resolve(JSON.parse(line))), plain));
}
await ledger.close();
