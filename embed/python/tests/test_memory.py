"""The process does not grow: after many pairs of calls it holds about what it held before."""

import gc
import unittest

from support import pick

from idempotency_ledger import Fresh, Ledger, MemoryStore, OutcomeUnknown

PAIRS = pick(5_000, 100_000)
WARM_UP = 1_000
MOST_BYTES = 20 << 20


def resident_bytes() -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


class Forgetful(MemoryStore):
    """Keeps the last few records only: what grows here is the store, by 2 KB a key."""

    def compare_and_swap(self, key, expected, value):  # type: ignore[no-untyped-def]
        if len(self._entries) > 500:
            self._entries = {
                name: entry for name, entry in self._entries.items() if not name.startswith("il.r.")
            }
        return super().compare_and_swap(key, expected, value)

    def set(self, key, value):  # type: ignore[no-untyped-def]
        # The index, which nobody reads here.
        if not key.startswith("il.e."):
            super().set(key, value)


class Memory(unittest.TestCase):
    def test_it_stays(self) -> None:
        with Ledger(Forgetful(), threads=2) as ledger:
            before = 0
            for number in range(PAIRS):
                if number == WARM_UP:
                    gc.collect()
                    before = resident_bytes()
                key = f"key {number}"
                claim = ledger.begin(key)
                assert isinstance(claim, Fresh)
                ledger.complete(key, b"x" * 100, token=claim.token)
            gc.collect()
            grown = resident_bytes() - before
        print(f"{PAIRS} pairs: {grown / 1024:.0f} KB more than after {WARM_UP}", flush=True)
        self.assertLess(grown, MOST_BYTES)

    def test_replaced_instances_are_given_back(self) -> None:
        class Huge(MemoryStore):
            def get(self, key):  # type: ignore[no-untyped-def]
                raise KeyboardInterrupt

        with Ledger(Huge(), threads=1) as ledger:
            before = 0
            for number in range(pick(300, 3_000)):
                if number == 100:
                    gc.collect()
                    before = resident_bytes()
                self.assertRaises(OutcomeUnknown, ledger.begin, "k")
            gc.collect()
            grown = resident_bytes() - before
        print(f"replaced instances: {grown / 1024:.0f} KB more", flush=True)
        self.assertLess(grown, MOST_BYTES)


if __name__ == "__main__":
    unittest.main()
