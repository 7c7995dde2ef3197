"""A ledger in an SQLite file that one runtime wrote is continued by the others."""

import itertools
import os
import re
import sqlite3
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any, Dict, List, Sequence, Tuple

from runtimes import RUNTIMES, Call

HOUR_MS = 3_600_000
SHORT_MS = 1
ANY = object()
"""In an expected answer: whatever it is."""
PAYLOAD = "$payload"
KEYLESS = ("check-store", "purge")

PAYLOADS: List[Any] = [
    None,
    {"hex": ""},
    {"hex": b"0".hex()},
    {"hex": b"null".hex()},
    {"hex": "ff00fe80c0afeda080"},  # no UTF-8
    {"hex": (bytes(range(256)) * 256).hex()},  # 64 KB
]

Order = Tuple[str, ...]
ROTATIONS: List[Order] = [
    (*list(RUNTIMES)[first:], *list(RUNTIMES)[:first]) for first in range(len(RUNTIMES))
]

# A story is a table of calls: who makes it, as an index into the story's order of runtimes; the
# call; what is given; the answer. "$name" is what the first answer with that name had there.
Row = Tuple[Any, str, Dict[str, Any], Any]

FRESH = {"fresh": {"token": "$a", "expires-at-ms": "$lease", "attempt": 1}}
NEXT = {"fresh": {"token": "$b", "expires-at-ms": ANY, "attempt": 2}}
AFRESH = {"fresh": {"token": "$c", "expires-at-ms": ANY, "attempt": 1}}
OTHER_FRESH = {"fresh": {**NEXT["fresh"], "attempt": 1}}
INFLIGHT = {"inflight": {"expires-at-ms": "$lease", "retry-after-ms": ANY}}
RENEWED = {"renewed": {**FRESH["fresh"], "expires-at-ms": "$renewed"}}
OUTCOME = {"token": "$a", "completed-at-ms": "$done", "expires-at-ms": "$end"}
RECORDED = {"recorded": OUTCOME}
NEXT_RECORDED = {"recorded": {**OUTCOME, "token": "$b"}}
NEXT_DONE = {"done": {**OUTCOME, "token": "$b", "payload": PAYLOAD}}
ENTRY = {"attempt": 1, "fingerprint": "6f6b", "claimed-at-ms": "$claimed", "expired": False}
HELD = {**ENTRY, "state": "inflight", "token": "$a", "completed-at-ms": None}

CLAIM: List[Row] = [
    (0, "begin", {"lease_ms": HOUR_MS, "fingerprint": "6f6b"}, FRESH),
    (1, "renew", {"token": "$a", "lease_ms": 2 * HOUR_MS}, RENEWED),
]

COMPLETE: List[Row] = [
    (2, "complete", {"token": "$a", "payload": PAYLOAD}, RECORDED),
]

REPLAY: List[Row] = [
    (3, "begin", {"fingerprint": "6f6b"}, {"done": {**OUTCOME, "payload": PAYLOAD}}),
    ((0, 1), "get", {}, {**ENTRY, **OUTCOME, "state": {"done": PAYLOAD}}),
]

HOLDERS: List[Row] = [
    (0, "begin", {"lease_ms": HOUR_MS, "fingerprint": "6f6b"}, FRESH),
    (1, "begin", {"fingerprint": "6f6b"}, INFLIGHT),
    (2, "begin", {"fingerprint": "6e6f"}, "mismatch"),
    (3, "get", {}, {**HELD, "expires-at-ms": "$lease"}),
    (2, "release", {"token": "$a"}, "released"),
    (3, "release", {"token": "$a"}, {"lost": "missing"}),
    (1, "begin", {"lease_ms": HOUR_MS}, NEXT),
    (0, "complete", {"token": "$a"}, {"lost": "superseded"}),
    (2, "complete", {"token": "$b"}, NEXT_RECORDED),
    (1, "renew", {"token": "$b"}, {"lost": "already-done"}),
    (3, "forget", {"token": "$b"}, "forgotten"),
    (0, "begin", {}, AFRESH),
]

EXPIRES: List[Row] = [
    (0, "begin", {"lease_ms": SHORT_MS}, FRESH),
]

