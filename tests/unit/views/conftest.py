from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.history.shop import SOURCE, Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "b.py").write_text(SOURCE, encoding="utf-8")
    made = Shop(tmp_path)
    yield made
    for each in made.services.values():
        each.close()
