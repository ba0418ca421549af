"""The order of the queue: tenants take turns, and among the sessions of one the higher priority goes first.

Turns are counted, not times, so that a tenant with 500 sessions and fifty tenants with one each get the same share. A
session rises by one priority for each `AGEING_SECONDS` that it waits, so that none waits forever behind urgent ones.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from commonhold.kernel.clock import Now
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.sessions.commands import SessionLimits
from commonhold.sessions.quotas import Quotas, blocked_by_quotas
from commonhold.sessions.task_claims import blocked_by_tasks
from commonhold.tasks.board import Board

AGEING_SECONDS: Final = 600.0


def is_ready(record: ManagedSessionRecord, now: Now) -> bool:
    """Whether a session waits for nothing but a free place."""
    if record.state not in (SessionState.QUEUED, SessionState.PAUSED):
        return False
    return record.is_due and (record.due is None or record.due.has_passed(now))


def next_session(
    records: Collection[ManagedSessionRecord],
    served: Mapping[str, int],
    places: Collection[str],
    limits: SessionLimits,
    now: Now,
    board: Board,
) -> ManagedSessionRecord | str:
    """Return the session to claim next in one of `places`, or why none can be claimed.

    One whose task cannot be claimed waits, and so does one for which the quota of its tenant has no room. `served` are
    the sequences of the last claims by tenant. A paused session goes on even while too many await review: it has begun
    already.
    """
    here = [each for each in records if each.place in places]
    states = Counter(each.state for each in here)
    if states[SessionState.RUNNING] >= limits.running:
        return f"{states[SessionState.RUNNING]} sessions are running, and the limit is {limits.running}"
    ready = [each for each in here if is_ready(each, now)]
    if states[SessionState.AWAITING_REVIEW] >= limits.awaiting_review:
        ready = [each for each in ready if each.state is SessionState.PAUSED]
        if not ready:
            waiting = states[SessionState.AWAITING_REVIEW]
            return f"{waiting} sessions await review, and the limit is {limits.awaiting_review}"
    blocked = blocked_sessions(ready, records, limits.tenants, board, now)
    ready = [each for each in ready if each.id not in blocked]
    if not ready:
        return "no session is ready"
    # On all machines: else a tenant with many sessions would get an equal share of each.
    running = Counter(each.session.tenant for each in records if each.state is SessionState.RUNNING)

    def order(record: ManagedSessionRecord) -> tuple[float, ...]:
        tenant = record.session.tenant
        return running[tenant], served.get(tenant, 0), *_order_in_tenant(record, now)

    return min(ready, key=order)


def blocked_sessions(
    ready: Iterable[ManagedSessionRecord],
    records: Iterable[ManagedSessionRecord],
    quotas: Quotas,
    board: Board,
    now: Now,
) -> dict[str, str]:
    """Return, by the ids of the `ready` sessions that cannot be claimed now, the reason; `records` are all sessions."""
    in_order = sorted(ready, key=lambda record: _order_in_tenant(record, now))
    blocked = blocked_by_tasks(in_order, board, now)
    return blocked | blocked_by_quotas((each for each in in_order if each.id not in blocked), records, quotas)


def _order_in_tenant(record: ManagedSessionRecord, now: Now) -> tuple[float, float]:
    risen = max(0.0, now.wall - record.since) // AGEING_SECONDS
    return -(record.session.priority + risen), record.number


def places_of(place: str, *, takes_any: bool) -> tuple[str, ...]:
    """Return the places whose sessions are claimed at `place`; the empty one has those that may run anywhere."""
    return (place, "") if takes_any else (place,)


def free_slot(records: Iterable[ManagedSessionRecord], place: str) -> int:
    """Return the lowest number that no running session of the place has: two of them never share their ports."""
    taken = {each.slot for each in records if each.state is SessionState.RUNNING and each.place == place}
    return next(number for number in range(len(taken) + 1) if number not in taken)
