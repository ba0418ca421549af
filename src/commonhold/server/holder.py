"""Under which name the agent behind a connection holds leases."""

from collections.abc import Mapping
from typing import Any, Final

from commonhold.adapters.system import RandomIds

# Codex names session and thread in the `_meta` of every call.
_META: Final = ("sessionId", "threadId")


class Holders:
    """The holder of each call: the name given, else one from the call, or made up once."""

    def __init__(self, agent: str | None) -> None:
        """Prefer `agent`, if it is a name."""
        self._known = agent or None
        self._fallback = RandomIds().new("mcp")

    def holder(self, meta: Mapping[str, Any] | None) -> str:
        """The holder of a call that came with this `_meta`."""
        if self._known is not None:
            return self._known
        named = (meta.get(name) for name in _META) if meta else ()
        return next((name for name in named if isinstance(name, str) and name), self._fallback)
