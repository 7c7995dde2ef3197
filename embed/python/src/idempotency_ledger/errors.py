"""What a call needs of its caller, as exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .types import Fresh, LostReason


class LedgerError(Exception):
    """The base of all of them. The message is for people; programs look at ``code``."""

    code = "ledger-error"


class InvalidKey(LedgerError):
    """Key, scope or fingerprint outside its size. No store call was made."""

    code = "invalid-key"


class InvalidTtl(LedgerError):
    """Lease or ttl outside its range. No store call was made."""

    code = "invalid-ttl"


class InvalidLimit(LedgerError):
    """``limit`` outside its range. No store call was made."""

    code = "invalid-limit"


class PayloadTooLarge(LedgerError):
    """Payload over ``limit_bytes``. No store call was made; the claim stays with its holder."""

    code = "payload-too-large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"a payload has at most {limit_bytes} bytes")
        self.limit_bytes = limit_bytes


class NoSuchStore(LedgerError):
    """The ledger is given no store."""

    code = "no-such-store"


class AccessDenied(LedgerError):
    """The store denies access."""

    code = "access-denied"


class Unavailable(LedgerError):
    """The store failed; this call changed nothing. Retry."""

    code = "unavailable"


class OutcomeUnknown(LedgerError):
    """The change may have happened, now or later. Do not start the work. ``get`` and compare the
    token, or repeat the call."""

    code = "outcome-unknown"


class Contended(LedgerError):
    """Others kept changing the key; this call changed nothing. Retry after ``retry_after_ms``."""

    code = "contended"

    def __init__(self, retry_after_ms: int) -> None:
        super().__init__(f"retry after {retry_after_ms} ms")
        self.retry_after_ms = retry_after_ms


class DeadlineExceeded(LedgerError):
    """The call ran for too long and recorded nothing. Retry."""

    code = "deadline-exceeded"


class Corrupt(LedgerError):
    """The record is unreadable. Never treated as absent; needs an operator."""

    code = "corrupt"


class Closed(LedgerError):
    """The ledger was closed."""

    code = "closed"


class NotRun(LedgerError):
    """Of ``claim`` and ``once``: the work did not run, and no outcome can be given."""

    code = "not-run"


class InProgress(NotRun):
    """Somebody else holds the key. Try again after ``retry_after_ms``."""

    code = "in-progress"

    def __init__(self, retry_after_ms: int) -> None:
        super().__init__(f"somebody else holds the key; try again after {retry_after_ms} ms")
        self.retry_after_ms = retry_after_ms


class KeyReused(NotRun):
    """The key belongs to a request with another fingerprint: a caller's mistake."""

    code = "key-reused"

    def __init__(self) -> None:
        super().__init__("the key belongs to a request with another fingerprint")


class NotRecorded(LedgerError):
    """The work was done, and its outcome is not recorded. ``value`` is what the work answered."""

    code = "not-recorded"

    def __init__(self, message: str, value: Any, claim: Optional[Fresh] = None) -> None:
        super().__init__(message)
        self.value = value
        self.claim = claim


class ClaimLost(NotRecorded):
    """The claim was lost before the outcome was recorded; ``reason`` says why."""

    code = "claim-lost"

    def __init__(self, reason: LostReason, value: Any = None) -> None:
        super().__init__(f"the claim was lost ({reason.value})", value)
        self.reason = reason


class ResultRefused(NotRecorded):
    """What the work answered cannot be written, or not be read again. The claim stays with its
    holder: ``complete`` with its token records another form of the result."""

    code = "result-refused"


class Unreadable(LedgerError):
    """The recorded payload is none of this codec's."""

    code = "unreadable"
