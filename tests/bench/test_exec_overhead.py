"""The bench of shell commands, at a size that only shows that it works."""

import json
from pathlib import Path

import pytest

from bench import exec_overhead, reporting


@pytest.mark.slow
def test_it_writes_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "FOLDER", tmp_path)
    exec_overhead.main(["--quick"])
    figures = json.loads((tmp_path / "exec.json").read_text())["figures"]
    assert [each["name"] for each in figures if each["goal"]] == [
        "commonhold exec -- true, beside true",
        "git status in an agent's shell, beside itself",
    ]
