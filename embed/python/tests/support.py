"""What the tests share."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

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


class RedisServer:
    """A server on a free port of the loopback, with its files in ``folder``."""

    PROGRAM = shutil.which("redis-server", path=os.environ.get("PATH", "") + ":/usr/sbin")

    def __init__(self, folder: str, *settings: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.process: "Optional[subprocess.Popen[bytes]]" = None
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start(*settings)

    def start(self, *settings: str) -> None:
        assert self.PROGRAM is not None
        command: List[str] = [self.PROGRAM, "--bind", "127.0.0.1", "--port", str(self.port)]
        command += ["--dir", self.folder, *settings]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        self.stop()
        raise AssertionError("redis-server does not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self) -> "RedisServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
