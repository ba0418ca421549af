from typing import get_args

from commonhold.domain.clock import Deadline
from commonhold.domain.events import (
    KIND_OF,
    KINDS,
    CommitRefused,
    Event,
    LeaseGranted,
    LeaseReleased,
    holder_of,
    lease_id_of,
)
from commonhold.domain.lease import Lease
from commonhold.domain.modes import Mode
from commonhold.domain.refusal import Refusal

LEASE = Lease("l1", 1, "one", "", ("account:1",), Mode.SHARED, "acq", 0.0, Deadline("boot-1", 1.0, 1.0))


def test_every_event_has_one_kind() -> None:
    assert set(KINDS.values()) == set(get_args(Event)) == set(KIND_OF)
    assert {KINDS[kind] for kind in KIND_OF.values()} == set(KINDS.values())


def test_an_event_is_about_a_holder_and_maybe_a_lease() -> None:
    granted, released = LeaseGranted(LEASE), LeaseReleased("one", "l1")
    refused = CommitRefused("two", "", Refusal.PARSE_INVALID, (), "")
    assert [holder_of(event) for event in (granted, released, refused)] == ["one", "one", "two"]
    assert [lease_id_of(event) for event in (granted, released, refused)] == ["l1", "l1", None]
