/**
 * Waiting for other processes that use the file.
 *
 * @module
 */

/**
 * How often a statement that finds the file locked looks again, and the pause between two looks:
 * about four seconds in all. Short pauses, because a process that writes one transaction after
 * the other leaves the file alone for a moment only.
 */
const LOOKS = 3_600;
const PAUSE_MS = 1;

const clock = new Int32Array(new SharedArrayBuffer(4));

/** The answer of `call`, repeated while SQLite is busy. It must change nothing when it fails. */
export function patiently<R>(call: () => R, looks = LOOKS, pauseMs = PAUSE_MS): R {
  for (let look = 1; look < looks; look += 1) {
    try {
      return call();
    } catch (error) {
      if (!isBusy(error)) {
        throw error;
      }
    }
    // Nobody wakes it: this thread sleeps.
    Atomics.wait(clock, 0, 0, pauseMs);
  }
  return call();
}

/** `SQLITE_BUSY` and `SQLITE_LOCKED`, by name or by number. */
function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const named = typeof code === "string" && /^SQLITE_(BUSY|LOCKED)/.test(code);
  return named || (typeof errcode === "number" && [5, 6].includes(errcode & 0xff));
}
