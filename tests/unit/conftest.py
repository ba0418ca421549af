import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., None]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run git in `tmp_path`, away from this machine's settings."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*words: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
        subprocess.run(("git", *identity, *words), cwd=tmp_path, env=environment, check=True, capture_output=True)

    return run


@pytest.fixture
def forked() -> Callable[[Callable[[], bool]], bool]:
    """Run a check in a forked child: whether it held there."""

    def run(check: Callable[[], bool]) -> bool:
        pid = os.fork()
        if pid == 0:
            status = 2
            try:
                status = 0 if check() else 1
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

    return run
