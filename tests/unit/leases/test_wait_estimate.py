"""How long a wait will be, as far as anybody can tell."""

import pytest

from commonhold.kernel.clock import Deadline, Now
from commonhold.kernel.events import LeaseGranted, LeaseReleased, Recorded
from commonhold.kernel.lease import Conflict, Lease
from commonhold.kernel.modes import Mode
from commonhold.leases.wait_estimate import estimated_wait_seconds

NOW = Now("boot", 100.0, 100.0)


def held_until(wall: float, *, is_waiting: bool = False) -> Conflict:
    return Conflict("x:1", "x:1", "one", "", Mode.EXCLUSIVE, wall, is_waiting)


def lasting(*seconds: float) -> list[Recorded]:
    """Leases of late that were granted one after the other and lasted so long."""
    events = []
    for number, length in enumerate(seconds):
        lease = Lease(f"l{number}", 1, "one", "", ("x:1",), Mode.EXCLUSIVE, "a", 0.0, Deadline("boot", 0.0, 0.0))
        events += [Recorded(1, 10.0, LeaseGranted(lease)), Recorded(2, 10.0 + length, LeaseReleased("one", lease.id))]
    return events


@pytest.mark.parametrize(
    ("lengths", "ends", "ahead", "expected"),
    [
        ((), 160.0, 0, 60.0),
        ((), 160.0, 2, 180.0),
        ((), 90.0, 0, 0.0),
        ((10.0, 20.0, 90.0), 160.0, 0, 20.0),
        ((10.0, 20.0, 90.0), 160.0, 3, 80.0),
        ((10.0, 20.0, 90.0), 105.0, 1, 25.0),
    ],
)
def test_it_goes_by_the_leases_of_late_and_by_the_end_of_this_one(
    lengths: tuple[float, ...], ends: float, ahead: int, expected: float
) -> None:
    conflicts = [held_until(ends), held_until(999.0, is_waiting=True)]
    assert estimated_wait_seconds(lasting(*lengths), conflicts, ahead, NOW) == expected


def test_what_was_not_seen_from_grant_to_release_says_nothing() -> None:
    grant, release = lasting(10.0)
    assert estimated_wait_seconds([grant], [held_until(160.0)], 0, NOW) == 60.0
    assert estimated_wait_seconds([release], [held_until(160.0)], 0, NOW) == 60.0
