"""The past of a region: the base of an edit, and the authors of the changes since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from commonhold.kernel.events import Committed, RegionChange
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.ports import Reader, Store
from commonhold.kernel.texts import short_names

if TYPE_CHECKING:
    from commonhold.reads.stale_base import Stale

HISTORY_LIMIT: Final = 50


class Author(NamedTuple):
    """The holder that changed something, and its intent."""

    holder: str
    intent: str


class ContentHistory:
    """The known past of one working tree."""

    def __init__(self, store: Store, worktree: str) -> None:
        """Read the past of the working tree at `worktree` from `store`."""
        self._store = store
        self._worktree = worktree

    def is_kept(self, base: str) -> bool:
        """Whether content with that hash was ever read or written through Commonhold, and has not expired."""
        with self._store.read() as reader:
            return bool(reader.contents_like(base))

    def content(self, base: str) -> bytes | None:
        """Return the bytes with that hash, or None."""
        with self._store.read() as reader:
            return content_like(reader, base)

    def version_with(self, key: Key, base: str) -> bytes | None:
        """Return the whole file from when the region had that hash, if a commit began or ended that state."""
        with self._store.read() as reader:
            versions = _versions(reader, key, base)
            return next((data for each in versions if (data := reader.content(each)) is not None), None)

    def authors(self, stale: Stale) -> tuple[Author, ...]:
        """Return the authors of the changes since its base, oldest first; empty for changes outside Commonhold."""
        with self._store.read() as reader:
            return authors(reader, stale, self._worktree)


def content_like(reader: Reader, base: str | None) -> bytes | None:
    """Return the bytes whose hash begins with `base`, if exactly one content matches."""
    hashes = reader.contents_like(base) if base else ()
    return reader.content(hashes[0]) if len(hashes) == 1 else None


def authors(reader: Reader, stale: Stale, worktree: str) -> tuple[Author, ...]:
    """Return the authors of the commits that led from the base to the present state, oldest first.

    The commits are followed backwards by hash, so that a change from outside breaks the chain and is credited to no
    session. A different state in another worktree breaks nothing.
    """
    found: list[Author] = []
    wanted = stale.region.hash if stale.region else None
    base = content_like(reader, stale.base)
    for commit, change in _changes(reader, _key(stale)):
        if change.after != wanted:
            if commit.worktree == worktree:
                break
            continue
        found.append(Author(commit.holder, commit.intent))
        wanted = change.before
        if wanted is None or (stale.base and wanted.startswith(stale.base)) or _has_piece(reader, change, base):
            break
    return tuple(found[::-1])


def _has_piece(reader: Reader, change: RegionChange, base: bytes | None) -> bool:
    """Whether a header still contained the base piece of the edit before this change."""
    if base is None or not canonical(change.key).is_header:
        return False
    return base in (reader.content(change.before or "") or b"")


def _key(stale: Stale) -> Key:
    return stale.region.key if stale.region else stale.key


def _changes(reader: Reader, key: Key) -> Iterator[tuple[Committed, RegionChange]]:
    """Yield the changes of the last commits to a region, newest first."""
    for _, commit in reader.commits_on(key.file_path, HISTORY_LIMIT):
        change = next((each for each in commit.regions if each.key == str(key)), None)
        if change is not None:
            yield commit, change


def _versions(reader: Reader, key: Key, base: str) -> Iterator[str]:
    """Yield the hashes of the file from when the region had the hash `base`."""
    for commit, change in _changes(reader, key):
        file = next((each for each in commit.files if each.path == key.file_path), None)
        if file is None:
            continue
        if change.after and file.after and change.after.startswith(base):
            yield file.after
        if change.before and file.before and change.before.startswith(base):
            yield file.before


def changed_by(authors: Iterable[Author]) -> str | None:
    """Return the names of all authors; None if there are none."""
    return ", ".join(dict.fromkeys(author.holder for author in authors)) or None


def called(changed_by: str) -> str:
    """Return the names that messages use for the holders in a `changed_by` answer."""
    return short_names(changed_by.split(", "))


def intents(authors: Iterable[Author]) -> str | None:
    """Return the intents of all authors; None if none stated one."""
    return "; ".join(dict.fromkeys(author.intent for author in authors if author.intent)) or None


def lines_of(data: bytes) -> list[str]:
    """Return the lines of bytes in any encoding, for comparison and display."""
    return data.decode("utf-8", "replace").splitlines()
