"""An environment of the bench's own, with what the projects' tests need."""

import subprocess
import sys
from pathlib import Path
from typing import Final

NEEDED: Final = ("pytest", "pytest-mock", "markupsafe", "trio")


def interpreter(work: Path) -> str:
    """The interpreter of the environment in `work`: made the first time, for which it needs a package index."""
    folder = work / "environment"
    python, stamp = folder / "bin" / "python", folder / "installed"
    if not stamp.exists():
        print(f"Installing {', '.join(NEEDED)} into {folder}")
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDED)
        stamp.touch()
    return str(python)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603 - this interpreter, or one that it made
