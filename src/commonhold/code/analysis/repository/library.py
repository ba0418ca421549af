"""Summaries by path: those of all files in one state of a repository."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from commonhold.code.analysis.repository.summary import Summary


class Library(Protocol):
    """The summaries of one state of a repository. Reading never changes it."""

    @property
    def paths(self) -> frozenset[str]:
        """The paths of all files that have a summary; the same object as long as these are the same paths."""
        ...

    def summary(self, path: str) -> Summary | None:
        """Return the summary of a file; None if there is none."""
        ...

    def users(self, name: str) -> Iterable[str]:
        """Return the paths of the files whose `used_names` contain a name."""
        ...

    def definers(self, name: str) -> Iterable[str]:
        """Return the paths of the files whose `offered_names` contain a name."""
        ...


@dataclass(frozen=True)
class Shelf:
    """A library in memory."""

    files: Mapping[str, Summary]

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files that have a summary."""
        return frozenset(self.files)

    def summary(self, path: str) -> Summary | None:
        """Return the summary of a file; None if there is none."""
        return self.files.get(path)

    def users(self, name: str) -> Iterable[str]:
        """Return the files that use a name."""
        return self._users.get(name, ())

    def definers(self, name: str) -> Iterable[str]:
        """Return the files that define a name."""
        return self._definers.get(name, ())

    @cached_property
    def _users(self) -> Mapping[str, list[str]]:
        return _indexed({path: summary.used_names for path, summary in self.files.items()})

    @cached_property
    def _definers(self) -> Mapping[str, list[str]]:
        return _indexed({path: summary.offered_names for path, summary in self.files.items()})


def _indexed(names: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, each in names.items():
        for name in each:
            found.setdefault(name, []).append(path)
    return found


@dataclass(frozen=True)
class Overlay:
    """A library in which some files are replaced: None for a file that does not exist (any more)."""

    below: Library
    files: Mapping[str, Summary | None] = field(default_factory=dict)

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files that have a summary."""
        gone = {path for path, summary in self.files.items() if summary is None}
        new = {path for path, summary in self.files.items() if summary is not None}
        below = self.below.paths
        if all(path in below for path in new) and not any(path in below for path in gone):
            return below
        return (below | new) - gone

    def summary(self, path: str) -> Summary | None:
        """Return the summary of a file; None if there is none."""
        return self.files[path] if path in self.files else self.below.summary(path)

    def users(self, name: str) -> Iterable[str]:
        """Return the files that use a name."""
        yield from (path for path in self.below.users(name) if path not in self.files)
        yield from (path for path, each in self.files.items() if each and name in each.used_names)

    def definers(self, name: str) -> Iterable[str]:
        """Return the files that define a name."""
        yield from (path for path in self.below.definers(name) if path not in self.files)
        yield from (path for path, each in self.files.items() if each and name in each.offered_names)
