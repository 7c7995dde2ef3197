"""A runner of the conformance vectors; `host-tests/vectors/README.md` has their format.

python vectors.py FOLDER [memory|sqlite]
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from idempotency_ledger import Ledger, LedgerError, MemoryStore, SqliteStore, types

STRATEGY = "cas"
STEP_KEYS = {"at_ms", "expect", "call", "parallel", "store_set", "store_absent"}


class Wrong(Exception):
    """A vector, or an answer, is not as it should be."""


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


# Arguments as a vector writes them.


def read_text(spec: Any) -> str:
    return spec if isinstance(spec, str) else spec["repeat"][0] * spec["repeat"][1]


def read_bytes(spec: Dict[str, Any]) -> bytes:
    ((form, value),) = spec.items()
    if form == "text":
        return value.encode()
    return bytes.fromhex(value) if form == "hex" else (value[0] * value[1]).encode()


class Tokens(dict):
    """What the names of tokens stand for: each gets its value where it is first met."""

    def value(self, spec: Any) -> int:
        if isinstance(spec, dict):
            return self.value(spec["of"]) + spec["plus"]
        return self[spec] if isinstance(spec, str) else spec

    def fit(self, expected: Any, got: Any) -> bool:
        if isinstance(expected, dict) and isinstance(got, dict):
            if "hex" in got:
                return read_bytes(expected).hex() == got["hex"]
            return expected.keys() == got.keys() and all(
                self.fit_token(expected[name], got[name])
                if name == "token"
                else self.fit(expected[name], got[name])
                for name in expected
            )
        if isinstance(expected, dict) and type(got) is int and expected.keys() == {"from", "to"}:
            return expected["from"] <= got <= expected["to"]
        return type(expected) is type(got) and expected == got

    def fit_token(self, expected: Any, got: int) -> bool:
        if isinstance(expected, str):
            return self.setdefault(expected, got) == got
        return self.value(expected) == got


# Calls, and answers in the words of the WIT.

ARGUMENTS: Dict[str, Any] = {
    "key": read_text,
    "scope": read_text,
    "lease_ms": int,
    "ttl_ms": int,
    "before_ms": int,
    "limit": int,
    "fingerprint": bytes.fromhex,
    "payload": read_bytes,
    "upsert_on_missing": bool,
}


def resolve(step: Dict[str, Any], tokens: Tokens) -> Tuple[str, Dict[str, Any]]:
    given: Dict[str, Any] = {}
    for name, value in step.items():
        if name == "token":
            given[name] = None if value is None else tokens.value(value)
        elif name in ARGUMENTS:
            given[name] = None if value is None else ARGUMENTS[name](value)
        elif name not in STEP_KEYS:
            raise Wrong(f"{name} does not belong in a step")
    return step["call"].replace("-", "_"), given


def words(answer: Any) -> Any:
    """An answer as JSON: `Fresh(..)` is `{"fresh": {..}}`."""
    if answer is None or isinstance(answer, (bool, int, str)):
        return answer
    if isinstance(answer, bytes):
        return {"hex": answer.hex()}
    if isinstance(answer, types.Lost):
        return {"lost": answer.reason.value}
    if isinstance(answer, types.Finding):
        return {True: "sound", False: "unsound", None: "untested"}[answer.sound]
    if isinstance(answer, types.Strategy):
        return answer.value
    record = {
        field.name.replace("_", "-"): words(getattr(answer, field.name))
        for field in dataclasses.fields(answer)
    }
    if isinstance(answer, types.Entry):
        payload, done = record.pop("payload"), record.pop("done")
        record["fingerprint"] = None if answer.fingerprint is None else answer.fingerprint.hex()
        return {"state": {"done": payload} if done else "inflight", **record}
    if isinstance(answer, (types.PurgeReport, types.StoreReport)):
        return record
    name = type(answer).__name__.lower()
    return {name: record} if record else name


def call(ledger: Ledger, name: str, given: Dict[str, Any]) -> Any:
    try:
        return words(getattr(ledger, name)(**given))
    except LedgerError as error:
        if not str(error):
            raise Wrong(f"the error {error.code} says nothing") from error
        detail = getattr(error, "limit_bytes", getattr(error, "retry_after_ms", None))
        return {"error": error.code if detail is None else {error.code: detail}}


class Scenario:
    """A story of one ledger on one store."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.clock = Clock()
        self.ledger = Ledger(store, clock=self.clock, threads=8)
        self.tokens = Tokens()
        self.greatest: Dict[Tuple[Any, Any], int] = {}

    def step(self, step: Dict[str, Any]) -> None:
        self.clock.now_ms = step.get("at_ms", self.clock.now_ms)
        if "parallel" in step:
            self.parallel(step)
        elif "store_set" in step:
            self.store.set(step["store_set"]["key"], read_bytes(step["store_set"]["value"]))
        elif "store_absent" in step:
            if self.store.get(step["store_absent"]) is not None:
                raise Wrong(f"{step['store_absent']} is still in the store")
        else:
            name, given = resolve(step, self.tokens)
            got = call(self.ledger, name, given)
            if not self.tokens.fit(step["expect"], got):
                raise Wrong(f"{name}\n  expected {step['expect']}\n  got      {got}")
            self.check_token(given, got)

    def parallel(self, step: Dict[str, Any]) -> None:
        calls = step["parallel"]
        if isinstance(calls, dict):
            calls = [calls["step"]] * calls["times"]
        resolved = [resolve(each, self.tokens) for each in calls]
        barrier = threading.Barrier(len(resolved))

        def race(one: Tuple[str, Dict[str, Any]]) -> Any:
            barrier.wait()
            return call(self.ledger, *one)

        with ThreadPoolExecutor(len(resolved)) as threads:
            answers = list(threads.map(race, resolved))
        left = list(answers)
        for counted in step["expect"]:
            for _ in range(counted["count"]):
                left.remove(self.first_fit(counted["answer"], left))
        if left:
            raise Wrong(f"in parallel: answers too many: {left}")
        for (_, given), got in zip(resolved, answers):
            self.check_token(given, got)

    def first_fit(self, expected: Any, answers: List[Any]) -> Any:
        for got in answers:
            tried = Tokens(self.tokens)
            if tried.fit(expected, got):
                self.tokens = tried
                return got
        raise Wrong(f"in parallel: {expected} did not come so often; left are {answers}")

    def check_token(self, given: Dict[str, Any], got: Any) -> None:
        """Each claim has a greater token than all before it on its key."""
        if not isinstance(got, dict) or not got.keys() & {"fresh", "recorded"}:
            return
        of = given.get("scope"), given.get("key")
        token = next(iter(got.values()))["token"]
        before = self.greatest.get(of, 0)
        if "fresh" in got and token <= before:
            raise Wrong(f"the new token {token} is not greater than {before} before it")
        self.greatest[of] = max(token, before)


