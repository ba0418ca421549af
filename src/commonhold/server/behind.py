"""What is behind the routes of a repository: the agents that are known, and who attends to them."""

import socket
from collections.abc import Mapping, Sequence

from commonhold.adapters.loopback import Loopback
from commonhold.adapters.repository import Repository
from commonhold.agents.agent import Agent
from commonhold.app.happenings import Happening, Response
from commonhold.client.opening import open_session
from commonhold.client.session import Commonhold
from commonhold.domain.errors import Code, InternalError
from commonhold.server import listening
from commonhold.server.calls_seen import CallsSeen
from commonhold.server.hooks import Hooks
from commonhold.server.http import Web
from commonhold.server.mcp_app import McpApp
from commonhold.server.shells import Shells

AGENTS: Mapping[str, Agent] = {}


def attend(happening: Happening) -> Response:
    """Refuse: nobody attends yet."""
    raise InternalError(
        Code.INTERNAL, f"nobody attends to {type(happening).__name__}", hint="wait for the next version"
    )


def serve(
    repository: Repository,
    listeners: Sequence[socket.socket],
    loopback: Loopback | None,
    under_way: set[object],
    stop_descriptor: int,
) -> None:
    """Answer whoever comes to `listeners`, until there is something to read from `stop_descriptor`."""
    seen = CallsSeen()
    mcp = McpApp(repository.root, seen)
    web = Web(Hooks(AGENTS, attend, seen), Shells(_opened).calls, mcp, under_way)
    guarded = web.over(loopback) if loopback is not None else None
    listening.serve(listeners, listening.Doors(web.private, guarded), mcp, stop_descriptor)


def _opened(root: str, holder: str) -> Commonhold:
    return open_session(root, agent=holder, daemon=True)
