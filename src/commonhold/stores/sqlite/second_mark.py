"""A second mark of the last event, beside the state folder: it stays when that is restored or deleted."""

import os
from contextlib import suppress
from typing import Final

from commonhold.stores.sqlite.last_event_mark import Mark, read_mark

ENDING: Final = ".mark"
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class SecondMark:
    """The mark of the last event in a file beside the state folder at `folder`.

    There is none if the folder itself has a hidden name: it lies among the files of a project, as the mark would. It is
    not flushed: after a loss of power it recognises less. One that was copied says nothing: it came with a copy of the
    repository, perhaps a moment after the state folder, while the original was at work.
    """

    def __init__(self, folder: str) -> None:
        """Name the file; it is made with the first event."""
        is_among_files = os.path.basename(folder).startswith(".")
        self._path = "" if is_among_files else folder + ENDING
        self._descriptor = -1

    def read(self) -> Mark | None:
        """Return the mark; None if there is none, or it was copied here."""
        mark = read_mark(self._path) if self._path else None
        return mark if mark and mark.database else None

    def write(self, mark: Mark) -> None:
        """Write the mark of the last event that is durable, if it can be written."""
        if self._path:
            with suppress(OSError):
                if self._descriptor < 0:
                    self._descriptor = os.open(self._path, _FLAGS, 0o600)
                mark.write(self._descriptor, os.fstat(self._descriptor).st_ino)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
