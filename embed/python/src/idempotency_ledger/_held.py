"""A claim while its work runs: kept alive, and never left behind."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Optional

from . import errors, types
from ._steps import Lease, Options, Steps, give_back, record

current: ContextVar[Optional["Held"]] = ContextVar("idempotency_ledger_claim", default=None)


def current_claim() -> "Held":
    """The claim under which this work runs, within a function that ``once`` wraps.

    Raises ``LookupError`` elsewhere.
    """
    held = current.get()
    if held is None:
        raise LookupError("no work of a ledger is running here")
    return held


@dataclass(frozen=True)
class Outcome:
    """Of ``run``: what the work answered, now or then."""

    value: Any
    replayed: bool
    """It was done before; the work did not run now."""
    token: int
    completed_at_ms: int
    expires_at_ms: int


def outcome_of(value: Any, replayed: bool, done: types.Done) -> Outcome:
    return Outcome(value, replayed, done.token, done.completed_at_ms, done.expires_at_ms)


class Held:
    """A claim, or the outcome that was found in its place."""

    def __init__(self, key: str, options: Options, begin: types.Begin, begun: float) -> None:
        if isinstance(begin, types.Inflight):
            raise errors.InProgress(begin.retry_after_ms)
        if isinstance(begin, types.Mismatch):
            raise errors.KeyReused()
        self.key = key
        """The claimed key."""
        self.claim: Optional[types.Fresh] = begin if isinstance(begin, types.Fresh) else None
        """The claim as it was made; ``None`` where an outcome was found."""
        self.token = begin.token
        """Pass it to whatever the work calls, so that it can refuse late workers."""
        self.attempt = self.claim.attempt if self.claim else 0
        """Above 1: an earlier holder failed or vanished, and its work may have happened."""
        self.outcome: Optional[types.Done] = begin if isinstance(begin, types.Done) else None
        """What is recorded; ``None`` while it is yours to do."""
        self._options = options
        self._lease = Lease(options.lease_ms, begun)

    @property
    def lost(self) -> Optional[types.LostReason]:
        """Why the claim is no longer this worker's; ``None`` while it is. For good: long work looks
        here from time to time, and stops."""
        return self._lease.lost

    def _open(self) -> bool:
        """Whether the claim is still to be ended."""
        return self.outcome is None and self.lost is None

    def _record(self, payload: Optional[bytes]) -> Steps[types.Done]:
        if self.outcome is not None:
            raise errors.ClaimLost(types.LostReason.ALREADY_DONE, payload)
        if self.lost is not None:
            raise errors.ClaimLost(self.lost, payload)
        try:
            answer = yield from record(
                self.key, self.token, self._options, payload, self._lease.end
            )
        except errors.LedgerError as error:
            why = f"the outcome could not be recorded: {error}"
            raise errors.NotRecorded(why, payload, self.claim) from error
        if isinstance(answer, types.Lost):
            self._lease.lost = answer.reason
            raise errors.ClaimLost(answer.reason, payload)
        self.outcome = answer
        return answer

    def _give_back(self) -> Steps[None]:
        return give_back(self.key, self.token, self._options.scope)
