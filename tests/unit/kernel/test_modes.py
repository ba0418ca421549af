from itertools import product

import pytest

from commonhold.kernel.modes import Mode, are_compatible

FRIENDS = {
    (Mode.SHARED, Mode.SHARED),
    (Mode.SHARED, Mode.UPGRADABLE),
    (Mode.UPGRADABLE, Mode.SHARED),
}


@pytest.mark.parametrize(("held", "wanted"), list(product(Mode, Mode)))
def test_the_whole_table(held: Mode, wanted: Mode) -> None:
    assert are_compatible(held, wanted) is ((held, wanted) in FRIENDS)
