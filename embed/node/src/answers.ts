/**
 * Each call of the ledger: its arguments checked, the component asked, and its answer in the
 * types of this package. The one place where the two meet.
 *
 * @module
 */

import type * as wit from "../component/interfaces/idempotency-ledger-ledger.js";
import type * as maintenance from "../component/interfaces/idempotency-ledger-maintenance.js";
import {
  checkDuration,
  checkFingerprint,
  checkKey,
  checkLimit,
  checkOptions,
  checkPayload,
  checkScope,
  checkTime,
  checkToken,
} from "./checks.js";
import type { Calls } from "./calls.js";
import type { Exports } from "./component.js";
import { CorruptError } from "./errors.js";
import type { Claim, Entry, Finding, Lease, Lost } from "./types.js";

type Asked = {
  [N in keyof Calls]: (exports: Exports, ...rest: Parameters<Calls[N]>) => ReturnType<Calls[N]>;
};

/**
 * The calls. Each throws what the component throws, or a typed error of its own. A field that is
 * `undefined` is one that is not given; only the generated types do not say so.
 */
export const answers: Asked = {
  begin({ ledger }, key, options) {
    const { scope, leaseMs, fingerprint } = checkOptions(options);
    const begun = ledger.begin(checkKey(key), {
      scope: checkScope(scope),
      fingerprint: checkFingerprint(fingerprint),
      leaseMs: checkDuration(leaseMs, "leaseMs"),
    } as wit.BeginOptions);
    switch (begun.tag) {
      case "fresh":
        return { state: "fresh", ...claim(begun.val) };
      case "inflight":
        return { state: "inflight", ...lease(begun.val) };
      case "mismatch":
        return { state: "mismatch" };
      case "done": {
        const { payload, token, completedAtMs, expiresAtMs } = begun.val;
        return {
          state: "done",
          payload,
          token,
          completedAtMs: time(completedAtMs),
          expiresAtMs: time(expiresAtMs),
        };
      }
    }
  },

  complete({ ledger }, key, payload, options) {
    const { scope, token, ttlMs, upsertOnMissing } = checkOptions(options);
    const completed = ledger.complete(checkKey(key), checkPayload(payload), {
      scope: checkScope(scope),
      token: token === undefined ? undefined : checkToken(token),
      ttlMs: checkDuration(ttlMs, "ttlMs"),
      upsertOnMissing: upsertOnMissing === true,
    } as wit.CompleteOptions);
    if (completed.tag === "lost") {
      return lost(completed.val);
    }
    const recorded = completed.val;
    return {
      state: "recorded",
      token: recorded.token,
      completedAtMs: time(recorded.completedAtMs),
      expiresAtMs: time(recorded.expiresAtMs),
    };
  },

  renew({ ledger }, key, token, options) {
    const { scope, leaseMs } = checkOptions(options);
    const renewed = ledger.renew(checkKey(key), checkToken(token), {
      scope: checkScope(scope),
      leaseMs: checkDuration(leaseMs, "leaseMs"),
    } as wit.RenewOptions);
    return renewed.tag === "lost" ? lost(renewed.val) : { state: "renewed", ...claim(renewed.val) };
  },

  release({ ledger }, key, token, options) {
    const scope = checkScope(checkOptions(options).scope);
    const released = ledger.release(checkKey(key), checkToken(token), scope);
    return released.tag === "lost" ? lost(released.val) : { state: "released" };
  },

  get({ ledger }, key, options) {
    const found = ledger.get(checkKey(key), checkScope(checkOptions(options).scope));
    return found === undefined ? undefined : entry(found);
  },

  purge({ maintenance }, options) {
    const { beforeMs, limit } = checkOptions(options);
    return maintenance.purge({
      beforeMs: checkTime(beforeMs, "beforeMs"),
      limit: checkLimit(limit),
    } as maintenance.PurgeOptions);
  },

  forget({ maintenance }, key, token, options) {
    const scope = checkScope(checkOptions(options).scope);
    const forgotten = maintenance.forget(checkKey(key), checkToken(token), scope);
    return forgotten.tag === "inflight"
      ? { state: "inflight", ...lease(forgotten.val) }
      : { state: forgotten.tag };
  },

  checkStore({ maintenance }) {
    const report = maintenance.checkStore();
    return {
      strategy: report.strategy,
      sound: report.sound,
      readYourWrites: finding(report.readYourWrites),
      increment: finding(report.increment),
      swapAbsent: finding(report.swapAbsent),
      swapPresent: finding(report.swapPresent),
      swapAnswer: finding(report.swapAnswer),
      nowMs: time(report.nowMs),
    };
  },
};

function claim({ token, expiresAtMs, attempt }: wit.Claim): Claim {
  return { token, expiresAtMs: time(expiresAtMs), attempt };
}

function lease({ expiresAtMs, retryAfterMs }: wit.Lease): Lease {
  return { expiresAtMs: time(expiresAtMs), retryAfterMs: time(retryAfterMs) };
}

function lost(reason: wit.LostReason): Lost {
  return { state: "lost", reason };
}

function entry(found: wit.Entry): Entry {
  return {
    state: found.state.tag,
    payload: found.state.tag === "done" ? found.state.val : undefined,
    token: found.token,
    attempt: found.attempt,
    fingerprint: found.fingerprint,
    claimedAtMs: time(found.claimedAtMs),
    completedAtMs: found.completedAtMs === undefined ? undefined : time(found.completedAtMs),
    expiresAtMs: time(found.expiresAtMs),
    expired: found.expired,
  };
}

function finding(found: maintenance.Finding): Finding {
  return found.tag === "unsound" ? { state: "unsound", message: found.val } : { state: found.tag };
}

/** Milliseconds that a number holds exactly; others, thousands of years ahead, are no ledger's. */
function time(ms: bigint): number {
  const number = Number(ms);
  if (!Number.isSafeInteger(number)) {
    throw new CorruptError(`the record holds a time of ${ms} ms, which is beyond 2^53`);
  }
  return number;
}
