"""Folders for copies of a project, which are removed even if the process that made them is killed."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "commonhold-run-"
OWNER: Final = "owner"
"""The file in such a folder that its process keeps locked."""
NEW_SECONDS: Final = 600.0
"""A younger folder is left alone: its process may not have locked it yet."""


@contextmanager
def scratch_folder() -> Iterator[str]:
    """Yield the path of an empty folder, and remove it afterwards. Folders of killed processes are removed before."""
    remove_abandoned(tempfile.gettempdir(), time.time())
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as made,
        Path(made, OWNER).open("wb") as owner,
    ):
        fcntl.flock(owner, fcntl.LOCK_EX)
        copy = Path(made, "copy")
        copy.mkdir()
        yield str(copy)


def remove_abandoned(parent: str, now: float) -> None:
    """Remove the folders of this user in `parent` whose processes have ended. `now` is a Unix time."""
    with suppress(OSError), os.scandir(parent) as listed:
        for each in listed:
            if each.name.startswith(PREFIX) and each.is_dir(follow_symlinks=False):
                found = each.stat(follow_symlinks=False)
                if found.st_uid == os.geteuid() and found.st_mtime < now - NEW_SECONDS and _is_abandoned(each.path):
                    shutil.rmtree(each.path, ignore_errors=True)


def _is_abandoned(folder: str) -> bool:
    try:
        owner = os.open(Path(folder, OWNER), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(owner)
