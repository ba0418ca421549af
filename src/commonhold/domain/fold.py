"""The state as a fold of the event log (invariant I9)."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

from commonhold.domain.events import (
    Committed,
    Debt,
    LeaseExpired,
    LeaseGranted,
    LeaseReleased,
    LeaseRenewed,
    Recorded,
    place_of_debt,
)
from commonhold.domain.lease import Lease


@dataclass(frozen=True, slots=True)
class State:
    """What the log adds up to: leases not yet ended, open debts by worktree and key, the commits on each path."""

    sequence: int = 0
    leases: dict[str, Lease] = field(default_factory=dict)
    debts: dict[str, Debt] = field(default_factory=dict)
    commits: dict[str, tuple[int, ...]] = field(default_factory=dict)


def fold(log: Iterable[Recorded]) -> State:
    """The state after all events of `log`, which must be whole and in order."""
    return reduce(apply, log, State())


def apply(state: State, recorded: Recorded) -> State:
    """The state after one more event."""
    state = replace(state, sequence=recorded.sequence)
    match recorded.event:
        case LeaseGranted(lease):
            return replace(state, leases={**state.leases, lease.id: lease})
        case LeaseRenewed(_, lease_id, until):
            renewed = replace(state.leases[lease_id], deadline=until)
            return replace(state, leases={**state.leases, lease_id: renewed})
        case LeaseReleased(_, lease_id) | LeaseExpired(_, lease_id, _):
            return replace(state, leases={id_: kept for id_, kept in state.leases.items() if id_ != lease_id})
        case Committed() as commit:
            return _apply_commit(state, recorded.sequence, commit)
        case _:
            return state


def _apply_commit(state: State, sequence: int, commit: Committed) -> State:
    settled = {place_of_debt(commit.worktree, key) for key in commit.settled}
    debts = {place: debt for place, debt in state.debts.items() if place not in settled}
    debts |= {debt.place: debt for debt in commit.debts}
    commits = dict(state.commits)
    for change in commit.files:
        commits[change.path] = (*commits.get(change.path, ()), sequence)
    return replace(state, debts=debts, commits=commits)
