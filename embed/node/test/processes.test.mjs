// Four processes, and the command `idempotency` where it is there, on one SQLite file: each key
// has one claim and one outcome.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Ledger, SqliteStore } from "idempotency-ledger";

import { withFolder } from "./folder.mjs";
import { isFull } from "./size.mjs";

const run = promisify(execFile);
const program = fileURLToPath(new URL("./programs/contender.mjs", import.meta.url));
const command = process.env.IDEMPOTENCY_COMMAND;

const PROCESSES = 4;
/** Of each process, on each key: each is begun twelve times. */
const ROUNDS = 3;
const KEYS = isFull ? 2_000 : 200;
/** Those that the command takes its share of. */
const COMMANDS = isFull ? 60 : 12;

/** The keys that a process was answered `fresh` for. */
async function contend(file, name) {
  const parameters = [program, file, name, String(KEYS), String(ROUNDS)];
  const { stdout } = await run(process.execPath, parameters);
  return JSON.parse(stdout);
}

/** As `contend`, by the command: its exit code tells `fresh`. */
async function contendByCommand(file) {
  const fresh = [];
  for (let number = KEYS - 1; number >= KEYS - COMMANDS; number -= 1) {
    const key = `key-${number}`;
    const ask = [
      "run",
      "--store",
      `sqlite:${file}`,
      "--key",
      key,
      "--",
      "printf",
      "by the command",
    ];
    const { stdout } = await run(command, ask).catch((error) => error);
    if (stdout === "by the command") {
      fresh.push(key);
    }
  }
  return fresh;
}

test(`${PROCESSES} processes on one file, ${KEYS} keys`, () =>
  withFolder(async (folder) => {
    const file = `${folder}/ledger.db`;
    const names = Array.from({ length: PROCESSES }, (_, index) => `process ${index}`);
    const contending = names.map((name) => contend(file, name));
    if (command !== undefined) {
      contending.push(contendByCommand(file));
    }
    const fresh = (await Promise.all(contending)).flat();
    const shares = fresh.length;
    const expected = Array.from({ length: KEYS }, (_, number) => `key-${number}`);
    assert.deepEqual([...fresh].sort(), expected.sort());
    const ledger = new Ledger({ store: new SqliteStore(file) });
    for (const key of expected) {
      const found = await ledger.get(key);
      assert.equal(found.state, "done");
      assert.equal(found.attempt, 1);
    }
    await ledger.close();
    console.log(`${shares} claims of ${KEYS} keys, begun ${PROCESSES * ROUNDS} times each`);
  }));
