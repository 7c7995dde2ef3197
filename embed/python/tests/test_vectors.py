"""The conformance vectors on the package's stores."""

import itertools
import unittest
from typing import Any, Callable, Optional

import vectors
from support import ROOT, RedisServer, quick_folder

from idempotency_ledger.stores.redis import RedisStore

FOLDER = ROOT / "host-tests/vectors"


class Vectors(unittest.TestCase):
    def test_in_memory(self) -> None:
        self.report("memory")

    def test_on_sqlite(self) -> None:
        self.report("sqlite")

    @unittest.skipUnless(RedisServer.PROGRAM, "there is no redis-server")
    def test_on_redis(self) -> None:
        with quick_folder() as place, RedisServer(place, "--save", "") as server:
            # A store for each scenario.
            numbers = itertools.count()
            self.report("Redis", lambda _: RedisStore(server.url, prefix=f"{next(numbers)}:"))

    def report(self, kind: str, open_store: Optional[Callable[[str], Any]] = None) -> None:
        with quick_folder() as place:
            scenarios, steps = vectors.run(FOLDER, open_store or vectors.STORES[kind], place)
        print(f"Python, {kind}: {scenarios} scenarios, {steps} steps", flush=True)
        self.assertGreater(scenarios, 0)

    def test_the_runner_sees_what_is_wrong(self) -> None:
        story = vectors.Scenario(vectors.MemoryStore())
        begin = {"call": "begin", "key": "k"}
        claim = {"token": "a", "expires-at-ms": 60_000, "attempt": 1}
        with self.assertRaises(vectors.Wrong):
            story.step({**begin, "expect": {"fresh": {**claim, "attempt": 2}}})
        story.step(
            {**begin, "expect": {"inflight": {"expires-at-ms": 60_000, "retry-after-ms": 60_000}}}
        )
        with self.assertRaises(vectors.Wrong):
            story.step({**begin, "lease": 1, "expect": "mismatch"})
        with self.assertRaises(vectors.Wrong):
            story.step({"parallel": [begin], "expect": [{"count": 2, "answer": "mismatch"}]})
        story.ledger.close()


if __name__ == "__main__":
    unittest.main()
