"""The files that the name of a Python module stands for."""

import posixpath
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from commonhold.code.analysis.repository.library import Library

_INIT = "__init__"


def python_modules(library: Library, path: str, name: str) -> tuple[str, ...]:
    """Return the file of a module, as named in the file at `path`; empty if it is not of this repository.

    If a name fits several files (two projects in one repository), those nearest to `path` are meant.
    """
    level = len(name) - len(name.lstrip("."))
    if level:
        return _relative(library.paths, path, level, name[level:])
    found = _by_name(library.paths).get(name, ())
    return (max(found, key=lambda each: _shared(each, path)),) if len(found) > 1 else tuple(found)


def python_submodules(library: Library, path: str, name: str) -> tuple[str, ...]:
    """Return the file of a module inside the package whose file is at `path`."""
    is_package = posixpath.splitext(posixpath.basename(path))[0] == _INIT
    return _relative(library.paths, path, 1, name) if is_package else ()


def _relative(paths: Collection[str], path: str, level: int, name: str) -> tuple[str, ...]:
    folder = posixpath.dirname(path)
    for _ in range(level - 1):
        if not folder:
            return ()
        folder = posixpath.dirname(folder)
    stem = posixpath.join(folder, *name.split(".")) if name else posixpath.join(folder, _INIT)
    choices = (f"{stem}.py", f"{stem}.pyi", f"{stem}/{_INIT}.py", f"{stem}/{_INIT}.pyi")
    return next(((each,) for each in choices if each in paths), ())


@lru_cache(maxsize=8)
def _by_name(paths: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """Return the files by every name that a folder on the search path, itself no package, may give them."""
    packages = {
        posixpath.dirname(each) for each in paths if posixpath.basename(each) in (f"{_INIT}.py", f"{_INIT}.pyi")
    }
    found: dict[str, list[str]] = {}
    for path in sorted(paths):
        stem, extension = posixpath.splitext(path)
        if extension in (".py", ".pyi"):
            parts = stem.removesuffix(f"/{_INIT}").split("/")
            for start in range(len(parts)):
                if "/".join(parts[:start]) not in packages or not start:
                    found.setdefault(".".join(parts[start:]), []).append(path)
    return found


def _shared(one: str, other: str) -> tuple[int, int]:
    """Return how near two paths are: first the common folders, then the shortness of the way."""
    common = posixpath.commonpath((one, other))
    return len(common.split("/")) if common else 0, -len(one)
