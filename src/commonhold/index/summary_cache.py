"""Summaries by number: found by the hash of their source, made if they are missing."""

import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from typing import Final, Generic, TypeVar

from commonhold.code.analysis.repository.languages import LINKED
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import EDITION, Summary
from commonhold.code.regions.languages import language_for
from commonhold.index.cache import NONE, Cache
from commonhold.index.packed_summaries import Packed, packed
from commonhold.index.recent import Key, Recent
from commonhold.index.summarising import Source
from commonhold.index.workers import Workers

T = TypeVar("T")

# The output of Python's own parser, and its form, depend on its version.
_VERSION: Final = f"{EDITION}/{sys.version_info.major}.{sys.version_info.minor}"
# A batch is some tenths of a second of work, which a killed build loses, and one transaction.
_BATCH_BYTES: Final = 131_072
# This many batches are done sooner here than another process has started.
_FEW: Final = 3
# The size of a summary in memory, roughly, as a multiple of its text.
_MEMORY_OF_TEXT: Final = 12
_MOST_MEMORY: Final = 64_000_000
# Old summaries are kept up to this number, or up to a multiple of the present ones.
_SPARE: Final = 20_000
_SPARE_RATIO: Final = 4
_SLICE: Final = 500
_TRIM_EVERY: Final = 2_000


def maker_of(path: str, content: bytes = b"") -> str | None:
    """Return the maker of a summary of these bytes, were they at `path`; None if there is none."""
    language = language_for(path, content)
    return None if language is None or language.name not in LINKED else f"{language.name}/{_VERSION}"


def makers() -> str:
    """Return all makers of summaries, with their version."""
    return ",".join([_VERSION, *sorted(LINKED)])


@dataclass(slots=True)
class _Order(Generic[T]):
    """The requests: which key each caller asked for, and the numbers that were found."""

    keys: dict[T, Key] = field(default_factory=dict)
    askers: dict[Key, int] = field(default_factory=dict)
    numbers: dict[Key, int] = field(default_factory=dict)
    done: int = 0

    def settle(self, key: Key, number: int) -> None:
        self.numbers[key] = number
        self.done += self.askers[key]


