"""The part behind the routes of a repository: the known agents, and their handlers.

Only the modules for the first answer are loaded with this one; `LATER` is loaded while the agent with that answer
thinks.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from commonhold.agents.hook_events import Happening, Response
from commonhold.agents.hook_runtime import HookRuntime
from commonhold.agents.registry import AGENTS
from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.agents.runtime.hooks import Attend, Hooks
from commonhold.agents.runtime.under_way import UnderWay
from commonhold.client.opening import FindChannel
from commonhold.server import listening
from commonhold.server.face import OpenFace
from commonhold.server.facts import Facts
from commonhold.server.http import Web
from commonhold.server.late_interface import LateInterface
from commonhold.server.mcp_app import McpApp
from commonhold.workspace.loopback import Loopback
from commonhold.workspace.repository import Repository

LATER_SECONDS: Final = 0.3
"""The delay from the first answer until the rest begins to load: the answer is sent by then."""
LATER: Final = (
    "commonhold.commits.write_use_cases",
    "commonhold.server.planning.pool",
    "commonhold.agents.git.calls",
    "commonhold.agents.git.overwrites",
    "commonhold.workspace.survey.git_ground",
    "commonhold.index.index",
    "commonhold.typecheck",
)
"""The modules for edits and shell commands, those for the first edit first."""


def load_the_rest() -> None:
    """Import the modules that are needed later."""
    for name in LATER:
        import_module(name)


class Rest:
    """The loading of modules that begins once the first hook is answered."""

    def __init__(self, load: Callable[[], object] = load_the_rest) -> None:
        """Load with `load`, in a thread of its own."""
        self._timer = threading.Timer(LATER_SECONDS, load)
        self._timer.daemon = True
        self._first = threading.Lock()

    def after(self, attend: Attend) -> Attend:
        """Return the same handler, which begins the loading after its first call."""

        def attended(happening: Happening) -> Response:
            response = attend(happening)
            if self._first.acquire(blocking=False):
                self._timer.start()
            return response

        return attended

    def cancel(self) -> None:
        """Do not begin to load any more."""
        self._timer.cancel()


@dataclass(frozen=True, slots=True)
class Entrances:
    """The sockets that clients come to, the loopback if one of them is there, and the descriptor that ends the serving.

    Serving ends when there is something to read from `stop_descriptor`. `network` is the entrance for other machines,
    if it is open.
    """

    listeners: Sequence[socket.socket]
    loopback: Loopback | None
    stop_descriptor: int
    network: OpenFace | None = None


class _Streams:
    """The streams of MCP and of the HTTP interface."""

    def __init__(self, *streams: listening.Streams) -> None:
        self._streams = streams

    async def close(self) -> None:
        """End them."""
        for each in self._streams:
            await each.close()


def serve(
    repository: Repository, find_channel: FindChannel, facts: Facts, entrances: Entrances, under_way: UnderWay
) -> None:
    """Answer the clients at `entrances` until the serving ends, through channels from `find_channel`."""
    seen, attendants = CallsSeen(), HookRuntime(repository, find_channel, under_way)
    mcp = McpApp(repository.root, seen, find_channel)
    rest = Rest()
    interface = LateInterface(repository.root, find_channel, facts)
    hooks = Hooks(AGENTS, rest.after(attendants.attend), seen)
    web = Web(hooks, attendants.routes, mcp, under_way, interface.private)
    guarded = web.over(entrances.loopback) if entrances.loopback is not None else None
    network = None
    if entrances.network is not None:
        face = entrances.network.face
        app = interface.behind(repository.state_folder, face.hosts, face.rate)
        shown = listening.Face(entrances.network.listeners, face.certificate, face.key)
        network = shown, web.counted(app)
    try:
        streams = _Streams(mcp, interface)
        doors = listening.Doors(web.private, guarded)
        listening.serve(entrances.listeners, doors, streams, entrances.stop_descriptor, network)
    finally:
        rest.cancel()
        attendants.close()
