"""The holders of tool calls: a hook reports each call before the call itself arrives, which carries only its id."""

import threading
from collections.abc import Mapping
from typing import Any, Final

MOST: Final = 4096
NAME: Final = "tool_use_id"
"""The name of a call's id in Claude Code; the call itself has the same id in its `_meta`."""


class CallsSeen:
    """The newest calls that hooks have reported, and their holders."""

    def __init__(self) -> None:
        """Begin with none."""
        self._holders: dict[str, str] = {}
        self._turn = threading.Lock()

    def note(self, payload: Mapping[str, Any], holder: str) -> None:
        """Record the holder of the call in a payload, if there is one."""
        call = payload.get(NAME)
        if isinstance(call, str) and call:
            with self._turn:
                self._holders[call] = holder
                if len(self._holders) > MOST:
                    del self._holders[next(iter(self._holders))]

    def holder(self, call: object) -> str | None:
        """Return the holder of a call; None if no hook has reported it."""
        return self._holders.get(call) if isinstance(call, str) else None
