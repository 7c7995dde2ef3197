"""A store that raises in each of its calls, whatever it raises: the caller gets a typed error,
nothing is claimed by mistake, and the ledger works again as soon as the store does."""

import unittest
from typing import Optional

from support import Clock, FaultyStore, raise_always, raise_once

from idempotency_ledger import (
    AccessDenied,
    Fresh,
    Ledger,
    LedgerError,
    NoSuchStore,
    OutcomeUnknown,
    Recorded,
    StoreError,
    Unavailable,
)

CALLS = ("get", "set", "delete", "increment", "compare_and_swap")
HOURS_MS = 2 * 3600 * 1000


class Odd(BaseException):
    """No `Exception`: it cuts the call short."""


class NoText(Exception):
    def __str__(self) -> str:
        raise ValueError("not even this")


ERRORS = (
    StoreError("the disk is gone"),
    StoreError(""),
    StoreError("", "no-such-store"),
    StoreError("", "access-denied"),
    StoreError("an unknown kind", "odd"),
    OSError(28, "No space left on device"),
    ValueError("lone surrogate \ud800"),
    RuntimeError("x" * 100_000),
    NoText(),
    MemoryError(),
    KeyboardInterrupt(),
    SystemExit(3),
    Odd(),
)


class StoreFailures(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.store = FaultyStore()
        self.ledger = Ledger(self.store, clock=self.clock, threads=1)
        self.addCleanup(self.ledger.close)

    def live(self, key: str) -> None:
        """A key's life, with a purge that has work."""
        self.ledger.begin(f"expires {key}", lease_ms=1)
        claim = self.ledger.begin(key)
        assert isinstance(claim, Fresh), claim
        recorded = self.ledger.complete(key, b"x", token=claim.token, ttl_ms=1_000)
        assert isinstance(recorded, Recorded), recorded
        assert self.ledger.get(key) is not None
        self.ledger.purge()

    def fault(self, name: str, number: int, error: BaseException) -> Optional[LedgerError]:
        """Live with one failing call; what was raised, or `None` where that call was not made."""
        key = f"{name} {number} {type(error).__name__} {self.clock.now_ms}"
        self.store.counts.clear()
        self.store.fault = raise_once(name, number, error)
        raised: Optional[LedgerError] = None
        try:
            self.live(key)
        except LedgerError as found:
            raised = found
        reached = self.store.counts.get(name, 0) > number
        self.assertEqual(raised is not None, reached, f"{name} {number} {error!r}: {raised!r}")
        self.store.fault = None
        # A purge that failed leaves its lease.
        self.clock.now_ms += HOURS_MS
        self.live(f"after {key}")
        return raised

    def test_every_exception_in_every_call(self) -> None:
        self.live("before")
        self.clock.now_ms += HOURS_MS
        faults = 0
        for error in ERRORS:
            for name in CALLS:
                number = 0
                while True:
                    raised = self.fault(name, number, error)
                    if raised is None:
                        break
                    self.check(error, raised)
                    number += 1
                faults += number
                self.assertTrue(number > 0 or name == "delete", name)
        print(f"{faults} store failures", flush=True)

    def check(self, error: BaseException, raised: LedgerError) -> None:
        kinds = {"no-such-store": NoSuchStore, "access-denied": AccessDenied}
        expected = kinds.get(getattr(error, "kind", ""))
        self.assertIsInstance(raised, (expected or Unavailable, OutcomeUnknown))
        self.assertTrue(str(raised))

    def test_the_message_of_the_store_is_told(self) -> None:
        self.store.fault = raise_always(OSError(28, "No space left on device"))
        with self.assertRaises(Unavailable) as caught:
            self.ledger.begin("k")
        self.assertIn("OSError: [Errno 28] No space left on device", str(caught.exception))

    def test_what_cuts_a_call_short_is_its_cause(self) -> None:
        odd = Odd("from the store")
        self.store.fault = raise_always(odd)
        with self.assertRaises(OutcomeUnknown) as caught:
            self.ledger.begin("k")
        chain = []
        error: Optional[BaseException] = caught.exception
        while error is not None:
            chain.append(error)
            error = error.__cause__
        self.assertIn(odd, chain)
        with self.assertRaises(Unavailable):
            self.ledger.get("k")

    def test_a_value_that_does_not_fit_is_survived(self) -> None:
        class Huge(FaultyStore):
            def get(self, key: str):  # type: ignore[no-untyped-def]
                return (b"x" * (64 << 20), 1)

        with Ledger(Huge(), threads=1) as ledger:
            for _ in range(3):
                with self.assertRaises(LedgerError):
                    ledger.begin("k")

    def test_answers_of_a_wrong_type_are_errors(self) -> None:
        for name, answer in (
            ("get", 7),
            ("get", ("text", 1)),
            ("increment", "1"),
            ("increment", 2**70),
            ("increment", None),
        ):
            store = FaultyStore()
            setattr(store, name, lambda *_, answer=answer: answer)
            with Ledger(store, threads=1) as ledger:
                with self.assertRaises(LedgerError, msg=f"{name} {answer!r}"):
                    ledger.begin("k")

    def test_a_clock_that_fails_is_an_error(self) -> None:
        for answer in ("soon", None, -5, 1.5):
            with Ledger(FaultyStore(), clock=lambda answer=answer: answer, threads=1) as ledger:  # type: ignore[misc]
                with self.assertRaises(LedgerError, msg=repr(answer)):
                    ledger.begin("k")


if __name__ == "__main__":
    unittest.main()
