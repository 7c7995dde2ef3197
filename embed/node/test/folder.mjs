// A folder that goes with the test.

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** In memory where there is such a folder: the tests are about answers, not about the disk. */
const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** What `use` answers, given a new folder. */
export async function withFolder(use) {
  const folder = await mkdtemp(join(base, "ledger-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
