"""Lists of patterns in the form of `.gitignore`, and their verdicts on paths."""

import os
import stat
import time
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from commonhold.kernel.resource_exhaustion import is_exhaustion
from commonhold.machine import file_stamps
from commonhold.workspace.ignore.wildcards import Matches, matcher

MOST_BYTES: Final = 1_000_000
"""A longer file is no list of patterns."""
# A pipe in the place of the file must not block the reader.
_READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class Patterns:
    """Some patterns, which count from one folder. Lines that git would not understand are skipped, as git does."""

    def __init__(self, lines: Iterable[str], *, ignores_case: bool = False) -> None:
        """Read patterns, one a line."""
        self.lines = tuple(filter(None, map(_meant, lines)))
        self._rules = [rule for line in reversed(self.lines) if (rule := _rule(line, ignores_case=ignores_case))]
        self._ignores_case = ignores_case

    def verdict(self, path: str) -> bool | None:
        """Return whether they ignore or include a path; None if they do neither. A folder's path ends in `/`."""
        whole = os.fsencode(path.rstrip("/"))
        whole = whole.lower() if self._ignores_case else whole
        name = whole.rpartition(b"/")[2]
        for rule in self._rules:
            if (path.endswith("/") or not rule.is_of_folders) and rule.matches(name if rule.is_of_names else whole):
                return rule.is_against
        return None


@dataclass(frozen=True, slots=True)
class _Rule:
    """One pattern: whether it ignores or includes the matching paths, and how it is matched."""

    matches: Matches
    is_against: bool
    is_of_folders: bool
    is_of_names: bool


def _meant(line: str) -> str:
    """Return a line as a pattern: without its line end and trailing spaces that do not count; empty if it is none."""
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return ""
    end = at = 0
    while at < len(line):
        is_blank = line[at] == " "
        at += 2 if line[at] == "\\" else 1
        end = end if is_blank else at
    return line[:end]


def _rule(line: str, *, ignores_case: bool) -> _Rule | None:
    text = os.fsencode(line)
    is_against = not text.startswith(b"!")
    text = text if is_against else text[1:]
    is_of_folders = text.endswith(b"/")
    text = text[:-1] if is_of_folders else text
    is_of_names = b"/" not in text
    text = text.removeprefix(b"/")
    matches = matcher(text.lower() if ignores_case else text) if text else None
    return _Rule(matches, is_against, is_of_folders, is_of_names) if matches else None


NOTHING: Final = Patterns(())


class RuleFile:
    """The present patterns of a file: it is read again when it has changed, and may be absent."""

    def __init__(self, place: str, *, ignores_case: bool = False, most_bytes: int = MOST_BYTES) -> None:
        """Read nothing yet."""
        self._place = place
        self._ignores_case = ignores_case
        self._most_bytes = most_bytes
        self._read: tuple[file_stamps.Stamp | None, Patterns] | None = None

    def patterns(self) -> Patterns:
        """Return the patterns in the file. Raises OSError if there is no free file descriptor."""
        now = file_stamps.at(self._place)
        if now is None:
            return NOTHING
        if self._read is None or self._read[0] != now:
            at = time.time_ns()
            lines = _lines(self._place, self._most_bytes)
            self._read = file_stamps.settled(now, at), Patterns(lines, ignores_case=self._ignores_case)
        return self._read[1]


def _lines(place: str, most_bytes: int) -> Sequence[str]:
    try:
        with open(os.open(place, _READ_FLAGS), "rb") as file:
            is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(most_bytes + 1) if is_regular else b""
    except OSError as fault:  # it is gone again, or a folder
        if is_exhaustion(fault):
            raise
        return ()
    return os.fsdecode(data.removeprefix(BOM_UTF8)).split("\n") if len(data) <= most_bytes else ()


class Says(Protocol):
    """A judge of a path: True and False end the question, None leaves it to others."""

    def __call__(self, path: str, /) -> bool | None:
        """Return the verdict on one path alone, whatever folder it is in. A folder's path ends in `/`."""
        ...


def walked(path: str, says: Says) -> bool | None:
    """Return the verdict on a path and all folders around it: everything in an ignored folder is ignored."""
    verdict = None
    folders = [path[: index + 1] for index, char in enumerate(path) if char == "/"]
    for each in folders if path.endswith("/") else [*folders, path]:
        found = says(each)
        if found:
            return True
        verdict = verdict if found is None else found
    return verdict