EXPIRED: List[Row] = [
    (1, "renew", {"token": "$a"}, {"lost": "expired"}),
    (2, "begin", {"lease_ms": HOUR_MS}, NEXT),
    (0, "complete", {"token": "$a"}, {"lost": "superseded"}),
    (3, "complete", {"token": "$b", "payload": PAYLOAD}, NEXT_RECORDED),
    (1, "begin", {}, NEXT_DONE),
]

PURGED: List[Row] = [
    (0, "begin", {"lease_ms": HOUR_MS}, FRESH),
    (1, "complete", {"token": "$a", "ttl_ms": SHORT_MS, "payload": PAYLOAD}, RECORDED),
]

AFTER_PURGE: List[Row] = [
    (2, "get", {}, None),
    (3, "begin", {"lease_ms": HOUR_MS}, AFRESH),
]

# Times are far enough from each other that they never share a place in the index.
BYTES: List[Row] = [
    (0, "begin", {"lease_ms": HOUR_MS, "fingerprint": "6f6b"}, FRESH),
    (1, "renew", {"token": "$a", "lease_ms": 12 * HOUR_MS}, ANY),
    (2, "complete", {"token": "$a", "ttl_ms": 24 * 90 * HOUR_MS, "payload": PAYLOAD}, RECORDED),
    (3, "check-store", {}, ANY),
    (0, "begin", {"key": "other", "lease_ms": 24 * 9 * HOUR_MS}, OTHER_FRESH),
    (1, "release", {"key": "other", "token": "$b"}, "released"),
    (2, "purge", {}, {"removed": 0, "reclaimed": 0, "more": False}),
]


class Story:
    """A key, who is who in its table, and what the names in its answers stand for."""

    def __init__(self, key: str, order: Sequence[str], payload: Any = None) -> None:
        self.key = key
        self.order = order
        self.known = {PAYLOAD: payload}

    def call(self, name: str, given: Dict[str, Any]) -> Call:
        values = {field: self.value(value) for field, value in given.items()}
        key = {} if name in KEYLESS else {"key": self.key}
        return {"call": name, **key, **values}

    def value(self, given: Any) -> Any:
        return self.known[given] if isinstance(given, str) and given[0] == "$" else given

    def fits(self, expected: Any, got: Any) -> bool:
        if expected is ANY:
            return True
        if isinstance(expected, dict) and isinstance(got, dict):
            same = expected.keys() == got.keys()
            return same and all(self.fits(expected[name], got[name]) for name in expected)
        if isinstance(expected, str) and expected[0] == "$":
            expected = self.known.setdefault(expected, got)
        return type(expected) is type(got) and bool(expected == got)

    def __repr__(self) -> str:
        return f"{self.key!r}, in the order {', '.join(self.order)}"


