"""The data of one coding agent: how to read the payloads of its hooks, and how to answer them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from commonhold.agents.hook_events import Happening, Response

Payload = Mapping[str, Any]


class Unreadable(ValueError):  # noqa: N818 - it is answered by `refuse`, never shown
    """A payload that is not one of this agent's: the action that it reports must not go through unseen."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a hook: its standard output, its exit status, and its standard error.

    Over HTTP only `body` is sent.
    """

    body: bytes = b""
    status: int = 0
    complaint: str = ""


def _never(_root: str) -> bool:
    """Return False: most agents start their own shells, without our launcher."""
    return False


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent as data, with its adapter.

    `name` is the word for it on the command line and in names of holders, `title` its usual name. `read` makes a
    happening of a payload (decoded JSON) and of the id of the agent's process, and raises Unreadable; `write` puts a
    response to a happening into the agent's own format; `refuse` is the answer if a payload could not be read, or no
    decision could be made: it blocks the reported action, as far as this agent can be blocked. `wraps_shells` says
    whether it starts our launcher in place of a shell, in the working tree at a root; `shuts_off_shells` whether its
    shells become our launcher there, perhaps in a sandbox of its own in which the launcher cannot reach the daemon.
    """

    name: str
    title: str
    read: Callable[[Payload, str], Happening]
    write: Callable[[Happening, Response], Reply]
    refuse: Callable[[Payload, str], Reply]
    wraps_shells: Callable[[str], bool] = _never
    shuts_off_shells: Callable[[str], bool] = _never
