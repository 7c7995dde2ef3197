"""The store in an SQLite file."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Tuple, TypeVar, Union

from .base import Found, StoreError, add, check_key, counter_bytes, wrong_kind

R = TypeVar("R")

# How long a statement waits for another process: below the patience of most callers, so that they
# learn that nothing was changed.
BUSY_TIMEOUT_S = 4.0
BUSY_PAUSE_S = 0.001

# How long to repeat what SQLite does not wait for by itself, and the pause between two attempts.
OPEN_TIMEOUT_S = 5.0
OPEN_PAUSE_S = 0.05

# Marks the file as a ledger's: "iled" in ASCII; and the version of the schema.
APPLICATION_ID = 0x696C6564
SCHEMA_VERSION = 1

# The first SQLite with STRICT tables.
OLDEST_SQLITE = (3, 37, 0)

# A value is a BLOB, a counter an INTEGER.
SCHEMA = (
    """CREATE TABLE entry (
        key TEXT NOT NULL PRIMARY KEY,
        value ANY NOT NULL,
        version INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE sequence (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        last_version INTEGER NOT NULL
    ) STRICT""",
    "INSERT INTO sequence (id, last_version) VALUES (1, 0)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

SELECT = "SELECT value, version FROM entry WHERE key = ?"
LOOK = "SELECT iif(typeof(value) = 'integer', value, NULL), version FROM entry WHERE key = ?"
UPSERT = (
    "INSERT INTO entry (key, value, version) VALUES (?, ?, ?) ON CONFLICT (key) "
    "DO UPDATE SET value = excluded.value, version = excluded.version"
)


class SqliteStore:
    """A store in one SQLite file, which is made where it is missing, with its folders.

    An answered write survives ``kill -9`` and a loss of power: write-ahead log, ``synchronous =
    FULL``. Processes of one machine may share the file, in any language; it has to lie on a local
    disk. A write that waits longer than about four seconds for another process fails and has
    changed nothing. Reads never wait for writes. After a ``fork`` the child opens connections of
    its own. Needs SQLite 3.37 or later.

    Raises ``StoreError``, with the path in it, for a file that cannot be opened, that is another
    program's, or that a newer version made.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(f"SQLite {sqlite3.sqlite_version} is older than 3.37")
        self._path = os.path.abspath(os.fspath(path))
        self._open()

    def get(self, key: str) -> Optional[Found]:
        check_key(key)
        with _told(), self._files().reading as connection:
            row = connection.execute(SELECT, (key,)).fetchone()
        if row is None:
            return None
        value, version = row
        return Found(counter_bytes(value) if isinstance(value, int) else value, version)

    def set(self, key: str, value: bytes) -> None:
        check_key(key)
        with self._writing() as connection:
            _value_version(connection, key)
            _put(connection, key, value)

    def delete(self, key: str) -> None:
        check_key(key)
        with self._writing() as connection:
            connection.execute("DELETE FROM entry WHERE key = ?", (key,))

    def increment(self, key: str, delta: int) -> int:
        check_key(key)
        with self._writing() as connection:
            count, version = connection.execute(LOOK, (key,)).fetchone() or (0, None)
            if version is not None and count is None:
                raise wrong_kind("value")
            total = add(count, delta)
            _put(connection, key, total)
        return total

    def compare_and_swap(self, key: str, expected: Optional[int], value: bytes) -> bool:
        check_key(key)
        with self._writing() as connection:
            swapped = _value_version(connection, key) == expected
            if swapped:
                _put(connection, key, value)
        return swapped

    def close(self) -> None:
        """Close the file. Calls that come later fail."""
        files = self._opened
        with files.writing, files.reading:
            files.writing.connection.close()
            files.reading.connection.close()

    def _open(self) -> None:
        folder = os.path.dirname(self._path)
        try:
            os.makedirs(folder, exist_ok=True)
            self._opened = _Files(self._path)
        except (OSError, sqlite3.Error, _Refused) as error:
            raise StoreError(f"{self._path}: {error}") from error

    def _files(self) -> "_Files":
        """The connections of this process. Those of a parent must not even be closed here."""
        if self._opened.process != os.getpid():
            self._opened.keep_for_ever()
            self._open()
        return self._opened

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One write: alone, committed at the end, undone where it fails."""
        with _told(), self._files().writing as connection:
            patiently(lambda: connection.execute("BEGIN IMMEDIATE"), BUSY_TIMEOUT_S)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


class _Refused(Exception):
    """The file cannot be a ledger's."""


class _Guarded:
    """A connection that one thread uses at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._lock = threading.Lock()

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        return self.connection

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class _Files:
    """The connections of one process."""

    def __init__(self, path: str) -> None:
        self.process = os.getpid()
        writer = _connect(path)
        try:
            # Look before anything is changed: the file may be another program's.
            for step in (_is_empty, _use_wal, _make_schema):
                patiently(lambda step=step: step(writer), OPEN_TIMEOUT_S, OPEN_PAUSE_S)  # type: ignore[misc]
        except BaseException:
            writer.close()
            raise
        reader = _connect(path)
        reader.execute("PRAGMA query_only = 1")
        self.writing = _Guarded(writer)
        self.reading = _Guarded(reader)

    def keep_for_ever(self) -> None:
        """Let nothing close these, not even the end of the process: they are a parent's."""
        for guarded in (self.writing, self.reading):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(guarded.connection))


