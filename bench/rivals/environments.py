"""A throw-away environment for each rival: nothing that it installs reaches ours."""

import subprocess
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(".venv-rivals")


def interpreter_with(requirement: str) -> str:
    """The interpreter of an environment that has `requirement`, and only that, installed: made the first time."""
    environment = FOLDER.resolve() / requirement.replace("==", "-")
    interpreter, stamp = environment / "bin" / "python", environment / "installed"
    if not stamp.exists():
        print(f"Installing {requirement} into {FOLDER}/{environment.name}")
        _hide_from_git()
        _run(sys.executable, "-m", "venv", "--clear", str(environment))
        _run(str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement)
        stamp.touch()
    return str(interpreter)


def _hide_from_git() -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n", encoding="utf-8")


def _run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603 - this interpreter, or one that it made
