"""Find the holder and the working tree of a call over the Model Context Protocol."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.kernel import texts
from commonhold.kernel.errors import Code, UsageError
from commonhold.machine.system import RandomIds
from commonhold.workspace.repository import find_repository

AGENT_HEADER: Final = "x-commonhold-agent"
FOLDER_HEADER: Final = "x-commonhold-folder"
_SESSION_HEADER: Final = "mcp-session-id"
# Codex names session and thread in the `_meta` of every call.
_META: Final = ("sessionId", "threadId")
_CALL: Final = "claudecode/toolUseId"
# The name that a client gives when it connects, and the word for it in names of holders.
_CLIENTS: Final = {"codex-mcp-client": "codex"}


@dataclass(frozen=True, slots=True)
class Origin:
    """The parts of a call that tell its origin."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    client: str = ""


@dataclass(frozen=True, slots=True)
class Seat:
    """A working tree and the holder who works there; without a holder only questions can be asked."""

    path: str
    holder: str | None


class Piped:
    """Seats if each session has a server of its own: the name given, else one from the call, or made up once."""

    def __init__(self, path: str, agent: str | None) -> None:
        """Work on the repository around `path`; prefer `agent`, if it is a name."""
        self._path = path
        self._known = agent or None
        self._fallback = RandomIds().new("mcp")

    def __call__(self, origin: Origin) -> Seat:
        """Return the seat of a call."""
        return Seat(self._path, self._known or _named(origin) or self._fallback)


class Posted:
    """Seats if one server is for all sessions: the name in a header, else another mark of the session.

    A call of Claude Code carries only its own id; a hook has reported its holder before (`seen`).
    """

    def __init__(self, path: str, seen: CallsSeen) -> None:
        """Work on the working tree at `path`, or on another of its repository that the client names."""
        self._path = path
        self._state_folder = find_repository(path).state_folder
        self._seen = seen

    def __call__(self, origin: Origin) -> Seat:
        """Return the seat of a call. Raises CommonholdError for a name or a folder that cannot be used."""
        name = origin.headers.get(AGENT_HEADER)
        if name is not None and not name.strip():
            raise UsageError(
                Code.HOLDER_MISSING, f"{AGENT_HEADER} names no holder", hint="give it a name, or leave it out"
            )
        if name is not None:
            texts.check_holder(name)
        session = origin.headers.get(_SESSION_HEADER)
        made_up = f"mcp-{session}" if session else None
        return Seat(self._root(origin), name or self._seen.holder(origin.meta.get(_CALL)) or _named(origin) or made_up)

    def _root(self, origin: Origin) -> str:
        folder = origin.headers.get(FOLDER_HEADER)
        if folder is None:
            return self._path
        found = find_repository(folder)
        if found.state_folder != self._state_folder:
            raise UsageError(
                Code.USAGE,
                f"{folder!r} is no working tree of the repository that is served here",
                hint=f"name one in {FOLDER_HEADER}, or leave it out",
            )
        return found.root


def _named(origin: Origin) -> str | None:
    """Return the session that the call names, in the form that the agent's hooks use."""
    named = (origin.meta.get(name) for name in _META)
    session = next((name for name in named if isinstance(name, str) and name), None)
    agent = _CLIENTS.get(origin.client)
    return f"{agent}:{session}" if session and agent else session
