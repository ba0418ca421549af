"""What is behind the routes of a repository: the agents that are known, and who attends to them."""

import socket
from collections.abc import Sequence

from commonhold.adapters.loopback import Loopback
from commonhold.adapters.repository import Repository
from commonhold.agents.registry import AGENTS
from commonhold.server import listening
from commonhold.server.attendants import Attendants
from commonhold.server.calls_seen import CallsSeen
from commonhold.server.hooks import Hooks
from commonhold.server.http import Web
from commonhold.server.mcp_app import McpApp
from commonhold.server.under_way import UnderWay


def serve(
    repository: Repository,
    listeners: Sequence[socket.socket],
    loopback: Loopback | None,
    under_way: UnderWay,
    stop_descriptor: int,
) -> None:
    """Answer whoever comes to `listeners`, until there is something to read from `stop_descriptor`."""
    seen, attendants = CallsSeen(), Attendants(repository, under_way)
    mcp = McpApp(repository.root, seen)
    web = Web(Hooks(AGENTS, attendants.attend, seen), attendants.routes, mcp, under_way)
    guarded = web.over(loopback) if loopback is not None else None
    try:
        listening.serve(listeners, listening.Doors(web.private, guarded), mcp, stop_descriptor)
    finally:
        attendants.close()
