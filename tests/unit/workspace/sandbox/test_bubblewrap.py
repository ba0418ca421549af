"""Bubblewrap, where it may mount and we may not: the same, said in another way."""

import subprocess
from pathlib import Path

import pytest
from tests.services.fixtures import require
from tests.services.programs import find_or_install

from commonhold.workspace.sandbox import bubblewrap

pytestmark = pytest.mark.slow


def test_what_is_held_is_read_only_and_nothing_else(tmp_path: Path) -> None:
    require("bwrap")
    (tmp_path / "folder/own").mkdir(parents=True)
    (tmp_path / "held").write_text("his\n")
    masked = [str(tmp_path / path) for path in ("folder", "held", "not-there")]
    line = "touch a folder/own/b; mv a c; touch folder/d; echo x > held; rm -f held"
    command = [*bubblewrap.prefix(str(find_or_install("bwrap")), masked, [str(tmp_path / "folder/own")])]
    done = subprocess.run([*command, "bash", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode != 0
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found == {"folder", "folder/own", "folder/own/b", "c", "held"}
    assert (tmp_path / "held").read_text() == "his\n"
