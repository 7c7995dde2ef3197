"""Record the outcome of each idempotency key once.

    from idempotency_ledger import Ledger, SqliteStore

    with Ledger(SqliteStore("ledger.db")) as ledger:

        @ledger.once(key=lambda order, cents: f"charge-{order}")
        def charge(order, cents):
            return {"charged": cents}

What is retried is done once and answered the same ever after. It is at most one *recorded outcome*
per key: the work itself can run again after a crash, so pass the token or the key on.
"""

from ._held import Held, Outcome, current_claim
from .aio import AsyncLedger
from .clock import Clock, system_clock
from .codec import BytesCodec, Codec, JsonCodec
from .errors import (
    AccessDenied,
    ClaimLost,
    Closed,
    Contended,
    Corrupt,
    DeadlineExceeded,
    InProgress,
    InvalidKey,
    InvalidLimit,
    InvalidTtl,
    KeyReused,
    LedgerError,
    NoSuchStore,
    NotRecorded,
    NotRun,
    OutcomeUnknown,
    PayloadTooLarge,
    ResultRefused,
    Unavailable,
    Unreadable,
)
from .ledger import Ledger
from .stores import Found, MemoryStore, SqliteStore, Store, StoreError
from .types import (
    Begin,
    Complete,
    Done,
    Entry,
    Finding,
    Forget,
    Forgotten,
    Fresh,
    Inflight,
    Lost,
    LostReason,
    Mismatch,
    Missing,
    PurgeReport,
    Recorded,
    Release,
    Released,
    Renew,
    Renewed,
    StoreReport,
    Strategy,
    Superseded,
)

__version__ = "0.1.0"

__all__ = [
    "AccessDenied",
    "AsyncLedger",
    "Begin",
    "BytesCodec",
    "ClaimLost",
    "Clock",
    "Closed",
    "Codec",
    "Complete",
    "Contended",
    "Corrupt",
    "DeadlineExceeded",
    "Done",
    "Entry",
    "Finding",
    "Forget",
    "Forgotten",
    "Found",
    "Fresh",
    "Held",
    "InProgress",
    "Inflight",
    "InvalidKey",
    "InvalidLimit",
    "InvalidTtl",
    "JsonCodec",
    "KeyReused",
    "Ledger",
    "LedgerError",
    "Lost",
    "LostReason",
    "MemoryStore",
    "Mismatch",
    "Missing",
    "NoSuchStore",
    "NotRecorded",
    "NotRun",
    "Outcome",
    "OutcomeUnknown",
    "PayloadTooLarge",
    "PurgeReport",
    "Recorded",
    "Release",
    "Released",
    "Renew",
    "Renewed",
    "ResultRefused",
    "SqliteStore",
    "Store",
    "StoreError",
    "StoreReport",
    "Strategy",
    "Superseded",
    "Unavailable",
    "Unreadable",
    "current_claim",
    "system_clock",
]
