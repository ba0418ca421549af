"""How the files of a language find each other: data, one entry a language."""

from collections.abc import Callable
from dataclasses import dataclass

from commonhold.code.analysis.repository.library import Library

Lookup = Callable[[Library, str, str], tuple[str, ...]]
"""The files that a module's name, as written in the file at a path, stands for: `lookup(library, path, name)`."""


def _nothing(_library: Library, _path: str) -> tuple[str, ...]:
    return ()


def _none_below(_library: Library, _path: str, _name: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Linkage:
    """How the files of one language are linked.

    `modules` gives the files that an imported module stands for: one, several if a folder is a module (Go, Java), none
    if it is not of this repository. `siblings` gives the other files whose top-level names are visible without an
    import. `below` gives the module in the folder of another, which may be an attribute of that module besides the
    names that its file offers. `may_omit`: a call may leave out any argument and pass more than are taken, as in
    JavaScript. `writes_receiver`: the parameters of a method begin with its object, as in Python and Rust. `spreads`:
    the members of a type may stand in siblings of the file that the type is in, as in Go.

    `says_made`: a class itself states how it is constructed, as its signatures; no member does. `overloads`: a member
    of a base stands beside one of the same name with other parameters. `redefines`: of several definitions of one name
    the file chooses one as it runs, as in Python. `is_made`: many names of a module are written nowhere, but generated
    by macros or generators, so an unseen name may exist. `hides`: if a file exports anything, its other names are
    invisible to all other files. `adds_members`: objects have members that no class of the repository writes, from a
    base that all share, or generated for them. `checks_types`: a compiler holds calls to the declared types, and no
    type checker is asked about them.
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
    checks_types: bool = False

    @property
    def has_siblings(self) -> bool:
        """Whether bare names may mean definitions of other files."""
        return self.siblings is not _nothing
