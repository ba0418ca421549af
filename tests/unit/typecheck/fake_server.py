"""A language server for files of `offer NAME` and `use NAME` lines, which may misbehave in one way, given as its mode.

It complains of a `use` whose name no file of its folder offers. Like the real ones it remembers what it read from disk
until it is told of a change, and sees what it was shown instead.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

MODE = sys.argv[1]
ROOT = Path.cwd()
PIDS = os.environ.get("FAKE_PIDS")
KNOWN: dict[str, str] = {}
SHOWN: dict[str, str] = {}
VERSIONS: dict[str, int | None] = {}
SENDING = threading.Lock()
PUSHES = MODE.startswith("push")


def send(*messages: dict[str, Any]) -> None:
    """Send them in one piece: a reader that waits for rest must find none in between."""
    bodies = [json.dumps({"jsonrpc": "2.0"} | each).encode() for each in messages]
    with SENDING:
        raw(b"".join(b"Content-Type: x\r\ncontent-length: %d\r\n\r\n%b" % (len(each), each) for each in bodies))


def receive() -> dict[str, Any]:
    size = 0
    while (line := sys.stdin.buffer.readline()) != b"\r\n":
        if not line:
            sys.exit(0)
        size = int(line.split(b":")[1])
    return dict(json.loads(sys.stdin.buffer.read(size)))


def raw(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def sources() -> dict[str, str]:
    return KNOWN | SHOWN


def diagnostics(path: str) -> list[dict[str, Any]]:
    offered = {line[6:] for text in sources().values() for line in text.splitlines() if line.startswith("offer ")}
    return [
        found(number, f"{line[4:]} is not offered\n\ninfo: looked in {ROOT}")
        for number, line in enumerate(sources().get(path, "").splitlines())
        if line.startswith("use ") and line[4:] not in offered
    ] + [found(0, "only a hint", severity=4)]


def found(line: int, message: str, **more: Any) -> dict[str, Any]:
    start = {"line": line, "character": 0}
    return {"range": {"start": start, "end": start}, "message": message, "code": "not-offered"} | more


def path_of(uri: str) -> str:
    return str(Path(uri.removeprefix("file://")).relative_to(ROOT))


def load(path: str) -> None:
    KNOWN.pop(path, None)
    if (ROOT / path).is_file():
        KNOWN[path] = (ROOT / path).read_text(encoding="utf-8", errors="replace")


def publish() -> None:
    if MODE == "push nothing":
        return
    if MODE == "push and die":
        sys.exit(9)
    messages = [published(path) for path in SHOWN]
    send(*messages)
    if MODE == "push for ever" and messages:
        threading.Thread(target=repeat, args=messages[-1:], daemon=True).start()


def published(path: str) -> dict[str, Any]:
    version = {"version": VERSIONS[path]} if MODE == "push" else {}
    items = 3 if MODE == "push oddly" else diagnostics(path)
    params = {"uri": f"file://{ROOT / path}", "diagnostics": items} | version
    return {"method": "textDocument/publishDiagnostics", "params": params}


def repeat(message: dict[str, Any]) -> None:
    while True:
        time.sleep(0.02)
        send(message)


def take(method: str, params: dict[str, Any]) -> None:
    """Handle a notification."""
    document = params.get("textDocument", {})
    if method == "textDocument/didOpen":
        SHOWN[path_of(document["uri"])] = document["text"]
    elif method == "textDocument/didChange":
        SHOWN[path_of(document["uri"])] = params["contentChanges"][0]["text"]
    elif method == "textDocument/didClose":
        del SHOWN[path_of(document["uri"])]
    elif method == "workspace/didChangeWatchedFiles":
        for change in params["changes"]:
            load(path_of(change["uri"]))
    if document:
        VERSIONS[path_of(document["uri"])] = document.get("version")
    if document and PUSHES:
        publish()


def greet(number: Any) -> None:
    if MODE == "hangs":
        time.sleep(600)
    if MODE == "answers nothing to greeting":
        send({"id": number, "result": None})
        return
    if MODE == "refuses the greeting":
        send({"id": number, "error": {"code": -32603, "message": "not today"}})
        return
    if MODE == "asks":
        ask_the_client()
    result = {"capabilities": {}, "serverInfo": {"name": "fake", "version": "1.2"}}
    send({"id": number, "result": result})
    if MODE == "dies when greeted":
        sys.exit(7)
    if MODE == "is deaf":
        time.sleep(600)


def ask_the_client() -> None:
    """Ask what servers ask, and go on only if each question is answered as it must be."""
    questions: list[tuple[Any, str, Any, Any]] = [
        (
            "a",
            "workspace/configuration",
            {"items": [{"section": "fake"}, {"section": "other"}, {}, 3]},
            [7, None, None, None],
        ),
        (1, "workspace/configuration", None, []),
        (2, "client/registerCapability", {"registrations": []}, None),
        (3, "window/workDoneProgress/create", {"token": 1}, None),
        (4, "workspace/applyEdit", {}, {"applied": False}),
    ]
    for number, method, params, _ in questions:
        send({"id": number, "method": method, "params": params})
    send({"id": 5, "method": "no/such", "params": {}})
    send({"method": "window/logMessage", "params": {"message": "hello"}})
    send({"method": "textDocument/publishDiagnostics", "params": {"uri": 3, "diagnostics": "none"}})
    send({"method": "textDocument/publishDiagnostics", "params": None})
    answers = [receive() for _ in range(6)]
    assert [answer["id"] for answer in answers] == [*(number for number, *_ in questions), 5]
    assert [answer["result"] for answer in answers[:5]] == [expected for *_, expected in questions]
    assert answers[5]["error"]["code"] == -32601


def report(number: Any, params: dict[str, Any], tries: dict[str, int]) -> None:
    """Answer a question about a file, unless the mode says otherwise."""
    path = path_of(params["textDocument"]["uri"])
    tries[path] = tries.get(path, 0) + 1
    put_off = {"id": number, "error": {"code": -32802, "message": "later", "data": {"retriggerRequest": True}}}
    bad: dict[str, Callable[[], object]] = {
        "dies when asked": partial(sys.exit, "out of luck"),
        "hangs when asked": partial(time.sleep, 600),
        "sends noise": partial(raw, bytes(range(256)) * 20),
        "sends no JSON": partial(raw, b"Content-Length: 3\r\n\r\n{]}"),
        "sends a list": partial(raw, b"Content-Length: 2\r\n\r\n[]"),
        "announces too much": partial(raw, b"Content-Length: 1000000000000\r\n\r\n"),
        "announces nothing": partial(raw, b"Content-Length: many\r\n\r\n"),
        "sends endless headers": partial(raw, b"X: y\r\n" * 1000),
        "breaks off": break_off,
        "closes its output": close_output,
        "answers others": partial(answer_others, number),
        "answers oddly": partial(send, {"id": number, "result": [1, 2]}),
        "answers with odd items": partial(send, {"id": number, "result": {"items": [{"message": 1}]}}),
        "answers with an error": partial(send, {"id": number, "error": "why not"}),
        "always puts off": partial(send, put_off),
    }
    if MODE in bad:
        bad[MODE]()
    elif MODE == "puts off" and tries[path] <= 2:
        send(put_off)
    elif MODE != "hangs about b" or path != "b.fake":
        filler = [found(0, "x" * 5_000_000, severity=3)] if MODE == "says much" else []
        if MODE == "takes it back":
            send({"id": f"again {number}", "method": "workspace/diagnostic/refresh"})
        send({"id": number, "result": {"kind": "full", "items": diagnostics(path) + filler}})


def break_off() -> None:
    raw(b"Content-Length: 100\r\n\r\nabc")
    sys.exit(0)


def close_output() -> None:
    os.close(1)
    time.sleep(600)


def answer_others(number: int) -> None:
    for other in (number + 1000, "x", None):
        send({"id": other, "result": {"items": []}})


def main() -> None:
    if MODE == "dies at once":
        sys.exit("no such option\n")
    if MODE == "leaves a child":
        child = subprocess.Popen(["sleep", "600"])
        note(child.pid)
    for file in ROOT.rglob("*.fake"):
        load(str(file.relative_to(ROOT)))
    tries: dict[str, int] = {}
    while True:
        message = receive()
        method, params = message.get("method", ""), message.get("params") or {}
        if method == "initialize":
            greet(message["id"])
        elif method == "textDocument/diagnostic":
            report(message["id"], params, tries)
        elif "id" not in message and method != "initialized":
            take(method, params)


def note(pid: int) -> None:
    if PIDS:
        with Path(PIDS).open("a", encoding="ascii") as file:
            file.write(f"{pid}\n")


if __name__ == "__main__":
    note(os.getpid())
    main()
