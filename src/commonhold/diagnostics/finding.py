"""One result of a check."""

import errno
import os
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """The subject of a check, its result, and the remedy (empty if none is needed)."""

    check: str
    level: Level
    found: str
    mend: str = ""
    facts: dict[str, object] = field(default_factory=dict)


def ok(check: str, found: str, **facts: object) -> Finding:
    """All is well."""
    return Finding(check, Level.OK, found, "", facts)


def note(check: str, found: str, mend: str, **facts: object) -> Finding:
    """Nothing is wrong; `mend` is a suggestion."""
    return Finding(check, Level.NOTE, found, mend, facts)


def warn(check: str, found: str, mend: str, **facts: object) -> Finding:
    """It works, but less well, or not all of it."""
    return Finding(check, Level.WARN, found, mend, facts)


def fail(check: str, found: str, mend: str, **facts: object) -> Finding:
    """It does not work, or is not safe."""
    return Finding(check, Level.FAIL, found, mend, facts)


def why(fault: OSError) -> str:
    """A system error in a few words."""
    return fault.strerror or os.strerror(fault.errno or errno.EIO)
