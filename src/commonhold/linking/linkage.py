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
    `may_omit`: a call may leave out any argument and give more than are taken, as in JavaScript. `writes_receiver`: the
    parameters of a method begin with the object that it is called on, as in Python and Rust. `spreads`: the members of
    a type may stand in siblings of the file that the type is in, as in Go.
    `says_made`: a class itself says how it is made, as its signatures; no member does. `overloads`: a member of a base
    stands beside one of the same name with other parameters. `redefines`: of several definitions of one name the file
    chooses one as it runs, as in Python. `is_made`: much that a module has is written nowhere, but
    made by macros or generators, so that what is not seen may be there. `hides`: what a file that exports anything does
    not export is seen by no other. `adds_members`: objects have members that no class of the repository writes, from a
    base that all share, or made for them.
    """

    modules: Lookup
    siblings: Callable[[Library, str], tuple[str, ...]] = _nothing
    below: Lookup = _none_below
    may_omit: bool = False
    writes_receiver: bool = True
    spreads: bool = False
    says_made: bool = False
    overloads: bool = False
    redefines: bool = False
    is_made: bool = False
    hides: bool = False
    adds_members: bool = False

    @property
    def has_siblings(self) -> bool:
        """Whether bare names may mean what other files define."""
        return self.siblings is not _nothing
