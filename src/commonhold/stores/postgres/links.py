"""The connections of one process, kept for the next transaction."""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Final

from commonhold.stores.postgres.link import Link
from commonhold.stores.postgres.literals import Value
from commonhold.stores.postgres.migrations import make_ready
from commonhold.stores.postgres.target import Target

_MOST_IDLE: Final = 4


class Links:
    """Connections that are in use, and a few that wait for use. Appending and popping are atomic, so no lock."""

    def __init__(self, target: Target, given: Mapping[str, Value]) -> None:
        """Connect to nothing yet. `given` are values that every statement may use."""
        self._target = target
        self._given = given
        self._is_ready = False
        self._idle: list[Link] = []
        self._open: set[Link] = set()

    def take(self) -> Link:
        """A connection that was good when it was last used, or a new one. The tables are there."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._new()

    def renew(self, broken: Link) -> Link:
        """A new connection instead of a broken one; those that waited with it are probably broken too."""
        self._drop(broken)
        self.close()
        return self._new()

    def give_back(self, link: Link) -> None:
        """Keep a connection for the next transaction, if it is good for one."""
        if link.is_idle and len(self._idle) < _MOST_IDLE:
            self._idle.append(link)
        else:
            self._drop(link)

    def close(self) -> None:
        """Close idle connections."""
        with suppress(IndexError):  # another thread may take the last one just now
            while True:
                self._drop(self._idle.pop())

    def abandon(self) -> None:
        """Leave all connections to the parent, in a forked child."""
        for link in self._open:
            link.abandon()
        self._open.clear()
        self._idle.clear()

    def _new(self) -> Link:
        link = Link(self._target, self._given)
        self._open.add(link)
        with ExitStack() as unless_ready:
            unless_ready.callback(self._drop, link)
            if not self._is_ready:
                make_ready(link, self._target)
                self._is_ready = True
            unless_ready.pop_all()
        return link

    def _drop(self, link: Link) -> None:
        self._open.discard(link)
        link.close()
