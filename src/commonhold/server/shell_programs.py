"""Folders of programs that shells of sessions look into first: in each is the one that we have put there, alone."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

_RUNNABLE: Final = 0o755


def with_program_alone(folder: Path, name: str, text: str) -> Path:
    """The folder with the script `name` in it, and no other program; both are made if need be.

    What else is there is deleted, and no link is followed: a folder without git may have come with such a state folder
    from anywhere, and whatever lay there would be run in place of `ls` or `python`. Raises OSError.
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
