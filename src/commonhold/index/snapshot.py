"""One state of a repository whose summaries are in the cache."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeVar

import apsw

from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.summary import Summary
from commonhold.index.cache import NONE
from commonhold.index.summary_cache import SummaryCache

T = TypeVar("T")


_MOST_CHANGED: Final = 256
"""How many files may differ from a shared state before a state of its own is made."""


class _Shared:
    """Files and the numbers of their summaries, which many states have in common. Nothing changes it."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers

    @cached_property
    def paths_by_number(self) -> Mapping[int, Sequence[str]]:
        found: dict[int, list[str]] = {}
        for path, number in self.numbers.items():
            found.setdefault(number, []).append(path)
        return found


class Shelved:
    """The summaries with these numbers, at these paths. Raises apsw.Error if they cannot be fetched any more."""

    def __init__(self, numbers: Mapping[str, int], paths: frozenset[str], stock: SummaryCache) -> None:
        """Fetch the requested summaries from `stock`."""
        self.paths = paths
        self.stock = stock
        self._shared = _Shared(numbers)
        self._changed: Mapping[str, int] = {}

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of each file's summary."""
        return {**self._shared.numbers, **self._changed}

    def number(self, path: str) -> int:
        """Return the number of a file's summary; NONE if it has none."""
        return self._changed.get(path) or self._shared.numbers.get(path, NONE)

    def with_others(self, changed: Mapping[str, int]) -> "Shelved":
        """Return the state in which these of its files have summaries with other numbers.

        It shares with this one what has not changed: many states are kept at once, each a commit later than another.
        """
        changed = {**self._changed, **changed}
        found = Shelved({}, self.paths, self.stock)
        if len(changed) > _MOST_CHANGED:
            found._shared = _Shared({**self._shared.numbers, **changed})
        else:
            found._shared, found._changed = self._shared, changed
        return found

    def summary(self, path: str) -> Summary | None:
        """The summary of a file."""
        number = self.number(path)
        return None if number == NONE else self.stock.summary(number)

    def users(self, name: str) -> Sequence[str]:
        """The files that use a name."""
        return self._paths_of(self.stock.cache.users(name))

    def definers(self, name: str) -> Sequence[str]:
        """The files that define a name."""
        return self._paths_of(self.stock.cache.definers(name))

    def _paths_of(self, numbers: Sequence[int]) -> list[str]:
        wanted = frozenset(numbers)
        shared = self._shared.paths_by_number
        same = (path for number in wanted for path in shared.get(number, ()) if path not in self._changed)
        return sorted([*same, *(path for path, number in self._changed.items() if number in wanted)])


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
