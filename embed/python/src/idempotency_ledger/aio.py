"""The ledger for asyncio. Calls run in threads of their own, off the event loop; a task that is
cancelled cuts none short."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, Callable, Optional, TypeVar, Union, cast

from . import _plan, types
from ._calls import Call
from ._held import Held, Outcome, current, outcome_of
from ._steps import Options, Sleep, Steps, claim, keep
from ._workers import Workers
from .clock import Clock, system_clock
from .codec import Codec, Form, JsonCodec
from .ledger import DEFAULT_THREADS, open_workers
from .stores.base import Store

R = TypeVar("R")

Key = Union[str, Callable[..., str]]


async def drive(workers: Workers, steps: Steps[R]) -> R:
    """Make the calls and pauses to the end."""
    try:
        step = next(steps)
        while True:
            try:
                answer: Any = None
                if isinstance(step, Sleep):
                    await asyncio.sleep(step.seconds)
                else:
                    answer = await asyncio.wrap_future(workers.submit(step))
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return cast(R, end.value)


class AsyncHeld(Held):
    """A claim in an ``async with`` statement. It is renewed in the background, and given back if
    it was not completed; if the process dies, its lease ends by itself."""

    def __init__(
        self, workers: Workers, key: str, options: Options, begin: types.Begin, begun: float
    ) -> None:
        super().__init__(key, options, begin, begun)
        self._workers = workers
        self._completed = False
        self._renewer: Optional["asyncio.Task[None]"] = None
        if self._open():
            renewing = keep(key, self.token, options.scope, self._lease)
            self._renewer = asyncio.ensure_future(drive(workers, renewing))

    async def complete(self, payload: Optional[bytes] = None) -> types.Done:
        """Record the outcome; goes on if the caller is cancelled.

        Raises ``ClaimLost`` or ``NotRecorded``, with the payload as ``value``; after the latter the
        claim stays until its lease ends.
        """
        self._completed = True
        return await asyncio.shield(self._complete(payload))

    async def release(self) -> None:
        """Give the claim back, so that a retry need not wait."""
        await asyncio.shield(self._release())

    async def close(self) -> None:
        """Stop renewing. A claim that nobody tried to complete is given back."""
        if self._completed:
            await self._stop_renewing()
        else:
            await self.release()

    async def _complete(self, payload: Optional[bytes]) -> types.Done:
        await self._stop_renewing()
        return await drive(self._workers, self._record(payload))

    async def _release(self) -> None:
        await self._stop_renewing()
        if self._open():
            self._lease.lost = types.LostReason.MISSING
            await drive(self._workers, self._give_back())

    async def _stop_renewing(self) -> None:
        if self._renewer is None:
            return
        self._renewer.cancel()
        # A renewal that is under way ends in its thread. The ledger answers the two calls in some
        # order, and a renewed claim can be completed.
        await asyncio.gather(self._renewer, return_exceptions=True)


class AsyncLedger:
    """A ledger over ``store`` for asyncio: the calls of ``Ledger``, to be awaited. Any number of
    tasks may use it; the arguments are those of ``Ledger``. The store is the one of ``Ledger`` too:
    its calls block a thread, not the loop."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = system_clock,
        component: Union[str, "os.PathLike[str]", None] = None,
        threads: int = DEFAULT_THREADS,
    ) -> None:
        self._workers = open_workers(store, clock, component, threads)

    async def begin(
        self,
        key: str,
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
        fingerprint: Optional[bytes] = None,
    ) -> types.Begin:
        """As ``Ledger.begin``. If the task is cancelled, the claim may be made all the same and
        then blocks the key for its lease."""
        call = _plan.begin(key, scope, lease_ms, fingerprint)
        return cast(types.Begin, await self._make(call))

    async def complete(
        self,
        key: str,
        payload: Optional[bytes] = None,
        *,
        token: Optional[int] = None,
        scope: Optional[str] = None,
        ttl_ms: Optional[int] = None,
        upsert_on_missing: bool = False,
    ) -> types.Complete:
        """As ``Ledger.complete``."""
        call = _plan.complete(key, payload, token, scope, ttl_ms, upsert_on_missing)
        return cast(types.Complete, await self._make(call))

    async def renew(
        self,
        key: str,
        token: int,
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
    ) -> types.Renew:
        """As ``Ledger.renew``."""
        return cast(types.Renew, await self._make(_plan.renew(key, token, scope, lease_ms)))

    async def release(self, key: str, token: int, *, scope: Optional[str] = None) -> types.Release:
        """As ``Ledger.release``."""
        return cast(types.Release, await self._make(_plan.release(key, token, scope)))

    async def get(self, key: str, *, scope: Optional[str] = None) -> Optional[types.Entry]:
        """As ``Ledger.get``."""
        return cast(Optional[types.Entry], await self._make(_plan.get(key, scope)))

    async def purge(
        self, *, before_ms: Optional[int] = None, limit: Optional[int] = None
    ) -> types.PurgeReport:
        """As ``Ledger.purge``."""
        return cast(types.PurgeReport, await self._make(_plan.purge(before_ms, limit)))

    async def forget(self, key: str, token: int, *, scope: Optional[str] = None) -> types.Forget:
        """As ``Ledger.forget``."""
        return cast(types.Forget, await self._make(_plan.forget(key, token, scope)))

    async def check_store(self) -> types.StoreReport:
        """As ``Ledger.check_store``."""
        return cast(types.StoreReport, await self._make(_plan.check_store()))

    @asynccontextmanager
    async def claim(
        self,
        key: str,
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
        ttl_ms: Optional[int] = None,
        fingerprint: Optional[bytes] = None,
        wait_ms: int = 0,
    ) -> AsyncIterator[AsyncHeld]:
        """As ``Ledger.claim``, in an ``async with`` statement."""
        held = await self._hold(key, Options(scope, lease_ms, ttl_ms, fingerprint, wait_ms))
        try:
            yield held
        finally:
            await held.close()

    async def run(
        self,
        key: str,
        work: Callable[[AsyncHeld], Awaitable[Any]],
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
        ttl_ms: Optional[int] = None,
        fingerprint: Optional[bytes] = None,
        wait_ms: int = 0,
        codec: Optional[Codec] = None,
        validate: Optional[Callable[[Any], Any]] = None,
    ) -> Outcome:
        """As ``Ledger.run``; work that is cancelled has its claim given back."""
        form = Form(codec or JsonCodec(), validate)
        held = await self._hold(key, Options(scope, lease_ms, ttl_ms, fingerprint, wait_ms))
        if held.outcome is not None:
            return outcome_of(form.read(held.outcome.payload), True, held.outcome)
        token = current.set(held)
        try:
            value = await work(held)
        except BaseException:
            await held.release()
            raise
        finally:
            current.reset(token)
        try:
            payload, value = form.write(value, held.claim)
            return outcome_of(value, False, await held.complete(payload))
        finally:
            await held._stop_renewing()

    def once(
        self, *, key: Key, **options: Any
    ) -> Callable[[Callable[..., Awaitable[R]]], Callable[..., Awaitable[R]]]:
        """As ``Ledger.once``, for functions made with ``async def``."""

        def wrap(function: Callable[..., Awaitable[R]]) -> Callable[..., Awaitable[R]]:
            if not inspect.iscoroutinefunction(function):
                raise TypeError("this function is not asynchronous: wrap it with a Ledger")

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> R:
                name = key(*args, **kwargs) if callable(key) else key
                ran = await self.run(name, lambda held: function(*args, **kwargs), **options)
                return cast(R, ran.value)

            return wrapper

        return wrap

    async def close(self) -> None:
        """Wait for the calls under way. Later ones raise ``Closed``."""
        await asyncio.get_running_loop().run_in_executor(None, self._workers.close)

    async def __aenter__(self) -> "AsyncLedger":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _make(self, call: Call) -> object:
        return await asyncio.wrap_future(self._workers.submit(call))

    async def _hold(self, key: str, options: Options) -> AsyncHeld:
        begin, begun = await drive(self._workers, claim(key, options))
        return AsyncHeld(self._workers, key, options, begin, begun)