def _connect(path: str) -> sqlite3.Connection:
    # No implicit transactions; the locks see to it that one thread uses it at a time.
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA synchronous = FULL")
    # Only macOS knows a difference between flushing to the disk and flushing the disk.
    connection.execute("PRAGMA fullfsync = 1")
    connection.execute("PRAGMA checkpoint_fullfsync = 1")
    return connection


def patiently(attempt: Callable[[], R], timeout_s: float, pause_s: float = BUSY_PAUSE_S) -> R:
    """Repeat what fails because another process has the file. SQLite's own pauses grow to a tenth
    of a second, and a process that commits one write after the other leaves it for a moment only.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(pause_s)


def _is_busy(error: sqlite3.Error) -> bool:
    # Python 3.11 knows the code; before, there is the text only.
    name = getattr(error, "sqlite_errorname", None)
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) if name else "locked" in str(error)


def _number(connection: sqlite3.Connection, sql: str) -> int:
    return int(connection.execute(sql).fetchone()[0])


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Whether the tables have to be made. Refuses a file that is not a ledger's."""
    mark = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    if mark == APPLICATION_ID and version == SCHEMA_VERSION:
        return False
    if mark == APPLICATION_ID and version > SCHEMA_VERSION:
        raise _Refused(f"the file was made by a newer version (schema {version})")
    tables = _number(connection, "SELECT count(*) FROM sqlite_schema")
    if (mark, version, tables) != (0, 0, 0):
        raise _Refused("the file is another program's")
    return True


def _use_wal(connection: sqlite3.Connection) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode.lower() != "wal":
        raise _Refused(f"SQLite keeps the journal mode {mode}, the ledger needs WAL")


def _make_schema(connection: sqlite3.Connection) -> None:
    """Make the tables unless another process was first."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):
            for statement in SCHEMA:
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _value_version(connection: sqlite3.Connection, key: str) -> Optional[int]:
    row: Optional[Tuple[Optional[int], int]] = connection.execute(LOOK, (key,)).fetchone()
    if row is None:
        return None
    count, version = row
    if count is not None:
        raise wrong_kind("counter")
    return version


def _put(connection: sqlite3.Connection, key: str, content: Union[bytes, int]) -> None:
    """Write under a version that no key has had."""
    version = _number(connection, "SELECT last_version FROM sequence") + 1
    connection.execute(UPSERT, (key, content, version))
    connection.execute("UPDATE sequence SET last_version = ?", (version,))


@contextmanager
def _told() -> Iterator[None]:
    """Errors of SQLite as the store's."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"SQLite: {error}") from error
