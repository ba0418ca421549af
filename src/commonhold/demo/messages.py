"""The messages between the demo and its agent processes: one JSON object a line."""

from enum import StrEnum

import msgspec

from commonhold.demo.workload import Chore


class Policy(StrEnum):
    """How agents avoid conflicts."""

    NONE = "none"
    FILE = "file"
    COMMONHOLD = "commonhold"


class What(StrEnum):
    """The action of an agent, or the event that it reports."""

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
    """The parameters of an agent process at its start. `environment` is for its server."""

    name: str
    root: str
    server: list[str]
    environment: dict[str, str]


class Order(msgspec.Struct, frozen=True):
    """Work for an agent: do these chores under this policy, now."""

    policy: Policy
    chores: list[Chore]


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """A report of an agent. `by` names the holders that block it."""

    what: What
    number: int = 0
    place: str = ""
    code: str = ""
    by: str = ""


def line(message: Order | Progress) -> bytes:
    """Return the message as it goes over the pipe."""
    return msgspec.json.encode(message) + b"\n"
