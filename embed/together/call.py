"""Makes calls on the ledger in an SQLite file: ``python3 call.py FILE``. Each line of the input is
a call as the vectors write it; an answer of each is printed, in the words of the WIT.

``vectors`` is the module of the Python package's tests."""

import json
import sys

from idempotency_ledger import Ledger, SqliteStore
from vectors import Tokens, call, resolve

with Ledger(SqliteStore(sys.argv[1])) as ledger:
    for line in sys.stdin:
        print(json.dumps(call(ledger, *resolve(json.loads(line), Tokens()))), flush=True)