def scenarios(folder: Path) -> Iterator[Tuple[str, Dict[str, Any]]]:
    for path in sorted(folder.glob("*.json")):
        file = json.loads(path.read_text())
        if file["format"] != 1:
            raise Wrong(f"{path}: an unknown format")
        for scenario in file["scenarios"]:
            if scenario.get("only", STRATEGY) == STRATEGY:
                yield path.name, scenario


STORES: Dict[str, Callable[[str], Any]] = {
    "memory": lambda place: MemoryStore(),
    "sqlite": lambda place: SqliteStore(os.path.join(place, "ledger.db")),
}


def run(
    folder: Path, open_store: Callable[[str], Any], parent: Optional[str] = None
) -> Tuple[int, int]:
    """Run every scenario, each on a store of its own; how many there were, and their steps.

    ``open_store`` is given a folder of the scenario's own, made within ``parent``.
    """
    count = steps = 0
    for file, scenario in scenarios(folder):
        with tempfile.TemporaryDirectory(dir=parent) as place:
            store = open_store(place)
            story = Scenario(store)
            for number, step in enumerate(scenario["steps"], 1):
                try:
                    story.step(step)
                except Wrong as why:
                    raise Wrong(f"{file}: {scenario['name']!r}, step {number}: {why}") from None
            story.ledger.close()
            if hasattr(store, "close"):
                store.close()
        count += 1
        steps += len(scenario["steps"])
    return count, steps


if __name__ == "__main__":
    kind = sys.argv[2] if len(sys.argv) > 2 else "memory"
    done = run(Path(sys.argv[1]), STORES[kind])
    if not done[0]:
        sys.exit("no scenarios")
    print(f"Python, {kind}: {done[0]} scenarios, {done[1]} steps")
