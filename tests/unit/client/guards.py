"""A folder with a guard of ours, and programs in place of Python and the launcher that note what they are told."""

from pathlib import Path
from typing import Final

CLIENT: Final = Path(__file__).parents[3] / "src/commonhold/client"
_NOTING: Final = '#!/bin/sh\nprintf "%s\\0" "$@" >"$0.told"\nenv >"$0.env"\nshift 8\nexec "$@"\n'


def guarded(above: Path, guard: str) -> Path:
    """The folder, whose name is a trap for whoever forgets to quote it."""
    folder = above / "it's $HOME"
    folder.mkdir()
    (folder / "guard.sh").write_text((CLIENT / guard).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "launch.py").touch()
    (folder / "python").write_text(_NOTING, encoding="utf-8")
    (folder / "python").chmod(0o755)
    return folder


def told(place: Path) -> list[str]:
    """The words that the launcher was called with."""
    return (place / "python.told").read_text(encoding="utf-8").split("\0")[:-1]
