"""The port to a type checker, the second level of evidence. A leaf, as `checks.py` is."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint: `line` counts from 1, `code` is the checker's own word for the rule."""

    path: str
    line: int
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class TypeReport:
    """What a checker newly says. `checker` names it and its version; `why`: why it could not be asked, or not fully.

    `is_missing`: it is not installed. `doctor` says so; who writes can do nothing about it and need not hear of it.
    `unchecked` are new complaints of files that the project leaves out of its own type checks: no reason to refuse.
    """

    new: tuple[Diagnostic, ...] = ()
    checker: str = ""
    why: str = ""
    is_missing: bool = False
    unchecked: tuple[Diagnostic, ...] = ()


class TypeChecker(Protocol):
    """A type checker that knows one working tree. It may be slow to start; it is asked outside of all transactions."""

    def compare(self, changes: Mapping[str, bytes | None], also: Collection[str] = ()) -> TypeReport:
        """What it says of the files in `changes` and in `also` once the changes are made, less what it says before.

        `changes` has the new bytes by path, None for a file that goes. Nothing is written into the working tree. Lines
        are those after the changes. One that is missing, dies or takes too long is told of in `why`, never raised.
        """
        ...

    def close(self) -> None:
        """End the processes that it started; idempotent."""
        ...
