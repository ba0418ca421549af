"""The port to a check: who decides what cannot be proven. A leaf: a driver that git starts loads no other port."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check said, and the end of what it printed."""

    passed: bool
    tail: str = ""


class Check(Protocol):
    """A judge of what might be right, whom the caller trusts: a type checker, tests. It never sees the user's files."""

    @property
    def name(self) -> str:
        """What is run, as the caller named it."""
        ...

    def passes(self, contents: Mapping[str, bytes | None], timeout_seconds: float) -> CheckResult:
        """Try a fresh copy of the project in which the files of `contents` have these bytes; None: it is gone.

        What has not come to an end after `timeout_seconds` is ended, and has not passed.
        """
        ...
