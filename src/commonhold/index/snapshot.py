"""One state of a repository whose summaries are in the cache."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import apsw

from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.summary import Summary
from commonhold.index.summary_cache import SummaryCache

T = TypeVar("T")


class Shelved:
    """The summaries with these numbers, at these paths. Raises apsw.Error if they cannot be fetched any more."""

    def __init__(self, numbers: Mapping[str, int], paths: frozenset[str], stock: SummaryCache) -> None:
        """Fetch the requested summaries from `stock`."""
        self.numbers = numbers
        self.paths = paths
        self.stock = stock

    def with_others(self, changed: Mapping[str, int]) -> "Shelved":
        """Return the state in which these of its files have summaries with other numbers.

        Results for all files are shared, so that a state costs no more than a copy of it.
        """
        found = Shelved({**self.numbers, **changed}, self.paths, self.stock)
        if "_paths_by_number" in self.__dict__:
            paths = dict(self._paths_by_number)
            for path, number in changed.items():
                before = self.numbers[path]
                paths[before] = [each for each in paths[before] if each != path]
                paths[number] = [*paths.get(number, ()), path]
            found.__dict__["_paths_by_number"] = paths
        return found

    def summary(self, path: str) -> Summary | None:
        """The summary of a file."""
        number = self.numbers.get(path)
        return None if number is None else self.stock.summary(number)

    def users(self, name: str) -> Sequence[str]:
        """The files that use a name."""
        return self._paths_of(self.stock.cache.users(name))

    def definers(self, name: str) -> Sequence[str]:
        """The files that define a name."""
        return self._paths_of(self.stock.cache.definers(name))

    def _paths_of(self, numbers: Sequence[int]) -> list[str]:
        here = self._paths_by_number
        return sorted(path for number in numbers if number in here for path in here[number])

    @cached_property
    def _paths_by_number(self) -> Mapping[int, list[str]]:
        found: dict[int, list[str]] = {}
        for path, number in self.numbers.items():
            found.setdefault(number, []).append(path)
        return found


class SteadyLibrary:
    """A library that outlives its cache: summaries that are gone are rebuilt from the present files."""

    def __init__(self, shelved: Shelved, lock: threading.RLock, renewed: Callable[[apsw.Error], Library]) -> None:
        """Answer from `shelved`, then from `renewed` summaries. The lock makes threads take turns."""
        self._shelved = shelved
        self._lock = lock
        self._renewed = renewed
        self._other: Library | None = None

    @property
    def paths(self) -> frozenset[str]:
        """The paths of all files that have a summary."""
        return self._shelved.paths

    @property
    def shelved(self) -> Shelved:
        """The summaries it answers from while its cache can be used."""
        return self._shelved

    def summary(self, path: str) -> Summary | None:
        """Return the summary of a file; None if there is none."""
        return self._asked(lambda library: library.summary(path))

    def users(self, name: str) -> Sequence[str]:
        """The paths of the files in whose `used_names` a name is, in order."""
        return self._asked(lambda library: tuple(library.users(name)))

    def definers(self, name: str) -> Sequence[str]:
        """The paths of the files in whose `offered_names` a name is, in order."""
        return self._asked(lambda library: tuple(library.definers(name)))

    def _asked(self, ask: Callable[[Library], T]) -> T:
        with self._lock:
            if self._other is None:
                try:
                    return ask(self._shelved)
                except apsw.Error as fault:
                    self._other = self._renewed(fault)
            return ask(self._other)
