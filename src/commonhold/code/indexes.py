"""The port to the index: the summaries of all files of a repository, by path. A leaf: it loads no other port."""

from collections.abc import Callable
from typing import Protocol

from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.summary import Summary

Progress = Callable[[int, int], None]
"""A callback with the number of files done, and the total, while many are read."""


def silent(_done: int, _total: int) -> None:
    """Report no progress."""


class Index(Protocol):
    """The summaries of the files of one repository, cached by content hash and made when missing.

    Files are those that git tracks or would track; without git, all except hidden folders, environments and
    dependencies.
    """

    def library(self, progress: Progress = silent) -> Library:
        """Return the working tree in its present state on disk: every write is seen, by any program and of any age."""
        ...

    def library_if_read(self) -> Library | None:
        """Return the same if that takes about half a second at most; None if too many files must be read first."""
        ...

    def of_revision(self, revision: str, progress: Progress = silent) -> Library:
        """Return a commit or tree of git. Raises InputError `REVISION_UNKNOWN` if there is none."""
        ...

    def summary(self, path: str, content: bytes) -> Summary | None:
        """Return the summary of these bytes, as if they were at `path`; None for a language without summaries.

        It never waits until all files are read.
        """
        ...

    def close(self) -> None:
        """Release all resources; idempotent."""
        ...
