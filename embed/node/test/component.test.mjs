// The package runs the bytes that the Rust host runs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const here = (path) => new URL(path, import.meta.url);

test("the core module is that of the ledger's component, byte for byte", () => {
  const built = process.env.LEDGER_COMPONENT ?? here("../../../target/components/ledger-cas.wasm");
  const core = readFileSync(here("../component/ledger.core.wasm"));
  assert.ok(core.length > 50_000);
  assert.ok(readFileSync(built).includes(core));
});
