/**
 * The thread that talks to the server.
 *
 * @module
 */

import { workerData } from "node:worker_threads";

import type { LinkData, Question, Reply } from "./link.js";
import { classify, Server } from "./server.js";

const { settings, port, replies } = workerData as LinkData;
const server = new Server(settings);

async function reply({ number, ...question }: Question & { number: number }): Promise<Reply> {
  try {
    return { number, answer: await server.ask(question) };
  } catch (error) {
    return { number, ...classify(error) };
  }
}

port.on("message", async (question: Question & { number: number }) => {
  port.postMessage(await reply(question));
  Atomics.add(replies, 0, 1);
  Atomics.notify(replies, 0);
});
