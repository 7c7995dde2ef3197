// The package as its users have it: packed, installed into an empty folder without a network, and
// running the programs of its page.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { withFolder } from "./folder.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const page = new URL("../../../docs/node.md", import.meta.url);

/** A folder with the package installed, and beside it what its page asks for. */
function withInstalled(use) {
  return withFolder(async (folder) => {
    const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], {
      cwd: root,
    });
    writeFileSync(`${folder}/package.json`, '{"type":"module"}');
    const install = ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
    await run("npm", [...install, `./${stdout.trim()}`], { cwd: folder });
    assert.deepEqual(
      readdirSync(`${folder}/node_modules`).filter((name) => !name.startsWith(".")),
      ["idempotency-ledger"],
    );
    for (const name of ["better-sqlite3", "zod"]) {
      symlinkSync(`${root}node_modules/${name}`, `${folder}/node_modules/${name}`);
    }
    return use(folder);
  });
}

/** Each program of the page with what it prints: the text after it. */
function programs() {
  const blocks = readFileSync(page, "utf8").matchAll(
    /^```js\n([^]*?)^```\n[^]*?^```text\n([^]*?)^```/gm,
  );
  return [...blocks].map(([, program, printed]) => ({ program, printed }));
}

test("the package installs offline, and the programs of its page run", () =>
  withInstalled(async (folder) => {
    const all = programs();
    assert.equal(all.length, readFileSync(page, "utf8").split("```js\n").length - 1);
    for (const [number, { program, printed }] of all.entries()) {
      writeFileSync(`${folder}/program-${number}.js`, program);
      const { stdout, stderr } = await run(process.execPath, [`program-${number}.js`], {
        cwd: folder,
      });
      assert.deepEqual([stdout, stderr], [printed, ""]);
    }
    const again = await run(process.execPath, ["program-0.js"], { cwd: folder });
    assert.equal(again.stdout, all[0].printed.split("\n").slice(1).join("\n"));
  }));

test("TypeScript checks a program against the packed types", () =>
  withInstalled(async (folder) => {
    mkdirSync(`${folder}/src`);
    copyFileSync(`${root}test/types.ts`, `${folder}/src/types.ts`);
    const compilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: false, exactOptionalPropertyTypes: true },
      ...{ target: "ES2022", lib: ["ES2022", "DOM"], module: "NodeNext", types: [] },
    };
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ["src"] }));
    const tsc = `${root}node_modules/typescript/bin/tsc`;
    const checked = run(process.execPath, [tsc, "--project", folder]);
    await checked.catch(({ stdout }) => assert.fail(stdout));
  }));

test("without better-sqlite3: SQLite of Node itself, or what to install", () =>
  withFolder(async (folder) => {
    const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], {
      cwd: root,
    });
    await run("tar", ["-xzf", `${folder}/${stdout.trim()}`, "-C", folder]);
    const program = `
      import { Ledger, SqliteStore } from "./package/dist/index.js";
      const ledger = new Ledger({ store: new SqliteStore("ledger.db") });
      await ledger.begin("k").then(
        ({ state }) => console.log(state),
        ({ code, message }) => console.log(code, message),
      );`;
    writeFileSync(`${folder}/program.mjs`, program);
    const printed = await run(process.execPath, ["program.mjs"], { cwd: folder });
    const builtin = process.getBuiltinModule?.("node:sqlite") !== undefined;
    const told = /^UNAVAILABLE .*needs the package better-sqlite3, version 12/;
    assert.match(printed.stdout, builtin ? /^fresh$/m : told);
  }));
