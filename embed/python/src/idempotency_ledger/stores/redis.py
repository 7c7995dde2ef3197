"""The store on a Redis or Valkey server. Needs the package `redis`: install
`idempotency-ledger[redis]`."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import Any, Dict, List, Optional, cast

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    NoPermissionError,
    NoScriptError,
    RedisError,
)
from redis.retry import Retry

from .base import Found, StoreError, check_key, counter_bytes, wrong_kind

# How long a command, and an attempt to connect, may take.
RESPONSE_TIMEOUT_S = 4.0
CONNECT_TIMEOUT_S = 2.0

MAX_PREFIX_BYTES = 256

# The scripts; those that write a version begin with the function that makes one.
SCRIPTS = {
    "set": ("stamp", "set"),
    "delete": ("delete",),
    "increment": ("stamp", "increment"),
    "swap": ("stamp", "swap"),
}


class _Script:
    """A script, and the hash by which a server calls one that it knows."""

    def __init__(self, *parts: str) -> None:
        folder = resources.files(__package__) / "lua"
        self.text = "".join((folder / f"{part}.lua").read_text() for part in parts)
        self.hash = hashlib.sha1(self.text.encode()).hexdigest()


class RedisStore:
    """A store on a Redis server, version 6.2 or later, or a Valkey server.

    ``url``: ``redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]``, or ``rediss://`` for TLS.
    ``prefix`` begins every key; stores with different ones never meet. The layout is that of the
    Rust host: both may share a server.

    What an answered write survives is a matter of the server: with ``appendonly yes`` and
    ``appendfsync always``, ``kill -9`` and a loss of power; ``fsync_always=True`` refuses a server
    that is set otherwise. A failover to a replica can lose the last writes.

    A write is sent once: if its answer is lost, the call fails, and may have happened. Raises
    ``StoreError`` for a server that cannot be reached, may evict keys, is a replica or a node of a
    cluster.
    """

    def __init__(
        self, url: str, *, prefix: str = "idempotency:", fsync_always: bool = False
    ) -> None:
        if set(prefix) & set("{}") or len(prefix.encode()) > MAX_PREFIX_BYTES:
            raise ValueError(f"`prefix` has at most {MAX_PREFIX_BYTES} bytes and no braces")
        self._prefix = prefix
        self._scripts = {name: _Script(*parts) for name, parts in SCRIPTS.items()}
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=RESPONSE_TIMEOUT_S,
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            socket_keepalive=True,
            # A write that is sent twice may swap twice.
            retry=Retry(NoBackoff(), 0),
            retry_on_timeout=False,
            decode_responses=False,
        )
        try:
            self._check_server(fsync_always)
        except RedisError as error:
            raise _failed(error) from error

    def get(self, key: str) -> Optional[Found]:
        entry, _ = self._names(key)
        try:
            found: List[Any] = self._client.hmget(entry, ["version", "value", "counter"])
        except RedisError as error:
            raise _failed(error) from error
        version, value, counter = found
        if version is None and value is None and counter is None:
            return None
        if version is None or (value is None) == (counter is None):
            raise StoreError("Redis: an entry lacks its fields")
        return Found(counter_bytes(int(counter)) if value is None else value, int(version))

    def set(self, key: str, value: bytes) -> None:
        self._expect(self._write("set", key, value), b"done")

    def delete(self, key: str) -> None:
        self._expect(self._write("delete", key), b"done")

    def increment(self, key: str, delta: int) -> int:
        answer = self._write("increment", key, str(delta).encode())
        if not answer.lstrip(b"-").isdigit():
            raise _unexpected(answer)
        return int(answer)

    def compare_and_swap(self, key: str, expected: Optional[int], value: bytes) -> bool:
        version = b"" if expected is None else str(expected).encode()
        answer = self._write("swap", key, version, value)
        return answer != b"conflict" and self._expect(answer, b"done")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _names(self, key: str) -> "tuple[bytes, bytes]":
        """Of the entry, and of the greatest version in its part. The part is a hash tag, so both
        lie in one slot of a cluster."""
        part = 0
        for byte in check_key(key).encode():
            part = (part * 31 + byte) & 0xFF
        start = f"{self._prefix}{{{part:02x}}}:"
        return f"{start}k:{key}".encode(), f"{start}version".encode()

    def _write(self, name: str, key: str, *arguments: bytes) -> bytes:
        """Run a script: one round trip, and one more where the server does not know it yet. It
        says so before it does anything, so the script runs once."""
        script, names = self._scripts[name], self._names(key)
        try:
            try:
                answer: Any = self._client.evalsha(script.hash, 2, *names, *arguments)
            except NoScriptError:
                answer = self._client.eval(script.text, 2, *names, *arguments)
        except RedisError as error:
            raise _failed(error) from error
        return cast(bytes, answer)

    def _expect(self, answer: bytes, wanted: bytes) -> bool:
        if answer != wanted:
            raise _unexpected(answer)
        return True

    def _check_server(self, fsync_always: bool) -> None:
        """Refuse a server that cannot keep the contract, or not as durably as was asked for."""
        info: Dict[str, Any] = self._client.info()
        if info.get("cluster_enabled") == 1:
            raise _refused("is a node of a cluster, for which there is no client here yet")
        if info.get("role", "master") != "master":
            raise _refused("is a replica; name the one that it follows")
        policy = info.get("maxmemory_policy", "")
        if policy.startswith("allkeys"):
            raise _refused(f"evicts keys ({policy}); set maxmemory-policy to noeviction")
        for name, wanted in (("appendonly", "yes"), ("appendfsync", "always")):
            found = self._client.config_get(name).get(name) if fsync_always else wanted
            if found != wanted:
                raise _refused(f"has {name} {found}, and fsync_always needs {name} {wanted}")


def _refused(why: str) -> StoreError:
    return StoreError(f"Redis: the server {why}")


def _unexpected(answer: bytes) -> StoreError:
    """The other answers of the scripts."""
    if answer in (b"counter", b"value"):
        return wrong_kind(answer.decode())
    if answer == b"overflow":
        return StoreError("the counter would overflow")
    return StoreError(f"Redis: a script answered {answer!r}")


def _failed(error: RedisError) -> StoreError:
    if isinstance(error, (AuthenticationError, NoPermissionError)):
        return StoreError("Redis denies access", "access-denied")
    return StoreError(f"Redis: {error}")
