"""The correlation id: one id for a request, from the command, hook or SDK call that makes it to the commit it causes.

The client makes the id. It travels with the request over the socket or HTTP, into threads, and into planner processes;
every log record made on the way has it. It identifies a request in logs only: nothing is decided by it, and no event
stores it.
"""

import os
from contextvars import ContextVar
from typing import Final

ID_BYTES: Final = 6
MOST_CHARACTERS: Final = 32
"""The longest id that is accepted from a client: that of a W3C trace."""
_current: Final = ContextVar("commonhold_correlation", default="")


def new_id() -> str:
    """Return a new id: twelve hexadecimal digits."""
    return os.urandom(ID_BYTES).hex()


def current() -> str:
    """Return the id of the present request; empty outside of one."""
    return _current.get()


def accepted(sent: str) -> str:
    """Return the id that a client sent, or a new one unless that has 1 to 32 letters and digits, all ASCII."""
    return sent if sent.isascii() and sent.isalnum() and len(sent) <= MOST_CHARACTERS else new_id()


class correlated:  # noqa: N801 - used like a function, as contextlib.suppress
    """A block that is a part of the request with the id `known`, which was `accepted` if another process sent it.

    Without an id it is a part of the present request; outside of any request, it is a new one. Every call passes
    through two of these blocks: a generator would take three times as long.
    """

    __slots__ = ("_known", "_token")

    def __init__(self, known: str = "") -> None:
        """Take the id."""
        self._known = known

    def __enter__(self) -> None:
        self._token = _current.set(self._known or _current.get() or new_id())

    def __exit__(self, *_: object) -> None:
        try:
            _current.reset(self._token)
        except ValueError:  # a coroutine that was never finished is closed in another context
            return
