/**
 * The store in an SQLite file, the same file that the ledgers of other languages use.
 *
 * @module
 */

import { resolve } from "node:path";

import {
  PAGE_KEYS,
  addToCounter,
  checkKey,
  counterBytes,
  StoreError,
  wrongKind,
} from "../store.js";
import type { Page, Store, ThreadSpec, Versioned } from "../store.js";
import { openFile } from "./sqlite/file.js";
import type { Database, Statement } from "./sqlite/engine.js";
import { patiently } from "./sqlite/patience.js";

/** What stands under a key: a counter, or a value (not fetched, it may be large). */
interface Kind {
  count: bigint | null;
  version: bigint;
}

/** The statements, prepared once. */
interface Statements {
  get: Statement;
  kind: Statement;
  lastVersion: Statement;
  keepVersion: Statement;
  put: Statement;
  delete: Statement;
  list: Statement;
}

/**
 * A store in one SQLite file, by the package `better-sqlite3`, version 12, where it is installed,
 * else by `node:sqlite`, which Node has from 22.16 on.
 *
 * An answered write survives `kill -9` and the loss of power, as far as the disk keeps what it
 * acknowledges: write-ahead log, `synchronous = FULL`. Several processes of one machine may use
 * the file at once, those of the command `idempotency` and of other languages too; a file on a
 * network file system may not be shared. A write that waits longer than about four seconds for
 * another process fails and has changed nothing.
 *
 * The file is opened by the first call, and made where missing with the folders above it.
 */
export class SqliteStore implements Store {
  readonly thread: ThreadSpec;
  readonly #path: string;
  #database: Database | undefined;
  #statements: Statements | undefined;
  #closed = false;

  /** @param path - Of the file. */
  constructor(path: string) {
    if (typeof path !== "string" || path === "") {
      throw new TypeError("the path of the SQLite file must be a text");
    }
    this.#path = resolve(path);
    this.thread = { module: import.meta.url, name: "SqliteStore", parameters: [this.#path] };
  }

  get(key: string): Versioned | undefined {
    checkKey(key);
    const row = this.#read((statements) => statements.get.get(key)) as
      { value: Uint8Array | bigint; version: bigint } | undefined;
    if (row === undefined) {
      return undefined;
    }
    const { value, version } = row;
    return { value: typeof value === "bigint" ? counterBytes(value) : value, version };
  }

  set(key: string, value: Uint8Array): void {
    this.#write((statements) => {
      this.#valueVersion(statements, key);
      this.#put(statements, key, value);
    });
  }

  delete(key: string): void {
    this.#write((statements) => statements.delete.run(checkKey(key)));
  }

  increment(key: string, delta: bigint): bigint {
    return this.#write((statements) => {
      const found = this.#kind(statements, key);
      if (found?.count === null) {
        throw wrongKind("value");
      }
      const sum = addToCounter(found?.count ?? 0n, delta);
      this.#put(statements, key, sum);
      return sum;
    });
  }

  compareAndSwap(key: string, expected: bigint | undefined, value: Uint8Array): boolean {
    return this.#write((statements) => {
      if (this.#valueVersion(statements, key) !== expected) {
        return false;
      }
      this.#put(statements, key, value);
      return true;
    });
  }

  list(cursor?: string): Page {
    // The empty cursor stands before all keys, as no key is empty.
    const after = cursor ?? "";
    const rows = this.#read((statements) => statements.list.all(after)) as { key: string }[];
    const keys = rows.slice(0, PAGE_KEYS).map(({ key }) => key);
    return { keys, cursor: rows.length > PAGE_KEYS ? keys.at(-1) : undefined };
  }

  close(): void {
    this.#closed = true;
    this.#statements = undefined;
    this.#database?.close();
    this.#database = undefined;
  }

  #kind(statements: Statements, key: string): Kind | undefined {
    return statements.kind.get(checkKey(key)) as Kind | undefined;
  }

  /** The version of the value at `key`, which must not be a counter. */
  #valueVersion(statements: Statements, key: string): bigint | undefined {
    const found = this.#kind(statements, key);
    if (found !== undefined && found.count !== null) {
      throw wrongKind("counter");
    }
    return found?.version;
  }

  /** Writes under a version that no key has had: one row keeps the last. */
  #put(statements: Statements, key: string, content: Uint8Array | bigint): void {
    const { last } = statements.lastVersion.get() as { last: bigint };
    const version = last + 1n;
    statements.put.run(key, content, version);
    statements.keepVersion.run(version);
  }

  /** One statement, so it sees all that was committed before it started. */
  #read<R>(read: (statements: Statements) => R): R {
    return attempt(() => {
      const { statements } = this.#open();
      return patiently(() => read(statements));
    });
  }

  /** Looks and writes inside a transaction that no other writer can enter. */
  #write<R>(write: (statements: Statements) => R): R {
    return attempt(() => {
      const { database, statements } = this.#open();
      patiently(() => database.exec("BEGIN IMMEDIATE"));
      let written: R;
      try {
        written = write(statements);
      } catch (error) {
        rollBack(database);
        throw error;
      }
      this.#commit(database);
      return written;
    });
  }

  #commit(database: Database): void {
    try {
      patiently(() => database.exec("COMMIT"));
    } catch (error) {
      rollBack(database);
      throw new StoreError(`${words(error)}; the write may have happened`);
    }
  }

  #open(): { database: Database; statements: Statements } {
    if (this.#closed) {
      throw new StoreError("the SQLite store is closed");
    }
    this.#database ??= openFile(this.#path);
    this.#statements ??= prepare(this.#database);
    return { database: this.#database, statements: this.#statements };
  }
}

/** The answer of `call`, or a `StoreError`. */
function attempt<R>(call: () => R): R {
  try {
    return call();
  } catch (error) {
    throw error instanceof StoreError ? error : new StoreError(words(error));
  }
}

function words(error: unknown): string {
  return `SQLite: ${error instanceof Error ? error.message : String(error)}`;
}

/** SQLite has undone the transaction already where the disk is full, say. */
function rollBack(database: Database): void {
  if (database.inTransaction) {
    database.exec("ROLLBACK");
  }
}

function prepare(database: Database): Statements {
  const statement = (sql: string) => database.prepare(sql);
  return {
    get: statement("SELECT value, version FROM entry WHERE key = ?"),
    kind: statement(
      "SELECT iif(typeof(value) = 'integer', value, NULL) AS count, version FROM entry WHERE key = ?",
    ),
    lastVersion: statement("SELECT last_version AS last FROM sequence"),
    keepVersion: statement("UPDATE sequence SET last_version = ?"),
    put: statement(
      "INSERT INTO entry (key, value, version) VALUES (?, ?, ?) " +
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version",
    ),
    delete: statement("DELETE FROM entry WHERE key = ?"),
    list: statement(`SELECT key FROM entry WHERE key > ? ORDER BY key LIMIT ${PAGE_KEYS + 1}`),
  };
}
