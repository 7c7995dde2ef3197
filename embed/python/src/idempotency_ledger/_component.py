"""The component, and the core module in it."""

from __future__ import annotations

import os
import threading
from typing import Dict, Optional, Tuple, Union

import wasmtime

from .errors import LedgerError

# "\0asm", version 13, layer 1: a component.
COMPONENT = bytes([0x00, 0x61, 0x73, 0x6D, 0x0D, 0x00, 0x01, 0x00])
CORE_MODULE_SECTION = 1

# The guest's memory never grows beyond this.
MAX_MEMORY_BYTES = 16 << 20


def core_module(component: Union[bytes, memoryview]) -> bytes:
    """The first core module of a component: of one that `wit-component` made, the guest itself."""
    if component[: len(COMPONENT)] != COMPONENT:
        raise LedgerError("this is no component")
    at = len(COMPONENT)
    while at < len(component):
        section = component[at]
        size, at = _read_size(component, at + 1)
        if section == CORE_MODULE_SECTION and at + size <= len(component):
            return bytes(component[at : at + size])
        at += size
    raise LedgerError("there is no core module in the component")


def _read_size(data: Union[bytes, memoryview], at: int) -> Tuple[int, int]:
    """A number in LEB128, and where it ends."""
    size = shift = 0
    while at < len(data) and shift < 35:
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            return size, at
        shift += 7
    raise LedgerError("the component is cut off")


class Runtime:
    """An engine, and the compiled component."""

    def __init__(self, component: bytes) -> None:
        config = wasmtime.Config()
        config.consume_fuel = True
        self.engine = wasmtime.Engine(config)
        self.module = wasmtime.Module(self.engine, core_module(component))


_lock = threading.Lock()
_runtimes: Dict[Optional[str], Runtime] = {}


def runtime(path: Union[str, "os.PathLike[str]", None]) -> Runtime:
    """The runtime of the component at ``path``, or of the one that this package carries. Compiled
    once per process, in some hundred milliseconds."""
    name = None if path is None else os.path.abspath(os.fspath(path))
    with _lock:
        if name not in _runtimes:
            with open(
                name or os.path.join(os.path.dirname(__file__), "ledger-cas.wasm"), "rb"
            ) as file:
                _runtimes[name] = Runtime(file.read())
        return _runtimes[name]
