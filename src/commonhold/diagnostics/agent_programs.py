"""Asking the programs of agents about themselves: their version, and which hooks Codex trusts. It changes nothing."""

import json
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any, Final

PATIENCE_SECONDS: Final = 20.0
"""Some programs load completely before they report their version."""
_VERSION: Final = re.compile(rb"(\d+)\.(\d+)\.(\d+)")
_GREETING: Final = {"clientInfo": {"name": "commonhold", "version": "1"}, "capabilities": {"experimentalApi": True}}
_TRUSTED: Final = frozenset({"trusted", "managed"})
_CHUNK_BYTES: Final = 65_536


def version(program: str) -> tuple[int, ...] | None:
    """Return the version that a program reports; None if it reports none in time."""
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(done.stdout)
    return tuple(map(int, found.groups())) if found else None


def hooks_in_force(program: str, root: str, path: str) -> frozenset[str] | None:
    """Return the events whose hooks in the file `path` Codex says that it runs; None if it cannot be asked.

    It names none if it does not trust the folder.
    """
    try:
        with subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
        ) as server:
            try:
                answer = _asked(server, root)
            finally:
                server.kill()
    except OSError:
        return None
    return None if answer is None else frozenset(_in_force(answer, path))


def _asked(server: subprocess.Popen[bytes], root: str) -> Any:  # noqa: ANN401 - JSON
    if server.stdin is None or server.stdout is None:
        return None
    calls = (
        {"id": 1, "method": "initialize", "params": _GREETING},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [root]}},
    )
    with suppress(BrokenPipeError):
        server.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **call}).encode() + b"\n" for call in calls))
        server.stdin.flush()
    for line in _lines(server.stdout):
        with suppress(ValueError):
            told = json.loads(line)
            if isinstance(told, dict) and told.get("id") == 2:  # noqa: PLR2004 - the call above
                return told.get("result")
    return None


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the program's output, line by line, until the timeout."""
    until, rest = time.monotonic() + PATIENCE_SECONDS, b""
    while select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]:
        chunk = stream.read1(_CHUNK_BYTES)  # type: ignore[attr-defined]
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def _in_force(answer: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - JSON
    with suppress(KeyError, TypeError):
        hooks = [hook for folder in answer["data"] for hook in folder["hooks"] if hook["sourcePath"] == path]
        yield from (hook["eventName"] for hook in hooks if hook["enabled"] and hook["trustStatus"] in _TRUSTED)
