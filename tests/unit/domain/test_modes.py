import pytest

from commonhold.domain.modes import Mode, are_compatible


@pytest.mark.parametrize(
    ("held", "wanted", "are_friends"),
    [
        (Mode.SHARED, Mode.SHARED, True),
        (Mode.SHARED, Mode.EXCLUSIVE, False),
        (Mode.EXCLUSIVE, Mode.SHARED, False),
        (Mode.EXCLUSIVE, Mode.EXCLUSIVE, False),
    ],
)
def test_the_whole_table(held: Mode, wanted: Mode, *, are_friends: bool) -> None:
    assert are_compatible(held, wanted) is are_friends
