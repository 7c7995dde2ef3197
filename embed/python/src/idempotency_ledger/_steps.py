"""What `run` and its relatives do, step by step: calls to make and pauses between them. Those who
wait and those who await drive the same steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Generator, Optional, TypeVar, Union

from . import _plan, errors, types
from ._calls import Call

R = TypeVar("R")

# Pauses between two looks at a key that somebody else holds: the first, doubling, to the longest.
FIRST_LOOK_S = 0.02
LONGEST_LOOK_S = 1.0

# Attempts at a `begin` that is contended, whether the caller waits or not.
CONTENDED_ATTEMPTS = 5

# Attempts at a `complete`, and the pauses between them: the first, doubling, to the longest.
COMPLETE_ATTEMPTS = 12
FIRST_RETRY_S = 0.05
LONGEST_RETRY_S = 5.0

# Attempts at a `release`, and the pause between two. If they fail, the lease ends by itself.
RELEASE_ATTEMPTS = 3
RELEASE_PAUSE_S = 0.1

DEFAULT_LEASE_MS = 60_000

# To what length renewals double a lease, so that long work needs few of them.
LONGEST_LEASE_MS = 600_000

# A lease is renewed after this part of it, and after a failure once more after the smaller part,
# within these bounds.
RENEWED_AFTER = 3
RETRIED_AFTER = 15
SHORTEST_PAUSE_S = 0.005
LONGEST_PAUSE_S = 5.0


@dataclass(frozen=True)
class Sleep:
    """A pause."""

    seconds: float


Steps = Generator[Union[Call, Sleep], Any, R]


@dataclass(frozen=True)
class Options:
    """What `claim`, `run` and `once` take beside the key."""

    scope: Optional[str] = None
    lease_ms: Optional[int] = None
    ttl_ms: Optional[int] = None
    fingerprint: Optional[bytes] = None
    wait_ms: int = 0


class Lease:
    """When a claim ends at the latest, by this process's clock: counted from the issue of the call
    that granted it, so never too late."""

    def __init__(self, lease_ms: Optional[int], begun: float) -> None:
        self.lease_ms = DEFAULT_LEASE_MS if lease_ms is None else lease_ms
        self.lost: Optional[types.LostReason] = None
        self.granted(self.lease_ms, begun)

    def granted(self, lease_ms: int, asked: float) -> None:
        self.lease_ms = lease_ms
        self.end = asked + lease_ms / 1_000
        self.next = asked + lease_ms / 1_000 / RENEWED_AFTER

    def failed(self) -> None:
        pause = min(max(self.lease_ms / 1_000 / RETRIED_AFTER, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
        self.next = min(time.monotonic() + pause, self.end)

    def longer_ms(self) -> int:
        return max(self.lease_ms, min(self.lease_ms * 2, LONGEST_LEASE_MS))


def claim(key: str, options: Options) -> Steps["tuple[types.Begin, float]"]:
    """Claim the key, waiting for another holder for as long as the options say. The last answer,
    and when the call for it was issued."""
    begin = _plan.begin(key, options.scope, options.lease_ms, options.fingerprint)
    deadline = time.monotonic() + options.wait_ms / 1_000
    pause, contended = FIRST_LOOK_S, 0
    while True:
        begun = time.monotonic()
        left = deadline - begun
        try:
            answer = yield begin
        except errors.Contended as error:
            contended += 1
            if contended > CONTENDED_ATTEMPTS and left <= 0:
                raise
            yield Sleep(min(error.retry_after_ms / 1_000, LONGEST_LOOK_S))
            continue
        if not isinstance(answer, types.Inflight) or left <= 0:
            return answer, begun
        yield Sleep(min(pause, answer.retry_after_ms / 1_000, left))
        pause = min(pause * 2, LONGEST_LOOK_S)


def keep(key: str, token: int, scope: Optional[str], lease: Lease) -> Steps[None]:
    """Renew the claim until it is lost; whoever drives this stops it before."""
    while True:
        yield Sleep(max(lease.next - time.monotonic(), 0))
        asked, lease_ms = time.monotonic(), lease.longer_ms()
        try:
            answer = yield _plan.renew(key, token, scope, lease_ms)
        except errors.LedgerError:
            answer = None
        if isinstance(answer, types.Renewed):
            lease.granted(lease_ms, asked)
        elif isinstance(answer, types.Lost):
            lease.lost = answer.reason
            return
        elif time.monotonic() < lease.end:
            lease.failed()
        else:
            # As far as one can know.
            lease.lost = types.LostReason.EXPIRED
            return


def record(
    key: str, token: int, options: Options, payload: Optional[bytes], end: float
) -> Steps[Union[types.Done, types.Lost]]:
    """Complete the claim; where that fails for a reason that may pass, repeat it until ``end``."""
    complete = _plan.complete(key, payload, token, options.scope, options.ttl_ms, False)
    pause = FIRST_RETRY_S
    for attempt in range(1, COMPLETE_ATTEMPTS + 1):
        try:
            answer: types.Complete = yield complete
            if isinstance(answer, types.Recorded):
                return types.Done(payload, token, answer.completed_at_ms, answer.expires_at_ms)
            if answer.reason is not types.LostReason.ALREADY_DONE:
                return answer
            # It may be this one: an attempt whose outcome was unknown. Token and payload tell.
            entry = yield _plan.get(key, options.scope)
            if entry and entry.done and (entry.token, entry.payload) == (token, payload):
                return types.Done(payload, token, entry.completed_at_ms, entry.expires_at_ms)
            return answer
        except errors.Contended as error:
            wait = min(error.retry_after_ms / 1_000, LONGEST_RETRY_S)
            failure: errors.LedgerError = error
        except (errors.Unavailable, errors.OutcomeUnknown, errors.DeadlineExceeded) as error:
            wait, pause = pause, min(pause * 2, LONGEST_RETRY_S)
            failure = error
        if attempt == COMPLETE_ATTEMPTS or time.monotonic() + wait >= end:
            raise failure
        yield Sleep(wait)
    raise AssertionError("the last attempt answers or raises")


def give_back(key: str, token: int, scope: Optional[str]) -> Steps[None]:
    """Release the claim. Whether it works or not, there is nothing else to do."""
    for attempt in range(RELEASE_ATTEMPTS):
        try:
            yield _plan.release(key, token, scope)
            return
        except errors.LedgerError:
            if attempt + 1 < RELEASE_ATTEMPTS:
                yield Sleep(RELEASE_PAUSE_S)
