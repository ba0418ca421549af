"""How the packages of Go in a repository find each other: a folder is a package, an import path ends with the folder.

What the module of the repository is called stands in `go.mod`, which has no summary. It is what most import paths
that lead to folders of this repository begin with.
"""

from collections import Counter
from collections.abc import Iterator
from posixpath import dirname
from typing import Final

from commonhold.linking.library import Library
from commonhold.linking.linkage import Linkage
from commonhold.linking.placing import Places, nearest, places

_EXTENSIONS: Final = (".go",)
_TESTS: Final = "_test.go"
_MOST_ASKED: Final = 200
_OWN: Final = "module"


def modules(library: Library, path: str, module: str) -> tuple[str, ...]:
    """The files of the package that an import path names, less its tests."""
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
    """The folders that the longest ending of an import path leads to, of two parts at least.

    None for the standard library's: no part of those looks like the name of a host.
    """
    parts = module.split("/")
    if "." not in parts[0]:
        return []
    endings = ("/".join(parts[start:]) for start in range(1, len(parts) - 1))
    return next(filter(None, map(known.ending, endings)), [])


def _module_name(library: Library, known: Places) -> str:
    """What import paths of this repository begin with; empty where none leads here."""
    if _OWN not in known.learnt:
        votes = Counter(_beginnings(library, known))
        known.learnt[_OWN] = min(votes, key=lambda name: (-votes[name], name)) if votes else ""
    return known.learnt[_OWN]


def _beginnings(library: Library, known: Places) -> Iterator[str]:
    """What stands before the folder, in each import path that ends with one of this repository."""
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
    """The other files of the package."""
    files = places(library.paths, _EXTENSIONS).by_folder.get(dirname(path), ())
    return tuple(each for each in files if each != path)


LINKAGE: Final = Linkage(modules, siblings, writes_receiver=False, spreads=True, says_made=True)
