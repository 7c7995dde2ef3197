/**
 * Listing: the server's own scan answers a key several times at will, so each page walks over
 * all keys and keeps the next ones in order.
 *
 * @module
 */

import type { Redis } from "ioredis";

import { PAGE_KEYS, StoreError } from "../../store.js";
import type { Page } from "../../store.js";

/** Names that the server looks at per round trip. */
const SCAN_COUNT = 1_000;

/** Most round trips of one page: enough for a thousand million names. */
const MAX_SCANS = 1_000_000;

/** The page after `cursor`, which is empty for the first. */
export async function listPage(redis: Redis, prefix: string, cursor: string): Promise<Page> {
  const pattern = `${prefix.replace(/[*?[\]^\\-]/g, "\\$&")}{??}:k:*`;
  const name = new RegExp(`^${prefix.replace(/[.*+?^$()|[\]\\]/g, "\\$&")}\\{..\\}:k:`);
  let next = new Set<string>();
  let position = "0";
  for (let scan = 0; scan < MAX_SCANS; scan += 1) {
    const [after, names] = await redis.scan(position, "MATCH", pattern, "COUNT", SCAN_COUNT);
    const keys = names.filter((one) => name.test(one)).map((one) => one.replace(name, ""));
    next = smallest([...next, ...keys.filter((key) => key > cursor)]);
    if (after === "0") {
      return page([...next]);
    }
    position = after;
  }
  throw new StoreError("Redis: the scan does not end");
}

/** The first keys in order: those of a page, and one to see that there are more. */
function smallest(keys: string[]): Set<string> {
  return new Set([...new Set(keys)].sort().slice(0, PAGE_KEYS + 1));
}

function page(keys: string[]): Page {
  const shown = keys.slice(0, PAGE_KEYS);
  return { keys: shown, cursor: keys.length > PAGE_KEYS ? shown.at(-1) : undefined };
}
