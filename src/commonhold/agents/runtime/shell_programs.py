"""Folders of programs that sessions' shells search first: each holds only the program that we have put there."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

_RUNNABLE: Final = 0o755


def with_program_alone(folder: Path, name: str, text: str) -> Path:
    """Return the folder with the script `name` as its only program; create both if necessary.

    Other files in it are deleted, and no link is followed: a folder without git may have come with such a state folder
    from anywhere, and the shell would run programs from there in place of `ls` or `python`. Raises OSError.
    """
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(exist_ok=True)
    for each in folder.iterdir():
        if each.is_symlink() or (each.name != name and not each.is_dir()):
            each.unlink(missing_ok=True)
    place = folder / name
    if not _is_there(place, text):
        descriptor, made = tempfile.mkstemp(prefix=f"{name}-", dir=folder.parent)
        os.close(descriptor)
        beside = Path(made)
        beside.write_text(text, encoding="utf-8")
        beside.chmod(_RUNNABLE)
        beside.replace(place)
    return folder


def _is_there(place: Path, text: str) -> bool:
    try:
        return stat.S_IMODE(place.lstat().st_mode) == _RUNNABLE and place.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False
