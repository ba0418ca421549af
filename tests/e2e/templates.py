"""Repositories that many tests begin with: each is made once a worker, and copied for who wants one."""

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Final

# Now: a test may have a place of its own for temporary files, and look what is left there.
_PLACE: Final = tempfile.gettempdir()
_made: dict[Hashable, Path] = {}


def copied(root: Path, what: Hashable, make: Callable[[Path], object]) -> Path:
    """Let `root` hold the repository `what`, made by `make`; where something is already, it is made there."""
    if root.exists() and any(root.iterdir()):
        make(root)
        return root
    if what not in _made:
        _made[what] = _first(make)
    shutil.copytree(_made[what], root, symlinks=True, dirs_exist_ok=True)
    # What the index knows of a file beside its content is another one for a copy.
    subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=root, check=True)
    return root


def _first(make: Callable[[Path], object]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="commonhold-tests-template-", dir=_PLACE))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make(folder)
    for sample in folder.glob(".git/hooks/*.sample"):
        sample.unlink()
    return folder
