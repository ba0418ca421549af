"""Declare an operation of the service once: by the signature of its method, and by an `Operation` above it.

The calls over the socket, the routes of the HTTP interface with their OpenAPI document, the daemon's scheduling, the
channels, both SDKs, docs/python.md and the table of docs/server.md are derived from these declarations. Tests compare
the MCP tools and the commands with them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeVar

from commonhold.kernel.scopes import Scope

M = TypeVar("M", bound=Callable[..., Any])
_MARK: Final = "operation"


class Schedule(Enum):
    """Where the daemon runs a call."""

    QUICK = auto()
    """On its loop: the call needs only the state, no files. Calls that arrive together share a transaction."""
    FILES = auto()
    """In one of a few threads: the call reads files."""
    PLANNED = auto()
    """In a thread of its own: the call plans writes, and waits for its turn to make them."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A decorator that makes a method of the service an operation, with these traits.

    - `schedule`: where the daemon runs it.
    - `reads`: it records nothing, or only the content that the caller has read. It starts no daemon.
    - `once`: if a call is repeated because its answer was lost, a `request_id` keeps it from taking effect twice.
    - `over_socket`: the daemon offers it.
    - `in_sdk`: both SDKs have a method for it. `wrapped`: that method does more than this one call.
    - `for_hooks`: it is for agents' hooks, and documented apart from the calls of users.
    - `command`, `tool`: the command and the MCP tool that offer it; empty if none does.
    - `route`: its HTTP method and its path, such as `POST /leases/{lease_id}/renew`, with parameters of the method in
      braces; empty for `POST /calls/NAME`.
    - `scope`: the token that it needs over the network; None: OBSERVER for a GET, AGENT for all others.
    """

    schedule: Schedule = Schedule.FILES
    reads: bool = False
    once: bool = False
    over_socket: bool = True
    in_sdk: bool = True
    wrapped: bool = False
    for_hooks: bool = False
    command: str = ""
    tool: str = ""
    route: str = ""
    scope: Scope | None = None

    def __call__(self, method: M) -> M:
        """Return the method itself, declared as an operation."""
        vars(method)[_MARK] = self
        return method


def declared(service: type) -> Mapping[str, Operation]:
    """Return the operations that a class and its bases declare, by name: those of the last base come first."""
    members = ((name, each) for holder in reversed(service.__mro__) for name, each in vars(holder).items())
    marks = ((name, getattr(each, _MARK, None)) for name, each in members)
    return {name: mark for name, mark in marks if isinstance(mark, Operation)}
