/**
 * Refusing a server that cannot keep the contract, or not as durably as was asked for.
 *
 * @module
 */

import type { Redis } from "ioredis";

import { StoreError } from "../../store.js";

/** Throws where the server will not do. */
export async function checkServer(redis: Redis, fsync: boolean): Promise<void> {
  const info = await redis.info();
  if (field(info, "cluster_enabled") === "1") {
    refuse("is a node of a cluster, for which there is no client here yet");
  }
  if ((field(info, "role") ?? "master") !== "master") {
    refuse("is a replica; name the one that it follows");
  }
  const policy = field(info, "maxmemory_policy") ?? "";
  if (policy.startsWith("allkeys")) {
    refuse(`evicts keys (${policy}); set maxmemory-policy to noeviction`);
  }
  if (fsync) {
    await expect(redis, "appendonly", "yes");
    await expect(redis, "appendfsync", "always");
  }
}

async function expect(redis: Redis, name: string, wanted: string): Promise<void> {
  const [, set] = (await redis.config("GET", name)) as string[];
  if (set !== wanted) {
    refuse(`has ${name} ${set}, and fsync=always needs ${name} ${wanted}`);
  }
}

function refuse(why: string): never {
  throw new StoreError(`Redis: the server ${why}`);
}

/** The value of a line `name:value` in the answer to `INFO`. */
function field(info: string, name: string): string | undefined {
  const line = info.split(/\r?\n/).find((candidate) => candidate.startsWith(`${name}:`));
  return line?.slice(name.length + 1);
}
