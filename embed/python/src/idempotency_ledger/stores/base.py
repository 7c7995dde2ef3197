"""The contract of a store."""

from __future__ import annotations

from typing import NamedTuple, Optional, Protocol

MAX_KEY_BYTES = 1024
"""Longest key of a store in bytes; the shortest is 1."""


class StoreError(Exception):
    """A store call failed; it may have taken effect, or may do so within minutes.

    ``kind`` is ``"no-such-store"``, ``"access-denied"``, or ``"other"``, which every other
    exception of a store counts as.
    """

    def __init__(self, message: str, kind: str = "other") -> None:
        super().__init__(message)
        self.kind = kind


class Found(NamedTuple):
    """A value and the version that its last write gave it."""

    value: bytes
    version: int


class Store(Protocol):
    """A key-value store fit for a ledger. Whoever implements it promises:

    - Each call takes effect at one instant between its start and its answer, for all callers
      together, those in other processes too. A read is never stale.
    - An answered write survives whatever the store says that it survives. Nothing is evicted and
      nothing expires.
    - A key holds a value or a counter until it is deleted. A call for the other kind changes
      nothing and fails; ``get`` of a counter answers its eight bytes, little-endian.
    - Versions grow with every write of a key and never recur, also after it was deleted.
    - Calls come from several threads at once, and each ends within a few seconds.
    """

    def get(self, key: str) -> Optional[Found]:
        """The value of ``key``, or ``None`` where it does not exist."""

    def set(self, key: str, value: bytes) -> None:
        """Write ``key``, whether it exists or not."""

    def delete(self, key: str) -> None:
        """Remove ``key``. Nothing happens where it does not exist."""

    def increment(self, key: str, delta: int) -> int:
        """Add to the counter ``key`` and answer the sum; one that does not exist is made. A sum
        that does not fit into 64 bits, signed, fails and changes nothing."""

    def compare_and_swap(self, key: str, expected: Optional[int], value: bytes) -> bool:
        """Write ``key`` if its version is ``expected``, or if it does not exist where that is
        ``None``. Otherwise nothing changes and the answer is ``False``: that is no error."""


MIN_COUNTER = -(2**63)
MAX_COUNTER = 2**63 - 1


def check_key(key: str) -> str:
    """``key`` if it is one."""
    size = len(key.encode())
    if not 1 <= size <= MAX_KEY_BYTES:
        raise StoreError(f"a key has 1 to {MAX_KEY_BYTES} bytes, not {size}")
    return key


def add(count: int, delta: int) -> int:
    """The sum, if a counter can hold it."""
    total = count + delta
    if not MIN_COUNTER <= total <= MAX_COUNTER:
        raise StoreError("the counter would overflow")
    return total


def counter_bytes(count: int) -> bytes:
    """What ``get`` answers of a counter."""
    return count.to_bytes(8, "little", signed=True)


def wrong_kind(found: str) -> StoreError:
    """The error of a call on a key of the other kind."""
    return StoreError(f"the key holds a {found}")
