"""The threads that make the calls, each with an instance of its own."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import List, Optional

from . import errors
from ._calls import Call, make
from ._component import Runtime
from ._guest import Guest
from .clock import Clock
from .stores.base import Store


class Workers:
    """Calls run in threads of their own, so that nothing cuts one short: neither Ctrl-C or
    another signal, whose handlers run in the main thread, nor a task of asyncio that is cancelled.
    Up to ``size`` run at once; others wait.
    """

    def __init__(self, runtime: Runtime, store: Store, clock: Clock, size: int) -> None:
        self._runtime = runtime
        self._store = store
        self._clock = clock
        self._size = size
        self._closed = False
        self._start()
        # Fails here if the component or the engine is unusable.
        Guest(runtime, store, clock).close()

    def submit(self, call: Call) -> "Future[object]":
        if self._process != os.getpid() and not self._closed:
            # After a fork: the threads stayed behind.
            self._start()
        try:
            return self._threads.submit(self._make, call)
        except RuntimeError as error:
            raise errors.Closed("the ledger was closed, or Python is ending") from error

    def close(self) -> None:
        """Wait for the calls under way, and end the threads."""
        self._closed = True
        if self._process != os.getpid():
            self._start()
        self._threads.shutdown()
        for guest in self._guests:
            guest.close()
        self._guests.clear()

    def _start(self) -> None:
        self._process = os.getpid()
        self._local = threading.local()
        self._guests: List[Guest] = []
        self._threads = ThreadPoolExecutor(self._size, "idempotency-ledger")

    def _make(self, call: Call) -> object:
        guest: Optional[Guest] = getattr(self._local, "guest", None)
        if guest is None:
            try:
                guest = Guest(self._runtime, self._store, self._clock)
            except Exception as error:
                raise errors.Unavailable(f"no instance: {error}") from error
            self._local.guest = guest
            self._guests.append(guest)
        try:
            return make(guest, call)
        except errors.LedgerError:
            raise
        except Exception as error:
            # Cut short, or an answer that is none. The next call gets a new instance.
            self._local.guest = None
            self._guests.remove(guest)
            guest.close()
            unknown = errors.OutcomeUnknown if call.writes else errors.Unavailable
            raise unknown(f"the call was cut short: {error}") from error
