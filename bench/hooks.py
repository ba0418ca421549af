"""Hooks beside the time that deciding takes, and a command that asks: each against the least that it could cost."""

import asyncio
import http.client
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import uvicorn

from bench.reporting import Figure, at_most, paired_ratio, report
from commonhold.client import hook_program
from commonhold.diagnostics.http import is_answered
from commonhold.workspace import loopback
from commonhold.workspace.daemon_files import http_address
from commonhold.workspace.loopback import HOST, Loopback

HTTP_ROUNDS = 2000
COMMAND_ROUNDS = 150
ASKING_ROUNDS = 50
NOTHING = [sys.executable, "-I", "-S", "-c", "pass"]
EDITS = 60
FUNCTIONS = 50
WARM_UP = 20
ANSWER = b"{}"


class Caller:
    """One agent's connection, which it keeps."""

    def __init__(self, port: int, token: str = "") -> None:
        """Connect, and name the token with each request."""
        self._connection = http.client.HTTPConnection(HOST, port)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def post(self, payload: bytes) -> bytes:
        """Send a payload; the answer."""
        self._connection.request("POST", "/hooks/claude", payload, self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == http.client.OK, body
        return body


async def bare(scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
    """The least that an application can do: hear the request, and answer it."""
    assert scope["type"] == "http"
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", str(len(ANSWER)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


def serve_bare(descriptor: int) -> None:
    """Serve that on a socket that listens already, as the daemon serves its own."""
    choices = uvicorn.Config(bare, http="h11", loop="asyncio", lifespan="off", log_config=None, access_log=False)
    with socket.socket(fileno=descriptor) as listener:
        asyncio.run(uvicorn.Server(choices).serve(sockets=[listener]))


@contextmanager
def least() -> Iterator[int]:
    """The port of the bare application, as a process of its own."""
    with socket.create_server((HOST, 0)) as listener:
        descriptor = listener.fileno()
        command = [sys.executable, "-m", "bench.hooks", str(descriptor)]
        child = subprocess.Popen(command, pass_fds=(descriptor,))  # noqa: S603
        try:
            yield listener.getsockname()[1]
        finally:
            child.terminate()
            child.wait()


@contextmanager
def served(lay_out: Callable[[Path], object] = lambda _: None) -> Iterator[tuple[Path, Loopback]]:
    """A repository with a file of some functions, and what `lay_out` adds, and its daemon."""
    folder = Path(tempfile.mkdtemp(prefix="commonhold-bench-"))
    source = "".join(f"def f{number}(value):\n    return value + {number}\n\n\n" for number in range(FUNCTIONS))
    (folder / "a.py").write_text(source)
    subprocess.run(["git", "init", "--quiet", folder], check=True)  # noqa: S603, S607
    lay_out(folder)
    chosen = loopback.choose(str(folder / ".git/commonhold"), None)
    child = subprocess.Popen([sys.executable, "-m", "commonhold.server.daemon", folder])  # noqa: S603
    try:
        while not is_answered(chosen):
            time.sleep(0.05)
        yield folder, chosen
    finally:
        child.terminate()
        child.wait()
        shutil.rmtree(folder)


def payload(folder: Path, event: str, **more: object) -> bytes:
    """What Claude Code sends."""
    told = {"session_id": "s1", "cwd": str(folder), "hook_event_name": event, "permission_mode": "default"}
    return json.dumps({**told, **more}).encode()


def over_http(folder: Path, chosen: Loopback, port: int) -> Iterator[Figure]:
    """A hook that is no matter of ours: all but deciding."""
    ours, theirs = Caller(chosen.port, chosen.token), Caller(port)
    text = payload(folder, "Notification", message="x" * 500)
    for caller in (ours, theirs):
        for _ in range(WARM_UP):
            caller.post(text)
    mine, other, ratio = paired_ratio(partial(ours.post, text), partial(theirs.post, text), HTTP_ROUNDS)
    yield at_most("HTTP hook, round trip", mine * 1e3, "ms", 2)
    yield Figure("bare ASGI app, round trip", other * 1e3, "ms")
    yield Figure("HTTP hook against a bare app", ratio, "ratio")


def by_command(folder: Path) -> Iterator[Figure]:
    """The same as a command, which an agent starts each time."""
    address = http_address(str(folder / ".git/commonhold"))
    text = payload(folder, "Notification", message="x" * 500)
    run = partial(subprocess.run, input=text, check=True, capture_output=True)
    hook = [sys.executable, "-I", "-S", hook_program.__file__, "claude", address]
    mine, other, ratio = paired_ratio(partial(run, hook), partial(run, NOTHING), COMMAND_ROUNDS)
    yield at_most("command hook, wall", mine * 1e3, "ms", 25)
    yield Figure("python -I -S -c pass, wall", other * 1e3, "ms")
    yield Figure("command hook against an interpreter", ratio, "ratio")


def asking(folder: Path) -> Iterator[Figure]:
    """A command that the daemon answers, as agents run it dozens of times a session."""
    run = partial(subprocess.run, cwd=folder, check=True, capture_output=True)
    ask = [sys.executable, "-m", "commonhold", "leases"]
    mine, other, ratio = paired_ratio(partial(run, ask), partial(run, NOTHING), ASKING_ROUNDS)
    yield Figure("commonhold leases, wall", mine * 1e3, "ms")
    yield Figure("python -I -S -c pass, beside commonhold leases", other * 1e3, "ms")
    yield Figure("commonhold leases against an interpreter", ratio, "ratio")


def deciding(folder: Path, chosen: Loopback, edits: int = EDITS) -> list[float]:
    """Edits of a file, each with the hooks before and after it: seconds of the hooks before, which decide."""
    file, spent = folder / "a.py", []
    with closing(Caller(chosen.port, chosen.token)) as caller:
        caller.post(payload(folder, "SessionStart", source="startup"))
        for number in range(edits):
            old, new = f"value + {number % FUNCTIONS}\n", f"value + {number % FUNCTIONS}\n    # {number}\n"
            edit = {"file_path": str(file), "old_string": old, "new_string": new}
            call = {"tool_name": "Edit", "tool_input": edit, "tool_use_id": f"call-{number}"}
            read = {"tool_name": "Read", "tool_input": {"file_path": str(file)}, "tool_use_id": f"read-{number}"}
            caller.post(payload(folder, "PostToolUse", **read))
            begun = time.perf_counter()
            answer = caller.post(payload(folder, "PreToolUse", **call))
            spent.append(time.perf_counter() - begun)
            assert b"deny" not in answer, answer
            file.write_text(file.read_text().replace(old, new, 1))
            caller.post(payload(folder, "PostToolUse", **call))
    return spent


def main() -> None:
    """Measure all, one after the other."""
    with served() as (folder, chosen), least() as port:
        figures = [*over_http(folder, chosen, port), *by_command(folder), *asking(folder)]
        figures.append(Figure("HTTP hook before an edit, with deciding", median(deciding(folder, chosen)) * 1e3, "ms"))
    report("hooks", figures)


if __name__ == "__main__":
    if sys.argv[1:]:
        serve_bare(int(sys.argv[1]))
    else:
        main()
