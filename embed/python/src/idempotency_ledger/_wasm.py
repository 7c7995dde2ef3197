"""An instance of a core module, over the C API of the library that the package `wasmtime` carries.

The classes of that package convert every number of a call through several objects: a `begin` and a
`complete` take 1.2 ms with them, and 0.3 ms so. What is taken from it beside its public classes is
`_ffi`, the C API as `ctypes` sees it; the package's version is pinned for that.
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import byref, c_size_t, c_uint64, c_void_p, cast, memmove, string_at
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import wasmtime
from wasmtime import _ffi

# Instructions between two calls of the store: a second or two of computing. A whole `complete` of
# 100 bytes needs a hundred thousand.
FUEL = 10_000_000_000

# A number of a call takes 16 bytes, an `i` an i32 and an `I` an i64.
SLOT_BYTES = ctypes.sizeof(_ffi.wasmtime_val_raw_t)
SLOTS = {"i": f"I{SLOT_BYTES - 4}x", "I": f"q{SLOT_BYTES - 8}x"}
KINDS = {"i32": "i", "i64": "I"}
RESULT = struct.Struct("<I")

Host = Callable[..., None]


class CutShort(Exception):
    """A call ended half-way: what it wrote stays, and the instance must not be used again."""


def _declared(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the C API with types of our own; the package's are left as they are."""
    function = _ffi.dll[name]
    function.restype = result
    function.argtypes = arguments
    return function


_call = _declared(
    "wasmtime_func_call_unchecked", c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p
)
_set_fuel = _declared("wasmtime_context_set_fuel", c_void_p, c_void_p, c_uint64)
_memory_data = _declared("wasmtime_memory_data", c_void_p, c_void_p, c_void_p)
_memory_size = _declared("wasmtime_memory_data_size", c_size_t, c_void_p, c_void_p)
_new_trap = _declared("wasmtime_trap_new", c_void_p, ctypes.c_char_p, c_size_t)
_new_function = _declared(
    "wasmtime_func_new_unchecked", None, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p
)
_CALLBACK = ctypes.CFUNCTYPE(c_size_t, c_void_p, c_void_p, c_void_p, c_size_t)


def signature(of: object) -> Optional[str]:
    """`iI->i` of a function, `None` of anything else."""
    if not isinstance(of, wasmtime.FuncType):
        return None
    kinds = [[KINDS.get(str(kind), "?") for kind in side] for side in (of.params, of.results)]
    return "->".join("".join(side) for side in kinds)


class Function:
    """An exported function and where its numbers are put."""

    def __init__(self, raw: Any, kinds: str) -> None:
        parameters, results = kinds.split("->")
        self.raw = raw
        self.kinds = kinds
        self.has_result = results != ""
        self.size = max(len(parameters), len(results))
        self.slots = ctypes.create_string_buffer(SLOT_BYTES * max(self.size, 1))
        self.pack = struct.Struct("<" + "".join(SLOTS[kind] for kind in parameters)).pack_into


