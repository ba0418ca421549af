"""Values from payloads of unknown structure: only that they are JSON is known."""

import re
from collections.abc import Mapping
from typing import Any, Final

from commonhold.agents.agent import Unreadable
from commonhold.agents.hook_events import Caller
from commonhold.reads.partial_reads import CUT

MAX_ID_LENGTH: Final = 90
"""The longest name of a session, and of a part of it: the holder's name has room for both."""


def text(values: Mapping[str, Any], *names: str) -> str:
    """Return the first of the values of these names that is a string; empty if none is."""
    return next((value for name in names if isinstance(value := values.get(name), str)), "")


def mapping(values: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return the first of the values of these names that is an object; empty if none is."""
    return next((value for name in names if isinstance(value := values.get(name), Mapping)), {})


def shortened(shown: str, mark: str) -> str:
    """Return a text that a tool has shown, with a CUT for the mark by which the tool ends long lines."""
    return re.sub(rf"(?m)(?<=[^\n]{{1000}}){re.escape(mark)}$", CUT, shown) if mark in shown else shown


def caller(agent: str, session: str, subagent: str, process: str) -> Caller:
    """Return the session or subagent that makes the call.

    Raises Unreadable if it is unknown: an action without a known author is not allowed.
    """
    if not session:
        raise Unreadable("it does not say which session it is about")
    part = "" if subagent == session else subagent
    session = session.replace("%", "%25").replace("/", "%2F")  # the slash in a holder's name begins its part
    for name in (session, part):
        if not name.isprintable() or len(name) > MAX_ID_LENGTH:
            raise Unreadable(f"it calls a session {name[:MAX_ID_LENGTH]!r}, which is no name for one")
    return Caller(agent, session, part, process)
