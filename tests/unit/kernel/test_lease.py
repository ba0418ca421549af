import math
from dataclasses import replace

import pytest

from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.keys import canonical
from commonhold.kernel.lease import MAX_TTL_SECONDS, Conflict, Lease, Waiter, check_ttl, conflicts
from commonhold.kernel.modes import Mode

LEASE = Lease(
    id="lease-1",
    fence=1,
    holder="one",
    task="mend",
    keys=("file:a.py#C", "account:1"),
    mode=Mode.SHARED,
    acquisition_id="acq-1",
    granted_at=0.0,
    deadline=Deadline("boot-1", 60.0, 1060.0),
)


LIVE, ENDED = Now("boot-1", 59.0, 0.0), Now("boot-1", 60.0, 0.0)


def test_a_lease_lives_until_its_deadline() -> None:
    assert LEASE.is_live(LIVE)
    assert not LEASE.is_live(ENDED)


def test_covering_is_any_overlap_and_covers_is_all_of_it() -> None:
    assert LEASE.covering(canonical("file:a.py")) == "file:a.py#C"
    assert not LEASE.covers(canonical("file:a.py"))
    assert LEASE.covers(canonical("file:a.py#C.m"))
    assert LEASE.covers(canonical("account:1:2"))
    assert LEASE.covering(canonical("file:b.py")) is None


def test_a_conflict_says_who_and_what() -> None:
    wanted = [canonical("file:a.py#C.m"), canonical("file:b.py")]
    assert conflicts(wanted, Mode.EXCLUSIVE, "two", [LEASE], LIVE) == (
        Conflict("file:a.py#C.m", "file:a.py#C", "one", "mend", Mode.SHARED, 1060.0),
    )
    assert conflicts(wanted, Mode.EXCLUSIVE, "two", [LEASE], ENDED) == ()


@pytest.mark.parametrize(
    ("key", "mode", "holder"),
    [
        ("file:a.py#C", Mode.EXCLUSIVE, "one"),
        ("file:a.py#C", Mode.SHARED, "two"),
        ("file:a.py#f", Mode.EXCLUSIVE, "two"),
    ],
)
def test_no_conflict_with_oneself_between_readers_or_apart(key: str, mode: Mode, holder: str) -> None:
    assert conflicts([canonical(key)], mode, holder, [LEASE], LIVE) == ()


@pytest.mark.parametrize("ttl", [0.0, -1.0, math.nan, math.inf, -math.inf, MAX_TTL_SECONDS * 1.001])
def test_a_ttl_that_cannot_be_is_refused(ttl: float) -> None:
    with pytest.raises(UsageError) as caught:
        check_ttl(ttl)
    assert caught.value.code is Code.TTL_INVALID


@pytest.mark.parametrize("ttl", [1e-9, 1800.0, MAX_TTL_SECONDS])
def test_a_ttl_within_bounds_is_given_back(ttl: float) -> None:
    assert check_ttl(ttl) == ttl


def test_names_that_only_begin_alike_do_not_conflict() -> None:
    lease = replace(LEASE, keys=("file:a.py#C.m", "file:a.py#C.n"))
    wanted = (canonical("file:a.py#C.o"), canonical("file:a.py#C"))
    found = conflicts(wanted, Mode.EXCLUSIVE, "two", [lease], LIVE)
    assert [(each.key, each.held) for each in found] == [("file:a.py#C", "file:a.py#C.m")]


def test_a_place_in_line_that_conflicts_is_told_apart() -> None:
    until = Deadline("boot-1", 60.0, 1060.0)
    waiter = Waiter("l2", 2, "one", "mend", ("account:1",), Mode.EXCLUSIVE, "acq", 0.0, until, 60.0, 60.0)
    (found,) = conflicts([canonical("account:1")], Mode.SHARED, "two", [waiter], LIVE)
    assert found.is_waiting
    assert waiter.is_live(LIVE)
    assert not waiter.is_live(ENDED)
