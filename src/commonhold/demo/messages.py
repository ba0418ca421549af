"""What the demo and its agent processes say to each other: one JSON object a line."""

from enum import StrEnum

import msgspec

from commonhold.demo.workload import Chore


class Policy(StrEnum):
    """How agents keep out of each other's way."""

    NONE = "none"
    FILE = "file"
    COMMONHOLD = "commonhold"


class What(StrEnum):
    """What an agent does now, or what has just happened to it."""

    READY = "ready"
    READING = "reading"
    THINKING = "thinking"
    RETHINKING = "thinking again"
    WRITING = "committing"
    WAITING = "waiting"
    REFUSED = "refused"
    APPLIED = "applied"
    GAVE_UP = "gave up"
    DONE = "done"


class Spec(msgspec.Struct, frozen=True):
    """What an agent process is told when it starts. `environment` is for its server."""

    name: str
    root: str
    server: list[str]
    environment: dict[str, str]


class Order(msgspec.Struct, frozen=True):
    """Work for an agent: do these chores under this policy, now."""

    policy: Policy
    chores: list[Chore]


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """A word from an agent. `by` is who stood in the way of it."""

    what: What
    number: int = 0
    place: str = ""
    code: str = ""
    by: str = ""


def line(message: Order | Progress) -> bytes:
    """The message as it goes over the pipe."""
    return msgspec.json.encode(message) + b"\n"
