"""`run`, `claim` and `once`: the whole life of a claim around a piece of work."""

import threading
import time
import unittest
from typing import Any, List

from support import Clock, FaultyStore, raise_always

from idempotency_ledger import (
    BytesCodec,
    ClaimLost,
    Fresh,
    InProgress,
    KeyReused,
    Ledger,
    LostReason,
    NotRecorded,
    ResultRefused,
    StoreError,
    Unavailable,
    Unreadable,
    current_claim,
)


class Runs(unittest.TestCase):
    def setUp(self) -> None:
        self.store = FaultyStore()
        self.ledger = Ledger(self.store)
        self.addCleanup(self.ledger.close)
        self.ran: List[Any] = []

    def work(self, value: Any) -> Any:
        def work(held: Any) -> Any:
            self.ran.append(held.token)
            return value

        return work

    def test_work_runs_once(self) -> None:
        first = self.ledger.run("k", self.work({"charged": 1999}))
        again = self.ledger.run("k", self.work("something else"))
        self.assertEqual((first.value, first.replayed), ({"charged": 1999}, False))
        self.assertEqual((again.value, again.replayed), ({"charged": 1999}, True))
        self.assertEqual(first.token, again.token)
        self.assertEqual(len(self.ran), 1)

    def test_values_stay_what_they_are(self) -> None:
        for value in (0, False, "", [], {}, None, 2**53 + 1, 2**200, "€\0", [1.5, {"a": None}]):
            key = f"value {value!r}"[:200]
            for _ in range(2):
                self.assertEqual(self.ledger.run(key, self.work(value)).value, value)
        # As it will be read from then on, the first time too.
        self.assertEqual(self.ledger.run("tuple", self.work((1, 2))).value, [1, 2])

    def test_a_result_that_cannot_be_written_leaves_the_claim(self) -> None:
        for value in (float("nan"), float("inf"), object(), {1, 2}, "\ud800"):
            key = f"refused {value!r}".encode("ascii", "replace").decode()
            with self.assertRaises(ResultRefused) as caught:
                self.ledger.run(key, self.work(value))
            self.assertIs(caught.exception.value, value)
            claim = caught.exception.claim
            assert claim is not None
            self.ledger.complete(key, b"by hand", token=claim.token)
            outcome = self.ledger.run(key, self.work(0), codec=BytesCodec())
            self.assertEqual(outcome.value, b"by hand")
            with self.assertRaises(Unreadable):
                self.ledger.run(key, self.work(0))

    def test_a_validator_is_asked_both_ways(self) -> None:
        def even(value: int) -> int:
            if value % 2:
                raise ValueError("odd")
            return value

        with self.assertRaises(ResultRefused):
            self.ledger.run("odd", self.work(3), validate=even)
        self.ledger.run("stored", self.work(3))
        with self.assertRaises(Unreadable):
            self.ledger.run("stored", self.work(0), validate=even)
        self.assertEqual(self.ledger.run("even", self.work(4), validate=even).value, 4)

    def test_work_that_fails_gives_the_key_back(self) -> None:
        for error in (OSError, KeyboardInterrupt):

            def fail(held: Any, error: Any = error) -> None:
                raise error("no bank")

            self.assertRaises(error, self.ledger.run, "k", fail)
        outcome = self.ledger.run("k", lambda held: held.attempt)
        self.assertEqual((outcome.value, outcome.replayed), (3, False))

    def test_who_comes_meanwhile_is_told(self) -> None:
        with self.ledger.claim("k", fingerprint=b"one") as held:
            with self.assertRaises(InProgress) as caught:
                self.ledger.run("k", self.work(1))
            self.assertTrue(1 <= caught.exception.retry_after_ms <= 60_000)
            with self.assertRaises(KeyReused):
                self.ledger.run("k", self.work(1), fingerprint=b"two")
            held.complete(b"1")
        self.assertEqual(self.ledger.run("k", self.work(2)).value, 1)
        self.assertEqual(self.ran, [])

    def test_who_waits_gets_the_outcome(self) -> None:
        held = threading.Event()

        def slow(claim: Any) -> str:
            held.set()
            time.sleep(0.3)
            return "done"

        thread = threading.Thread(target=self.ledger.run, args=("k", slow))
        thread.start()
        held.wait()
        outcome = self.ledger.run("k", self.work("again"), wait_ms=60_000)
        thread.join()
        self.assertEqual((outcome.value, outcome.replayed), ("done", True))

    def test_a_claim_in_a_with_statement(self) -> None:
        with self.ledger.claim("k", ttl_ms=1_000) as held:
            self.assertIsNone(held.outcome)
            self.assertEqual(held.attempt, 1)
            done = held.complete(b"payload")
            self.assertEqual(done.expires_at_ms - done.completed_at_ms, 1_000)
            with self.assertRaises(ClaimLost):
                held.complete(b"other")
        with self.ledger.claim("k") as held:
            assert held.outcome is not None
            self.assertEqual(held.outcome.payload, b"payload")
        with self.ledger.claim("left"):
            pass
        with self.assertRaises(ZeroDivisionError), self.ledger.claim("left"):
            raise ZeroDivisionError
        answer = self.ledger.begin("left")
        assert isinstance(answer, Fresh)
        self.assertEqual(answer.attempt, 3)

    def test_a_function_runs_once_per_key(self) -> None:
        @self.ledger.once(key=lambda order, cents: f"charge-{order}")
        def charge(order: str, cents: int) -> int:
            """Charge a card."""
            self.ran.append(current_claim().token)
            return cents

        self.assertEqual([charge("1", 5), charge("1", 6), charge("2", cents=7)], [5, 5, 7])
        self.assertEqual(len(self.ran), 2)
        self.assertEqual(charge.__doc__, "Charge a card.")
        self.assertRaises(LookupError, current_claim)

        async def asynchronous() -> None: ...

        self.assertRaises(TypeError, self.ledger.once(key="k"), asynchronous)


