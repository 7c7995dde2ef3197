"""Where the time comes from."""

from __future__ import annotations

import time
from typing import Callable

Clock = Callable[[], int]
"""Milliseconds since the Unix epoch. Must not block. Machines that share a store must agree to
within an hour."""


def system_clock() -> int:
    """The operating system's clock. Before 1970 it reads 0."""
    return max(0, time.time_ns() // 1_000_000)
