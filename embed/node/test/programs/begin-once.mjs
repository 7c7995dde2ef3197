// Begins a key in an SQLite file, and ends without closing anything. `node begin-once.mjs FILE`

import { Ledger, SqliteStore } from "idempotency-ledger";

const ledger = new Ledger({ store: new SqliteStore(process.argv[2]) });
// The first call starts the thread, also where it cannot be sent there.
await ledger.begin(() => 1).catch(({ code }) => console.log(code));
const { state } = await ledger.begin("k");
console.log(state);
