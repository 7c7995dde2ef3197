/**
 * A ledger in threads of its own, so that waiting for the store holds up nobody else.
 *
 * @module
 */

import { Worker } from "node:worker_threads";

import type { Backend, CallName, Calls } from "./calls.js";
import { InvalidArgumentError, OutcomeUnknownError, UnavailableError } from "./errors.js";
import type { LedgerError } from "./errors.js";
import type { Store, ThreadSpec } from "./store.js";
import { revive } from "./wire.js";
import type { Answer, Request } from "./wire.js";

/**
 * After this long without an answer a thread is given up. A call ends by itself after 60 s, and
 * a call of the store after some seconds.
 */
const MAX_CALL_MS = 90_000;

interface Waiting {
  name: CallName;
  settle(answer: Answer | LedgerError): void;
  timer: NodeJS.Timeout;
}

/** Serves calls in threads; each makes one call after the other. */
export class Threads implements Backend {
  readonly #threads: Thread[];
  #closed = false;

  constructor(store: Store, count: number) {
    const spec = store.thread as ThreadSpec;
    this.#threads = Array.from({ length: count }, () => new Thread(spec));
  }

  call: Backend["call"] = async <N extends CallName>(name: N, parameters: Parameters<Calls[N]>) => {
    if (this.#closed) {
      throw new InvalidArgumentError("the ledger is closed");
    }
    const idlest = this.#threads.reduce((one, other) => (other.load < one.load ? other : one));
    return (await idlest.call(name, parameters)) as ReturnType<Calls[N]>;
  };

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/** One thread; started by its first call, and anew by the next where it died. */
class Thread {
  readonly #spec: ThreadSpec;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(spec: ThreadSpec) {
    this.#spec = spec;
  }

  /** How many calls wait for it. */
  get load(): number {
    return this.#waiting.size;
  }

  call(name: CallName, parameters: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const worker = (this.#worker ??= this.#start());
      const id = (this.#lastId += 1);
      const request: Request = { id, name, parameters };
      try {
        worker.postMessage(request);
      } catch (error) {
        // What cannot be cloned is no argument of any call.
        reject(new InvalidArgumentError(`an argument of ${name} is none`, { cause: error }));
        return;
      }
      const settle = (answer: Answer | LedgerError) => {
        if (answer instanceof Error) {
          reject(answer);
        } else if ("error" in answer) {
          reject(revive(answer.error));
        } else {
          resolve(answer.value);
        }
      };
      const timer = setTimeout(() => this.#giveUp(worker), MAX_CALL_MS).unref();
      this.#waiting.set(id, { name, settle, timer });
      worker.ref();
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#end("the ledger was closed");
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: this.#spec });
    const ended = (why: string) => {
      if (this.#worker === worker) {
        this.#end(why);
      }
    };
    worker.on("message", (answer: Answer) => this.#answered(worker, answer));
    worker.on("error", (error) => ended(`the thread failed: ${error}`));
    worker.on("exit", () => ended("the thread ended"));
    // Only calls under way keep the process alive.
    worker.unref();
    return worker;
  }

  #answered(worker: Worker, answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    clearTimeout(waiting?.timer);
    if (this.#waiting.size === 0) {
      worker.unref();
    }
    waiting?.settle(answer);
  }

  #giveUp(worker: Worker): void {
    if (this.#worker === worker) {
      this.#end(`the thread did not answer within ${MAX_CALL_MS} ms`);
      void worker.terminate();
    }
  }

  /** The calls under way may have taken effect or not. */
  #end(why: string): void {
    this.#worker = undefined;
    const cut = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { name, settle, timer } of cut) {
      clearTimeout(timer);
      const reads = name === "get" || name === "checkStore";
      settle(reads ? new UnavailableError(why) : new OutcomeUnknownError(why));
    }
  }
}
