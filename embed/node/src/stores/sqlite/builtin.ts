/**
 * SQLite as Node brings it along, from 22.16 on.
 *
 * @module
 */

import process from "node:process";

import type { Database, Statement } from "./engine.js";

/** `node:sqlite`, as far as it is used here. */
interface Module {
  DatabaseSync: new (path: string, options: { timeout: number }) => Connection;
}

interface Connection {
  readonly isTransaction?: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement & { setReadBigInts(on: boolean): void };
  close(): void;
}

type Builtins = { getBuiltinModule?(name: string): Module | undefined };

/** A connection by `node:sqlite`. */
export class Builtin implements Database {
  readonly #connection: Connection;

  /** Throws `otherwise` where this Node has none, or one that lacks what is needed. */
  constructor(path: string, otherwise: Error) {
    const builtin = (process as unknown as Builtins).getBuiltinModule?.("node:sqlite");
    if (builtin === undefined) {
      throw otherwise;
    }
    this.#connection = new builtin.DatabaseSync(path, { timeout: 0 });
    if (this.#connection.isTransaction === undefined) {
      this.#connection.close();
      throw otherwise;
    }
  }

  get inTransaction(): boolean {
    return this.#connection.isTransaction === true;
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  prepare(sql: string): Statement {
    const statement = this.#connection.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  }

  pragma(sql: string): unknown {
    const row = this.#connection.prepare(`PRAGMA ${sql}`).get() as object | undefined;
    return row === undefined ? undefined : Object.values(row)[0];
  }

  close(): void {
    this.#connection.close();
  }
}
