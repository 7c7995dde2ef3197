/**
 * SQLite itself: the package `better-sqlite3`, or what Node brings along.
 *
 * @module
 */

import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";

import { StoreError } from "../../store.js";
import { Builtin } from "./builtin.js";

/** A connection. */
export interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  /** A statement that answers whole numbers as bigints. */
  prepare(sql: string): Statement;
  /** The one value that a `PRAGMA` answers. */
  pragma(sql: string): unknown;
  close(): unknown;
}

/** A prepared statement. */
export interface Statement {
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): unknown;
}

/** The package, as far as it is used here. */
interface Package {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): Statement & { safeIntegers(on: boolean): Statement };
  pragma(sql: string, options: { simple: true }): unknown;
  close(): unknown;
}

type Constructor = new (path: string, options: { timeout: number }) => Package;

/** A connection to the file at `path`. It does not wait for others by itself. */
export function connect(path: string): Database {
  const found = load();
  if (found instanceof Error) {
    return new Builtin(path, found);
  }
  const database = new found(path, { timeout: 0 });
  return {
    get inTransaction() {
      return database.inTransaction;
    },
    exec: (sql) => database.exec(sql),
    prepare: (sql) => database.prepare(sql).safeIntegers(true),
    pragma: (sql) => database.pragma(sql, { simple: true }),
    close: () => database.close(),
  };
}

/** The package beside this one or in the folder of the program; why there is none otherwise. */
function load(): Constructor | Error {
  const places = [import.meta.url, join(process.cwd(), "package.json")];
  let why: unknown;
  for (const place of places) {
    try {
      const constructor = createRequire(place)("better-sqlite3") as Constructor;
      // Its program is loaded with the first connection, and may not fit this release of Node.
      new constructor(":memory:", { timeout: 0 }).close();
      return constructor;
    } catch (error) {
      why ??= error;
    }
  }
  const [reason] = (why instanceof Error ? why.message : String(why)).split("\n");
  return new StoreError(`SqliteStore needs the package better-sqlite3, version 12: ${reason}`);
}
