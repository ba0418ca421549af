"""Facts about the names that a module binds, as seen by single statements, and the names that each statement reads.

A statement is analysed with only these facts about the rest of its file, and the names that it looks up are recorded.
As long as the facts about those names stay the same, the same text means the same.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from commonhold.code.analysis.expressions import dotted, without_none
from commonhold.code.analysis.interface import qualified
from commonhold.code.analysis.receivers import LITERALS
from commonhold.code.analysis.repository.parts import Fact, Facts
from commonhold.code.analysis.scopes import ASSIGNED, Bound, Names
from commonhold.code.regions.python_ast import parse_expression

_IMPORTED: Final = "import ?"
# Stand-ins for all expressions that `receivers.receiver_of` treats alike.
_ANY: Final = "0"
_CALL_OF_LITERAL: Final = "''.f()"
_CALL_OF_ELEMENT: Final = "{}[0]()"
_CALL_OF_ANY: Final = "(lambda: 0)()"


def facts_of(bounds: Iterable[Bound]) -> Facts:
    """Return the facts about some bindings, by name."""
    found: dict[str, list[Fact]] = {}
    for bound in bounds:
        value = None if bound.value is None else _value(bound.value)
        note = None if bound.annotation is None else dotted(without_none(bound.annotation)) or _ANY
        found.setdefault(bound.name, []).append((bound.is_import, value, note))
    return {name: tuple(each) for name, each in found.items()}


def _value(value: ast.expr) -> str:
    """Reduce a value to its relevant part: the called function, and whether it leads to an import or a literal."""
    if not isinstance(value, ast.Call):
        return _ANY
    if name := dotted(value.func):
        return f"{name}()"
    root: ast.expr = value.func
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
        root = root.func if isinstance(root, ast.Call) else root.value
    if isinstance(root, ast.Name):
        return _CALL_OF_ELEMENT.format(root.id)
    return _CALL_OF_LITERAL if isinstance(root, LITERALS) else _CALL_OF_ANY


def facts_of_members(class_name: str, bounds: Iterable[Bound]) -> Facts:
    """Return the facts about the bindings in the body of a class at the top level, each by its qualified name."""
    return {qualified(class_name, name): each for name, each in facts_of(bounds).items()}


class Watched(Mapping[str, tuple[Bound, ...]]):
    """The names of a module as a statement sees them. `reads` are those that were looked up, bound or not."""

    def __init__(self, facts: Facts) -> None:
        """Show these facts."""
        self._facts = facts
        self.reads: set[str] = set()

    def members(self, class_name: str) -> Names:
        """Return the names that the body of a class at the top level binds, as its own statements see them."""
        return _WatchedMembers(self, class_name)

    def __getitem__(self, name: str) -> tuple[Bound, ...]:
        self.reads.add(name)
        return _bounds(name, self._facts[name])

    def __contains__(self, name: object) -> bool:
        self.reads.add(str(name))
        return name in self._facts

    def __iter__(self) -> Iterator[str]:
        # A statement that looked at all names would depend on each of them.
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


class _WatchedMembers(Mapping[str, tuple[Bound, ...]]):
    """The names of a class, whose facts are stored by qualified name among those of the module."""

    def __init__(self, names: Watched, class_name: str) -> None:
        self._names = names
        self._class_name = class_name

    def __getitem__(self, name: str) -> tuple[Bound, ...]:
        return self._names[qualified(self._class_name, name)]

    def __contains__(self, name: object) -> bool:
        return qualified(self._class_name, str(name)) in self._names

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


@cache
def _expression(text: str) -> ast.expr:
    return parse_expression(text)


def _bounds(name: str, facts: tuple[Fact, ...]) -> tuple[Bound, ...]:
    return tuple(
        Bound(
            name,
            _IMPORTED if is_import else ASSIGNED,
            None if value is None else _expression(value),
            None if note is None else _expression(note),
        )
        for is_import, value, note in facts
    )
