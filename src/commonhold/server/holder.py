"""Under which name the agent behind a connection holds leases."""

import uuid
from collections.abc import Mapping
from typing import Any, Final

# COMMONHOLD_AGENT is the user's word; Claude Code names its session in the environment of a server that it starts.
_VARIABLES: Final = ("COMMONHOLD_AGENT", "CLAUDE_CODE_SESSION_ID")
# Codex names session and thread in the `_meta` of every call.
_META: Final = ("sessionId", "threadId")


class Holders:
    """The holder of each call: the name given, else one from the environment, the call, or made up once."""

    def __init__(self, agent: str | None, environment: Mapping[str, str]) -> None:
        """Prefer `agent`, then what `environment` says."""
        names = [agent, *map(environment.get, _VARIABLES)]
        self._known = next((name for name in names if name), None)
        self._fallback = f"mcp-{uuid.uuid4().hex[:12]}"

    def holder(self, meta: Mapping[str, Any] | None) -> str:
        """The holder of a call that came with this `_meta`."""
        if self._known is not None:
            return self._known
        named = (meta.get(name) for name in _META) if meta else ()
        return next((name for name in named if isinstance(name, str) and name), self._fallback)
