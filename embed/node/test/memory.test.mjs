// A long life leaves nothing behind: the glue around the component has leaked in some releases.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { withFolder } from "./folder.mjs";
import { isFull } from "./size.mjs";

const run = promisify(execFile);
const program = fileURLToPath(new URL("./programs/pairs.mjs", import.meta.url));

/** How much a process may grow after its first thousand pairs, and what is in use in it. */
const MAX_GROWTH_BYTES = 20e6;
const MAX_USED_GROWTH_BYTES = 2e6;

/** V8 sizes its young generation at will, which is no leak: it is held to one size. */
const FLAGS = ["--expose-gc", "--max-semi-space-size=1"];

async function check(pairs, ...rest) {
  const { stdout } = await run(process.execPath, [...FLAGS, program, String(pairs), ...rest]);
  const { resident, used } = JSON.parse(stdout);
  const shown = [resident, used].map((bytes) => (bytes / 1e6).toFixed(1));
  console.log(`${pairs} pairs: memory grew by ${shown[0]} MB, what is in use by ${shown[1]} MB`);
  assert.ok(resident < MAX_GROWTH_BYTES, `${resident} bytes more`);
  assert.ok(used < MAX_USED_GROWTH_BYTES, `${used} bytes more in use`);
}

test("100 000 pairs", () => check(100_000));

test("pairs in an SQLite file", () =>
  withFolder((folder) => check(isFull ? 100_000 : 5_000, `${folder}/ledger.db`)));
