"""A middleware for agents: it checks the writes of their tools first, so that no agent overwrites another's work."""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NotRequired, Unpack

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import ExecutionInfo, Runtime
from langgraph.types import Command

from commonhold.agents.hook_events import IntendedWrite, Patched
from commonhold.client.async_opening import open_async
from commonhold.client.opening import Choices
from commonhold.config import load_settings
from commonhold.integrations.langgraph.asking import asked
from commonhold.integrations.langgraph.identity import execution, holder_of
from commonhold.integrations.langgraph.sessions import Sessions
from commonhold.integrations.langgraph.telling import MIXED, failure, lost_meanwhile
from commonhold.integrations.langgraph.tools import FILE_TOOLS, Holds, Reads, Role, Writes
from commonhold.integrations.langgraph.views import Views
from commonhold.integrations.langgraph.writing import Desk
from commonhold.kernel.errors import InputError, RefusedError, StoreError
from commonhold.workspace.files.canonical_paths import RESERVED
from commonhold.workspace.ignore import Ignoring

Result = ToolMessage | Command[Any]
# The errors that the agent sees, since it can correct them: its arguments, and the state of the store or the files.
_TOLD: Final = (InputError, StoreError, RefusedError, LookupError, TypeError)


class CommonholdState(AgentState[Any]):
    """The state that the middleware keeps with the conversation: a name for a run whose thread has none."""

    commonhold_session: NotRequired[Annotated[str, PrivateStateAttr]]


