"""The index of one working tree: the implementation of `code.indexes`, stored on disk beside the state."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import apsw

from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.indexes import Progress, silent
from commonhold.index import opening
from commonhold.index.cache import Cache
from commonhold.index.commit_library import Revisions, unknown
from commonhold.index.snapshot import Shelved, SteadyLibrary
from commonhold.index.summary_cache import SummaryCache, maker_of
from commonhold.index.working_tree_library import Reader
from commonhold.kernel.errors import StoreError
from commonhold.kernel.options import DEFAULT_MAX_FILE_BYTES
from commonhold.machine.worker_process import usable_processors
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import Repository
from commonhold.workspace.state_folder import StateFolder

T = TypeVar("T")

# With the file that is there, with a new one, with none.
_ATTEMPTS: Final = 3
_SECONDS_TO_LIBRARY: Final = 0.3
"""How long a caller that needs the library at once waits for other readers of files."""
_SECONDS_TO_SUMMARY: Final = 0.05
"""The same for a caller that needs one summary, which takes little longer to make."""


class SqliteIndex:
    """The summaries of a repository's files in `index.db`, which processes may share and any user may delete.

    A damaged file is no error: it is rebuilt, or the index works without it.
    """

    def __init__(
        self,
        folder: str | StateFolder,
        root: str,
        git: Git | None = None,
        *,
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
        processes: int | None = None,
        keeps: bool = True,
    ) -> None:
        """Keep the index of the working tree at `root` in the state folder `folder`.

        Nothing is opened before the first query. `processes` is how many may work at once. `keeps`: the state of the
        working tree is stored.
        """
        self._state_folder = folder if isinstance(folder, StateFolder) else StateFolder(folder)
        self._folder: str | None = self._state_folder.path
        self._root = os.path.realpath(root)
        self._git = git
        self._max_file_bytes = max_file_bytes
        self._processes = usable_processors() if processes is None else processes
        self._keeps = keeps
        self._lock = threading.RLock()
        self._is_anew = False
        self._parts: _Parts | None = None

    def library(self, progress: Progress = silent) -> Library:
        """Return the present working tree; the same object as long as nothing changed."""
        return self._done(lambda parts: parts.library(progress))

    def library_if_read(self) -> Library | None:
        """Return the same, if that takes half a second or so; None while too many files have to be read first."""
        with self._within(_SECONDS_TO_LIBRARY) as is_free:
            return self._done(lambda parts: parts.library_if_read()) if is_free else None

    def of_revision(self, revision: str, progress: Progress = silent) -> Library:
        """Return the library of a commit or tree of git. Raises InputError `REVISION_UNKNOWN` if there is none."""
        return self._done(lambda parts: parts.of_revision(revision, progress))

    def summary(self, path: str, content: bytes) -> Summary | None:
        """The summary of these bytes; held in memory, and kept on disk once they are at `path`."""
        if maker_of(path) is None or len(content) > self._max_file_bytes:
            return None
        with self._within(_SECONDS_TO_SUMMARY) as is_free:
            if is_free:
                return self._done(lambda parts: parts.stock.summary_of(path, content))
        return summarise(path, content)

    @contextmanager
    def _within(self, seconds: float) -> Iterator[bool]:
        """Exclude other callers from the index in this block; yield whether that succeeded within `seconds`."""
        is_free = self._lock.acquire(timeout=seconds)
        try:
            yield is_free
        finally:
            if is_free:
                self._lock.release()

    def close(self) -> None:
        """Close the index; idempotent. The next query opens it again."""
        with self._lock:
            if self._parts is not None:
                self._parts.reader.close()
                self._parts.stock.cache.close()
            self._parts = None

    def _done(self, work: Callable[["_Parts"], T]) -> T:
        with self._lock:
            for _ in range(_ATTEMPTS - 1):
                try:
                    return work(self._opened())
                except apsw.Error as fault:
                    self._recover(fault)
            return work(self._opened())

    def _opened(self) -> "_Parts":
        if self._parts is None:
            cache = Cache(self._usable_folder())
            try:
                self._parts = self._put_together(SummaryCache(cache, self._processes))
            except apsw.Error:
                cache.close()
                raise
        return self._parts

    def _put_together(self, stock: SummaryCache) -> "_Parts":
        def steady(shelved: Shelved) -> SteadyLibrary:
            return self._steady(stock, shelved, self.library)

        def steady_tree(tree: str, shelved: Shelved) -> SteadyLibrary:
            return self._steady(stock, shelved, lambda: self.of_revision(tree))

        reader = Reader(self._root, self._git, self._max_file_bytes, stock, steady, keeps=self._keeps)
        revisions = Revisions(self._git, self._max_file_bytes, stock, steady_tree) if self._git else None
        return _Parts(stock, reader, revisions)

    def _usable_folder(self) -> str | None:
        """The state folder. In a plain folder none is made for a mere cache: it would turn it into a repository."""
        if self._folder is None:
            return None
        try:
            if self._git is not None:
                self._state_folder.make()
        except StoreError:
            return None  # another file is in its place
        except OSError:
            pass
        return self._folder if os.path.isdir(self._folder) else None

    def _recover(self, fault: apsw.Error) -> None:
        """Begin again: with a new file if this one is damaged, without one if that does not help."""
        self.close()
        if self._folder is None or isinstance(fault, apsw.NotFoundError):
            return
        if opening.is_damage(fault) and not self._is_anew:
            opening.drop(self._folder)
            self._is_anew = True
        else:
            self._folder = None

    def _steady(self, stock: SummaryCache, shelved: Shelved, again: Callable[[], Library]) -> SteadyLibrary:
        def renewed(fault: apsw.Error) -> Library:
            if self._parts is not None and self._parts.stock is stock:
                self._recover(fault)
            return again()

        return SteadyLibrary(shelved, self._lock, renewed)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The components that work on one open cache."""

    stock: SummaryCache
    reader: Reader
    revisions: Revisions | None

    def library(self, progress: Progress) -> Library:
        self.stock.trim()
        return self.reader.library(progress)

    def library_if_read(self) -> Library | None:
        self.stock.trim()
        return self.reader.library_if_read()

    def of_revision(self, revision: str, progress: Progress) -> Library:
        if self.revisions is None:
            raise unknown(revision)
        # Before and not after: files made during the read must be read again.
        self.stock.trim()
        return self.revisions.library(revision, progress)


def index_at(
    repository: Repository, max_file_bytes: int, *, keeps: bool = True, processes: int | None = None
) -> SqliteIndex:
    """Return the index of a repository: the offers and uses of each file. Nothing is opened before the first query.

    `keeps`: it stores which file has which summary. One process of several should, since each rewrites all of it after
    another did. `processes` is how many may work at once; by default all processors.
    """
    git = Git(repository.root) if repository.git_dir else None
    return SqliteIndex(
        repository.state, repository.root, git, max_file_bytes=max_file_bytes, keeps=keeps, processes=processes
    )
