"""Folders for copies of a project, which are removed even if the process that made them is killed.

So are the commands that it has left running in them.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from commonhold.machine.process_tree import kill_with_variable

PREFIX: Final = "commonhold-run-"
OWNER: Final = "owner"
"""The file in such a folder that its process keeps locked."""
SCRATCH: Final = "COMMONHOLD_SCRATCH"
"""The variable by which the commands that run in such a folder are known: its value is the path of the copy."""


@contextmanager
def scratch_folder() -> Iterator[str]:
    """Yield the path of an empty folder, and remove it afterwards. Folders of killed processes are removed before.

    The caller gives that path to the commands that it runs there, in the variable `SCRATCH`: those that still run are
    killed.
    """
    remove_abandoned(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as made:
        begun = Path(made, f"{OWNER}.new")
        with begun.open("wb") as owner:
            fcntl.flock(owner, fcntl.LOCK_EX)
            begun.rename(Path(made, OWNER))  # from its first moment under this name it is locked
            copy = Path(made, "copy")
            copy.mkdir()
            try:
                yield str(copy)
            finally:
                kill_with_variable(SCRATCH, f"{made}/")


def remove_abandoned(parent: str) -> None:
    """Remove the folders of this user in `parent` whose processes were killed, and kill what still runs in them."""
    with suppress(OSError), os.scandir(parent) as listed:
        for each in listed:
            if each.name.startswith(PREFIX) and each.is_dir(follow_symlinks=False):
                found = each.stat(follow_symlinks=False)
                if found.st_uid == os.geteuid() and _is_abandoned(each.path):
                    kill_with_variable(SCRATCH, f"{each.path}/")
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
