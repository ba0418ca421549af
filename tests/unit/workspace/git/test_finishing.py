"""A command of git that must not stop midway goes to its end, even if Ctrl-C comes while it starts."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import git, make_repository

from commonhold.workspace.git.process import Git

pytestmark = pytest.mark.slow


class Interrupted(subprocess.Popen[bytes]):
    """A process that Ctrl-C meets after its start, before the caller knows of it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_it_starts_does_not_lose_it(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "work")
    git(root, "branch", "begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", Interrupted)
        try:
            done = Git(str(root)).finish("branch", "--move", "begun", "done")
        except KeyboardInterrupt:
            pytest.fail("the command went on alone")
    assert done.returncode == 0, done.stderr
    git(root, "rev-parse", "--verify", "done")
