"""The component's imports: `wasi:keyvalue` over a store, and the wall clock.

The functions take and give numbers, as the canonical ABI lowers their types: addresses in the
guest's memory, and at the end the address where the answer goes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Callable, Dict, NamedTuple, Optional, Tuple

from .stores.base import Found, Store, StoreError

if TYPE_CHECKING:
    from ._guest import Guest
    from .clock import Clock

STORE = "wasi:keyvalue/store@0.2.0-draft2"
ATOMICS = "wasi:keyvalue/atomics@0.2.0-draft2"
CLOCK = "wasi:clocks/wall-clock@0.2.12"

# There is one bucket, so all its handles are the same.
BUCKET = 1

ERRORS = {"no-such-store": 0, "access-denied": 1}
OTHER = 2

OK_U32 = struct.Struct("<B3xI")
"""``ok`` of a handle, a bool, or nothing."""
OK_VALUE = struct.Struct("<B3xB3xII")
"""``ok`` of an option of bytes."""
OK_S64 = struct.Struct("<B7xq")
ERROR = struct.Struct("<B3xII")
DATETIME = struct.Struct("<QI")


class Handle(NamedTuple):
    """Of a compare-and-swap: the key, and the state that it is compared with. ``seen`` is false
    for one that came with a lost swap and was not read yet."""

    key: str
    seen: bool
    found: Optional[Found]


class Imports:
    """What the imports of one guest work on."""

    def __init__(self, guest: "Guest", store: Store, clock: "Clock") -> None:
        self._guest = guest
        self._store = store
        self._clock = clock
        self._handles: Dict[int, Handle] = {}
        self._last_handle = 0

    def functions(self) -> Dict[Tuple[str, str], Callable[..., None]]:
        """By interface and name."""
        return {
            (STORE, "open"): self._open,
            (STORE, "[resource-drop]bucket"): lambda bucket: None,
            (STORE, "[method]bucket.get"): self._get,
            (STORE, "[method]bucket.set"): self._set,
            (STORE, "[method]bucket.delete"): self._delete,
            (STORE, "[method]bucket.exists"): self._exists,
            (ATOMICS, "increment"): self._increment,
            (ATOMICS, "[static]cas.new"): self._cas_new,
            (ATOMICS, "[method]cas.current"): self._cas_current,
            (ATOMICS, "[resource-drop]cas"): self._cas_drop,
            (ATOMICS, "swap"): self._swap,
            (CLOCK, "now"): self._now,
        }

    # Answers. What `T` of a `result<T, error>` holds begins `offset` bytes after its start.

    def _error(self, answer: int, error: Exception, offset: int = 4) -> None:
        code, address, message = OTHER, 0, b""
        if isinstance(error, StoreError):
            code = ERRORS.get(error.kind, OTHER)
            text = str(error) or "the store failed and did not say why"
        else:
            text = f"{type(error).__name__}: {error}"
        if code == OTHER:
            message = text.encode(errors="replace")
            address = self._guest.copy(message)
        head = bytes([1]).ljust(offset, b"\0")
        self._guest.write(answer, head + ERROR.pack(code, address, len(message)))

    def _value(self, answer: int, found: Optional[Found]) -> None:
        if found is None:
            self._guest.write(answer, OK_VALUE.pack(0, 0, 0, 0))
            return
        address = self._guest.copy(found.value)
        self._guest.write(answer, OK_VALUE.pack(0, 1, address, len(found.value)))

    def _u32(self, answer: int, value: int = 0) -> None:
        self._guest.write(answer, OK_U32.pack(0, value))

    # `wasi:keyvalue/store`

    def _open(self, address: int, size: int, answer: int) -> None:
        if self._guest.text(address, size) == "default":
            self._u32(answer, BUCKET)
        else:
            self._error(answer, StoreError("no such store", "no-such-store"))

    def _get(self, _bucket: int, address: int, size: int, answer: int) -> None:
        key = self._guest.text(address, size)
        try:
            found = self._store.get(key)
        except Exception as error:
            self._error(answer, error)
        else:
            self._value(answer, found)

    def _set(
        self, _bucket: int, address: int, size: int, at: int, length: int, answer: int
    ) -> None:
        key, value = self._guest.text(address, size), self._guest.read(at, length)
        try:
            self._store.set(key, value)
        except Exception as error:
            self._error(answer, error)
        else:
            self._u32(answer)

    def _delete(self, _bucket: int, address: int, size: int, answer: int) -> None:
        key = self._guest.text(address, size)
        try:
            self._store.delete(key)
        except Exception as error:
            self._error(answer, error)
        else:
            self._u32(answer)

    def _exists(self, _bucket: int, address: int, size: int, answer: int) -> None:
        key = self._guest.text(address, size)
        try:
            found = self._store.get(key)
        except Exception as error:
            self._error(answer, error)
        else:
            self._u32(answer, int(found is not None))

    # `wasi:keyvalue/atomics`

    def _increment(self, _bucket: int, address: int, size: int, delta: int, answer: int) -> None:
        key = self._guest.text(address, size)
        try:
            total = OK_S64.pack(0, self._store.increment(key, delta))
        except Exception as error:
            self._error(answer, error, offset=8)
        else:
            self._guest.write(answer, total)

    def _cas_new(self, _bucket: int, address: int, size: int, answer: int) -> None:
        key = self._guest.text(address, size)
        try:
            found = self._store.get(key)
        except Exception as error:
            self._error(answer, error)
        else:
            self._u32(answer, self._keep(Handle(key, True, found)))

    def _cas_current(self, number: int, answer: int) -> None:
        handle = self._handles[number]
        try:
            handle = self._handles[number] = self._seen(handle)
        except Exception as error:
            self._error(answer, error)
        else:
            self._value(answer, handle.found)

    def _cas_drop(self, number: int) -> None:
        self._handles.pop(number, None)

    def _swap(self, number: int, address: int, size: int, answer: int) -> None:
        handle, value = self._handles.pop(number), self._guest.read(address, size)
        try:
            handle = self._seen(handle)
            expected = handle.found.version if handle.found is not None else None
            swapped = self._store.compare_and_swap(handle.key, expected, value)
        except Exception as error:
            # `store-error` within `cas-error`
            self._error(answer, error, offset=8)
            return
        if swapped:
            self._u32(answer)
            return
        # Who lost gets a new handle. It may never be used, and a read that fails must not hide
        # that the swap was lost, so it is read later.
        lost = self._keep(Handle(handle.key, False, None))
        self._guest.write(answer, b"\1\0\0\0" + OK_U32.pack(1, lost))

    def _seen(self, handle: Handle) -> Handle:
        if handle.seen:
            return handle
        return Handle(handle.key, True, self._store.get(handle.key))

    def _keep(self, handle: Handle) -> int:
        self._last_handle = self._last_handle % 0x7FFF_FFFF + 1
        self._handles[self._last_handle] = handle
        return self._last_handle

    # `wasi:clocks/wall-clock`

    def _now(self, answer: int) -> None:
        seconds, rest_ms = divmod(self._clock(), 1_000)
        self._guest.write(answer, DATETIME.pack(seconds, rest_ms * 1_000_000))
