"""Who works out plans, outside the gate since it takes time: this process, or worker processes of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from commonhold.app.owing import Owing
from commonhold.app.plan import CommitRequest, Crossed, Plan, Rejected
from commonhold.app.planning import Planner
from commonhold.app.ports import Store
from commonhold.app.reliance import Reliance


class Plans(Protocol):
    """Makes the plans of commits to one working tree."""

    def plan(self, request: CommitRequest, earlier: Crossed | None = None) -> Plan | Rejected:
        """All that can be worked out before the gate. Raises InputError for what makes no sense, StoreError.

        `earlier` is what the last plan of this request found in other files.
        """
        ...

    def still_links(self, crossed: Crossed) -> bool:
        """Whether the same would be found in other files now; False also where nobody can tell any more."""
        ...


PlansOf = Callable[[Plans], Plans]
"""Who makes plans, given who makes them in this process."""


class OwnPlans:
    """Plans that this process makes."""

    def __init__(self, store: Store, planner: Planner, owing: Owing, reliance: Reliance) -> None:
        """Plan with `planner`; look at what is owed with `owing`, and at what was read with `reliance`, in `store`."""
        self._store = store
        self._planner = planner
        self._owing = owing
        self._reliance = reliance

    def plan(self, request: CommitRequest, earlier: Crossed | None = None) -> Plan | Rejected:
        """The plan, with what is left of debts once it is written, and of what its author has still to read."""
        with self._store.read() as reader:
            newest = reader.next_sequence - 1
        planned = self._planner.plan(request.changeset, earlier)
        if isinstance(planned, Rejected):
            return planned
        plan = self._owing.weighed(planned)
        with self._store.read() as reader:
            return replace(plan, relied=self._reliance.relied(reader, request, plan), newest=newest)

    def still_links(self, crossed: Crossed) -> bool:
        """Whether the same would be found in other files now."""
        return self._planner.still_links(crossed)
