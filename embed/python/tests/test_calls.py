"""What the calls take and answer, beyond the vectors: bad input, units, payloads, closing."""

import os
import signal
import tempfile
import threading
import time
import unittest
from pathlib import Path

from support import ROOT, Clock, FaultyStore

import idempotency_ledger
from idempotency_ledger import (
    Closed,
    Done,
    Fresh,
    InvalidKey,
    InvalidLimit,
    InvalidTtl,
    Ledger,
    LedgerError,
    Lost,
    MemoryStore,
    PayloadTooLarge,
    Recorded,
)


class Calls(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.ledger = Ledger(MemoryStore(), clock=self.clock)
        self.addCleanup(self.ledger.close)

    def fresh(self, key: str, **options: object) -> Fresh:
        answer = self.ledger.begin(key, **options)  # type: ignore[arg-type]
        assert isinstance(answer, Fresh), answer
        return answer

    def test_sizes_are_counted_in_bytes(self) -> None:
        self.fresh("€" * 341 + "x")
        for key in ("", "€" * 341 + "xx", "k" * 1025, "k" * (64 << 20), "\ud800"):
            with self.assertRaises(InvalidKey):
                self.ledger.begin(key)
        for options in (
            {"scope": ""},
            {"scope": "s" * 257},
            {"scope": "\udfff"},
            {"fingerprint": b""},
            {"fingerprint": b"f" * 65},
        ):
            with self.assertRaises(InvalidKey):
                self.ledger.begin("k", **options)
        self.fresh("a\0b")

    def test_durations_are_milliseconds(self) -> None:
        self.assertEqual(self.fresh("default").expires_at_ms, 1_060_000)
        self.assertEqual(self.fresh("given", lease_ms=60_000).expires_at_ms, 1_060_000)
        done = self.ledger.complete("given", None)
        assert isinstance(done, Recorded)
        self.assertEqual(done.expires_at_ms, 87_400_000)
        for lease_ms in (0, -1, 2_592_000_001, 2**64 - 1, 2**64, 2**200, -(2**70)):
            with self.assertRaises(InvalidTtl, msg=str(lease_ms)):
                self.ledger.begin("k", lease_ms=lease_ms)
        for ttl_ms in (0, -1, 315_360_000_001, 2**64):
            with self.assertRaises(InvalidTtl, msg=str(ttl_ms)):
                self.ledger.complete("k", None, ttl_ms=ttl_ms)
        for limit in (0, -1, 10_001, 2**32, 2**70):
            with self.assertRaises(InvalidLimit, msg=str(limit)):
                self.ledger.purge(limit=limit)

    def test_other_types_are_refused(self) -> None:
        for call in (
            lambda: self.ledger.begin(b"k"),  # type: ignore[arg-type]
            lambda: self.ledger.begin(None),  # type: ignore[arg-type]
            lambda: self.ledger.begin("k", lease_ms=1.5),  # type: ignore[arg-type]
            lambda: self.ledger.begin("k", lease_ms=True),
            lambda: self.ledger.begin("k", lease_ms="1"),  # type: ignore[arg-type]
            lambda: self.ledger.begin("k", fingerprint="f"),  # type: ignore[arg-type]
            lambda: self.ledger.complete("k", "text"),  # type: ignore[arg-type]
            lambda: self.ledger.release("k", None),  # type: ignore[arg-type]
        ):
            self.assertRaises(TypeError, call)
        for token in (-1, 2**64):
            self.assertRaises(ValueError, self.ledger.release, "k", token)
        self.assertIsNone(self.ledger.get("k"))

    def test_tokens_keep_all_their_bits(self) -> None:
        self.assertIsInstance(self.ledger.release("k", 2**64 - 1), Lost)
        token = 2**61 + 1
        recorded = self.ledger.complete("k", b"", token=token, upsert_on_missing=True)
        assert isinstance(recorded, Recorded)
        self.assertEqual(recorded.token, token)
        entry = self.ledger.get("k")
        assert entry is not None
        self.assertEqual(entry.token, token)

    def test_payloads_come_back_byte_for_byte(self) -> None:
        largest = bytes(range(256)) * 2048
        payloads = [None, b"", b"null", b"0", b"\0\xff", b"9007199254740993", largest]
        for number, payload in enumerate(payloads):
            key = f"payload {number}"
            self.ledger.complete(key, payload, token=self.fresh(key).token)
            answer = self.ledger.begin(key)
            assert isinstance(answer, Done)
            self.assertEqual(answer.payload, payload)
        for view in (bytearray(b"x"), memoryview(b"x")):
            self.ledger.complete("view", view, upsert_on_missing=True)  # type: ignore[arg-type]
        claim = self.fresh("large")
        for size in (524_289, 64 << 20):
            with self.assertRaises(PayloadTooLarge) as caught:
                self.ledger.complete("large", b"x" * size, token=claim.token)
            self.assertEqual(caught.exception.limit_bytes, 524_288)
        answer = self.ledger.complete("large", b"x" * 524_288, token=claim.token)
        self.assertIsInstance(answer, Recorded)

    def test_a_closed_ledger_says_so(self) -> None:
        with Ledger(MemoryStore()) as ledger:
            ledger.begin("k")
        self.assertRaises(Closed, ledger.begin, "k")
        ledger.close()

    def test_the_component_is_that_of_the_other_hosts(self) -> None:
        carried = Path(idempotency_ledger.__file__).with_name("ledger-cas.wasm")
        built = ROOT / "target/components/ledger-cas.wasm"
        self.assertEqual(carried.read_bytes(), built.read_bytes())

    def test_a_file_that_is_no_ledger_is_refused(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            for content in (b"", b"\0asm\1\0\0\0", b"\0asm\x0d\0\1\0", b"\0asm\x0d\0\1\0\1\x7f"):
                file.seek(0)
                file.truncate()
                file.write(content)
                file.flush()
                with self.assertRaises(LedgerError):
                    Ledger(MemoryStore(), component=file.name)
        self.assertRaises(FileNotFoundError, Ledger, MemoryStore(), component="/nonexistent")
        self.assertRaises(ValueError, Ledger, MemoryStore(), threads=0)

    def test_many_threads_share_a_ledger(self) -> None:
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(self.ledger.begin("shared")))
            for _ in range(64)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(isinstance(answer, Fresh) for answer in answers), 1)
        self.assertEqual(len(answers), 64)

    def test_a_signal_cuts_no_call_short(self) -> None:
        # Ignored where the tests were started in the background.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        begun = threading.Event()

        def slow(name: str, number: int) -> None:
            begun.set()
            time.sleep(0.05)

        store = FaultyStore(slow)
        ledger = Ledger(store, clock=self.clock)
        self.addCleanup(ledger.close)

        def interrupt() -> None:
            begun.wait()
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            ledger.begin("k")
        # It went on to its end: one claim, and no one else's.
        store.fault = None
        deadline = time.monotonic() + 30
        while ledger.get("k") is None and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertNotIsInstance(ledger.begin("k"), Fresh)


if __name__ == "__main__":
    unittest.main()
