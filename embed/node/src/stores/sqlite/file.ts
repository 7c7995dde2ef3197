/**
 * Opening the file: folders, settings, and the schema with its version. All of it as the ledgers
 * of other languages have it.
 *
 * @module
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";

import { StoreError } from "../../store.js";
import { connect } from "./engine.js";
import type { Database } from "./engine.js";
import { patiently } from "./patience.js";

/** Attempts at what SQLite does not wait for by itself, and the pause between two. */
const OPEN_ATTEMPTS = 100;
const OPEN_PAUSE_MS = 50;

/** Marks the file as a ledger's: "iled" in ASCII. */
const APPLICATION_ID = 0x696c_6564;

/** The version of {@link SCHEMA}. */
const SCHEMA_VERSION = 1;

/** A value is a BLOB, a counter an INTEGER. */
const SCHEMA = `
    CREATE TABLE entry (
        key TEXT NOT NULL PRIMARY KEY,
        value ANY NOT NULL,
        version INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sequence (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        last_version INTEGER NOT NULL
    ) STRICT;
    INSERT INTO sequence (id, last_version) VALUES (1, 0);
`;

/** The file at `path`, with what is missing made. Errors say the path. */
export function openFile(path: string): Database {
  let database: Database | undefined;
  try {
    makeFolder(dirname(path));
    database = connect(path);
    prepareFile(database);
    return database;
  } catch (error) {
    database?.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreError(`${path}: ${why}`);
  }
}

function prepareFile(database: Database): void {
  const wait = <R>(call: () => R) => patiently(call, OPEN_ATTEMPTS, OPEN_PAUSE_MS);
  database.pragma("synchronous = FULL");
  // Only macOS knows a difference between flushing to the disk and flushing the disk.
  database.pragma("fullfsync = 1");
  database.pragma("checkpoint_fullfsync = 1");
  // Look before anything is changed: the file may be another program's.
  wait(() => isEmpty(database));
  const mode = wait(() => database.pragma("journal_mode = WAL"));
  if (mode !== "wal") {
    throw new StoreError(`SQLite keeps the journal mode ${mode}, the ledger needs WAL`);
  }
  wait(() => makeSchema(database));
}

/** Whether the file holds nothing yet; throws where it is no ledger's of this version. */
function isEmpty(database: Database): boolean {
  const number = (sql: string) => Number(database.pragma(sql));
  const id = number("application_id");
  const version = number("user_version");
  if (id === APPLICATION_ID && version === SCHEMA_VERSION) {
    return false;
  }
  if (id === APPLICATION_ID && version > SCHEMA_VERSION) {
    const known = `schema ${version}, this one knows ${SCHEMA_VERSION}`;
    throw new StoreError(`the file was made by a newer version (${known})`);
  }
  const { tables } = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as {
    tables: bigint;
  };
  if (id !== 0 || version !== 0 || tables !== 0n) {
    throw new StoreError("the file is another program's");
  }
  return true;
}

/** Make the tables unless another process was first. */
function makeSchema(database: Database): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (isEmpty(database)) {
      database.exec(SCHEMA);
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.pragma(`user_version = ${SCHEMA_VERSION}`);
    }
    database.exec("COMMIT");
  } catch (error) {
    if (database.inTransaction) {
      database.exec("ROLLBACK");
    }
    throw error;
  }
}

/** Make the folder, and see to it that the new folders outlast a loss of power. */
function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at) && at !== dirname(at); at = dirname(at)) {
    missing.push(at);
  }
  mkdirSync(folder, { recursive: true });
  if (process.platform === "win32") {
    return;
  }
  for (const made of missing) {
    const parent = openSync(dirname(made), "r");
    fsyncSync(parent);
    closeSync(parent);
  }
}
