"""`hooked_daemon.py ROOT IDLE`: a daemon that knows an agent `probe`, whose payloads say what becomes of them."""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from commonhold.agents.agent import Agent, Payload, Reply, Unreadable
from commonhold.agents.hook_events import AboutToEdit, Caller, Happening, Response, Stance
from commonhold.agents.runtime.questions import Route
from commonhold.agents.runtime.under_way import UnderWay
from commonhold.client.opening import FindChannel
from commonhold.kernel.errors import Code, StoreError
from commonhold.server import http, http_runtime
from commonhold.server.daemon.lifetime import Times, serve
from commonhold.workspace.repository import Repository

CROWD = 24
LONGEST = 100.0
"""How long a crowd is waited for: each of it is a process that has to start."""
_crowd = threading.Barrier(CROWD)


def read(payload: Payload, process: str) -> Happening:
    if "do" not in payload:
        raise Unreadable("it says nothing to do")
    caller = Caller("probe", payload.get("session", "s"), process=process)
    return AboutToEdit(caller, payload.get("cwd", ""), payload.get("tool_use_id", ""), payload["do"], (), process)


def attend(happening: Happening) -> Response:
    assert isinstance(happening, AboutToEdit)
    match happening.tool.split(maxsplit=1):
        case ["deny"]:
            return Response(Stance.DENY, reason="held by bob: «später»")
        case ["fail"]:
            raise StoreError(Code.DISK_FULL, "the disk is full", hint="make room")
        case ["crash"]:
            raise RuntimeError("a defect")
        case ["meet"]:
            _crowd.wait(LONGEST)
        case ["wait", path]:
            Path(f"{path}.begun").touch()
            while not Path(path).exists():
                time.sleep(0.01)
        case _:
            pass
    return Response(context=happening.trouble)


def write(_: Happening, response: Response) -> Reply:
    if response.stance is Stance.DENY:
        return Reply(_json(deny=response.reason), 2, response.reason)
    return Reply(_json(process=response.context))


def refuse(payload: Payload, why: str) -> Reply:
    return Reply(_json(refused=why, payload=len(payload)), 2, why)


def _json(**shape: Any) -> bytes:
    return json.dumps(shape, ensure_ascii=False).encode()


class Runtime:
    """Who attends to the probe, in place of those who attend to agents."""

    def __init__(self, _repository: Repository, _find_channel: FindChannel, _under_way: UnderWay) -> None:
        self.routes: dict[str, Route] = {}

    def attend(self, happening: Happening) -> Response:
        return attend(happening)

    def close(self) -> None:
        pass


if __name__ == "__main__":
    vars(http_runtime).update(
        AGENTS={"probe": Agent("probe", "Probe", read, write, refuse)},
        HookRuntime=Runtime,
    )
    vars(http).update(HOOK_SECONDS=LONGEST)
    sys.exit(serve(sys.argv[1], Times(float(sys.argv[2]), 600.0)))
