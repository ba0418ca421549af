"""The content of one folder, as far as it matters to the index."""

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.keys import can_be_named
from commonhold.kernel.resource_exhaustion import is_exhaustion
from commonhold.machine import file_stamps
from commonhold.machine.file_stamps import Stamp
from commonhold.workspace.files.canonical_paths import RESERVED

IGNORING: Final = ".gitignore"
ENVIRONMENT: Final = "pyvenv.cfg"
CACHED: Final = "CACHEDIR.TAG"
# Entries that say something about a whole folder.
MARKS: Final = frozenset({*RESERVED, IGNORING, ENVIRONMENT, CACHED})

Concerns = Callable[[str], bool]
"""Whether a file of this name may have a summary."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The names of files that may have summaries, of folders, and of entries that say something about all of them.

    Links are neither: their targets have names of their own, or lie outside.
    """

    stamp: Stamp | None
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()


def list_folder(place: str, concerns: Concerns) -> Listing | None:
    """Return the content of a folder; empty if it may not be read, None if there is no folder."""
    now = time.time_ns()
    try:
        status = os.lstat(place)
        if not stat.S_ISDIR(status.st_mode):
            return None
        with os.scandir(place) as entries:
            found = [each for each in entries if can_be_named(each.name) and not each.is_symlink()]
            folders = frozenset(each.name for each in found if each.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        if is_exhaustion(fault):
            raise
        return Listing(None)
    names = frozenset(each.name for each in found)
    files = frozenset(name for name in names - folders if concerns(name))
    return Listing(file_stamps.settled(file_stamps.of_status(status), now), files, folders - RESERVED, names & MARKS)


def inside(folder: str, name: str) -> str:
    """Return the path of an entry of a folder; the root has the empty path."""
    return f"{folder}/{name}" if folder else name
