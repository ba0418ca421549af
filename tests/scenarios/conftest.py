"""The stories of commits merge by lines: they are about what a merge leads to."""

import pytest
from tests import line_merge

from commonhold.app import service


@pytest.fixture(autouse=True)
def merge_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "merge", line_merge.merge)
