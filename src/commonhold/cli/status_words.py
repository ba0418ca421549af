"""The whole picture, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from commonhold.cli.describe import picture, quoted, when, who

if TYPE_CHECKING:
    from commonhold.kernel.pictures import Status
    from commonhold.kernel.presence import Presence


def _session(presence: Presence) -> str:
    """An agent, and its present request."""
    how = "waits for its user" if presence.is_at_rest else "working"
    return f"{who(presence.holder)}  {how}, began {when(presence.began_at)}{quoted(presence.intent)}"


def whole_picture(found: Status, owed: Iterable[str] = (), left: Iterable[str] = ()) -> Iterator[str]:
    """Leases, waiters and changes; debts (`owed`); sessions at work; unfinished work (`left`), in words each."""
    yield from picture(found.root, found)
    yield from owed
    if found.sessions:
        yield "agents at work:"
        yield from (f"  {_session(value)}" for value in found.sessions)
    yield from left
