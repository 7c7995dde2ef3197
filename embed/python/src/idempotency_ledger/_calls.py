"""Arguments as the component takes them, answers as it gives them: by the canonical ABI.

An answer is a ``result<T, error>`` of 8-byte alignment. What it holds begins after 8 bytes; a
variant's payload, if it is aligned so too, 8 bytes later.
"""

from __future__ import annotations

import struct
from typing import Callable, Dict, List, NamedTuple, Optional, TypeVar

from . import errors, types
from ._guest import Guest

HELD = 8
PAYLOAD = 16
U64_MAX = 2**64 - 1
U32_MAX = 2**32 - 1

# Twice what the ledger takes of anything: it is refused without a copy.
MAX_ARGUMENT_BYTES = 1 << 20

CLAIM = struct.Struct("<QQI")
LEASE = struct.Struct("<QQ")
RECORDED = struct.Struct("<QQQ")
OUTCOME = struct.Struct("<B3xII4xQQQ")
ENTRY = struct.Struct("<B3xB3xIIQIB3xII QB7xQQB")
PURGED = struct.Struct("<IIB")
BYTES = struct.Struct("<II")
REPORT_NOW = struct.Struct("<Q")

REASONS = list(types.LostReason)
MESSAGES = {
    0: errors.InvalidKey,
    1: errors.InvalidTtl,
    2: errors.InvalidLimit,
    6: errors.Unavailable,
    7: errors.OutcomeUnknown,
    10: errors.Corrupt,
}
FIXED = {
    4: (errors.NoSuchStore, "no such store"),
    5: (errors.AccessDenied, "the store denies access"),
    9: (errors.DeadlineExceeded, "the call ran for too long and recorded nothing"),
}

Answer = TypeVar("Answer")


class Arguments:
    """Arguments of a call, in the order of the WIT. What does not fit is refused here, before
    any call: the component would see another number."""

    def __init__(self) -> None:
        self._parts: List[Callable[[Guest], List[int]]] = []

    def values(self, guest: Guest) -> List[int]:
        return [value for part in self._parts for value in part(guest)]

    def text(self, value: str, what: str = "key") -> "Arguments":
        if not isinstance(value, str):
            raise TypeError(f"{what} is a str, not {type(value).__name__}")
        try:
            return self._bytes(value.encode(), errors.InvalidKey)
        except UnicodeEncodeError:
            raise errors.InvalidKey(f"{what} has characters that UTF-8 cannot encode") from None

    def optional_text(self, value: Optional[str], what: str = "scope") -> "Arguments":
        self._flag(value is not None)
        return self.text("" if value is None else value, what)

    def optional_bytes(self, value: Optional[bytes], what: str) -> "Arguments":
        if value is not None and not isinstance(value, (bytes, bytearray, memoryview)):
            raise TypeError(f"{what} is bytes, not {type(value).__name__}")
        self._flag(value is not None)
        return self._bytes(b"" if value is None else bytes(value))

    def token(self, value: int) -> "Arguments":
        return self._u64(_number(value, "token", U64_MAX, ValueError))

    def optional_token(self, value: Optional[int]) -> "Arguments":
        self._flag(value is not None)
        return self.token(0 if value is None else value)

    def optional_ms(self, value: Optional[int], what: str) -> "Arguments":
        self._flag(value is not None)
        return self._u64(_number(0 if value is None else value, what, U64_MAX, errors.InvalidTtl))

    def optional_limit(self, value: Optional[int]) -> "Arguments":
        self._flag(value is not None)
        limit = _number(0 if value is None else value, "limit", U32_MAX, errors.InvalidLimit)
        return self._push(limit)

    def flag(self, value: bool) -> "Arguments":
        return self._flag(bool(value))

    def _flag(self, value: bool) -> "Arguments":
        return self._push(int(value))

    def _u64(self, value: int) -> "Arguments":
        return self._push(_signed(value, 64))

    def _push(self, value: int) -> "Arguments":
        self._parts.append(lambda guest: [value])
        return self

    def _bytes(self, data: bytes, error: Optional[type] = None) -> "Arguments":
        # More is refused all the same; cut off, it costs nobody memory.
        data = data[:MAX_ARGUMENT_BYTES]
        self._parts.append(lambda guest: [guest.copy(data), len(data)])
        return self


class Call(NamedTuple):
    """A call to be made: its name, whether it may write, its arguments, and how its answer of
    ``size`` bytes is read."""

    name: str
    writes: bool
    arguments: Arguments
    size: int
    read: Callable[[Guest, bytes], object]


