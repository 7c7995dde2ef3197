"""The runtimes of the ledger: each takes calls as the vectors write them, and answers in the words
of the WIT."""

import base64
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Union

Call = Dict[str, Any]

LIMIT_S = 120
ERROR = "error"


class Program:
    """One of ``call.*``: a process that keeps the file open and answers call after call."""

    def __init__(self, path: str, *command: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*command, path], stdin=pipe, stdout=pipe, text=True)

    def __call__(self, calls: List[Call]) -> List[Any]:
        return [self.call(call) for call in calls]

    def call(self, call: Call) -> Any:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin and stdout
        stdin.write(json.dumps(call) + "\n")
        stdin.flush()
        said = stdout.readline()
        if not said:
            raise AssertionError(f"{self.process.args!r} gives no answer")
        return json.loads(said)

    def close(self) -> None:
        """Closes the file; fails where the process does."""
        self.process.communicate(timeout=LIMIT_S)
        if self.process.returncode:
            raise AssertionError(f"{self.process.args!r} ended with {self.process.returncode}")


class Command:
    """The command `idempotency`, which runs the component by the Rust crate: a process a call."""

    NAMES = {"check-store": "doctor"}
    OPTIONS: Dict[str, Callable[[Any], List[str]]] = {
        "key": lambda key: ["--key", key],
        "token": lambda token: ["--token", str(token)],
        "lease_ms": lambda lease_ms: ["--lease", f"{lease_ms}ms"],
        "ttl_ms": lambda ttl_ms: ["--keep", f"{ttl_ms}ms"],
        "limit": lambda limit: ["--limit", str(limit)],
        "fingerprint": lambda given: ["--fingerprint", bytes.fromhex(given).decode()],
        "payload": lambda payload: [] if payload is None else ["--payload-file", "-"],
    }

    def __init__(self, path: str, command: str) -> None:
        self.path = path
        self.command = command

    def __call__(self, calls: List[Call]) -> List[Any]:
        with ThreadPoolExecutor(2) as threads:
            return list(threads.map(self.call, calls))

    def call(self, call: Call) -> Any:
        name: str = call["call"]
        command = [self.command, self.NAMES.get(name, name), "--json"]
        command += ["--store", f"sqlite:{self.path}"]
        for option in call.keys() - {"call"}:
            command += self.OPTIONS[option](call[option])
        payload = call.get("payload")
        given = bytes.fromhex(payload["hex"]) if payload else b""
        # The exit code stands for the answer.
        done = subprocess.run(command, input=given, capture_output=True, timeout=LIMIT_S)
        if not done.stdout:
            raise AssertionError(f"{command}: {done.stderr.decode()}")
        return self.words(name, json.loads(done.stdout))

    def close(self) -> None:
        """Every process has closed the file."""

    def words(self, name: str, said: Dict[str, Any]) -> Any:
        answer = said.pop("answer")
        said.pop("payload_text", None)
        if answer == ERROR:
            raise AssertionError(f"{name}: {said}")
        if name == "check-store":
            return {"sound": answer == "sound", "strategy": said["strategy"]}
        if said.get("payload") is not None:
            said["payload"] = {"hex": base64.b64decode(said["payload"]).hex()}
        fields = {field.replace("_", "-"): value for field, value in said.items()}
        if name == "get":
            return None if answer == "missing" else self.entry(answer, fields)
        if name == "purge":
            return {field: fields[field] for field in ("removed", "reclaimed", "more")}
        if answer == "lost":
            return {"lost": fields["reason"]}
        return {answer: fields} if fields else answer

    def entry(self, answer: str, fields: Dict[str, Any]) -> Any:
        fields["fingerprint"] = fields.pop("fingerprint-hex")
        payload = fields.pop("payload", None)
        return {"state": {"done": payload} if answer == "done" else answer, **fields}


FOLDER = os.path.dirname(os.path.abspath(__file__))
NODE, C, COMMAND = (os.environ[f"LEDGER_{name}"] for name in ("NODE", "C", "COMMAND"))

RUNTIMES: Dict[str, Callable[[str], Union[Program, Command]]] = {
    "node": lambda path: Program(path, NODE, os.path.join(FOLDER, "call.mjs")),
    "python": lambda path: Program(path, sys.executable, os.path.join(FOLDER, "call.py")),
    "rust": lambda path: Command(path, COMMAND),
    "c": lambda path: Program(path, C),
}
