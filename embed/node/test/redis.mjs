// A Redis server of its own for a test.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { Redis } from "ioredis";

import { withFolder } from "./folder.mjs";

const ATTEMPTS = 20;
const START_MS = 30_000;

/** What `use` answers, given the URL of a new server and a way to ask it. */
export function withRedis(use) {
  return withFolder(async (folder) => {
    const { server, port } = await start(folder);
    const redis = new Redis(port, "127.0.0.1");
    try {
      const command = (...parameters) => redis.call(...parameters);
      return await use({ url: `redis://127.0.0.1:${port}`, command });
    } finally {
      redis.disconnect();
      const ended = once(server, "exit");
      server.kill();
      await ended;
    }
  });
}

/** Somebody else may take a free port before the server does: then another one. */
async function start(folder) {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const port = await freePort();
    const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
    const server = spawn("redis-server", options, { stdio: ["ignore", "pipe", "inherit"] });
    server.on("error", () => undefined);
    if (await isReady(server)) {
      return { server, port };
    }
    server.kill();
  }
  throw new Error("redis-server does not start: install Debian's redis-server");
}

/** Whether it takes connections; not where it ended, or needs too long. */
function isReady(server) {
  const told = new Promise((resolve) => {
    let said = "";
    server.stdout.on("data", (data) => {
      said += data;
      if (said.includes("Ready to accept connections")) {
        resolve(true);
      }
    });
    server.on("close", () => resolve(false));
  });
  return Promise.race([told, pause(START_MS, false, { ref: false })]);
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
