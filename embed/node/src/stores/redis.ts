/**
 * The store on a Redis or Valkey server, the same records as the Rust host's.
 *
 * @module
 */

import { addToCounter, checkKey, counterBytes, StoreError, wrongKind } from "../store.js";
import type { Page, Store, ThreadSpec, Versioned } from "../store.js";
import { Link } from "./redis/link.js";
import type { Fields, Settings } from "./redis/link.js";

/** Options of a {@link RedisStore}. */
export interface RedisStoreOptions {
  /** Of every key; `idempotency:` unless set. Stores with different ones never meet. */
  prefix?: string | undefined;
  /** `always`: refuse a server that does not write each change to its disk before it answers. */
  fsync?: "always" | undefined;
  /** Answer a write once this many replicas hold it; where fewer do in time, it fails. */
  replicas?: number | undefined;
  /** How long to wait for them: 1 000 unless set, at most 3 500. */
  replicasMs?: number | undefined;
}

const DEFAULT_PREFIX = "idempotency:";
const DEFAULT_REPLICAS_MS = 1_000;
const MAX_REPLICAS_MS = 3_500;
const MAX_REPLICAS = 1_000;

/**
 * A store on a Redis server, version 6.2 or later, or a Valkey server, by the package `ioredis`.
 *
 * A call of a store is synchronous, so its thread waits for the server while another one talks to
 * it. A `Ledger` runs in threads of its own on this store unless told otherwise, and the event
 * loop waits for nothing. More `threads` make more calls at once.
 *
 * Every write is a script, so it looks and writes at one instant. What an answered write survives
 * is a matter of the server: see `fsync` and `replicas`. A server that may evict keys, a replica
 * and a node of a cluster are refused. A call whose answer was lost is an error, and is not sent
 * again. The first call connects.
 */
export class RedisStore implements Store {
  readonly thread: ThreadSpec;
  readonly #settings: Settings;
  readonly #prefix: string;
  #link: Link | undefined;
  #closed = false;

  /** @param url - `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, or `rediss://` for TLS. */
  constructor(url: string, options: RedisStoreOptions = {}) {
    this.#settings = settings(url, options);
    this.#prefix = options.prefix ?? DEFAULT_PREFIX;
    if (/[{}]/.test(this.#prefix)) {
      throw new TypeError("the prefix must not hold braces: they mean something to Redis");
    }
    this.thread = { module: import.meta.url, name: "RedisStore", parameters: [url, options] };
  }

  get(key: string): Versioned | undefined {
    const { version, value, counter } = this.#ask("fields", this.#keys(key), []) as Fields;
    if (version === null && value === null && counter === null) {
      return undefined;
    }
    if (version === null || (value === null) === (counter === null)) {
      throw new StoreError("Redis: an entry lacks its fields");
    }
    const found = value ?? counterBytes(BigInt(counter as string));
    return { value: found, version: BigInt(version) };
  }

  set(key: string, value: Uint8Array): void {
    expectDone(this.#ask("set", this.#keys(key), [value]));
  }

  delete(key: string): void {
    expectDone(this.#ask("delete", this.#keys(key), []));
  }

  increment(key: string, delta: bigint): bigint {
    const answer = this.#ask("increment", this.#keys(key), [String(delta)]);
    if (!/^-?\d+$/.test(String(answer))) {
      throw unexpected(answer);
    }
    return addToCounter(BigInt(answer as string), 0n);
  }

  compareAndSwap(key: string, expected: bigint | undefined, value: Uint8Array): boolean {
    const version = expected === undefined ? "" : String(expected);
    const answer = this.#ask("swap", this.#keys(key), [version, value]);
    if (answer !== "conflict") {
      expectDone(answer);
    }
    return answer !== "conflict";
  }

  list(cursor?: string): Page {
    return this.#ask("list", [this.#prefix], [cursor ?? ""]) as Page;
  }

  close(): void {
    this.#closed = true;
    this.#link?.close();
    this.#link = undefined;
  }

  #ask(operation: string, keys: string[], parameters: (string | Uint8Array)[]): unknown {
    if (this.#closed) {
      throw new StoreError("the Redis store is closed");
    }
    this.#link ??= new Link(this.#settings);
    return this.#link.ask({ operation, keys, parameters });
  }

  /** A key and the versions of its part share a hash tag, so they lie in one slot of a cluster. */
  #keys(key: string): [entry: string, versions: string] {
    const bytes = Buffer.from(checkKey(key));
    const part = bytes.reduce((sum, byte) => (sum * 31 + byte) & 0xff, 0);
    const start = `${this.#prefix}{${part.toString(16).padStart(2, "0")}}`;
    return [`${start}:k:${key}`, `${start}:version`];
  }
}

function settings(url: string, options: RedisStoreOptions): Settings {
  const { fsync, replicas = 0, replicasMs = DEFAULT_REPLICAS_MS } = options;
  if (typeof url !== "string" || !/^rediss?:\/\//.test(url)) {
    throw new TypeError("the URL of the Redis store must begin with redis:// or rediss://");
  }
  if (fsync !== undefined && fsync !== "always") {
    throw new TypeError("fsync can be set to always only");
  }
  checkRange(replicas, 0, MAX_REPLICAS, "replicas");
  checkRange(replicasMs, 1, MAX_REPLICAS_MS, "replicasMs");
  return { url, fsync: fsync === "always", replicas, replicasMs };
}

function checkRange(number: number, least: number, most: number, what: string): void {
  if (!Number.isInteger(number) || number < least || number > most) {
    throw new TypeError(`${what} must be a whole number from ${least} to ${most}`);
  }
}

function expectDone(answer: unknown): void {
  if (answer !== "done") {
    throw unexpected(answer);
  }
}

/** The other answers of the scripts. */
function unexpected(answer: unknown): StoreError {
  switch (answer) {
    case "counter":
    case "value":
      return wrongKind(answer);
    case "overflow":
      return new StoreError("the counter would overflow");
    default:
      return new StoreError(`Redis: a script answered ${String(answer).slice(0, 100)}`);
  }
}
