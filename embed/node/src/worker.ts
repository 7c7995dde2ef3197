/**
 * The thread of a ledger: opens the store and makes one call after the other.
 *
 * @module
 */

import { parentPort, workerData } from "node:worker_threads";

import type { Calls } from "./calls.js";
import { Core } from "./core.js";
import { LedgerError, UnavailableError } from "./errors.js";
import type { Store, ThreadSpec } from "./store.js";
import { flatten } from "./wire.js";
import type { Answer, Request } from "./wire.js";

/** Starts with the first call, and again with the next where the store could not be opened. */
let opening: Promise<Core> | undefined;

async function open({ module, name, parameters }: ThreadSpec): Promise<Core> {
  const exports = (await import(module)) as Record<string, new (...rest: unknown[]) => Store>;
  const Class = exports[name];
  if (Class === undefined) {
    throw new UnavailableError(`${module} exports no ${name}`);
  }
  return new Core(new Class(...parameters), Date.now);
}

async function serve({ id, name, parameters }: Request): Promise<Answer> {
  try {
    opening ??= open(workerData as ThreadSpec);
    const core = await opening;
    return { id, value: core.call(name, parameters as Parameters<Calls[typeof name]>) };
  } catch (error) {
    if (error instanceof LedgerError) {
      return { id, error: flatten(error) };
    }
    // The call was not made.
    opening = undefined;
    const why = error instanceof Error ? error.message : String(error);
    return { id, error: flatten(new UnavailableError(`the store cannot be opened: ${why}`)) };
  }
}

parentPort?.on("message", async (request: Request) =>
  parentPort?.postMessage(await serve(request)),
);
