"""The contract of a store, on every store of this package; and what is special about each."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any

from support import RedisServer, pick

from idempotency_ledger import (
    Done,
    Fresh,
    Ledger,
    MemoryStore,
    OutcomeUnknown,
    SqliteStore,
    StoreError,
    Unavailable,
)
from idempotency_ledger.stores.redis import RedisStore


class Contract:
    """What every store promises."""

    store: Any

    def test_values(self: Any) -> None:
        store = self.store
        for key in ("k", "k" * 1024, "a\0b", "é€", "}:k:", "{x}"):
            for value in (b"", b"\0\xff", b"x" * (1 << 20)):
                store.set(key, value)
                self.assertEqual(store.get(key).value, value)
            store.delete(key)
            self.assertIsNone(store.get(key))
        store.delete("never made")
        for key in ("", "k" * 1025):
            self.assertRaises(StoreError, store.get, key)
            self.assertRaises(StoreError, store.set, key, b"")

    def test_counters(self: Any) -> None:
        store = self.store
        self.assertEqual([store.increment("c", delta) for delta in (5, -7, 0)], [5, -2, -2])
        self.assertEqual(store.get("c").value, (-2).to_bytes(8, "little", signed=True))
        for start, delta in ((2**63 - 1, 1), (-(2**63), -1)):
            key = f"full {delta}"
            self.assertEqual(store.increment(key, start), start)
            self.assertRaises(StoreError, store.increment, key, delta)
            self.assertEqual(store.increment(key, 0), start)

    def test_a_key_stays_what_it_is(self: Any) -> None:
        store = self.store
        store.set("value", b"12345678")
        store.increment("counter", 1)
        version = store.get("counter").version
        self.assertRaises(StoreError, store.increment, "value", 1)
        self.assertRaises(StoreError, store.set, "counter", b"")
        for expected in (None, version):
            self.assertRaises(StoreError, store.compare_and_swap, "counter", expected, b"")
        self.assertEqual(store.get("value").value, b"12345678")
        self.assertEqual(store.increment("counter", 1), 2)

    def test_versions_never_recur(self: Any) -> None:
        store, last = self.store, 0
        for _ in range(3):
            self.assertTrue(store.compare_and_swap("k", None, b"1"))
            first = store.get("k").version
            self.assertFalse(store.compare_and_swap("k", None, b"2"))
            self.assertFalse(store.compare_and_swap("k", first - 1, b"2"))
            self.assertTrue(store.compare_and_swap("k", first, b"2"))
            second = store.get("k").version
            self.assertTrue(last < first < second)
            store.delete("k")
            self.assertFalse(store.compare_and_swap("k", second, b"3"))
            last = second

    def test_races(self: Any) -> None:
        store, swapped, sums = self.store, [], []

        def race() -> None:
            barrier.wait()
            sums.append(store.increment("c", 1))
            swapped.append(store.compare_and_swap("k", None, b""))

        barrier = threading.Barrier(8)
        threads = [threading.Thread(target=race) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(sums), list(range(1, 9)))
        self.assertEqual(swapped.count(True), 1)

    def test_the_ledger_finds_it_sound(self: Any) -> None:
        with Ledger(self.store) as ledger:
            report = ledger.check_store()
            self.assertTrue(report.sound, report)


class Memory(Contract, unittest.TestCase):
    def setUp(self) -> None:
        self.store = MemoryStore()


class Sqlite(Contract, unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "made", "ledger.db")
        self.store = SqliteStore(self.path)
        self.addCleanup(self.store.close)

    def test_the_settings(self) -> None:
        connection = sqlite3.connect(self.path)
        pragma = lambda name: connection.execute(f"PRAGMA {name}").fetchone()[0]  # noqa: E731
        self.assertEqual(pragma("journal_mode"), "wal")
        self.assertEqual((pragma("application_id"), pragma("user_version")), (0x696C6564, 1))
        connection.close()

    def test_other_files_are_refused(self) -> None:
        foreign, newer, text = (self.path + end for end in ("-foreign", "-newer", "-text"))
        connection = sqlite3.connect(foreign)
        connection.execute("CREATE TABLE mine (a)")
        connection.close()
        connection = sqlite3.connect(newer)
        connection.execute("PRAGMA application_id = 1768711524")
        connection.execute("PRAGMA user_version = 2")
        connection.close()
        with open(text, "w") as file:
            file.write("no database, but long enough to be looked at" * 10)
        for path in (foreign, newer, text, self.path + "/below/a/file"):
            with self.assertRaises(StoreError) as caught:
                SqliteStore(path)
            self.assertIn(path, str(caught.exception))

    def test_a_locked_file_fails_and_changes_nothing(self) -> None:
        other = sqlite3.connect(self.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with Ledger(self.store) as ledger:
            self.assertIsNone(ledger.get("k"))
            with self.assertRaises((Unavailable, OutcomeUnknown)):
                ledger.begin("k")
            other.execute("ROLLBACK")
            self.assertIsInstance(ledger.begin("k"), Fresh)
        other.close()

    def test_a_child_after_a_fork_goes_on(self) -> None:
        with Ledger(self.store) as ledger:
            ledger.begin("parent")
            child = os.fork()
            if child == 0:
                # Whatever happens, the child must not run the parent's tests.
                code = 1
                try:
                    fresh = isinstance(ledger.begin("child"), Fresh)
                    code = 0 if fresh and ledger.get("parent") is not None else 2
                finally:
                    os._exit(code)
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)
            self.assertNotIsInstance(ledger.begin("child"), Fresh)
            self.assertIsInstance(ledger.begin("after"), Fresh)

    def test_an_outcome_outlives_kill_9(self) -> None:
        program = (
            "import os, sys; from idempotency_ledger import *\n"
            "ledger = Ledger(SqliteStore(sys.argv[1]))\n"
            "ledger.complete('k', b'x', token=ledger.begin('k').token)\n"
            "os.kill(os.getpid(), 9)\n"
        )
        subprocess.run([sys.executable, "-c", program, self.path], check=False)
        with Ledger(self.store) as ledger:
            answer = ledger.begin("k")
        assert isinstance(answer, Done), answer
        self.assertEqual(answer.payload, b"x")


@unittest.skipUnless(RedisServer.PROGRAM, "there is no redis-server")
class Redis(Contract, unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server = RedisServer(folder.name, "--appendonly", "yes")
        self.addCleanup(self.server.stop)
        self.store = RedisStore(self.server.url, prefix="p:")
        self.addCleanup(self.store.close)

    def test_a_server_that_goes_away_and_comes_back(self) -> None:
        # Otherwise what was answered last may be lost with the process.
        self.store._client.config_set("appendfsync", "always")
        with Ledger(self.store) as ledger:
            claim = ledger.begin("k")
            assert isinstance(claim, Fresh)
            ledger.complete("k", b"x", token=claim.token)
            self.server.stop()
            with self.assertRaises((Unavailable, OutcomeUnknown)):
                ledger.begin("other")
            self.server.start("--appendonly", "yes", "--appendfsync", "always")
            deadline, answer = time.monotonic() + 60, None
            while answer is None and time.monotonic() < deadline:
                try:
                    answer = ledger.begin("k")
                except (Unavailable, OutcomeUnknown):
                    time.sleep(0.05)
        assert isinstance(answer, Done), answer
        self.assertEqual(answer.payload, b"x")

    def test_servers_that_cannot_keep_it_are_refused(self) -> None:
        url = self.server.url
        with self.assertRaises(StoreError) as caught:
            RedisStore(url, fsync_always=True)
        self.assertIn("appendfsync", str(caught.exception))
        self.store._client.config_set("maxmemory-policy", "allkeys-lru")
        with self.assertRaises(StoreError) as caught:
            RedisStore(url)
        self.assertIn("noeviction", str(caught.exception))
        self.assertRaises(ValueError, RedisStore, url, prefix="{}")
        self.server.stop()
        self.assertRaises(StoreError, RedisStore, url)

    def test_a_password_is_not_told(self) -> None:
        self.store._client.config_set("requirepass", "secret")
        with self.assertRaises(StoreError) as caught:
            RedisStore(f"redis://:wrongsecret@127.0.0.1:{self.server.port}/0")
        self.assertNotIn("secret", str(caught.exception))
        RedisStore(f"redis://:secret@127.0.0.1:{self.server.port}/0").close()

    def test_many_calls(self) -> None:
        with Ledger(self.store) as ledger:
            for number in range(pick(50, 2_000)):
                key = f"key {number}"
                claim = ledger.begin(key)
                assert isinstance(claim, Fresh)
                ledger.complete(key, b"x", token=claim.token)
                self.assertIsInstance(ledger.begin(key), Done)


if __name__ == "__main__":
    unittest.main()
