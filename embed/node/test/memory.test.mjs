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

/**
 * How much a process may grow after its first thousand pairs, in the second half of all, and what
 * is in use in it. The first covers what V8 compiles meanwhile, later releases more of it.
 */
const MAX_BYTES = {
  resident: process.versions.node.startsWith("20.") ? 20e6 : 40e6,
  secondHalf: 8e6,
  used: 2e6,
};

/** In fewer pairs V8 is still compiling in the second half. */
const SETTLED_PAIRS = 100_000;

/** V8 sizes its young generation at will, which is no leak: it is held to one size. */
const FLAGS = ["--expose-gc", "--max-semi-space-size=1"];

async function check(pairs, ...rest) {
  const { stdout } = await run(process.execPath, [...FLAGS, program, String(pairs), ...rest]);
  const grown = JSON.parse(stdout);
  const shown = Object.entries(grown).map(([what, bytes]) => `${what} ${(bytes / 1e6).toFixed(1)}`);
  console.log(`${pairs} pairs, growth in MB: ${shown.join(", ")}`);
  for (const [what, max] of Object.entries(MAX_BYTES)) {
    if (what === "secondHalf" && pairs < SETTLED_PAIRS) {
      continue;
    }
    assert.ok(grown[what] < max, `${what}: ${grown[what]} bytes more`);
  }
}

test("100 000 pairs", () => check(100_000));

test("pairs in an SQLite file", () =>
  withFolder((folder) => check(isFull ? 100_000 : 5_000, `${folder}/ledger.db`)));
