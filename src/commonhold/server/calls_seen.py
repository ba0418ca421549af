"""Whose a tool call is: a hook says so before the call itself arrives, which names itself and nobody else."""

import threading
from collections.abc import Mapping
from typing import Any, Final

MOST: Final = 4096
NAME: Final = "tool_use_id"
"""What Claude Code calls it; the call itself has the same id in its `_meta`."""


class CallsSeen:
    """The newest calls that hooks have reported, and their holders."""

    def __init__(self) -> None:
        """Know none yet."""
        self._holders: dict[str, str] = {}
        self._turn = threading.Lock()

    def note(self, payload: Mapping[str, Any], holder: str) -> None:
        """Remember whose the call in a payload is, if there is one."""
        call = payload.get(NAME)
        if isinstance(call, str) and call:
            with self._turn:
                self._holders[call] = holder
                if len(self._holders) > MOST:
                    del self._holders[next(iter(self._holders))]

    def holder(self, call: object) -> str | None:
        """Whose a call is; None of one that no hook has reported."""
        return self._holders.get(call) if isinstance(call, str) else None
