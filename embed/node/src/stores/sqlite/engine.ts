/**
 * The package `better-sqlite3`, as far as it is used here.
 *
 * @module
 */

import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";

import { StoreError } from "../../store.js";

/** A connection. */
export interface Database {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  pragma(sql: string, options: { simple: true }): unknown;
  close(): unknown;
}

/** A prepared statement. */
export interface Statement {
  safeIntegers(on: boolean): Statement;
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): unknown;
}

type Constructor = new (path: string, options: { timeout: number }) => Database;

/** A connection to the file at `path`. It does not wait for others by itself. */
export function connect(path: string): Database {
  return new (load())(path, { timeout: 0 });
}

/** The package beside this one, or in the folder of the program. */
function load(): Constructor {
  const places = [import.meta.url, join(process.cwd(), "package.json")];
  let why: unknown;
  for (const place of places) {
    try {
      return createRequire(place)("better-sqlite3") as Constructor;
    } catch (error) {
      why ??= error;
    }
  }
  const reason = why instanceof Error ? why.message : String(why);
  throw new StoreError(`SqliteStore needs the package better-sqlite3, version 12: ${reason}`);
}