class Instance:
    """An instance with its memory, for one thread at a time."""

    def __init__(
        self,
        engine: wasmtime.Engine,
        module: wasmtime.Module,
        hosts: Mapping[Tuple[str, str], Host],
        max_memory_bytes: int,
    ) -> None:
        self._store = wasmtime.Store(engine)
        self._store.set_limits(memory_size=max_memory_bytes)
        self._context = cast(self._store._context(), c_void_p)
        self._cause: Optional[BaseException] = None
        self._callbacks: List[object] = []
        _set_fuel(self._context, FUEL)
        instance = self._instantiate(module, hosts)
        self._memory = self._export(instance, "memory").of.memory
        self.functions: Dict[str, Function] = {}
        for export in module.exports:
            kinds = signature(export.type)
            if kinds is not None:
                raw = self._export(instance, export.name).of.func
                self.functions[export.name] = Function(raw, kinds)
        self._locate()

    def close(self) -> None:
        """Give its memory back."""
        self._store.close()

    def call(self, function: Function, *values: int) -> Any:
        """Call a function; its result, an i32, or 0 where it has none."""
        function.pack(function.slots, 0, *values)
        trap = c_void_p()
        _set_fuel(self._context, FUEL)
        error = _call(
            self._context, byref(function.raw), function.slots, function.size, byref(trap)
        )
        if error or trap.value:
            raise self._failed(error, trap)
        self._locate()
        return RESULT.unpack_from(function.slots)[0] if function.has_result else 0

    def read(self, address: int, size: int) -> bytes:
        self._check(address, size)
        return string_at(self._base + address, size)

    def write(self, address: int, data: bytes) -> None:
        self._check(address, len(data))
        memmove(self._base + address, data, len(data))

    def _check(self, address: int, size: int) -> None:
        if address < 0 or size < 0 or address + size > self._size:
            raise CutShort("the component named an address outside its memory")

    def _locate(self) -> None:
        """Where the memory lies now: it may have grown while the guest ran."""
        memory = byref(self._memory)
        self._base = _memory_data(self._context, memory)
        self._size = _memory_size(self._context, memory)

    def _failed(self, error: Optional[int], trap: c_void_p) -> CutShort:
        if error:
            pointer = cast(error, ctypes.POINTER(_ffi.wasmtime_error_t))
            found: Exception = wasmtime.WasmtimeError._from_ptr(pointer)
        else:
            found = wasmtime.Trap._from_ptr(cast(trap, ctypes.POINTER(_ffi.wasm_trap_t)))
        made = CutShort(str(self._cause or found))
        made.__cause__ = self._cause
        return made

    def _instantiate(self, module: wasmtime.Module, hosts: Mapping[Tuple[str, str], Host]) -> Any:
        wanted = module.imports
        imports = (_ffi.wasmtime_extern_t * len(wanted))()
        for at, each in enumerate(wanted):
            kinds = signature(each.type)
            host = hosts.get((each.module, each.name or ""))
            if host is None or kinds is None or not kinds.endswith("->"):
                raise CutShort(f"the component needs {each.module} {each.name}")
            callback = _CALLBACK(self._guarded(host, kinds[:-2]))
            self._callbacks.append(callback)
            imports[at].kind = _ffi.WASMTIME_EXTERN_FUNC
            _new_function(
                self._context,
                each.type.ptr(),
                cast(callback, c_void_p),
                None,
                None,
                byref(imports[at].of.func),
            )
        instance = _ffi.wasmtime_instance_t()
        trap = ctypes.POINTER(_ffi.wasm_trap_t)()
        error = _ffi.wasmtime_instance_new(
            self._store._context(), module.ptr(), imports, len(wanted), byref(instance), byref(trap)
        )
        if error or trap:
            code = cast(error, c_void_p).value
            raise self._failed(code, cast(trap, c_void_p))
        return instance

    def _export(self, instance: Any, name: str) -> Any:
        found, encoded = _ffi.wasmtime_extern_t(), name.encode()
        if not _ffi.wasmtime_instance_export_get(
            self._store._context(),
            byref(instance),
            ctypes.create_string_buffer(encoded),
            len(encoded),
            byref(found),
        ):
            raise CutShort(f"the component has no {name}")
        return found

    def _guarded(self, host: Host, parameters: str) -> Callable[..., int]:
        """A host function as the C API calls it. Whatever it raises cuts the call short."""
        numbers = struct.Struct("<" + "".join(SLOTS[kind] for kind in parameters))

        def callback(_env: int, _caller: int, slots: int, _size: int) -> int:
            try:
                _set_fuel(self._context, FUEL)
                self._locate()
                host(*numbers.unpack(string_at(slots, numbers.size)))
                return 0
            except BaseException as error:
                self._cause = error
                return int(_new_trap(b"host", 4))

        return callback
