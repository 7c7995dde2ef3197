// Builds the package: the component as JavaScript, the scripts of the Redis store, and dist/.
// Give the component's path; `cargo xtask embed node build` does.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { transpile } from "@bytecodealliance/jco";

import { quicken } from "./quicken.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const repository = join(here, "../..");
const wasm = process.argv[2] ?? join(repository, "target/components/ledger-cas.wasm");

for (const folder of ["component", "dist", "lua"]) {
  rmSync(join(here, folder), { recursive: true, force: true });
}

// As the Rust host has it: the core module is the same bytes, only the glue is JavaScript.
const { files } = await transpile(readFileSync(wasm), {
  name: "ledger",
  instantiation: "sync",
  noNodejsCompat: true,
  noWasiShim: true,
  base64Cutoff: 0,
});
for (const [name, bytes] of Object.entries(files)) {
  const path = join(here, "component", name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, name === "ledger.js" ? quicken(Buffer.from(bytes).toString()) : bytes);
}

// The scripts of the Rust host's store: runtimes share a ledger on one server.
cpSync(join(repository, "host/src/store/redis/lua"), join(here, "lua"), { recursive: true });

const tsc = join(here, "node_modules/typescript/bin/tsc");
execFileSync(process.execPath, [tsc, "--project", here], { stdio: "inherit" });
