"""What is known of one coding agent: how to read what its hooks send, and how to answer them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from commonhold.app.happenings import Happening, Response

Payload = Mapping[str, Any]


class Unreadable(ValueError):  # noqa: N818 - it is answered by `refuse`, never shown
    """A payload that is none of this agent's: whatever it is about must not go through unseen."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook gives back: its standard output, its exit status, and its standard error.

    Over HTTP only `body` is sent.
    """

    body: bytes = b""
    status: int = 0
    complaint: str = ""


def _never(_root: str) -> bool:
    """An agent's shells are its own, and nothing of ours is in them."""
    return False


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent as data, with its adapter.

    `name` is the word for it on the command line and in names of holders, `title` what people call it. `read` makes a
    happening of a payload (decoded JSON) and of what tells the process apart, and raises Unreadable; `write` says a
    response to a happening in the agent's own words; `refuse` is the answer where a payload could not be read, or
    nobody could decide: it blocks whatever was about to happen, as far as this agent can be blocked. `wraps_shells`
    says whether it starts our launcher in place of a shell, in the working tree at a root; `shuts_off_shells`, whether
    shells of its become our launcher there, perhaps in a sandbox of its own in which that can ask nobody.
    """

    name: str
    title: str
    read: Callable[[Payload, str], Happening]
    write: Callable[[Happening, Response], Reply]
    refuse: Callable[[Payload, str], Reply]
    wraps_shells: Callable[[str], bool] = _never
    shuts_off_shells: Callable[[str], bool] = _never
