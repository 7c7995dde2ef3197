/**
 * A synchronous way to the server: this thread sleeps while another one talks to it.
 *
 * @module
 */

import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";

import { StoreError } from "../../store.js";
import type { StoreErrorCode } from "../../store.js";

/** How to reach the server, and what it must be like. */
export interface Settings {
  url: string;
  fsync: boolean;
  /** How many must hold a write before it is answered. */
  replicas: number;
  replicasMs: number;
}

/** One operation on the server. */
export interface Question {
  operation: string;
  keys: string[];
  parameters: (string | Uint8Array)[];
}

/** What stands under a key: a value, or a counter. */
export interface Fields {
  version: string | null;
  value: Uint8Array | null;
  counter: string | null;
}

/** What the thread is started with. */
export interface LinkData {
  settings: Settings;
  port: MessagePort;
  /** Its one number counts the replies; the asking thread sleeps on it. */
  replies: Int32Array;
}

/** What the thread answers to question `number`. */
export type Reply = { number: number } & (
  { answer: unknown } | { failure: string; code: StoreErrorCode }
);

/**
 * How long a question may take. Longer than the thread's own bounds, so that the reason arrives;
 * below the 5 s that other hosts of the ledger wait for a store.
 */
const ANSWER_MS = 4_800;

/** One connection, for one thread. */
export class Link {
  readonly #port: MessagePort;
  readonly #replies = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  #lastNumber = 0;

  constructor(settings: Settings) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: LinkData = { settings, port: port2, replies: this.#replies };
    const module = new URL("./thread.js", import.meta.url);
    this.#worker = new Worker(module, { workerData, transferList: [port2] });
    // Whoever asks waits anyway; nobody else needs the process to stay.
    this.#worker.unref();
    this.#port.unref();
  }

  /** The answer; a failed or late one is a `StoreError`, and may have taken effect. */
  ask(question: Question): unknown {
    const number = (this.#lastNumber += 1);
    this.#port.postMessage({ number, ...question });
    const endMs = performance.now() + ANSWER_MS;
    for (let leftMs = ANSWER_MS; leftMs > 0; leftMs = endMs - performance.now()) {
      const seen = Atomics.load(this.#replies, 0);
      const reply = this.#receive(number);
      if (reply !== undefined) {
        return answerOf(reply);
      }
      Atomics.wait(this.#replies, 0, seen, leftMs);
    }
    throw new StoreError(`Redis: no answer within ${ANSWER_MS} ms; it may have taken effect`);
  }

  close(): void {
    this.#port.close();
    void this.#worker.terminate();
  }

  /** The reply to question `number`, if it is there. Those to earlier questions came too late. */
  #receive(number: number): Reply | undefined {
    for (let skipped = 0; skipped <= number; skipped += 1) {
      const message = receiveMessageOnPort(this.#port) as { message: Reply } | undefined;
      if (message === undefined || message.message.number === number) {
        return message?.message;
      }
    }
    return undefined;
  }
}

function answerOf(reply: Reply): unknown {
  if ("failure" in reply) {
    throw new StoreError(reply.failure, reply.code);
  }
  return reply.answer;
}