class CommonholdMiddleware(AgentMiddleware[CommonholdState, Any, Any]):
    """Lets the tools of an agent share a repository, and anything else that has a name, with other agents.

    `tools` gives the role of each tool; tools that it does not name are left alone. The middleware commits the files
    that tools write, in the repository around `path`; a refusal becomes an error of the tool, with the facts that the
    agent needs to succeed. `intent` returns from the state the purpose of the agent's work, `holder` its name.
    """

    state_schema = CommonholdState

    def __init__(
        self,
        path: str = ".",
        tools: Mapping[str, Role] = FILE_TOOLS,
        *,
        intent: Callable[[Any], str] = asked,
        holder: Callable[[ExecutionInfo], str] | None = None,
        **choices: Unpack[Choices],
    ) -> None:
        """Open nothing yet."""
        super().__init__()
        self._tools = tools
        self._intent = intent
        self._holder = holder
        self._sessions = Sessions(path, choices)
        self._views = Views()
        self._ignoring = Ignoring(lambda root: load_settings(root).ignore)

    def before_agent(self, state: CommonholdState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Give a name to a run that has no thread to identify it."""
        info = runtime.execution_info
        is_known = self._holder is not None or (info is not None and info.thread_id is not None)
        return None if is_known or "commonhold_session" in state else {"commonhold_session": secrets.token_hex(6)}

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Run the tool according to its role in the table. See AgentMiddleware."""
        role = self._tools.get(request.tool_call["name"])
        if isinstance(role, Holds):
            return self._hold(role, request, handler)
        return self._judged(role, request) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """As `wrap_tool_call`, for asyncio."""
        role = self._tools.get(request.tool_call["name"])
        if isinstance(role, Holds):
            return await self._hold_async(role, request, handler)
        judged = None if role is None else await asyncio.to_thread(self._judged, role, request)
        return judged or await handler(request)

    def _judged(self, role: Role | None, request: ToolCallRequest) -> ToolMessage | None:
        """Return the result of a write; None if the tool itself must run."""
        try:
            if isinstance(role, Reads):
                self._look(role, request)
            elif isinstance(role, Writes):
                return self._write(role.wishes(request.tool_call["args"]), request)
        except _TOLD as fault:
            return _error(request, failure(request.tool_call["name"], fault))
        return None

    def _look(self, role: Reads, request: ToolCallRequest) -> None:
        """Record the read before the tool reads: the recorded version is never newer than the shown one."""
        with self._sessions.of(self._name(request)) as hold:
            for path in role.paths(request.tool_call["args"]):
                if (inside := self._concern(hold.root, path)) is not None:
                    Desk(hold, self._views).look(inside)

    def _write(self, wishes: Sequence[IntendedWrite], request: ToolCallRequest) -> ToolMessage | None:
        with self._sessions.of(self._name(request)) as hold:
            ours = [found for wish in wishes if (found := self._placed(hold.root, wish))]
            if not ours:
                return None
            if len(ours) < len(wishes):
                return _error(request, MIXED)
            told = Desk(hold, self._views).carry_out(ours, self._intent(request.state))
        return _error(request, told.text) if told.is_refused else _message(request, told.text)

    def _placed(self, root: str, wish: IntendedWrite) -> IntendedWrite | None:
        """Return the wish with its paths from the root; None if it does not concern us."""
        path = self._concern(root, wish.path)
        if path is None:
            return None
        here = replace(wish, path=path)
        if isinstance(here, Patched) and here.to:
            return replace(here, to=self._concern(root, here.to) or here.to)
        return here

    def _concern(self, root: str, path: str) -> str | None:
        """Return the path from the root; None if it lies outside, or is ignored: then it does not concern us."""
        inside = _inside(root, path)
        if inside is None or inside.split(os.sep, 1)[0] in RESERVED:  # the service refuses writes to git's own files
            return inside
        return None if self._ignoring.is_ignored(root, inside) else inside

    def _hold(self, role: Holds, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        result: Result | None = None
        try:
            with ExitStack() as stack:
                try:
                    keys = role.keys(request.tool_call["args"])
                    hold = stack.enter_context(self._sessions.of(self._name(request)))
                    stack.enter_context(hold.hold(*keys, **self._terms(role, request)))
                except _TOLD as fault:
                    return _error(request, failure(request.tool_call["name"], fault))
                result = handler(request)
        except RefusedError as fault:
            return _error(request, _lost(fault, result))
        return result

    async def _hold_async(
        self, role: Holds, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        result: Result | None = None
        path, choices = self._sessions.path, self._sessions.choices
        try:
            async with AsyncExitStack() as stack:
                try:
                    keys = role.keys(request.tool_call["args"])
                    opened = await asyncio.to_thread(open_async, path, agent=self._name(request), **choices)
                    hold = await stack.enter_async_context(opened)
                    await stack.enter_async_context(hold.hold(*keys, **self._terms(role, request)))
                except _TOLD as fault:
                    return _error(request, failure(request.tool_call["name"], fault))
                result = await handler(request)
        except RefusedError as fault:
            return _error(request, _lost(fault, result))
        return result

    def _terms(self, role: Holds, request: ToolCallRequest) -> dict[str, Any]:
        return {"task": self._intent(request.state), "wait_seconds": role.wait_seconds}

    def _name(self, request: ToolCallRequest) -> str:
        info = execution()
        if self._holder is not None:
            return self._holder(info)
        state = request.state
        return holder_of(info, state.get("commonhold_session", "") if isinstance(state, dict) else "")

    def close(self) -> None:
        """Close the sessions. Leases stay as they are."""
        self._sessions.close()


def _inside(root: str, path: str) -> str | None:
    """Return the path from the root of the repository; None if it lies outside."""
    if "\0" in path:  # no system has such a file: the check of the path will say so
        return path
    real, top = os.path.realpath(Path(root, path)), os.path.realpath(root)
    return os.path.relpath(real, top) if Path(real).is_relative_to(top) else None


def _lost(fault: RefusedError, result: Result | None) -> str:
    """Return the message about a lease that ended while its tool ran. Raises `fault` if the tool has no result."""
    if result is None:
        raise fault
    return lost_meanwhile(fault)


def _error(request: ToolCallRequest, text: str) -> ToolMessage:
    return _message(request, text, status="error")


def _message(request: ToolCallRequest, text: str, status: Literal["success", "error"] = "success") -> ToolMessage:
    call = request.tool_call
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status=status)
