from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.typecheck.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    (tmp_path / "workspace").mkdir()
    made = Rig(tmp_path / "workspace", tmp_path / "pids")
    made.write(a="offer one\n", b="use one\n", c="use two\n")
    yield made
    made.close()
