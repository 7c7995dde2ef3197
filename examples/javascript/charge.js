// Charges a card once per order, however often it is asked to.

import { charge as chargeCard } from "example:shop/bank@0.1.0";
import { begin, complete, release } from "idempotency:ledger/ledger@0.1.0";

const scope = "charges";

export const charging = {
  charge(order, cents) {
    const fingerprint = new Uint8Array(new Uint32Array([cents]).buffer);
    const begun = ask(() => begin(order, { scope, fingerprint }));
    switch (begun.tag) {
      case "done":
        return { tag: "charged", val: JSON.parse(new TextDecoder().decode(begun.val.payload)) };
      case "inflight":
        return { tag: "busy", val: begun.val.retryAfterMs };
      case "mismatch":
        return { tag: "conflict" };
    }
    // A BigInt: a token may exceed 2^53.
    const { token } = begun.val;
    let receipt;
    try {
      receipt = chargeCard(order, cents, token);
    } catch (refusal) {
      ask(() => release(order, token, scope));
      throw refusal;
    }
    // The card is charged: from here on no error may lose the receipt.
    const payload = new TextEncoder().encode(JSON.stringify(receipt));
    try {
      const ended = complete(order, payload, { scope, token, upsertOnMissing: false });
      return { tag: ended.tag === "recorded" ? "charged" : "unrecorded", val: receipt };
    } catch {
      return { tag: "unrecorded", val: receipt };
    }
  },
};

// Answers what the ledger does; its errors become the text that `charge` answers.
function ask(call) {
  try {
    return call();
  } catch ({ payload }) {
    throw [payload.tag, payload.val].join(" ");
  }
}