class Together(unittest.TestCase):
    def setUp(self) -> None:
        place = "/dev/shm" if os.path.isdir("/dev/shm") else None  # flushing is free there
        folder = tempfile.TemporaryDirectory(dir=place)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "ledger.db")

    def play(self, rows: List[Row], stories: List[Story], path: str = "") -> None:
        """Plays a table with all its stories, row by row. Of each row the runtimes make their
        calls at the same time. In between they keep the file open; at the end all close it."""
        opened: Dict[str, Any] = {}
        with ExitStack() as stack:
            for row in rows:
                who = [row[0]] if isinstance(row[0], int) else row[0]
                batches: Dict[str, List[Story]] = {}
                for story, index in itertools.product(stories, who):
                    batches.setdefault(story.order[index], []).append(story)
                for name in batches.keys() - opened.keys():
                    runtime = RUNTIMES[name](path or self.path)
                    opened[name] = stack.enter_context(closing(runtime))
                with ThreadPoolExecutor(len(batches)) as threads:
                    asking = [
                        threads.submit(self.ask, name, opened[name], row, batch)
                        for name, batch in batches.items()
                    ]
                for asked in asking:
                    asked.result()

    def ask(self, name: str, runtime: Any, row: Row, stories: List[Story]) -> None:
        _, call, given, expected = row
        answers = runtime([story.call(call, given) for story in stories])
        for story, got in zip(stories, answers):
            if not story.fits(expected, got):
                said = f"{story}: {name} answers {call} with\n{got}, expected is\n{expected}"
                self.fail(f"{said}\nknown are {story.known}"[:4_000])

    def rises(self, stories: List[Story], *names: str) -> None:
        for story in stories:
            values = [story.known[name] for name in names]
            self.assertEqual(values, sorted(set(values)), story)

    def test_every_order_of_runtimes_claims_renews_completes_and_replays(self) -> None:
        orders = list(itertools.permutations(RUNTIMES))
        # Of each runtime that completes, every payload.
        orders.sort(key=lambda order: order[2])
        payloads = itertools.cycle(PAYLOADS)
        stories = [Story("-".join(order), order, next(payloads)) for order in orders]
        for table in (CLAIM, COMPLETE, REPLAY):
            self.play(table, stories)
        self.rises(stories, "$lease", "$renewed", "$end")

    def test_a_claim_is_the_same_for_all(self) -> None:
        stories = [Story(f"holder {order[0]}", order) for order in ROTATIONS]
        self.play(HOLDERS, stories)
        self.rises(stories, "$a", "$b", "$c")

    def test_an_expired_claim_is_replaced_and_fenced(self) -> None:
        stories = [Story(f"expires {order[0]}", order, PAYLOADS[4]) for order in ROTATIONS]
        self.play(EXPIRES, stories)
        self.wait(stories, "$lease")
        self.play(EXPIRED, stories)
        self.rises(stories, "$a", "$b")

    def test_one_purges_what_the_others_wrote(self) -> None:
        live = [Story("live", ROTATIONS[0])]
        self.play([PURGED[0]], live)
        stories = [
            Story(f"purged {number} {order[0]}", order, PAYLOADS[2])
            for number in range(2)
            for order in ROTATIONS
        ]
        self.play(PURGED, stories)
        self.wait(stories, "$end")
        left = len(stories)
        for name, opens in RUNTIMES.items():
            share = len(stories) // len(RUNTIMES)
            left -= share
            expected = {"removed": share, "reclaimed": 0, "more": left > 0}
            with self.subTest(purged_by=name), closing(opens(self.path)) as runtime:
                [got] = runtime([{"call": "purge", "limit": share}])
                self.assertEqual(got, expected)
        self.play(AFTER_PURGE, stories)
        self.rises(stories, "$a", "$c")
        self.play([(1, "renew", {"token": "$a"}, {"renewed": ANY})], live)

    def test_schema_records_and_counters_are_the_same_bytes(self) -> None:
        alone = [(name,) * len(RUNTIMES) for name in RUNTIMES]
        written = {order: self.write(order) for order in [*alone, ROTATIONS[0]]}
        first, *others = written
        for other in others:
            for part, rows in written[first].items():
                self.assertEqual(written[other][part], rows, f"{other} wrote, and {first}")
        kinds = {type(value) for _, value, *_ in written[first]["entry"]}
        self.assertEqual(kinds, {int, bytes}, "counters and records are there")
        print({name: len(rows) for name, rows in written[first].items()}, end=" ")

    def write(self, order: Order) -> Dict[str, List[Any]]:
        path = os.path.join(self.folder, "-".join(order))
        self.play(BYTES, [Story("key", order, PAYLOADS[-1])], path)
        return dump(path)

    def wait(self, stories: List[Story], name: str) -> None:
        until_ms = max(story.known[name] for story in stories)
        while time.time() * 1_000 <= until_ms:
            time.sleep(0.001)


def dump(path: str) -> Dict[str, List[Any]]:
    """What is in the file, with times and what is computed from them left out."""
    held: Dict[str, List[Any]] = {}
    database = sqlite3.connect(path)
    database.text_factory = bytes
    for pragma in ("application_id", "user_version", "journal_mode", "encoding", "page_size"):
        held[pragma] = database.execute(f"PRAGMA {pragma}").fetchall()
    tables = database.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name")
    held["schema"] = [b"".join(sql.split()) for (sql,) in tables]  # white space aside
    rows = database.execute("SELECT key, value, typeof(value), version FROM entry").fetchall()
    database.close()
    held["entry"] = sorted((timeless(row[0]), timeless(row[1]), *row[2:]) for row in rows)
    return held


def timeless(value: Any) -> Any:
    """Milliseconds since 1970 have 13 digits; places in the index are named by a letter and their
    time. After its first line a record has its payload, which stays."""
    if not isinstance(value, bytes):
        return value
    head, *payload = value.split(b"\n", 1) if value[:1] == b"{" else [value]
    head = re.sub(rb"\b[a-z]\d{3,}\b", b"PLACE", re.sub(rb"\b\d{13}\b", b"TIME", head))
    return b"\n".join([head, *payload])
