"""Values as payloads."""

from __future__ import annotations

import json
from typing import Any, Callable, Optional, Protocol

from . import errors


class Codec(Protocol):
    """Writes what work answers, and reads it again."""

    def encode(self, value: Any) -> Optional[bytes]:
        """The payload; ``None`` for none."""

    def decode(self, payload: Optional[bytes]) -> Any:
        """The value of a payload that ``encode`` made."""


class JsonCodec:
    """JSON, in UTF-8. ``0``, ``False``, ``""``, ``[]``, ``{}`` and ``None`` stay what they are,
    whole numbers of any size too; a tuple is read as a list. NaN and infinities are refused."""

    def encode(self, value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()

    def decode(self, payload: Optional[bytes]) -> Any:
        if payload is None:
            raise ValueError("there is no payload")
        return json.loads(payload)


class BytesCodec:
    """Bytes as they are, or ``None``."""

    def encode(self, value: Optional[bytes]) -> Optional[bytes]:
        if value is not None and not isinstance(value, (bytes, bytearray, memoryview)):
            raise TypeError(f"bytes or None are recorded, not {type(value).__name__}")
        return None if value is None else bytes(value)

    def decode(self, payload: Optional[bytes]) -> Optional[bytes]:
        return payload


class Form:
    """A codec and a validator: nothing is recorded that could not be read again."""

    def __init__(self, codec: Codec, validate: Optional[Callable[[Any], Any]]) -> None:
        self._codec = codec
        self._validate = validate

    def write(self, value: Any, claim: Any) -> "tuple[Optional[bytes], Any]":
        """The payload, and the value as it will be read from it."""
        try:
            checked = self._validate(value) if self._validate else value
            payload = self._codec.encode(checked)
            return payload, self._decode(payload)
        except Exception as error:
            why = f"the result is not recorded: {error}"
            raise errors.ResultRefused(why, value, claim) from error

    def read(self, payload: Optional[bytes]) -> Any:
        try:
            return self._decode(payload)
        except Exception as error:
            raise errors.Unreadable(f"the recorded payload cannot be read: {error}") from error

    def _decode(self, payload: Optional[bytes]) -> Any:
        value = self._codec.decode(payload)
        return self._validate(value) if self._validate else value
