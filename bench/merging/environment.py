"""An environment of the bench's own, with what the projects' tests need."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# A newer pytest refuses some of what these projects' tests do.
NEEDED: Final = ("pytest==8.4.2", "pytest-mock==3.15.1", "markupsafe==3.0.3", "trio==0.32.0")


def interpreter(work: Path, needed: Sequence[str] = NEEDED) -> str:
    """The interpreter of the environment in `work`: made the first time, for which it needs a package index."""
    folder = work / f"environment-{hashlib.sha256(' '.join(needed).encode()).hexdigest()[:8]}"
    python, stamp = folder / "bin" / "python", folder / "installed"
    if not stamp.exists():
        print(f"Installing {', '.join(needed)} into {folder}")
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *needed)
        stamp.touch()
    return str(python)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603 - this interpreter, or one that it made
