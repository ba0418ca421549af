import pytest

from commonhold.kernel.changeset import LeaseLost, LeaseRef, LockConflict, authorise
from commonhold.kernel.clock import Now, deadline
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode

START = Now("boot-1", 0.0, 0.0)
LATER = Now("boot-1", 60.0, 60.0)
F = canonical("file:a.py#f")


def lease(lease_id: str, holder: str, key: str = "file:a.py#f", mode: Mode = Mode.EXCLUSIVE) -> Lease:
    return Lease(lease_id, 7, holder, "", (key,), mode, "acq", 0.0, deadline(START, 60.0))


@pytest.mark.parametrize(
    ("named", "leases"),
    [
        ((), []),
        ((), [lease("l1", "one")]),
        ((LeaseRef("l1", 7),), [lease("l1", "one")]),
        ((), [lease("l2", "two", "file:a.py#g")]),
    ],
)
def test_a_writer_with_a_free_way_may_write(named: tuple[LeaseRef, ...], leases: list[Lease]) -> None:
    assert authorise([F], named, "one", leases, START) is None


@pytest.mark.parametrize(
    ("ref", "now", "why"),
    [
        (LeaseRef("l9", 7), START, "the lease l9 has ended"),
        (LeaseRef("l1", 7), LATER, "the lease l1 has ended"),
        (LeaseRef("l1", 6), START, "the lease l1 has the fence 7, not 6"),
        (LeaseRef("l2", 7), START, "the lease l2 is held by two, not by one"),
    ],
)
def test_a_named_lease_must_be_live_own_and_current(ref: LeaseRef, now: Now, why: str) -> None:
    leases = [lease("l1", "one"), lease("l2", "two", "account:1")]
    assert authorise([F], [ref], "one", leases, now) == LeaseLost(why)


def test_others_live_leases_stand_in_the_way_in_any_mode() -> None:
    leases = [lease("l1", "two"), lease("l2", "three", "file:a.py", Mode.SHARED)]
    verdict = authorise([F], [], "one", leases, START)
    assert isinstance(verdict, LockConflict)
    assert [(each.key, each.held, each.holder) for each in verdict.conflicts] == [
        ("file:a.py#f", "file:a.py#f", "two"),
        ("file:a.py#f", "file:a.py", "three"),
    ]
    assert authorise([F], [], "one", leases, LATER) is None


def test_a_lost_lease_is_graver_than_a_conflict() -> None:
    verdict = authorise([F], [LeaseRef("l9", 1)], "one", [lease("l1", "two")], START)
    assert isinstance(verdict, LeaseLost)
