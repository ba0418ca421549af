"""The index of the repository that a command acts in, and word of how far it is read."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from commonhold.adapters.plain_index import PlainIndex
from commonhold.app.indexes import Index


@contextmanager
def index_at(root: str, state_folder: str) -> Iterator[Index]:
    """The index of the repository at `root`, closed in the end."""
    _ = state_folder
    with closing(PlainIndex(root)) as index:
        yield index


def counted(done: int, total: int) -> None:
    """Tell a person who watches how many files are read; the last word takes the line away again."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    sys.stderr.write("\r\033[K" if done >= total else f"\rreading {done} of {total} files")
    sys.stderr.flush()
