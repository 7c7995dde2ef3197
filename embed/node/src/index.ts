/**
 * Record each operation's outcome once.
 *
 * {@link Ledger} has the ledger's calls and `run`; {@link Idempotency} keeps typed results over
 * it. A store is where records are kept: in memory, in an SQLite file, on a Redis server, or one
 * of your own ({@link Store}).
 *
 * @packageDocumentation
 */

export { Ledger } from "./ledger.js";
export type { LedgerOptions } from "./ledger.js";
export { Idempotency } from "./idempotency.js";
export type {
  BeginResult,
  CompleteResult,
  IdempotencyOptions,
  KeyState,
  ResultParser,
  TypedRun,
} from "./idempotency.js";
export { Purger, sweep } from "./purger.js";
export type { PurgerOptions, Sweep, SweepOptions } from "./purger.js";
export { MemoryStore } from "./stores/memory.js";
export { SqliteStore } from "./stores/sqlite.js";
export { RedisStore } from "./stores/redis.js";
export type { RedisStoreOptions } from "./stores/redis.js";
export { StoreError } from "./store.js";
export type { Page, Store, StoreErrorCode, ThreadSpec, Versioned } from "./store.js";
export * from "./errors.js";
export type * from "./types.js";
