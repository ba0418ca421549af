"""An index of files that are in memory."""

from collections.abc import Callable, Mapping

from commonhold.code.analysis.repository.library import Library, Shelf
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.indexes import Progress, silent
from commonhold.kernel.errors import Code, InputError

Files = Mapping[str, bytes]
"""The bytes at each path."""


class MemoryIndex:
    """The summaries of the files that `files` returns at each call, and of the named revisions."""

    def __init__(self, files: Callable[[], Files], revisions: Mapping[str, Files] | None = None) -> None:
        """Begin with nothing read."""
        self._files = files
        self._revisions = revisions or {}
        self._shelf = Shelf({})

    def library(self, progress: Progress = silent) -> Library:
        """The files as they are now; the same object as long as their summaries are the same."""
        now = _shelf(self._files(), progress)
        self._shelf = self._shelf if now.files == self._shelf.files else now
        return self._shelf

    def library_if_read(self) -> Library | None:
        """The same: nothing has to be read first."""
        return self.library()

    def of_revision(self, revision: str, progress: Progress = silent) -> Library:
        """One of the revisions. Raises InputError `REVISION_UNKNOWN`."""
        if revision not in self._revisions:
            raise InputError(
                Code.REVISION_UNKNOWN,
                f"there is no revision {revision!r}",
                hint="name one of those that the index was made with",
                fields={"name": revision},
            )
        return _shelf(self._revisions[revision], progress)

    def summary(self, path: str, content: bytes) -> Summary | None:
        """The summary of these bytes."""
        return summarise(path, content)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _shelf(files: Files, progress: Progress) -> Shelf:
    found = {}
    for done, (path, content) in enumerate(files.items(), 1):
        summary = summarise(path, content)
        if summary is not None:
            found[path] = summary
        progress(done, len(files))
    return Shelf(found)
