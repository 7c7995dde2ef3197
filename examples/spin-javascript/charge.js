// A Spin function that charges a card once per Idempotency-Key, however often it is asked to.

import { get as variable } from "wasi:config/store@0.2.0-draft-2024-09-27";
import { begin, complete, release } from "idempotency:ledger/ledger@0.1.0";

const scope = "charges";

// When to try again where the store failed.
const retryAfterMs = 1_000n;

addEventListener("fetch", (event) => event.respondWith(serve(event.request)));

// `POST /charge`, with the answers of the example in Rust.
async function serve(request) {
  if (request.method !== "POST" || new URL(request.url).pathname !== "/charge") {
    return answer(404, { error: "there is no such route" });
  }
  const key = request.headers.get("idempotency-key");
  if (key === null) {
    return answer(400, { error: "the header Idempotency-Key is missing" });
  }
  const body = await request.text();
  const order = read(body);
  if (order === undefined) {
    return answer(400, { error: "the body is no order" });
  }
  try {
    return await charge(key, order, await hash(body));
  } catch ({ payload }) {
    return refused(payload);
  }
}

async function charge(key, order, fingerprint) {
  const begun = begin(key, { scope, leaseMs: BigInt(variable("lease_ms")), fingerprint });
  switch (begun.tag) {
    case "done": {
      const receipt = JSON.parse(new TextDecoder().decode(begun.val.payload));
      return answer(201, { receipt }, { "idempotent-replayed": "true" });
    }
    case "inflight": {
      const busy = { error: "a request with this key is at work" };
      return answer(409, busy, retryAfter(begun.val.retryAfterMs));
    }
    case "mismatch":
      return answer(422, { error: "the key was used for another request" });
  }
  // A BigInt: a token may exceed 2^53.
  const { token } = begun.val;
  let receipt;
  try {
    receipt = await ask(order, token);
  } catch (why) {
    release(key, token, scope);
    return answer(502, { error: String(why) });
  }
  return record(key, token, receipt);
}

// Asks the bank, under the claim's token: it can refuse a worker that comes late.
async function ask({ order, cents }, token) {
  const body = `{"order":${JSON.stringify(order)},"cents":${cents},"token":${token}}`;
  const reply = await fetch(variable("bank_url"), { method: "POST", body });
  if (reply.status !== 200) {
    throw new Error(`the bank answered ${reply.status}`);
  }
  return (await reply.json()).receipt;
}

// The card is charged: from here on no error may lose the receipt.
function record(key, token, receipt) {
  const payload = new TextEncoder().encode(JSON.stringify(receipt));
  try {
    const ended = complete(key, payload, { scope, token, upsertOnMissing: false });
    if (ended.tag === "recorded") {
      return answer(201, { receipt });
    }
  } catch {
    // As where the claim was lost.
  }
  return answer(201, { receipt, recorded: false });
}

function read(body) {
  try {
    const { order, cents } = JSON.parse(body);
    return typeof order === "string" && Number.isSafeInteger(cents) ? { order, cents } : undefined;
  } catch {
    return undefined;
  }
}

async function hash(text) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

// What the ledger's errors are answered.
function refused(error) {
  const why = { error: [error.tag, error.val].join(" ") };
  switch (error.tag) {
    case "invalid-key":
      return answer(400, why);
    case "contended":
      return answer(503, why, retryAfter(error.val));
    case "unavailable":
    case "outcome-unknown":
    case "deadline-exceeded":
      return answer(503, why, retryAfter(retryAfterMs));
    default:
      return answer(500, why);
  }
}

// Whole seconds, rounded up.
function retryAfter(ms) {
  return { "retry-after": String((ms + 999n) / 1_000n) };
}

function answer(status, value, headers = {}) {
  headers = { "content-type": "application/json", ...headers };
  return new Response(JSON.stringify(value), { status, headers });
}
