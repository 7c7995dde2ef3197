"""The ledger for asyncio."""

import asyncio
import time
import unittest
from typing import Any

from support import Clock, FaultyStore

from idempotency_ledger import (
    AsyncLedger,
    Done,
    Fresh,
    Inflight,
    InProgress,
    MemoryStore,
    Recorded,
    current_claim,
)


class Async(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.store = FaultyStore()
        self.ledger = AsyncLedger(self.store)

    async def asyncTearDown(self) -> None:
        await self.ledger.close()

    async def test_every_call(self) -> None:
        claim = await self.ledger.begin("k", lease_ms=1_000)
        assert isinstance(claim, Fresh)
        self.assertIsInstance(await self.ledger.begin("k"), Inflight)
        await self.ledger.renew("k", claim.token)
        recorded = await self.ledger.complete("k", b"x", token=claim.token)
        self.assertIsInstance(recorded, Recorded)
        answer = await self.ledger.begin("k")
        assert isinstance(answer, Done)
        entry = await self.ledger.get("k")
        assert entry is not None and entry.done
        await self.ledger.release("other", 1)
        await self.ledger.forget("k", claim.token)
        self.assertIsNone(await self.ledger.get("k"))
        self.assertFalse((await self.ledger.purge()).more)
        self.assertTrue((await self.ledger.check_store()).sound)

    async def test_one_of_many_tasks_is_fresh(self) -> None:
        answers = await asyncio.gather(*(self.ledger.begin("k") for _ in range(64)))
        self.assertEqual(sum(isinstance(answer, Fresh) for answer in answers), 1)

    async def test_a_slow_store_does_not_stop_the_loop(self) -> None:
        self.store.fault = lambda name, number: time.sleep(0.05)
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.005)

        beating = asyncio.ensure_future(beat())
        await self.ledger.begin("k")
        beating.cancel()
        self.assertGreater(beats, 3)

    async def test_work_runs_once(self) -> None:
        ran = 0

        @self.ledger.once(key=lambda order: f"charge-{order}")
        async def charge(order: int) -> Any:
            nonlocal ran
            ran += 1
            self.assertEqual(current_claim().attempt, 1)
            return {"order": order}

        self.assertEqual([await charge(1), await charge(1)], [{"order": 1}] * 2)
        self.assertEqual(ran, 1)
        self.assertRaises(TypeError, self.ledger.once(key="k"), lambda: None)

    async def test_long_work_keeps_its_claim(self) -> None:
        clock = Clock()

        async def long(held: Any) -> int:
            # The ledger's clock stands still, so what grows is the lease.
            for _ in range(6_000):
                entry = await ledger.get("k")
                assert entry is not None
                if entry.expires_at_ms >= clock.now_ms + 1_200:
                    break
                await asyncio.sleep(0.01)
            return entry.expires_at_ms - clock.now_ms

        async with AsyncLedger(MemoryStore(), clock=clock) as ledger:
            outcome = await ledger.run("k", long, lease_ms=300)
        self.assertIn(outcome.value, (1_200, 2_400, 4_800))

    async def test_work_that_is_cancelled_gives_the_key_back(self) -> None:
        started = asyncio.Event()

        async def slow(held: Any) -> None:
            started.set()
            await asyncio.sleep(600)

        running = asyncio.ensure_future(self.ledger.run("k", slow))
        await started.wait()
        with self.assertRaises(InProgress):
            await self.ledger.run("k", slow)
        running.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await running
        self.assertIsNone(await self.ledger.get("k"))

    async def test_a_cancelled_caller_cuts_no_recording_short(self) -> None:
        async with self.ledger.claim("k") as held:
            self.store.fault = lambda name, number: time.sleep(0.05)
            completing = asyncio.ensure_future(held.complete(b"x"))
            await asyncio.sleep(0.02)
            completing.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await completing
        self.store.fault = None
        for _ in range(600):
            entry = await self.ledger.get("k")
            if entry is not None and entry.done:
                break
            await asyncio.sleep(0.05)
        assert entry is not None
        self.assertEqual(entry.payload, b"x")

    async def test_a_claim_in_a_with_statement(self) -> None:
        async with self.ledger.claim("k") as held:
            await held.complete(None)
        async with self.ledger.claim("k") as held:
            assert held.outcome is not None
            self.assertIsNone(held.outcome.payload)
        async with self.ledger.claim("left"):
            pass
        self.assertIsNone(await self.ledger.get("left"))

    async def test_a_ledger_in_a_with_statement(self) -> None:
        async with AsyncLedger(MemoryStore()) as ledger:
            self.assertIsInstance(await ledger.begin("k"), Fresh)


if __name__ == "__main__":
    unittest.main()
