"""What stands in for git in a session's shell, by itself: it finds the git behind it."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.agents.git.session_indexes import programs
from commonhold.workspace.git.process import run

pytestmark = pytest.mark.slow


def test_in_a_shell_inside_of_another_repositorys_each_leads_to_the_next_and_at_last_to_git(tmp_path: Path) -> None:
    """Were each to find the other, they would go on forever."""
    for name in ("inner", "outer"):
        (tmp_path / name).mkdir()
    inner, outer = (programs(str(tmp_path / name)) for name in ("inner", "outer"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMONHOLD_")}
    for order in ((inner, outer), (outer, inner), (inner, outer, inner), (outer,)):
        path = os.pathsep.join((*map(str, order), os.environ["PATH"]))
        done = subprocess.run(
            ["git", "version"],
            env=environment | {"PATH": path},
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.stdout == run("version").stdout
