"""Charges a card once per order, however often it is asked to."""

import json

from componentize_py_types import Err
from wit_world.exports.charging import (
    Answer_Busy,
    Answer_Charged,
    Answer_Conflict,
    Answer_Unrecorded,
)
from wit_world.imports import bank, ledger

SCOPE = "charges"


class Charging:
    def charge(self, order, cents):
        fingerprint = cents.to_bytes(4, "big")
        options = ledger.BeginOptions(SCOPE, lease_ms=None, fingerprint=fingerprint)
        match ask(ledger.begin, order, options):
            case ledger.BeginResult_Done(outcome):
                return Answer_Charged(json.loads(outcome.payload))
            case ledger.BeginResult_Inflight(lease):
                return Answer_Busy(lease.retry_after_ms)
            case ledger.BeginResult_Mismatch():
                return Answer_Conflict()
            case ledger.BeginResult_Fresh(claim):
                return work(order, cents, claim.token)


def work(order, cents, token):
    try:
        receipt = bank.charge(order, cents, token)
    except Err:
        ask(ledger.release, order, token, SCOPE)
        raise
    # The card is charged: from here on no error may lose the receipt.
    payload = json.dumps(receipt).encode()
    options = ledger.CompleteOptions(SCOPE, token, ttl_ms=None, upsert_on_missing=False)
    try:
        ended = ledger.complete(order, payload, options)
    except Err:
        return Answer_Unrecorded(receipt)
    recorded = isinstance(ended, ledger.CompleteResult_Recorded)
    return Answer_Charged(receipt) if recorded else Answer_Unrecorded(receipt)


def ask(call, *arguments):
    """Answers what the ledger does; its errors become the text that `charge` answers."""
    try:
        return call(*arguments)
    except Err as error:
        raise Err(str(error.value)) from None
