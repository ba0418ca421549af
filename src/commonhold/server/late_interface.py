"""The HTTP interface, loaded at its first request: a daemon that serves hooks alone does not need it."""

import asyncio
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from commonhold.client.opening import FindChannel
from commonhold.server.asgi import App, Receive, Scope, Send
from commonhold.server.facts import Facts
from commonhold.server.threads import beside

if TYPE_CHECKING:
    from commonhold.server.network.interface import Interface

_MODULE: Final = "commonhold.server.network.interface"
_GATE: Final = "commonhold.server.network.gate"
_TOKENS: Final = "commonhold.workspace.tokens"


class LateInterface:
    """An ASGI application for one repository; it belongs to one event loop."""

    def __init__(self, root: str, find_channel: FindChannel, facts: Facts) -> None:
        """Serve the working tree at `root` through channels from `find_channel`."""
        self._root = root
        self._find_channel = find_channel
        self._facts = facts
        self._interface: asyncio.Task[Interface] | None = None

    async def private(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a program of this user."""
        await (await self._loaded()).private(scope, receive, send)

    def behind(self, state_folder: str, hosts: Iterable[str], rate: float) -> App:
        """Return the application for bearers of tokens in `state_folder`. See `Gate` for `hosts` and `rate`."""
        guarded: App | None = None

        async def admitted(scope: Scope, receive: Receive, send: Send) -> None:
            nonlocal guarded
            if guarded is None:
                interface = await self._loaded()
                tokens = import_module(_TOKENS).KnownTokens(state_folder)
                guarded = interface.behind(import_module(_GATE).Gate(tokens, hosts, rate))
            await guarded(scope, receive, send)

        return admitted

    async def _loaded(self) -> "Interface":
        if self._interface is None:
            self._interface = asyncio.ensure_future(self._load())
        return await asyncio.shield(self._interface)

    async def _load(self) -> "Interface":
        module = await beside(partial(import_module, _MODULE))
        interface: Interface = module.Interface(lambda agent: self._find_channel(self._root, agent)[1], self._facts)
        return interface

    async def close(self) -> None:
        """End all streams."""
        if self._interface is not None:
            await (await self._interface).close()
