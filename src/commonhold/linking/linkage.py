"""How the files of a language find each other: data, one entry a language."""

from collections.abc import Callable
from dataclasses import dataclass

from commonhold.linking.library import Library

Lookup = Callable[[Library, str, str], tuple[str, ...]]
"""The files that a module's name, as it is written in the file at a path, stands for: `lookup(library, path, name)`."""


def _nothing(_library: Library, _path: str) -> tuple[str, ...]:
    return ()


def _none_below(_library: Library, _path: str, _name: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Linkage:
    """What ties the files of one language.

    `modules` gives the files that an imported module stands for: one, several where a folder is a module (Go, Java),
    none where it is not of this repository. `siblings` gives the other files whose top-level names are seen without
    an import. `below` gives what an attribute of a module may be besides what its file offers: a module in its folder.
    `may_omit`: a call may leave out any argument and give more than are taken, as in JavaScript.
    """

    modules: Lookup
    siblings: Callable[[Library, str], tuple[str, ...]] = _nothing
    below: Lookup = _none_below
    may_omit: bool = False
