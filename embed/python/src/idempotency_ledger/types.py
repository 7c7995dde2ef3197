"""What the calls answer.

Fields named ``..._at_ms`` are milliseconds since the Unix epoch on the ledger's clock: compare
them with each other, not with another clock. "Expired" means ``expires_at_ms <= now``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Optional, Union


class LostReason(Enum):
    """Why a holder's call changed nothing. Ordinary endings, not errors."""

    MISSING = "missing"
    """Never claimed, released, or purged."""
    EXPIRED = "expired"
    """The lease ended before the call; nobody has claimed the key since."""
    SUPERSEDED = "superseded"
    """The key has a claim with another token."""
    ALREADY_DONE = "already-done"
    """An outcome is recorded and stays."""


@dataclass(frozen=True)
class Fresh:
    """Of ``begin``: the key is yours. Do the work, then ``complete``."""

    token: int
    """For ``complete``, ``renew``, ``release``, and for whatever the work calls. Grows with every
    claim of a key: a resource that remembers the greatest can refuse late workers."""
    expires_at_ms: int
    """From here on another caller may claim the key, unless the claim is renewed before."""
    attempt: int
    """Above 1: an earlier holder failed or vanished, and its work may have happened."""


@dataclass(frozen=True)
class Inflight:
    """Of ``begin`` and ``forget``: somebody holds the key, or is about to. Back off."""

    expires_at_ms: int
    retry_after_ms: int
    """Wait this long before the next ``begin``; at least 1."""


@dataclass(frozen=True)
class Done:
    """Of ``begin``: it was done before; this is its outcome. Do not do the work."""

    payload: Optional[bytes]
    """``None``, empty bytes and the bytes of ``null`` are three different outcomes."""
    token: int
    completed_at_ms: int
    expires_at_ms: int


@dataclass(frozen=True)
class Mismatch:
    """Of ``begin``: the key is in use for a request with another fingerprint."""


@dataclass(frozen=True)
class Recorded:
    """Of ``complete``: every ``begin`` and ``get`` answers with this payload until it expires."""

    token: int
    completed_at_ms: int
    expires_at_ms: int


@dataclass(frozen=True)
class Lost:
    """Of ``complete``, ``renew`` and ``release``: nothing changed. For good: stop the work."""

    reason: LostReason


@dataclass(frozen=True)
class Renewed:
    """Of ``renew``: the claim as it stands now."""

    token: int
    expires_at_ms: int
    attempt: int


@dataclass(frozen=True)
class Released:
    """Of ``release``: the next ``begin`` is ``Fresh`` at once."""


@dataclass(frozen=True)
class Entry:
    """Of ``get``: a key's record. It may be out of date when you read it."""

    done: bool
    """An outcome; otherwise a claim."""
    payload: Optional[bytes]
    """Of an outcome."""
    token: int
    attempt: int
    fingerprint: Optional[bytes]
    claimed_at_ms: int
    completed_at_ms: Optional[int]
    expires_at_ms: int
    expired: bool


@dataclass(frozen=True)
class PurgeReport:
    """Of ``purge``."""

    removed: int
    """Expired keys removed by this call, of all scopes."""
    reclaimed: int
    """Keys removed an hour or more ago whose last traces are now deleted too."""
    more: bool
    """Something is left that is due: call again."""


@dataclass(frozen=True)
class Forgotten:
    """Of ``forget``: the next ``begin`` is ``Fresh``; the work will run again."""


@dataclass(frozen=True)
class Missing:
    """Of ``forget``: nothing is recorded."""


@dataclass(frozen=True)
class Superseded:
    """Of ``forget``: the record has another token by now. Look again."""


class Strategy(Enum):
    """How the component decides who won."""

    CAS = "cas"
    TICKET = "ticket"


@dataclass(frozen=True)
class Finding:
    """Of ``check_store``: ``sound`` is ``None`` where this component does not use it."""

    sound: Optional[bool]
    why: str = ""
    """What the store did instead, for people."""


@dataclass(frozen=True)
class StoreReport:
    """Of ``check_store``."""

    strategy: Strategy
    sound: bool
    """Everything that the component relies on was found sound."""
    read_your_writes: Finding
    increment: Finding
    swap_absent: Finding
    swap_present: Finding
    swap_answer: Finding
    now_ms: int


Begin = Union[Fresh, Inflight, Done, Mismatch]
Complete = Union[Recorded, Lost]
Renew = Union[Renewed, Lost]
Release = Union[Released, Lost]
Forget = Union[Forgotten, Missing, Superseded, Inflight]
