"""Where plans are made, outside the gate since that takes time: in this process, or in its worker processes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from commonhold.commits.obligations import Obligations
from commonhold.commits.plan import CommitRequest, CrossFileEffects, Plan, Rejected
from commonhold.commits.planning import Planner
from commonhold.commits.reliance import Reliance
from commonhold.kernel.ports import Store


class Plans(Protocol):
    """Makes the plans of commits to one working tree."""

    def plan(self, request: CommitRequest, earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        """Compute all that is possible before the gate. Raises InputError for invalid requests, StoreError.

        `earlier` are the findings of this request's last plan in other files.
        """
        ...

    def still_links(self, crossed: CrossFileEffects) -> bool:
        """Whether an examination of other files would now find the same; False also if that cannot be determined."""
        ...


PlansOf = Callable[[Plans], Plans]
"""A function that returns the maker of plans, given the one of this process."""


class OwnPlans:
    """Plans that this process makes."""

    def __init__(self, store: Store, planner: Planner, owing: Obligations, reliance: Reliance) -> None:
        """Plan with `planner`; recompute debts with `owing`, and check the reads with `reliance`, in `store`."""
        self._store = store
        self._planner = planner
        self._owing = owing
        self._reliance = reliance

    def plan(self, request: CommitRequest, earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        """Return the plan, with the debts that remain once it is written, and its author's stale reads."""
        with self._store.read() as reader:
            newest = reader.next_sequence - 1
        planned = self._planner.plan(request.changeset, earlier)
        if isinstance(planned, Rejected):
            return planned
        plan = self._owing.weighed(planned)
        with self._store.read() as reader:
            return replace(plan, relied=self._reliance.relied(reader, request, plan), newest=newest)

    def still_links(self, crossed: CrossFileEffects) -> bool:
        """Whether an examination of other files would now find the same."""
        return self._planner.still_links(crossed)
