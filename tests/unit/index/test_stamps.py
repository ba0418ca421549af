"""When a stamp is to be believed."""

import pytest

from commonhold.machine.file_stamps import packed, settled, unpacked

pytestmark = pytest.mark.slow

SECOND = 1_000_000_000
NOW = 1_000 * SECOND


@pytest.mark.parametrize(
    ("written", "changed", "is_settled"),
    [
        (NOW - 10 * SECOND, NOW - 10 * SECOND, True),
        (NOW - SECOND, NOW - SECOND, False),
        (NOW - 10 * SECOND, NOW - SECOND, False),  # the time of writing was set back
        (NOW, NOW - 10 * SECOND, False),
        (NOW + SECOND, NOW - 10 * SECOND, False),
        (NOW + 10 * SECOND, NOW - 10 * SECOND, True),  # a time of writing from the future, long since set
        (NOW - 10 * SECOND, NOW + 10 * SECOND, False),  # it was changed after the look began, or the clock was set
    ],
)
def test_what_changed_lately_may_change_unseen(written: int, changed: int, *, is_settled: bool) -> None:
    stamp = (written, changed, 5, 7)
    assert settled(stamp, NOW) == (stamp if is_settled else None)


@pytest.mark.parametrize("stamp", [None, (0, 0, 0, 0), (-5, 1, 2, 2**64 - 1), (2**62, 2**62, 2**40, 1)])
def test_a_stamp_is_kept_as_it_is(stamp: tuple[int, int, int, int] | None) -> None:
    assert unpacked(packed(stamp)) == stamp
