"""How the packages of Go in a repository find each other: a folder is a package, an import path ends with the folder.

The module name of the repository stands in `go.mod`, which has no summary. It is therefore taken as the most frequent
beginning of the import paths that lead to folders of this repository.
"""

from collections import Counter
from collections.abc import Iterator
from posixpath import dirname
from typing import Final

from commonhold.code.analysis.repository.file_places import Places, nearest, places
from commonhold.code.analysis.repository.library import Library
from commonhold.code.analysis.repository.linkage import Linkage

_EXTENSIONS: Final = (".go",)
_TESTS: Final = "_test.go"
_MOST_ASKED: Final = 200
_OWN: Final = "module"


def modules(library: Library, path: str, module: str) -> tuple[str, ...]:
    """Return the files of the package that an import path names, without its tests."""
    known = places(library.paths, _EXTENSIONS)
    if module.startswith("."):
        return ()
    own = _module_name(library, known)
    if own and f"{module}/".startswith(f"{own}/"):
        return _package(known, module[len(own) + 1 :])
    folders = nearest(path, _by_ending(known, module))
    return _package(known, folders[0]) if folders else ()


def _package(known: Places, folder: str) -> tuple[str, ...]:
    return tuple(each for each in known.by_folder.get(folder, ()) if not each.endswith(_TESTS))


def _by_ending(known: Places, module: str) -> list[str]:
    """Return the folders to which the longest ending of an import path leads, of two parts at least.

    None for the standard library's: no part of those has the form of a host name.
    """
    parts = module.split("/")
    if "." not in parts[0]:
        return []
    endings = ("/".join(parts[start:]) for start in range(1, len(parts) - 1))
    return next(filter(None, map(known.ending, endings)), [])


def _module_name(library: Library, known: Places) -> str:
    """Return the beginning of this repository's import paths; empty if none leads here."""
    if _OWN not in known.learnt:
        votes = Counter(_beginnings(library, known))
        known.learnt[_OWN] = min(votes, key=lambda name: (-votes[name], name)) if votes else ""
    return known.learnt[_OWN]


def _beginnings(library: Library, known: Places) -> Iterator[str]:
    """Yield the part before the folder, in each import path that ends with one of this repository."""
    asked = sorted(known.paths)
    summaries = map(library.summary, asked[:: len(asked) // _MOST_ASKED + 1])
    imported = {each.module for summary in summaries if summary is not None for each in summary.imports}
    for module in imported:
        parts = module.split("/")
        for start in range(1, len(parts)):
            if "/".join(parts[start:]) in known.by_folder:
                yield "/".join(parts[:start])
                break


def siblings(library: Library, path: str) -> tuple[str, ...]:
    """Return the other files of the package."""
    files = places(library.paths, _EXTENSIONS).by_folder.get(dirname(path), ())
    return tuple(each for each in files if each != path)


LINKAGE: Final = Linkage(modules, siblings, writes_receiver=False, spreads=True, says_made=True, checks_types=True)
