"""The public suite itself: a store with a defect does not pass it."""

from collections.abc import Callable
from contextlib import closing

import pytest
from tests.contract.rigs import MemoryRig
from tests.sim.mutants import MUTANTS

from commonhold.testing.conformance import RegistryConformance, Rig, TransactionConformance

pytestmark = pytest.mark.slow


class Suite(RegistryConformance, TransactionConformance):
    __test__ = False


TESTS: list[Callable[[Suite, Rig], None]] = [getattr(Suite, name) for name in dir(Suite) if name.startswith("test_")]


# A rig can neither set a wall clock nor boot a machine.
OUT_OF_REACH = {"expire_by_wall_time", "survive_a_boot"}


@pytest.mark.parametrize("name", sorted(MUTANTS.keys() - OUT_OF_REACH))
def test_a_defect_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert any(is_failed_by(test) for test in TESTS)


def is_failed_by(test: Callable[[Suite, Rig], None]) -> bool:
    with closing(MemoryRig()) as rig:
        try:
            test(Suite(), rig)
        except Exception:  # noqa: BLE001 - whatever a test raises, it has failed
            return True
    return False
