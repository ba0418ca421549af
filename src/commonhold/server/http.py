"""Requests over HTTP, and their handlers: hooks, sandboxed shells, and clients of the Model Context Protocol.

Over the private socket a hook's answer has all three parts; over the loopback only the body, for agents that ask by
themselves.
"""

import asyncio
import hmac
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

import commonhold
from commonhold.agents.agent import Reply
from commonhold.agents.runtime.agent_messages import BY_COMMAND
from commonhold.agents.runtime.hooks import TOO_DEEP, Hooks
from commonhold.agents.runtime.questions import Route
from commonhold.agents.runtime.under_way import UnderWay
from commonhold.api.wire.text import error
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.resource_exhaustion import exhausted
from commonhold.machine.correlation import accepted, correlated
from commonhold.machine.logs import Log
from commonhold.server.asgi import (
    BE_KNOWN,
    JSON,
    Answer,
    App,
    HungUpError,
    Receive,
    Scope,
    Send,
    body_of,
    header,
    send_answer,
    told,
)
from commonhold.server.threads import beside
from commonhold.workspace.loopback import Loopback

HOOK_SECONDS: Final = 25.0
"""How long a hook may take: agents give up on it after thirty seconds, and then let the write through."""
REPLY: Final = b"x-commonhold-reply"
CORRELATION: Final = b"x-commonhold-correlation"
"""The request header with the correlation id; a client may omit it."""
_log: Final = Log(__name__)


class Web:
    """The routes, for admitted clients. `under_way` holds an entry for each request that is not answered yet."""

    def __init__(
        self, hooks: Hooks, routes: Mapping[str, Route], mcp: App, under_way: UnderWay, api: App | None = None
    ) -> None:
        """Answer hooks, questions by the `routes` of their paths, MCP, and the paths below `/api/` with `api`."""
        self._hooks = hooks
        self._routes = routes
        self._mcp = mcp
        self._api = api
        self._under_way = under_way

    async def private(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a program of this user, over the private socket."""
        if self._api is not None and scope["path"].startswith("/api/"):
            await self.counted(self._api)(scope, receive, send)
        else:
            await self._answer(scope, receive, send, _in_parts)

    def counted(self, app: App) -> App:
        """Return the same application; its requests are under way until they are answered."""

        async def counting(scope: Scope, receive: Receive, send: Send) -> None:
            self._under_way.add(mark := lambda: True)
            try:
                await app(scope, receive, send)
            finally:
                self._under_way.discard(mark)

        return counting

    def over(self, chosen: Loopback) -> App:
        """Return the same application for clients with the token, over the loopback."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            refusal = admit(scope, chosen)
            if refusal is not None:
                await send_answer(send, _in_parting(refusal))
            else:
                scope.get(BE_KNOWN, bool)()
                await self._answer(scope, receive, send, _body_alone)

        return guarded

    async def _answer(self, scope: Scope, receive: Receive, send: Send, form: Callable[[Reply], Answer]) -> None:
        self._under_way.add(mark := lambda: True)
        try:
            path = scope["path"]
            if path == "/mcp":
                await self._mcp(scope, receive, send)
                return
            with suppress(HungUpError), correlated(accepted(header(scope, CORRELATION))):
                if path.startswith("/hooks/"):
                    await send_answer(send, await self._hook(path.removeprefix("/hooks/"), scope, receive, form))
                else:
                    await send_answer(send, await self._called(path, scope, receive))
        finally:
            self._under_way.discard(mark)

    async def _hook(self, name: str, scope: Scope, receive: Receive, form: Callable[[Reply], Answer]) -> Answer:
        if scope["method"] != "POST" or not self._hooks.knows(name):
            return told(404, f"there is no hook {name!r}: POST to /hooks/AGENT")
        body = await body_of(receive)
        if body is None:
            return form(self._hooks.refuse(name, b"", f"the hook sent more than 20 MB. Next: {BY_COMMAND}"))
        asked = name, body, header(scope, b"x-commonhold-process")
        given_up = threading.Event()
        try:
            answer = partial(self._hooks.answer, *asked, given_up.is_set)
            async with asyncio.timeout(HOOK_SECONDS):
                return form(await beside(answer))
        except TimeoutError:
            given_up.set()
            return form(await beside(partial(self._hooks.late, *asked, HOOK_SECONDS)))

    async def _called(self, path: str, scope: Scope, receive: Receive) -> Answer:
        route = self._routes.get(path)
        if path == "/" and scope["method"] == "GET":
            return _json(200, {"commonhold": commonhold.__version__})
        if route is None or scope["method"] != "POST":
            return told(404, f"there is nothing at {path}")
        body = await body_of(receive)
        if body is None:
            return told(413, "more than 20 MB were sent")
        return await beside(partial(_result, route, body))


def _result(route: Route, body: bytes) -> Answer:
    try:
        return _json(200, route.answer(json.loads(body)))
    except RecursionError:
        return told(400, TOO_DEEP)
    except ValueError as fault:
        return told(400, f"the request cannot be read: {fault}")
    except Exception as fault:  # noqa: BLE001 - a defect of ours must not end the daemon
        known = exhausted(fault) or fault
        if isinstance(known, CommonholdError):
            return _json(409, error(known))
        _log.error("question failed", question=route.form.__name__, fault=fault)
        return told(500, f"a defect of Commonhold: {type(fault).__name__}: {fault}")


def _json(status: int, shape: Mapping[str, Any]) -> Answer:
    return Answer(status, json.dumps(shape).encode(), (JSON,))


def _body_alone(reply: Reply) -> Answer:
    return Answer(200, reply.body, (JSON,))


def _in_parts(reply: Reply) -> Answer:
    """Return all of a reply: its exit status and the length of its standard output, that output, its standard error."""
    parts = f"{reply.status} {len(reply.body)}".encode()
    return Answer(200, reply.body + reply.complaint.encode(), ((REPLY, parts),))


def admit(scope: Scope, chosen: Loopback) -> Answer | None:
    """Return the refusal, or None for a client of this machine with the token. Remove the token from the path.

    A page in a browser could reach this through a name that leads to this machine, or simply ask: the browser reveals
    that in Host and Origin.
    """
    places = (f"127.0.0.1:{chosen.port}", f"localhost:{chosen.port}")
    # Compared as text: browsers send no other form of these places, and other clients need none.
    if header(scope, b"host").lower() not in places:
        return told(421, "this serves 127.0.0.1 alone")
    origin = header(scope, b"origin")
    if origin and origin.lower() not in {f"http://{place}" for place in places}:
        return told(403, "pages of other places may not ask here")
    given = header(scope, b"authorization").removeprefix("Bearer ")
    if not given and scope["path"].startswith("/t/"):
        given, slash, rest = scope["path"].removeprefix("/t/").partition("/")
        scope["path"] = slash + rest
    if not hmac.compare_digest(given.encode(), chosen.token.encode()):
        return Answer(401, b"the token of the repository is missing, or another\n", ((b"www-authenticate", b"Bearer"),))
    return None


def _in_parting(refusal: Answer) -> Answer:
    """Return the answer to a stranger, and close the connection.

    After one request it could stay for as long as it likes.
    """
    return replace(refusal, headers=(*refusal.headers, (b"connection", b"close")))
