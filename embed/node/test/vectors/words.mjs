// Calls and answers of the package in the words of the vectors.

import { LedgerError } from "idempotency-ledger";

/** Makes a call whose arguments are resolved; answers in the words of the WIT. */
export async function callLedger(ledger, call) {
  try {
    return await calls[call.call](ledger, call);
  } catch (error) {
    return { error: errorWords(error) };
  }
}

const calls = {
  async begin(ledger, { key, scope, lease_ms: leaseMs, fingerprint }) {
    const begun = await ledger.begin(key, { scope, leaseMs, fingerprint });
    return answer(begun, { payload: hex });
  },
  async complete(ledger, { key, payload, scope, token, ttl_ms: ttlMs, upsert_on_missing }) {
    const options = { scope, token, ttlMs, upsertOnMissing: upsert_on_missing };
    return answer(await ledger.complete(key, payload, options));
  },
  async renew(ledger, { key, token, scope, lease_ms: leaseMs }) {
    return answer(await ledger.renew(key, token, { scope, leaseMs }));
  },
  async release(ledger, { key, token, scope }) {
    return answer(await ledger.release(key, token, { scope }));
  },
  async get(ledger, { key, scope }) {
    const found = await ledger.get(key, { scope });
    return found === undefined ? null : entryWords(found);
  },
  async purge(ledger, { before_ms: beforeMs, limit }) {
    return record(await ledger.purge({ beforeMs, limit }));
  },
  async forget(ledger, { key, token, scope }) {
    return answer(await ledger.forget(key, token, { scope }));
  },
  async "check-store"(ledger) {
    const report = await ledger.checkStore();
    return record(report, (value) => (typeof value === "object" ? value.state : value));
  },
};

/** `{state, ...fields}` as a case: a string, or an object of one field. */
function answer({ state, ...fields }, convert = {}) {
  if (state === "lost") {
    return { lost: fields.reason };
  }
  if ("payload" in fields && convert.payload) {
    fields.payload = convert.payload(fields.payload);
  }
  return Object.keys(fields).length === 0 ? state : { [state]: record(fields) };
}

function entryWords({ state, payload, fingerprint, ...rest }) {
  return {
    state: state === "done" ? { done: hex(payload) } : state,
    fingerprint: fingerprint === undefined ? null : Buffer.from(fingerprint).toString("hex"),
    ...record(rest),
  };
}

/** Field names of the WIT; nothing for `undefined`. */
function record(fields, convert = (value) => value) {
  const words = Object.entries(fields).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    value === undefined ? null : convert(value),
  ]);
  return Object.fromEntries(words);
}

function hex(payload) {
  return payload === undefined ? null : { hex: Buffer.from(payload).toString("hex") };
}

function errorWords(error) {
  if (!(error instanceof LedgerError)) {
    throw error;
  }
  const word = error.code.toLowerCase().replaceAll("_", "-");
  switch (word) {
    case "payload-too-large":
      return { [word]: error.limitBytes };
    case "contended":
      return { [word]: error.retryAfterMs };
    default:
      return word;
  }
}
