"""The port to the index: the summaries of all files of a repository, by path. A leaf, as `checks.py` is."""

from collections.abc import Callable
from typing import Protocol

from commonhold.linking.library import Library
from commonhold.linking.summary import Summary

Progress = Callable[[int, int], None]
"""Called with how many files are done, and how many there are, while many are read."""


def silent(_done: int, _total: int) -> None:
    """Tell nobody."""


class Index(Protocol):
    """The summaries of the files of one repository, kept by the hash of their content and made when they are missing.

    Files are those that git tracks or would track; without git, all but hidden folders, environments and dependencies.
    """

    def library(self, progress: Progress = silent) -> Library:
        """The working tree as it is on disk now: whatever wrote a file, and however long ago, it is seen."""
        ...

    def library_if_read(self) -> Library | None:
        """The same, if that takes half a second or so; None while too many files have to be read first."""
        ...

    def of_revision(self, revision: str, progress: Progress = silent) -> Library:
        """A commit or tree of git's. Raises InputError `REVISION_UNKNOWN` where there is none."""
        ...

    def summary(self, path: str, content: bytes) -> Summary | None:
        """The summary of these bytes, were they at `path`; None for a language without summaries.

        It never waits until all files are read.
        """
        ...

    def close(self) -> None:
        """Let go; idempotent."""
        ...