def make(guest: Guest, call: Call) -> object:
    """Make the call. Raises what the ledger answers as an error."""
    area = guest.call(call.name, max(call.size, 24), *call.arguments.values(guest))
    try:
        if area[0] == 1:
            raise _error(guest, area)
        return call.read(guest, area)
    finally:
        guest.done(call.name)


def _number(value: int, what: str, most: int, error: type) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is an int, not {type(value).__name__}")
    if not 0 <= value <= most:
        raise error(f"{what} is not within 0 and {most}: {value}")
    return value


def _signed(value: int, bits: int) -> int:
    """The same bits as a signed number, which is how WebAssembly's are passed."""
    return value - (1 << bits) if value >> (bits - 1) else value


def _error(guest: Guest, area: bytes) -> errors.LedgerError:
    kind = area[HELD]
    if kind in MESSAGES:
        return MESSAGES[kind](_text(guest, area, PAYLOAD))
    if kind in FIXED:
        error, message = FIXED[kind]
        return error(message)
    if kind == 3:
        return errors.PayloadTooLarge(int.from_bytes(area[PAYLOAD : PAYLOAD + 4], "little"))
    return errors.Contended(int.from_bytes(area[PAYLOAD : PAYLOAD + 8], "little"))


def _text(guest: Guest, area: bytes, at: int) -> str:
    return guest.text(*BYTES.unpack_from(area, at))


def _lost(area: bytes, at: int = PAYLOAD) -> types.Lost:
    return types.Lost(REASONS[area[at]])


def _lease(area: bytes) -> types.Inflight:
    return types.Inflight(*LEASE.unpack_from(area, PAYLOAD))


def read_begin(guest: Guest, area: bytes) -> types.Begin:
    kind = area[HELD]
    if kind == 0:
        return types.Fresh(*CLAIM.unpack_from(area, PAYLOAD))
    if kind == 1:
        return _lease(area)
    if kind == 2:
        given, address, size, *rest = OUTCOME.unpack_from(area, PAYLOAD)
        return types.Done(guest.read(address, size) if given else None, *rest)
    return types.Mismatch()


def read_complete(guest: Guest, area: bytes) -> types.Complete:
    if area[HELD] == 0:
        return types.Recorded(*RECORDED.unpack_from(area, PAYLOAD))
    return _lost(area)


def read_renew(guest: Guest, area: bytes) -> types.Renew:
    if area[HELD] == 0:
        return types.Renewed(*CLAIM.unpack_from(area, PAYLOAD))
    return _lost(area)


def read_release(guest: Guest, area: bytes) -> types.Release:
    # The reason is one byte, so it needs no alignment.
    return types.Released() if area[HELD] == 0 else _lost(area, HELD + 1)


def read_get(guest: Guest, area: bytes) -> Optional[types.Entry]:
    if area[HELD] == 0:
        return None
    fields = ENTRY.unpack_from(area, PAYLOAD)
    done, given, address, size, token, attempt, marked, mark_at, mark_size = fields[:9]
    claimed_at_ms, completed, completed_at_ms, expires_at_ms, expired = fields[9:]
    return types.Entry(
        done=done == 1,
        payload=guest.read(address, size) if done and given else None,
        token=token,
        attempt=attempt,
        fingerprint=guest.read(mark_at, mark_size) if marked else None,
        claimed_at_ms=claimed_at_ms,
        completed_at_ms=completed_at_ms if completed else None,
        expires_at_ms=expires_at_ms,
        expired=expired == 1,
    )


def read_purge(guest: Guest, area: bytes) -> types.PurgeReport:
    removed, reclaimed, more = PURGED.unpack_from(area, HELD)
    return types.PurgeReport(removed, reclaimed, more == 1)


def read_forget(guest: Guest, area: bytes) -> types.Forget:
    answers: Dict[int, types.Forget] = {
        0: types.Forgotten(),
        1: types.Missing(),
        2: types.Superseded(),
    }
    return answers[area[HELD]] if area[HELD] in answers else _lease(area)


def read_report(guest: Guest, area: bytes) -> types.StoreReport:
    def finding(at: int) -> types.Finding:
        if area[at] == 1:
            return types.Finding(False, _text(guest, area, at + 4))
        return types.Finding(True if area[at] == 0 else None)

    return types.StoreReport(
        strategy=list(types.Strategy)[area[HELD]],
        sound=area[HELD + 1] == 1,
        read_your_writes=finding(HELD + 4),
        increment=finding(HELD + 16),
        swap_absent=finding(HELD + 28),
        swap_present=finding(HELD + 40),
        swap_answer=finding(HELD + 52),
        now_ms=REPORT_NOW.unpack_from(area, HELD + 64)[0],
    )