class Failing(unittest.TestCase):
    """The claim is lost, or the store fails, while the work runs."""

    def setUp(self) -> None:
        self.clock, self.store = Clock(), FaultyStore()
        self.ledger = Ledger(self.store, clock=self.clock)
        self.addCleanup(self.ledger.close)

    def test_long_work_keeps_its_claim(self) -> None:
        def long(held: Any) -> int:
            # The ledger's clock stands still, so what grows is the lease.
            deadline, expires_at_ms = time.monotonic() + 60, 0
            while expires_at_ms < self.clock.now_ms + 1_200 and time.monotonic() < deadline:
                time.sleep(0.01)
                entry = self.ledger.get("k")
                assert entry is not None
                expires_at_ms = entry.expires_at_ms
            return expires_at_ms - self.clock.now_ms

        outcome = self.ledger.run("k", long, lease_ms=300)
        # Each renewal doubles it.
        self.assertIn(outcome.value, (1_200, 2_400, 4_800))

    def test_a_late_worker_records_nothing(self) -> None:
        def late(held: Any) -> str:
            self.clock.now_ms += 61_000
            self.ledger.begin("k")
            return "late"

        with self.assertRaises(ClaimLost) as caught:
            self.ledger.run("k", late)
        self.assertIs(caught.exception.reason, LostReason.SUPERSEDED)
        entry = self.ledger.get("k")
        assert entry is not None
        self.assertFalse(entry.done)

    def test_a_lost_claim_is_told_to_the_work(self) -> None:
        def long(held: Any) -> str:
            self.clock.now_ms += 61_000
            self.ledger.begin("k")
            deadline = time.monotonic() + 60
            while held.lost is None and time.monotonic() < deadline:
                time.sleep(0.01)
            return str(held.lost)

        with self.assertRaises(ClaimLost) as caught:
            self.ledger.run("k", long, lease_ms=300)
        self.assertIs(caught.exception.reason, LostReason.SUPERSEDED)

    def test_an_outcome_is_recorded_through_a_failing_store(self) -> None:
        def work(held: Any) -> str:
            failures = 3

            def fault(name: str, number: int) -> None:
                nonlocal failures
                if name == "compare_and_swap" and failures:
                    failures -= 1
                    raise StoreError("for a while")

            self.store.fault = fault
            return "done"

        self.assertFalse(self.ledger.run("k", work).replayed)
        self.assertTrue(self.ledger.run("k", work).replayed)

    def test_a_swap_whose_answer_was_lost_is_known_again(self) -> None:
        def work(held: Any) -> str:
            swap = self.store.inner.compare_and_swap

            def lose(key: str, expected: Any, value: bytes) -> bool:
                del self.store.inner.compare_and_swap  # type: ignore[attr-defined]
                swap(key, expected, value)
                raise StoreError("the answer was lost")

            self.store.inner.compare_and_swap = lose  # type: ignore[method-assign]
            return "done"

        self.assertEqual(self.ledger.run("k", work).value, "done")

    def test_a_store_that_stays_away_is_told(self) -> None:
        def work(held: Any) -> str:
            self.store.fault = raise_always(StoreError("away"))
            return "done"

        with self.assertRaises(NotRecorded) as caught:
            self.ledger.run("k", work, lease_ms=500)
        self.assertEqual(caught.exception.value, b'"done"')
        self.assertIsNotNone(caught.exception.claim)
        with self.assertRaises(Unavailable):
            self.ledger.run("k", work)
        self.store.fault = None
        entry = self.ledger.get("k")
        assert entry is not None
        self.assertFalse(entry.done)


if __name__ == "__main__":
    unittest.main()
