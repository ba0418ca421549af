"""Asking git. What the caller's environment says to git about another repository has no say here."""

import os
import subprocess
from collections.abc import Mapping
from typing import Final

_TIMEOUT_SECONDS: Final = 10


def run(
    *words: str,
    folder: str | None = None,
    settings: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in `folder`, with `settings` in its environment; no monitor that the repository names is started.

    Raises OSError where there is no git, and TimeoutExpired.
    """
    command = ("git", "-c", "core.fsmonitor=false", *words)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        command,
        cwd=folder,
        env=inherited | dict(settings or {}),
        timeout=timeout_seconds,
        capture_output=True,
        check=False,
    )


def ask(*words: str) -> str | None:
    """What git answers; None where it fails, is not there, or does not come to an end."""
    try:
        done = run(*words, timeout_seconds=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "backslashreplace").strip() if done.returncode == 0 else None
