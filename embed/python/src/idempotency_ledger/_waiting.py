"""`claim`, `run` and `once` for callers that wait."""

from __future__ import annotations

import functools
import inspect
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, TypeVar, Union, cast

from . import types
from ._calls import Call
from ._held import Held, Outcome, current, outcome_of
from ._steps import Options, Sleep, Steps, claim, keep
from ._workers import Workers
from .codec import Codec, Form, JsonCodec

R = TypeVar("R")

Key = Union[str, Callable[..., str]]


class Stopped(Exception):
    """Whoever drove the steps was told to stop."""


def drive(workers: Workers, steps: Steps[R], stop: Optional[threading.Event] = None) -> R:
    """Make the calls and pauses, to the end or until ``stop`` is set."""

    def perform(step: Union[Call, Sleep]) -> Any:
        if isinstance(step, Call):
            return workers.submit(step).result()
        if stop is None:
            time.sleep(step.seconds)
        elif stop.wait(step.seconds):
            raise Stopped
        return None

    try:
        step = next(steps)
        while True:
            try:
                answer = perform(step)
            except Stopped:
                raise
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return cast(R, end.value)


class WaitingHeld(Held):
    """A claim in a ``with`` statement. It is renewed in the background, and given back if it was
    not completed; if the process dies, its lease ends by itself."""

    def __init__(self, workers: Workers, key: str, options: Options) -> None:
        begin, begun = drive(workers, claim(key, options))
        super().__init__(key, options, begin, begun)
        self._workers = workers
        self._stop = threading.Event()
        self._renewer: Optional[threading.Thread] = None
        self._completed = False
        if self._open():
            renewing = keep(key, self.token, options.scope, self._lease)
            self._renewer = threading.Thread(
                target=self._renew, args=(renewing,), name="idempotency-ledger-renew", daemon=True
            )
            self._renewer.start()

    def complete(self, payload: Optional[bytes] = None) -> types.Done:
        """Record the outcome, through a store that fails for a while if need be.

        Raises ``ClaimLost`` or ``NotRecorded``, with the payload as ``value``; after the latter the
        claim stays until its lease ends.
        """
        self._completed = True
        self._stop_renewing()
        return drive(self._workers, self._record(payload))

    def release(self) -> None:
        """Give the claim back, so that a retry need not wait."""
        self._stop_renewing()
        if self._open():
            self._lease.lost = types.LostReason.MISSING
            drive(self._workers, self._give_back())

    def close(self) -> None:
        """Stop renewing. A claim that nobody tried to complete is given back."""
        if self._completed:
            self._stop_renewing()
        else:
            self.release()

    def _renew(self, renewing: Steps[None]) -> None:
        try:
            drive(self._workers, renewing, self._stop)
        except Exception:
            # Stopped; or the ledger was closed, and then nobody can renew.
            pass

    def _stop_renewing(self) -> None:
        """Stop, after the renewal under way if there is one: the two must not meet."""
        self._stop.set()
        if self._renewer is not None:
            self._renewer.join()


class Runs:
    """What a ledger does around a piece of work."""

    _workers: Workers

    @contextmanager
    def claim(
        self,
        key: str,
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
        ttl_ms: Optional[int] = None,
        fingerprint: Optional[bytes] = None,
        wait_ms: int = 0,
    ) -> Iterator[WaitingHeld]:
        """Hold a key in a ``with`` statement.

        If ``outcome`` is ``None`` then, do the work and ``complete`` it. The claim is renewed
        meanwhile. Left without ``complete``, by an exception or not, the key is given back; after
        ``NotRecorded`` the claim stays until its lease ends. ``wait_ms``: how long to wait for
        another holder.

        Raises ``InProgress`` where somebody else holds the key, ``KeyReused`` where it belongs to
        another request, and what ``begin`` raises.
        """
        options = Options(scope, lease_ms, ttl_ms, fingerprint, wait_ms)
        held = WaitingHeld(self._workers, key, options)
        try:
            yield held
        finally:
            held.close()

    def run(
        self,
        key: str,
        work: Callable[[WaitingHeld], Any],
        *,
        scope: Optional[str] = None,
        lease_ms: Optional[int] = None,
        ttl_ms: Optional[int] = None,
        fingerprint: Optional[bytes] = None,
        wait_ms: int = 0,
        codec: Optional[Codec] = None,
        validate: Optional[Callable[[Any], Any]] = None,
    ) -> Outcome:
        """Run ``work`` at most once for ``key``, and answer its recorded outcome from then on.

        ``work`` is given the claim; what it answers is recorded by ``codec``, JSON unless set, and
        must pass ``validate`` before and after. Work that raises has its claim given back, so that
        a retry runs it again. The work can run again if this process dies, or the claim is lost
        otherwise: pass ``claim.token`` or the key on.

        Raises ``InProgress`` and ``KeyReused`` where the work did not run; ``NotRecorded``, with
        its value, where it ran and its outcome is not recorded; and what ``begin`` raises.
        """
        form = Form(codec or JsonCodec(), validate)
        options = Options(scope, lease_ms, ttl_ms, fingerprint, wait_ms)
        held = WaitingHeld(self._workers, key, options)
        if held.outcome is not None:
            return outcome_of(form.read(held.outcome.payload), True, held.outcome)
        token = current.set(held)
        try:
            value = work(held)
        except BaseException:
            held.release()
            raise
        finally:
            current.reset(token)
        try:
            payload, value = form.write(value, held.claim)
            return outcome_of(value, False, held.complete(payload))
        finally:
            held._stop_renewing()

    def once(self, *, key: Key, **options: Any) -> Callable[[Callable[..., R]], Callable[..., R]]:
        """Wrap a function so that it runs at most once per key: ``key`` is the key, or answers it
        for the arguments of a call. Other options as for ``run``. Within the function,
        ``current_claim()`` is its claim."""

        def wrap(function: Callable[..., R]) -> Callable[..., R]:
            if inspect.iscoroutinefunction(function):
                raise TypeError("this function is asynchronous: wrap it with an AsyncLedger")

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> R:
                name = key(*args, **kwargs) if callable(key) else key
                ran = self.run(name, lambda held: function(*args, **kwargs), **options)
                return cast(R, ran.value)

            return wrapper

        return wrap
