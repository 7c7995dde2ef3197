"""Where a ledger keeps its records. ``RedisStore`` is in ``idempotency_ledger.stores.redis``: it
needs a client that others need not install."""

from .base import MAX_KEY_BYTES, Found, Store, StoreError
from .memory import MemoryStore
from .sqlite import SqliteStore

__all__ = ["MAX_KEY_BYTES", "Found", "MemoryStore", "SqliteStore", "Store", "StoreError"]
