"""Commits as libraries: git's objects are identified by their ids."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from commonhold.code.indexes import Progress
from commonhold.index.cache import NONE
from commonhold.index.snapshot import Shelved, SteadyLibrary
from commonhold.index.summarising import Source
from commonhold.index.summary_cache import SummaryCache, maker_of
from commonhold.index.working_tree_library import named_in_keys
from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import can_be_named
from commonhold.workspace.git.objects import read_blobs
from commonhold.workspace.git.process import Git

_REGULAR: Final = b"100"
_MOST_TREES: Final = 8
_SLICE_BYTES: Final = 4_000_000

Steady = Callable[[str, Shelved], SteadyLibrary]
"""Makes a library of a tree that outlives its cache."""

Blob = tuple[bytes, str]
"""The id of one of git's objects, and the maker of its summary."""


class Revisions:
    """The commits and trees of a repository. Raises apsw.Error if the cache cannot be used any more."""

    def __init__(self, git: Git, max_file_bytes: int, stock: SummaryCache, steady: Steady) -> None:
        """Ask `git`; leave larger files out."""
        self._git = git
        self._max_file_bytes = max_file_bytes
        self._stock = stock
        self._steady = steady
        self._libraries: OrderedDict[str, SteadyLibrary] = OrderedDict()

    def library(self, revision: str, progress: Progress) -> SteadyLibrary:
        """A revision; the same object for the same tree. Raises InputError `REVISION_UNKNOWN`."""
        tree = self._git.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
        if not tree:
            raise unknown(revision)
        if tree not in self._libraries:
            self._libraries[tree] = self._read(tree, progress)
        self._libraries.move_to_end(tree)
        if len(self._libraries) > _MOST_TREES:
            self._libraries.popitem(last=False)
        return self._libraries[tree]

    def _read(self, tree: str, progress: Progress) -> SteadyLibrary:
        listed = dict(_listed(self._git.ask("ls-tree", "-r", "-z", "--full-tree", tree)))
        paths = {blob: path for path, blob in listed.items()}
        found = dict(zip(paths, self._stock.cache.numbers_of_blobs(paths), strict=True))
        missing = {blob: paths[blob] for blob, number in found.items() if number is None}
        made: dict[Blob, int] = {}
        if missing:
            progress(0, len(missing))
            made = self._stock.numbers(self._sources(missing), lambda done: progress(done, len(missing)))
            with self._stock.cache.writing():
                self._stock.cache.keep_blobs(made)
        named = named_in_keys(listed)
        numbers = {named.get(path, path): made.get(blob) or found[blob] or NONE for path, blob in listed.items()}
        numbers = {path: number for path, number in numbers.items() if number != NONE}
        return self._steady(tree, Shelved(numbers, frozenset(numbers), self._stock))

    def _sources(self, missing: Mapping[Blob, str]) -> Iterator[tuple[Blob, Source]]:
        for blobs in self._slices(missing):
            contents = read_blobs(self._git, [blob[0].hex() for blob in blobs])
            for blob in blobs:
                yield blob, (missing[blob], contents[blob[0].hex()])

    def _slices(self, blobs: Iterable[Blob]) -> Iterator[list[Blob]]:
        """Yield the objects that are not too large, in batches that fit in memory."""
        asked = "".join(f"{blob.hex()}\n" for blob, _ in blobs)
        told = self._git.ask("cat-file", "--batch-check=%(objectsize)", given=asked.encode()).split(b"\n")
        # The reader reports missing objects.
        sizes = [int(line) if line.isdigit() else 0 for line in told[:-1]]
        found: list[Blob] = []
        total = 0
        for blob, size in zip(blobs, sizes, strict=True):
            if size > self._max_file_bytes:
                continue
            if found and total + size > _SLICE_BYTES:
                yield found
                found, total = [], 0
            found.append(blob)
            total += size
        if found:
            yield found


def unknown(revision: str) -> InputError:
    """Return the error for a revision that does not exist."""
    return InputError(
        Code.REVISION_UNKNOWN,
        f"there is no commit or tree {revision!r} here",
        hint="`git log --all --oneline` lists the commits; fetch others first",
        fields={"name": revision},
    )


def _listed(told: bytes) -> Iterator[tuple[str, Blob]]:
    for entry in told.split(b"\0"):
        head, _, raw = entry.partition(b"\t")
        path = os.fsdecode(raw)
        maker = maker_of(path) if head.startswith(_REGULAR) and can_be_named(path) else None
        if maker is not None:
            yield path, (bytes.fromhex(head.rpartition(b" ")[2].decode()), maker)
