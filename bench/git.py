"""A folder made a git repository."""

import subprocess
from pathlib import Path
from typing import Final

_WHO: Final = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
_STEPS: Final = (
    ("init", "--quiet"),
    ("add", "--all", "--force"),
    ("commit", "--quiet", "--message", "bench"),
)


def record(root: Path) -> None:
    """Make `root` a git repository, if it is none, and commit all that is in it."""
    for words in _STEPS:
        subprocess.run(["git", *_WHO, *words], cwd=root, check=True, capture_output=True)  # noqa: S603, S607 - git
