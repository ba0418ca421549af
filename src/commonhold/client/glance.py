"""A view of the state without a daemon, for commands that must start as fast as Python does.

The database is opened with the checks of the store, and queried with the store's own statements; the results are shown
as `reader.py` shows the daemon's answers. Any unusual case (a state that must be made, repaired or refused, an
interrupted commit, a message to deliver or a value to store) raises `Unread`: the service handles it.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import apsw

from commonhold.client.reader import Unread
from commonhold.kernel.expiry import has_passed
from commonhold.machine import boot_clock
from commonhold.stores.sqlite.checked_opening import opened_whole
from commonhold.stores.sqlite.statements import load

if TYPE_CHECKING:
    from commonhold.client.outlines import Outlines

SHOWN = 10
"""The number of the newest commits that are shown."""


class Glance:
    """One consistent view of the state in a folder, for the working tree at `root`, and for an agent or for none."""

    def __init__(self, state_folder: str, root: str, agent: str | None) -> None:
        """Open it. Raises Unread."""
        self._root = root
        self._agent = agent
        self._state_folder = state_folder
        try:
            connection = opened_whole(state_folder)
            if connection is None:
                raise Unread
            self._connection = connection
            self._connection.execute("BEGIN")
            self._check_nothing_to_do(agent)
        except apsw.Error as fault:
            raise Unread from fault

    def close(self) -> None:
        """Close the view."""
        self._connection.close()

    def _rows(self, name: str, *values: str | int) -> list[tuple[object, ...]]:
        return self._connection.execute(load()[name], values).fetchall()

    def _check_nothing_to_do(self, agent: str | None) -> None:
        """Go on only if reading changes nothing: a sign of life extends leases, and a message is delivered once."""
        if self._rows("journals"):
            raise Unread
        if agent is None:
            return
        here = agent, self._root
        if self._rows("leases_of_holder", agent) or self._rows("overtaken", *here) or self._rows("messages", *here):
            raise Unread

    def call(self, name: str, **parameters: Any) -> object:  # noqa: ANN401 - as each call has them
        """Return the service's answer to a call, and that there is no `news`. Raises Unread for all other calls."""
        try:
            if name == "news":
                return ()
            if name == "status":
                return self._status()
            if name == "list_regions":
                return self._outlines.regions(parameters["path"])
            if name == "read":
                return self._read(*parameters["keys"])
        except (apsw.Error, AttributeError, ValueError) as fault:
            raise Unread from fault
        raise Unread

    @property
    def _outlines(self) -> Outlines:
        from commonhold.client.outlines import Outlines  # noqa: PLC0415 - the other commands load no outlines

        return Outlines(self._state_folder, self._root)

    def _read(self, key: str) -> tuple[SimpleNamespace]:
        """Read one region whose bytes are stored already: the service stores shown content, and a session's reads."""
        region = self._outlines.region(key)
        if self._agent is not None or self._rows("missing_contents", json.dumps([region.hash])):
            raise Unread
        return (region,)

    def _status(self) -> SimpleNamespace:
        return SimpleNamespace(
            root=self._root,
            leases=self._live("all_leases"),
            waiters=self._live("all_waiters"),
            changes=[_change(*row) for row in self._rows("latest_commits", SHOWN)],
            debts=self._rows("all_debts"),
            works=self._rows("all_works"),
            sessions=self._bodies("presences", self._root),
        )

    def _bodies(self, name: str, *values: str) -> list[SimpleNamespace]:
        return [_thing(body) for (body,) in self._rows(name, *values)]

    def _live(self, name: str) -> list[SimpleNamespace]:
        epoch, ticks = boot_clock.epoch(), boot_clock.ticks()
        claims = self._bodies(name)
        return [each for each in claims if not has_passed(each.deadline.epoch, each.deadline.ticks, epoch, ticks)]


def _change(sequence: object, at: object, _kind: object, body: object) -> SimpleNamespace:
    commit = _thing(body)
    keys = [change.key for change in commit.regions]
    return SimpleNamespace(sequence=sequence, at=at, holder=commit.holder, intent=commit.intent, keys=keys)


def _thing(body: object) -> SimpleNamespace:
    value: SimpleNamespace = json.loads(str(body), object_hook=lambda fields: SimpleNamespace(**fields))
    return value
