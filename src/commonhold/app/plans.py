"""Where plans are made, outside the gate since that takes time: in this process, or in its worker processes."""

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
        """Compute all that is possible before the gate. Raises InputError for invalid requests, StoreError.

        `earlier` are the findings of this request's last plan in other files.
        """
        ...

    def still_links(self, crossed: Crossed) -> bool:
        """Whether an examination of other files would now find the same; False also if that cannot be determined."""
        ...


PlansOf = Callable[[Plans], Plans]
"""A function that returns the maker of plans, given the one of this process."""


class OwnPlans:
    """Plans that this process makes."""

    def __init__(self, store: Store, planner: Planner, owing: Owing, reliance: Reliance) -> None:
        """Plan with `planner`; recompute debts with `owing`, and check the reads with `reliance`, in `store`."""
        self._store = store
        self._planner = planner
        self._owing = owing
        self._reliance = reliance

    def plan(self, request: CommitRequest, earlier: Crossed | None = None) -> Plan | Rejected:
        """Return the plan, with the debts that remain once it is written, and its author's stale reads."""
        with self._store.read() as reader:
            newest = reader.next_sequence - 1
        planned = self._planner.plan(request.changeset, earlier)
        if isinstance(planned, Rejected):
            return planned
        plan = self._owing.weighed(planned)
        with self._store.read() as reader:
            return replace(plan, relied=self._reliance.relied(reader, request, plan), newest=newest)

    def still_links(self, crossed: Crossed) -> bool:
        """Whether an examination of other files would now find the same."""
        return self._planner.still_links(crossed)
