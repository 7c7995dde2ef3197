"""What the tests share."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Optional

from idempotency_ledger import Found, MemoryStore

ROOT = Path(os.environ.get("LEDGER_ROOT", Path(__file__).parents[3]))
FULL = os.environ.get("LEDGER_TEST_SIZE") == "full"


def pick(small: int, full: int) -> int:
    """A size, by `LEDGER_TEST_SIZE`."""
    return full if FULL else small


def quick_folder() -> "tempfile.TemporaryDirectory[str]":
    """A folder in memory, if there is a place: flushing to the disk is free there."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


class Clock:
    """Stands still until it is set."""

    def __init__(self, now_ms: int = 1_000_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


class FaultyStore:
    """A store in memory whose calls can be made to fail: `fault` is asked with the name of each
    call and its number, and raises or not."""

    def __init__(self, fault: Optional[Callable[[str, int], None]] = None) -> None:
        self.inner = MemoryStore()
        self.fault = fault
        self.counts: Dict[str, int] = {}

    def get(self, key: str) -> Optional[Found]:
        return self._call("get", key)

    def set(self, key: str, value: bytes) -> None:
        self._call("set", key, value)

    def delete(self, key: str) -> None:
        self._call("delete", key)

    def increment(self, key: str, delta: int) -> int:
        return self._call("increment", key, delta)

    def compare_and_swap(self, key: str, expected: Optional[int], value: bytes) -> bool:
        return self._call("compare_and_swap", key, expected, value)

    def _call(self, name: str, *arguments: Any) -> Any:
        number = self.counts.get(name, 0)
        self.counts[name] = number + 1
        if self.fault is not None:
            self.fault(name, number)
        return getattr(self.inner, name)(*arguments)


def raise_once(name: str, number: int, error: BaseException) -> Callable[[str, int], None]:
    """A fault: the call of this name and number raises the error."""

    def fault(called: str, at: int) -> None:
        if (called, at) == (name, number):
            raise error

    return fault


def raise_always(error: BaseException, *names: str) -> Callable[[str, int], None]:
    """A fault: every call raises, or every one of these names."""

    def fault(called: str, at: int) -> None:
        if not names or called in names:
            raise error

    return fault
