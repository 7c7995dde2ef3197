"""The ledger's calls, ready to be made: the same for callers that wait and those that await."""

from __future__ import annotations

from typing import Optional

from . import _calls
from ._calls import Arguments, Call


def begin(
    key: str, scope: Optional[str], lease_ms: Optional[int], fingerprint: Optional[bytes]
) -> Call:
    arguments = Arguments().text(key).optional_text(scope).optional_ms(lease_ms, "lease_ms")
    arguments.optional_bytes(fingerprint, "fingerprint")
    return Call("begin", True, arguments, 64, _calls.read_begin)


def complete(
    key: str,
    payload: Optional[bytes],
    token: Optional[int],
    scope: Optional[str],
    ttl_ms: Optional[int],
    upsert_on_missing: bool,
) -> Call:
    arguments = Arguments().text(key).optional_bytes(payload, "payload").optional_text(scope)
    arguments.optional_token(token).optional_ms(ttl_ms, "ttl_ms").flag(upsert_on_missing)
    return Call("complete", True, arguments, 40, _calls.read_complete)


def renew(key: str, token: int, scope: Optional[str], lease_ms: Optional[int]) -> Call:
    arguments = Arguments().text(key).token(token).optional_text(scope)
    arguments.optional_ms(lease_ms, "lease_ms")
    return Call("renew", True, arguments, 40, _calls.read_renew)


def release(key: str, token: int, scope: Optional[str]) -> Call:
    arguments = Arguments().text(key).token(token).optional_text(scope)
    return Call("release", True, arguments, 24, _calls.read_release)


def get(key: str, scope: Optional[str]) -> Call:
    arguments = Arguments().text(key).optional_text(scope)
    return Call("get", False, arguments, 96, _calls.read_get)


def purge(before_ms: Optional[int], limit: Optional[int]) -> Call:
    arguments = Arguments().optional_ms(before_ms, "before_ms").optional_limit(limit)
    return Call("purge", True, arguments, 24, _calls.read_purge)


def forget(key: str, token: int, scope: Optional[str]) -> Call:
    arguments = Arguments().text(key).token(token).optional_text(scope)
    return Call("forget", True, arguments, 32, _calls.read_forget)


def check_store() -> Call:
    return Call("check-store", False, Arguments(), 80, _calls.read_report)
