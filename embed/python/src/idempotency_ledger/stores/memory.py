"""The store in memory."""

from __future__ import annotations

import threading
from typing import Dict, Optional, Tuple, Union

from .base import Found, add, check_key, counter_bytes, wrong_kind


class MemoryStore:
    """Lives as long as the process: for tests, and ledgers that need not outlive it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: Dict[str, Tuple[Union[bytes, int], int]] = {}
        self._last_version = 0

    def get(self, key: str) -> Optional[Found]:
        with self._lock:
            entry = self._entries.get(check_key(key))
        if entry is None:
            return None
        content, version = entry
        return Found(counter_bytes(content) if isinstance(content, int) else content, version)

    def set(self, key: str, value: bytes) -> None:
        with self._lock:
            self._value_version(check_key(key))
            self._put(key, value)

    def delete(self, key: str) -> None:
        with self._lock:
            self._entries.pop(check_key(key), None)

    def increment(self, key: str, delta: int) -> int:
        with self._lock:
            count, _ = self._entries.get(check_key(key), (0, 0))
            if not isinstance(count, int):
                raise wrong_kind("value")
            total = add(count, delta)
            self._put(key, total)
            return total

    def compare_and_swap(self, key: str, expected: Optional[int], value: bytes) -> bool:
        with self._lock:
            if self._value_version(check_key(key)) != expected:
                return False
            self._put(key, value)
            return True

    def _put(self, key: str, content: Union[bytes, int]) -> None:
        self._last_version += 1
        self._entries[key] = (content, self._last_version)

    def _value_version(self, key: str) -> Optional[int]:
        """The version of the value at ``key``, which must not be a counter."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if isinstance(entry[0], int):
            raise wrong_kind("counter")
        return entry[1]
