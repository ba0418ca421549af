"""Lists of patterns in the form of `.gitignore`, and what they say of a path."""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Protocol

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from commonhold.adapters.index import stamps

MOST_BYTES: Final = 1_000_000
"""What is longer is no list of patterns."""
# At a pipe that somebody has put there nobody must wait.
_READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class Patterns:
    """Some patterns, which count from one folder. What git would not understand it passes over, and so does this."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Read patterns, one a line."""
        self._spec = GitIgnoreSpec(_understood(lines))
        self._is_empty = not self._spec.patterns

    def verdict(self, path: str) -> bool | None:
        """Whether they ignore a path, or say that it is not to be ignored; None: nothing. A folder's ends in `/`."""
        return None if self._is_empty else self._spec.check_file(path).include


def _understood(lines: Iterable[str]) -> Iterator[GitIgnoreSpecPattern]:
    for line in lines:
        with suppress(GitIgnorePatternError):
            yield GitIgnoreSpecPattern(line)


NOTHING: Final = Patterns(())


class RuleFile:
    """The patterns in a file, as they are now: it is read anew when it has changed, and may not be there."""

    def __init__(self, place: str) -> None:
        """Read nothing yet."""
        self._place = place
        self._read: tuple[stamps.Stamp | None, Patterns] | None = None

    def patterns(self) -> Patterns:
        """What it says."""
        now = stamps.at(self._place)
        if now is None:
            return NOTHING
        if self._read is None or self._read[0] != now:
            at = time.time_ns()
            self._read = stamps.settled(now, at), _read(self._place)
        return self._read[1]


def _read(place: str) -> Patterns:
    try:
        with open(os.open(place, _READ_FLAGS), "rb") as file:
            is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(MOST_BYTES + 1) if is_regular else b""
    except OSError:  # it is gone again, or a folder
        return NOTHING
    return Patterns(data.decode(errors="surrogateescape").split("\n")) if len(data) <= MOST_BYTES else NOTHING


class Says(Protocol):
    """What decides over a path: True and False end the question, None leaves it to others."""

    def __call__(self, path: str, /) -> bool | None:
        """The verdict on one path alone, whatever it lies in. A folder's ends in `/`."""
        ...


def walked(path: str, says: Says) -> bool | None:
    """The verdict on a path and all that it lies in: what is in an ignored folder is ignored."""
    verdict = None
    for each in _upper_first(path):
        found = says(each)
        if found:
            return True
        verdict = verdict if found is None else found
    return verdict


def _upper_first(path: str) -> Sequence[str]:
    folders = [path[: index + 1] for index, char in enumerate(path) if char == "/"]
    return folders if path.endswith("/") else [*folders, path]
