"""Replacing a file: who may not read it may not do so for a moment either."""

import os
import stat
from pathlib import Path

import pytest

from commonhold.workspace import project_files


@pytest.mark.parametrize("before", [None, "nothing to hide\n"])
def test_a_secret_is_in_no_file_that_others_may_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    place = tmp_path / "settings.json"
    if before is not None:
        place.write_text(before, encoding="utf-8")
    seen: list[int] = []
    sync = os.fsync

    def look(descriptor: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    project_files.write(str(tmp_path), place.name, before, "token\n", 0o600)
    assert seen == [0o600]
    assert (stat.S_IMODE(place.stat().st_mode), place.read_text(encoding="utf-8")) == (0o600, "token\n")
