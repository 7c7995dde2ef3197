"""The component's functions, and bytes in its memory."""

from __future__ import annotations

from ._component import MAX_MEMORY_BYTES, Runtime
from ._imports import Imports
from ._wasm import CutShort, Function, Instance
from .clock import Clock
from .errors import LedgerError
from .stores.base import Store

LEDGER = "idempotency:ledger/ledger@0.1.0#"
MAINTENANCE = "idempotency:ledger/maintenance@0.1.0#"

# Each call, and what the canonical ABI makes of its type.
CALLS = {
    "begin": (LEDGER, "iiiiiiIiii->i"),
    "complete": (LEDGER, "iiiiiiiiiIiIi->i"),
    "renew": (LEDGER, "iiIiiiiI->i"),
    "release": (LEDGER, "iiIiii->i"),
    "get": (LEDGER, "iiiii->i"),
    "purge": (MAINTENANCE, "iIii->i"),
    "forget": (MAINTENANCE, "iiIiii->i"),
    "check-store": (MAINTENANCE, "->i"),
}
ALLOCATE = ("cabi_realloc", "iiii->i")
FREE = "i->"


class Guest:
    """An instance of the component, for one thread. After ``CutShort`` it must not be used again.

    Errors: ``LedgerError`` where the component is no ledger of version 0.1.0.
    """

    def __init__(self, runtime: Runtime, store: Store, clock: Clock) -> None:
        hosts = Imports(self, store, clock).functions()
        try:
            self._wasm = Instance(runtime.engine, runtime.module, hosts, MAX_MEMORY_BYTES)
        except CutShort as error:
            raise LedgerError(f"unusable component: {error}") from error
        self._allocate = self._function(*ALLOCATE)
        self._calls, self._frees = {}, {}
        for name, (interface, kinds) in CALLS.items():
            self._calls[name] = self._function(interface + name, kinds)
            self._frees[name] = self._function("cabi_post_" + interface + name, FREE)
        self.read = self._wasm.read
        self.write = self._wasm.write

    def call(self, name: str, size: int, *values: int) -> bytes:
        """Make a call; the first ``size`` bytes of its answer. ``done`` has to follow."""
        self._answer = self._wasm.call(self._calls[name], *values)
        return self.read(self._answer, size)

    def done(self, name: str) -> None:
        """Let the guest free the last answer."""
        self._wasm.call(self._frees[name], self._answer)

    def copy(self, data: bytes) -> int:
        """Copy bytes into memory that the guest will free; where they are."""
        if not data:
            return 1  # any address does
        address = int(self._wasm.call(self._allocate, 0, 0, 1, len(data)))
        self.write(address, data)
        return address

    def text(self, address: int, size: int) -> str:
        return self.read(address, size).decode()

    def close(self) -> None:
        """Give its memory back."""
        self._wasm.close()

    def _function(self, name: str, kinds: str) -> Function:
        found = self._wasm.functions.get(name)
        if found is None or found.kinds != kinds:
            raise LedgerError(f"the component is no ledger of version 0.1.0: it lacks {name}")
        return found
