"""The port for checks, which decide cases that cannot be proven. A leaf: git's merge driver loads no other port."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check, and the end of its output."""

    passed: bool
    tail: str = ""


class Check(Protocol):
    """A judge of candidates that the caller trusts: a type checker, tests. It never sees the user's files."""

    @property
    def name(self) -> str:
        """Return the command of the check, as the caller named it."""
        ...

    def passes(self, contents: Mapping[str, bytes | None], timeout_seconds: float) -> CheckResult:
        """Check a fresh copy of the project in which the files of `contents` have these bytes; None means deleted.

        A check that still runs after `timeout_seconds` is stopped, and has not passed.
        """
        ...
