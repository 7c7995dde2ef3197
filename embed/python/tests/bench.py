"""How long a begin and a complete take together, over the store in memory.

python bench.py [PAIRS]
"""

import statistics
import sys
import time

from idempotency_ledger import Fresh, Ledger, MemoryStore


def main(pairs: int) -> None:
    for size in (0, 100, 1_000, 65_536):
        payload, took_us = b"x" * size, []
        with Ledger(MemoryStore()) as ledger:
            for number in range(pairs):
                key = f"order {number}"
                start = time.perf_counter_ns()
                claim = ledger.begin(key)
                assert isinstance(claim, Fresh)
                ledger.complete(key, payload, token=claim.token)
                took_us.append((time.perf_counter_ns() - start) / 1_000)
        median, least = statistics.median(took_us), min(took_us)
        print(f"Python, memory, {size:6} bytes: median {median:.0f} us, least {least:.0f} us")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
