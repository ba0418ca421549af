"""Where crashes happen, and the seed of what is drawn."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """In memory if possible, for crashes flush a lot; always at a path of the same length, for paths are recorded."""
    with tempfile.TemporaryDirectory(prefix="crashes-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder).resolve() / "work"


@pytest.fixture(scope="session")
def seed() -> int:
    """The same each time, so that what fails is due to the change. `make stress` draws another one."""
    return int(os.environ.get("COMMONHOLD_CRASH_SEED", "1"))
