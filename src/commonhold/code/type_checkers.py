"""The port to a type checker, the second level of evidence. A leaf: loading it loads no other port."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One type error: `line` counts from 1, `code` is the checker's own name of the rule."""

    path: str
    line: int
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class TypeReport:
    """A checker's new type errors. `checker` is its name and version; `why` says why it could not run, or not fully.

    `is_missing`: it is not installed. `doctor` reports that; a committer can do nothing about it and gets no notice.
    `unchecked` are new errors in files that the project excludes from its own type checks: no reason to refuse.
    """

    new: tuple[Diagnostic, ...] = ()
    checker: str = ""
    why: str = ""
    is_missing: bool = False
    unchecked: tuple[Diagnostic, ...] = ()


class TypeChecker(Protocol):
    """A type checker for one working tree. It may be slow to start; it runs outside of all transactions."""

    def compare(
        self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
    ) -> TypeReport:
        """Return the new type errors of the files in `changes` and in `also`, compared with those before the changes.

        `changes` has the new bytes by path, None for a deleted file. Nothing is written into the working tree. Lines
        are those after the changes. Files of `changes` that are `confined` have no new errors of their own; the checker
        sees their new bytes and does not examine them. A checker that is missing, dies or takes too long is reported in
        `why`, never raised.
        """
        ...

    def close(self) -> None:
        """Stop the processes that it started; idempotent."""
        ...
