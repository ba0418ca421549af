"""The places of files: questions of several languages' linkages about the paths of a repository."""

from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from posixpath import basename, dirname
from typing import Final

_KEPT: Final = 8


class _Same:
    """A collection of paths that equals only itself, so that looking it up costs nothing."""

    __slots__ = ("paths",)

    def __init__(self, paths: Collection[str]) -> None:
        self.paths = paths

    def __hash__(self) -> int:
        return id(self.paths)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.paths is self.paths


class Places:
    """The files of one language by their folders."""

    def __init__(self, paths: Collection[str], extensions: tuple[str, ...]) -> None:
        """Keep the paths with one of these extensions; `learnt` caches results about them."""
        self.paths = frozenset(path for path in paths if path.endswith(extensions))
        self.learnt: dict[str, str] = {}

    @cached_property
    def by_folder(self) -> Mapping[str, tuple[str, ...]]:
        """The files of each folder, in order."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            found.setdefault(dirname(path), []).append(path)
        return {folder: tuple(files) for folder, files in found.items()}

    @cached_property
    def by_last(self) -> Mapping[str, tuple[str, ...]]:
        """The folders that hold files, by the last part of their names."""
        found: dict[str, list[str]] = {}
        for folder in self.by_folder:
            found.setdefault(basename(folder), []).append(folder)
        return {name: tuple(folders) for name, folders in found.items()}

    def ending(self, suffix: str) -> list[str]:
        """Return the folders whose path ends with these parts."""
        return [each for each in self.by_last.get(basename(suffix), ()) if f"/{each}".endswith(f"/{suffix}")]


@lru_cache(maxsize=_KEPT)
def _places(same: _Same, extensions: tuple[str, ...]) -> Places:
    return Places(same.paths, extensions)


def places(paths: Collection[str], extensions: tuple[str, ...]) -> Places:
    """Return the files of a language among the paths of a library, sorted once for each collection of paths."""
    return _places(_Same(paths), extensions)


def nearest(path: str, others: Collection[str]) -> list[str]:
    """Return paths or folders, first those that share most of their folders with a path."""
    return sorted(others, key=lambda other: (-_shared(path, other), len(other), other))


def _shared(path: str, other: str) -> int:
    count = 0
    for mine, theirs in zip(path.split("/"), other.split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
