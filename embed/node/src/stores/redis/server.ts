/**
 * The server, by the package `ioredis`: the connection with its bounds, and the operations.
 *
 * @module
 */

import { readFileSync } from "node:fs";

import { Redis } from "ioredis";

import { StoreError } from "../../store.js";
import type { Page, StoreErrorCode } from "../../store.js";
import { checkServer } from "./check.js";
import type { Fields, Question, Settings } from "./link.js";
import { listPage } from "./listing.js";

/** How long a command may take, and an attempt to connect. */
const COMMAND_MS = 4_000;
const CONNECT_MS = 2_000;

/** The pause before the next attempt to connect. */
const RECONNECT_MS = 100;

/** The writes: each a script that looks and writes at one instant. */
const STAMPED = ["set", "increment", "swap"];
const SCRIPTS = ["delete", ...STAMPED];

type Script = (...parameters: (string | Uint8Array)[]) => Promise<string>;

/** One connection, made again when it breaks. */
export class Server {
  readonly #settings: Settings;
  readonly #redis: Redis;
  readonly #scripts = new Map<string, Script>();
  #checked = false;
  /** Why the connection is away, as far as it is known. */
  #trouble = "";

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#redis = new Redis(settings.url, {
      lazyConnect: true,
      connectTimeout: CONNECT_MS,
      commandTimeout: COMMAND_MS,
      retryStrategy: () => RECONNECT_MS,
      // A write whose answer was lost may have happened: it is never sent again.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    });
    // Commands that wait for the connection fail without saying why it is away.
    this.#redis.on("error", (error: Error) => {
      this.#trouble = error.message;
    });
    for (const name of SCRIPTS) {
      this.#define(name);
    }
  }

  /** The answer to one question. */
  async ask(question: Question): Promise<unknown> {
    try {
      return await this.#answer(question);
    } catch (error) {
      if (error instanceof Error && error.name === "MaxRetriesPerRequestError") {
        throw new StoreError(`Redis: cannot connect: ${this.#trouble || error.message}`);
      }
      throw error;
    }
  }

  async #answer(question: Question): Promise<unknown> {
    if (!this.#checked) {
      await checkServer(this.#redis, this.#settings.fsync);
      this.#checked = true;
    }
    const { operation, keys, parameters } = question;
    switch (operation) {
      case "fields":
        return this.#fields(keys[0] as string);
      case "list":
        return this.#list(keys[0] as string, parameters[0] as string);
      default:
        return this.#write(operation, keys, parameters);
    }
  }

  async #fields(entry: string): Promise<Fields> {
    const found = await this.#redis.hmgetBuffer(entry, "version", "value", "counter");
    const [version = null, value = null, counter = null] = found;
    return { version: version && String(version), value, counter: counter && String(counter) };
  }

  #list(prefix: string, cursor: string): Promise<Page> {
    return listPage(this.#redis, prefix, cursor);
  }

  /** One script, and where replicas must hold it, their number in the same breath. */
  async #write(
    operation: string,
    keys: string[],
    parameters: (string | Uint8Array)[],
  ): Promise<string> {
    const script = this.#scripts.get(operation) as Script;
    const answering = script(...keys, ...parameters);
    const { replicas, replicasMs } = this.#settings;
    if (replicas === 0) {
      return answering;
    }
    const [answer, holding] = await Promise.all([
      answering,
      this.#redis.wait(replicas, replicasMs),
    ]);
    if (holding < replicas) {
      throw new StoreError(`Redis: ${holding} of ${replicas} replicas hold the write so far`);
    }
    return answer;
  }

  /** By its hash, and in full where the server does not know it yet. */
  #define(name: string): void {
    const text = (file: string) =>
      readFileSync(new URL(`../../../lua/${file}.lua`, import.meta.url), "utf8");
    const lua = (STAMPED.includes(name) ? text("stamp") : "") + text(name);
    const command = `ledger${name}`;
    this.#redis.defineCommand(command, { numberOfKeys: 2, lua });
    const redis = this.#redis as unknown as Record<string, Script>;
    this.#scripts.set(name, (...parameters) => (redis[command] as Script)(...binary(parameters)));
  }
}

/** `ioredis` takes bytes as `Buffer` only. */
function binary(parameters: (string | Uint8Array)[]): (string | Buffer)[] {
  return parameters.map((part) =>
    typeof part === "string" ? part : Buffer.from(part.buffer, part.byteOffset, part.byteLength),
  );
}

/** An error of the client or the server as the store's. */
export function classify(error: unknown): { failure: string; code: StoreErrorCode } {
  const message = error instanceof Error ? error.message : String(error);
  if (/^(NOAUTH|WRONGPASS|NOPERM)\b/.test(message)) {
    return { failure: "Redis denies access", code: "access-denied" };
  }
  return { failure: message.startsWith("Redis: ") ? message : `Redis: ${message}`, code: "other" };
}
