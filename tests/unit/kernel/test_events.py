from typing import get_args

from commonhold.kernel.clock import Deadline
from commonhold.kernel.events import (
    KIND_OF,
    KINDS,
    CommitRefused,
    Event,
    LeaseGranted,
    LeaseQueued,
    LeaseReleased,
    holder_of,
    lease_id_of,
)
from commonhold.kernel.lease import Lease, Waiter
from commonhold.kernel.modes import Mode
from commonhold.kernel.refusals import Refusal

LEASE = Lease("l1", 1, "one", "", ("account:1",), Mode.SHARED, "acq", 0.0, Deadline("boot-1", 1.0, 1.0))


def test_every_event_has_one_kind() -> None:
    assert set(KINDS.values()) == set(get_args(Event)) == set(KIND_OF)
    assert {KINDS[kind] for kind in KIND_OF.values()} == set(KINDS.values())


def test_an_event_is_about_a_holder_and_maybe_a_lease() -> None:
    granted, released = LeaseGranted(LEASE), LeaseReleased("one", "l1")
    refused = CommitRefused("two", "", Refusal.PARSE_INVALID, (), "")
    waiter = Waiter("l2", 2, "three", "", ("account:1",), Mode.SHARED, "acq", 0.0, LEASE.deadline, 1.0, 1.0)
    events = (granted, released, refused, LeaseQueued(waiter))
    assert [holder_of(event) for event in events] == ["one", "one", "two", "three"]
    assert [lease_id_of(event) for event in events] == ["l1", "l1", None, "l2"]
