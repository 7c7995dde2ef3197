"""The ledger for callers that wait."""

from __future__ import annotations

import os
from typing import Optional, Union, cast

from . import _plan, types
from ._component import runtime
from ._waiting import Runs
from ._workers import Workers
from .clock import Clock, system_clock
from .stores.base import Store

DEFAULT_THREADS = 8


class Calls:
    """The ledger's calls. Every one may raise a ``LedgerError``; see each class for what it asks
    of its caller.

    A key has 1 to 1 024 bytes of UTF-8, unique within a scope of 1 to 256 bytes, ``global`` when
    not given. Scopes never see each other. Durations are milliseconds.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    def begin(
        self,
        key: str,
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
        fingerprint: Optional[bytes] = None,
    ) -> types.Begin:
        """Claim a key: ``Fresh``, ``Inflight``, ``Done`` or ``Mismatch``. While a claim lives no
        other is answered ``Fresh``.

        ``lease_ms``: how long the claim lives unless renewed, 1 to 2 592 000 000 (30 days), 60 000
        when not given. ``fingerprint``: 1 to 64 bytes that identify the request, a hash of its
        body say.
        """
        call = _plan.begin(key, scope, lease_ms, fingerprint)
        return cast(types.Begin, self._workers.submit(call).result())

    def complete(
        self,
        key: str,
        payload: Optional[bytes] = None,
        *,
        token: Optional[int] = None,
        scope: Optional[str] = None,
        ttl_ms: Optional[int] = None,
        upsert_on_missing: bool = False,
    ) -> types.Complete:
        """Record the outcome, at most 524 288 bytes or none: ``Recorded`` or ``Lost``. Safe to
        repeat.

        ``token``: of your claim. Give it: without one, a late worker can complete a successor's
        claim. ``ttl_ms``: how long the outcome replays, 1 to 315 360 000 000 (10 years), 86 400 000
        (24 h) when not given. ``upsert_on_missing``: record also where the claim is missing or
        expired and nobody holds the key.
        """
        call = _plan.complete(key, payload, token, scope, ttl_ms, upsert_on_missing)
        return cast(types.Complete, self._workers.submit(call).result())

    def renew(
        self,
        key: str,
        token: int,
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
    ) -> types.Renew:
        """Extend a live claim, at a third of its lease say: ``Renewed`` or ``Lost``."""
        call = _plan.renew(key, token, scope, lease_ms)
        return cast(types.Renew, self._workers.submit(call).result())

    def release(self, key: str, token: int, *, scope: Optional[str] = None) -> types.Release:
        """Give a live claim back without an outcome: ``Released`` or ``Lost``."""
        call = _plan.release(key, token, scope)
        return cast(types.Release, self._workers.submit(call).result())

    def get(self, key: str, *, scope: Optional[str] = None) -> Optional[types.Entry]:
        """Look without claiming. ``None``: never claimed, released, or purged."""
        return cast(Optional[types.Entry], self._workers.submit(_plan.get(key, scope)).result())

    def purge(
        self, *, before_ms: Optional[int] = None, limit: Optional[int] = None
    ) -> types.PurgeReport:
        """Remove expired keys, oldest first, at most ``limit`` (1 to 10 000, 200 when not given).
        Run it daily at least, again while ``more`` is true."""
        call = _plan.purge(before_ms, limit)
        return cast(types.PurgeReport, self._workers.submit(call).result())

    def forget(self, key: str, token: int, *, scope: Optional[str] = None) -> types.Forget:
        """Remove an outcome or an expired claim before its time; ``token`` is the one that
        ``get`` showed: ``Forgotten``, ``Missing``, ``Superseded`` or ``Inflight``."""
        call = _plan.forget(key, token, scope)
        return cast(types.Forget, self._workers.submit(call).result())

    def check_store(self) -> types.StoreReport:
        """Try what the ledger needs of the store, on keys of its own."""
        return cast(types.StoreReport, self._workers.submit(_plan.check_store()).result())


def open_workers(
    store: Store,
    clock: Clock,
    component: Union[str, "os.PathLike[str]", None],
    threads: int,
) -> Workers:
    if threads < 1:
        raise ValueError(f"a ledger needs a thread at least, not {threads}")
    return Workers(runtime(component), store, clock, threads)


class Ledger(Calls, Runs):
    """A ledger over ``store``. Any number of threads may use it.

    The first one of a process compiles the component, in some hundred milliseconds. ``threads``:
    how many calls run at once. ``clock``: answers milliseconds since the Unix epoch. ``component``:
    a file to run in place of the component that this package carries.

    Close it, or use it in a ``with`` statement; the store is its owner's to close.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = system_clock,
        component: Union[str, "os.PathLike[str]", None] = None,
        threads: int = DEFAULT_THREADS,
    ) -> None:
        super().__init__(open_workers(store, clock, component, threads))

    def close(self) -> None:
        """Wait for the calls under way. Later ones raise ``Closed``."""
        self._workers.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
