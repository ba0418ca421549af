"""How packages of Java find each other: a package is a folder, in each of the source trees of a repository.

A file states its package, a summary does not; the package is taken to be the part of the folder below the last `java`.
"""

from posixpath import dirname
from typing import Final

from commonhold.code.analysis.repository.file_places import Places, nearest, places
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.linkage import Linkage

_EXTENSIONS: Final = (".java",)
_ROOT: Final = "java"


def modules(library: Library, path: str, module: str) -> tuple[str, ...]:
    """Return the files of a package, or the one of a class; those nearest to the asking file first."""
    if not module:
        return (path,)
    known = places(library.paths, _EXTENSIONS)
    folder = module.replace(".", "/")
    found = _package(known, path, folder)
    if found:
        return found
    inside, _, name = folder.rpartition("/")
    return tuple(f"{each}/{name}.java" for each in known.ending(inside) if f"{each}/{name}.java" in known.paths)


def _package(known: Places, path: str, folder: str) -> tuple[str, ...]:
    folders = nearest(path, known.ending(folder)) if folder else []
    return tuple(each for each_folder in folders for each in known.by_folder[each_folder])


def siblings(library: Library, path: str) -> tuple[str, ...]:
    """Return the other files of the package, in any source tree."""
    known = places(library.paths, _EXTENSIONS)
    folder = dirname(path)
    package = _package_of(folder)
    here = known.by_folder.get(folder, ())
    there = _package(known, path, package) if package and package != folder else here
    return tuple(each for each in dict.fromkeys((*here, *there)) if each != path)


def _package_of(folder: str) -> str:
    """Return the part of a folder that names a package; empty if no source tree is found."""
    parts = folder.split("/")
    root = next((index for index in reversed(range(len(parts))) if parts[index] == _ROOT), None)
    return "/".join(parts[root + 1 :]) if root is not None else ""


LINKAGE: Final = Linkage(
    modules,
    siblings,
    checks_types=True,
    writes_receiver=False,
    says_made=True,
    adds_members=True,
    overloads=True,
    is_made=True,
)