class SummaryCache:
    """All stored summaries. Raises apsw.Error if they cannot be stored any more."""

    def __init__(self, cache: Cache, processes: int) -> None:
        """Store them in `cache`; make many in up to `processes` processes."""
        self.cache = cache
        self._processes = processes
        self._ready: OrderedDict[int, tuple[Summary, int]] = OrderedDict()
        self._memory = 0
        self._recent = Recent()
        self._until_trim = 0

    def summary(self, number: int) -> Summary:
        """Return a summary. Raises apsw.NotFoundError if it was dropped."""
        if number in self._ready:
            self._ready.move_to_end(number)
            return self._ready[number][0]
        summary, size = self.cache.summary(number)
        self._hold(number, summary, size)
        return summary

    def _hold(self, number: int, summary: Summary, size: int) -> None:
        self._ready[number] = summary, size
        self._memory += size
        while self._memory > _MOST_MEMORY and len(self._ready) > 1:
            self._memory -= self._ready.popitem(last=False)[1][1]

    def summary_of(self, path: str, content: bytes) -> Summary | None:
        """Return the summary of some bytes, were they at `path`; None if there is none.

        A summary made here stays in memory until its number is requested: for most drafts it never is.
        """
        key = _key_of(path, content)
        if not key[1]:
            return None
        recent = self._recent.get(key)
        if recent is not None:
            return recent
        number = self.cache.number(*key)
        if number is not None:
            return None if number == NONE else self.summary(number)
        return self._made(key, path, content)

    def _made(self, key: Key, path: str, content: bytes) -> Summary | None:
        summary = summarise(path, content, self._recent.like(path))
        if summary is not None:
            self._recent.put(key, path, content, summary)
        return summary

    def _made_here(self, batch: tuple[list[Key], list[Source]]) -> tuple[list[Key], list[Packed | None]]:
        """The summaries of a few files, remembered: files that were just changed will be changed again."""
        keys, sources = batch
        made = [self._made(key, *source) for key, source in zip(keys, sources, strict=True)]
        return keys, [None if each is None else packed(each) for each in made]

    def problem(self, path: str, why: str) -> int:
        """Return the number of a summary that says why there is no better one. Its key is no hash of any bytes."""
        maker = maker_of(path)
        if maker is None:
            return NONE
        digest = f"problem: {why}".encode()
        known = self.cache.number(digest, maker)
        if known is not None:
            return known
        with self.cache.writing():
            return self.cache.keep(digest, maker, packed(Summary(maker.partition("/")[0], problem=why)))

    def numbers(
        self, items: Iterable[tuple[T, Source]], tell: Callable[[int], None] = lambda _done: None
    ) -> dict[T, int]:
        """Return the numbers of the summaries of many files. `tell` is called with the number done, now and then."""
        order: _Order[T] = _Order()
        batches = self._missing(items, order)
        first = list(islice(batches, _FEW))
        made: Iterator[tuple[list[Key], list[Packed | None]]]
        if len(first) < _FEW or self._processes < 2:  # noqa: PLR2004 - one alone would only be waited for
            made = map(self._made_here, chain(first, batches))
        else:
            made = Workers(self._processes).summarised(chain(first, batches))
        for keys, summaries in made:
            self._keep(order, keys, summaries)
            tell(order.done)
        return {asker: order.numbers[key] for asker, key in order.keys.items()}

    def _missing(self, items: Iterable[tuple[T, Source]], order: _Order[T]) -> Iterator[tuple[list[Key], list[Source]]]:
        """The missing summaries, in batches; existing ones are found on the way."""
        keys: list[Key] = []
        sources: list[Source] = []
        size = 0
        for asker, (path, content) in items:
            key = _key_of(path, content)
            order.keys[asker] = key
            if not self._is_new(order, key) or self._has_recent(order, key, path, content):
                continue
            keys.append(key)
            sources.append((path, content))
            size += len(content)
            if size >= _BATCH_BYTES:
                yield keys, sources
                keys, sources, size = [], [], 0
        if keys:
            yield keys, sources

    def _is_new(self, order: _Order[T], key: Key) -> bool:
        order.askers[key] = order.askers.get(key, 0) + 1
        if key in order.numbers:
            order.done += 1
        elif order.askers[key] == 1:
            number = self.cache.number(*key) if key[1] else NONE
            if number is None:
                return True
            order.settle(key, number)
        return False

    def _has_recent(self, order: _Order[T], key: Key, path: str, content: bytes) -> bool:
        """Store summaries made already or from a similar text; return whether there are any."""
        summary = self._recent.get(key)
        if summary is None and self._recent.like(path) is not None:
            summary = self._made(key, path, content)
        if summary is None:
            return False
        each = packed(summary)
        self._keep(order, [key], [each])
        self._hold(order.numbers[key], summary, len(content) * _MEMORY_OF_TEXT)
        return True

    def _keep(self, order: _Order[T], keys: list[Key], summaries: list[Packed | None]) -> None:
        self._until_trim -= len(keys)
        with self.cache.writing():
            for key, each in zip(keys, summaries, strict=True):
                order.settle(key, NONE if each is None else self.cache.keep(*key, each))

    def trim(self) -> None:
        """Drop the oldest summaries that no working tree has, if there are too many of them.

        It counts them only if enough was stored since the last time, or if there was none yet.
        """
        if self._until_trim > 0:
            return
        self._until_trim = _TRIM_EVERY
        with self.cache.writing():
            for number, root in self.cache.roots().items():
                if not os.path.isdir(root):
                    self.cache.drop_root(number)
        kept, used = self.cache.counts()
        surplus = kept - used - max(_SPARE, _SPARE_RATIO * used)
        while surplus > 0:
            with self.cache.writing():
                self.cache.drop_oldest(_SLICE)
            surplus -= _SLICE
            if surplus <= 0:
                self.cache.drop_blobs()


def _key_of(path: str, content: bytes) -> Key:
    return sha256(content).digest(), maker_of(path, content) or ""
