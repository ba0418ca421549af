"""The index of the repository that a command acts in, and the progress of reading it."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from commonhold.cli.common_options import Given, start_of
from commonhold.code.indexes import Index, Progress, silent
from commonhold.config import load_settings
from commonhold.index.index import index_at
from commonhold.workspace.repository import find_repository


@contextmanager
def index_of(given: Given) -> Iterator[Index]:
    """The index of the repository around the folder that was given; closed in the end."""
    repository = find_repository(start_of(given))
    with closing(index_at(repository, load_settings(repository.root).max_file_bytes)) as index:
        yield index


def progress_for(given: Given) -> Progress:
    """Progress for a person at a terminal, by files read; programs get none."""
    is_watched = sys.stderr is not None and sys.stderr.isatty() and not given.as_json
    return _counted if is_watched else silent


def _counted(done: int, total: int) -> None:
    """Say how many; the last word takes the line away again."""
    sys.stderr.write("\r\033[K" if done >= total else f"\rreading {done:,} of {total:,} files")
    sys.stderr.flush()
