"""Four Python processes and the command `idempotency` on one SQLite file: each key is begun twelve
times by the processes, and has one claim and one outcome."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from typing import Any, Callable, Dict, List

from support import pick

from idempotency_ledger import (
    Contended,
    Done,
    Fresh,
    Ledger,
    OutcomeUnknown,
    SqliteStore,
    Unavailable,
)

PROCESSES = 4
BEGINS = 3  # of each process
KEYS = pick(100, 2_000)
COMMAND = os.environ.get("LEDGER_COMMAND")
COMMAND_KEYS = pick(20, 100)
REPEATS = 1_000


class Child:
    """One of the processes: begins every key a few times, and completes what it claimed."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        self.ledger = ledger
        self.name = name
        self.fresh: List[str] = []
        self.repeated = 0

    def until_answered(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """A store that many processes crowd may give up."""
        for _ in range(REPEATS):
            try:
                return call(*arguments, **options)
            except (Contended, OutcomeUnknown, Unavailable):
                self.repeated += 1
        raise SystemExit("never answered")

    def begin(self, key: str) -> None:
        answer = self.until_answered(self.ledger.begin, key, lease_ms=3_600_000)
        if isinstance(answer, Fresh):
            self.fresh.append(key)
            payload = f"{key} by {self.name}".encode()
            self.until_answered(self.ledger.complete, key, payload, token=answer.token)

    def run(self) -> None:
        for number in range(KEYS):
            for _ in range(BEGINS):
                self.begin(f"key {number}")
        print(json.dumps({"fresh": self.fresh, "repeated": self.repeated}))


class Processes(unittest.TestCase):
    def test_one_claim_and_one_outcome_each(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ledger.db")
            children = [
                subprocess.Popen([sys.executable, __file__, path, name], stdout=subprocess.PIPE)
                for name in map(str, range(PROCESSES))
            ]
            by_command = self.command(path) if COMMAND else []
            said = [json.loads(child.communicate()[0]) for child in children]
            claims = Counter(by_command)
            for one in said:
                claims.update(one["fresh"])
            self.check(path, claims)
        repeated = sum(one["repeated"] for one in said)
        print(
            f"{PROCESSES} processes, {KEYS} keys, each begun {PROCESSES * BEGINS} times: one claim "
            f"and one outcome each, {len(by_command)} by the command; {repeated} calls repeated",
            flush=True,
        )

    def command(self, path: str) -> List[str]:
        """The keys whose work the command ran, of some: the last ones first, so that it comes to
        some of them before the others."""
        for number in reversed(range(KEYS - COMMAND_KEYS, KEYS)):
            key = f"key {number}"
            run = [str(COMMAND), "--store", f"sqlite:{path}", "run", "--key", key, "--"]
            work = ["sh", "-c", f"echo '{key}' >> '{path}.ran'"]
            # Whether it ran or found the key taken: the file tells.
            subprocess.run(run + work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(path + ".ran", "a+") as file:
            file.seek(0)
            return file.read().splitlines()

    def check(self, path: str, claims: Dict[str, int]) -> None:
        store = SqliteStore(path)
        with Ledger(store) as ledger:
            for number in range(KEYS):
                key = f"key {number}"
                self.assertEqual(claims[key], 1, key)
                answer = ledger.begin(key)
                assert isinstance(answer, Done), f"{key}: {answer}"
                self.assertIsNotNone(answer.payload)
        store.close()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        Child(Ledger(SqliteStore(sys.argv[1])), sys.argv[2]).run()
    else:
        unittest.main()
