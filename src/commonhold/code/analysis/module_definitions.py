"""The definitions of one file by name: functions, classes and their bases, and the providers of attributes."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Final

from commonhold.code.analysis import fields
from commonhold.code.analysis.expressions import dotted, parts_of, walk
from commonhold.code.analysis.interface import (
    CallableInterface,
    ClassInterface,
    FunctionNode,
    Params,
    last_name,
    of_callable,
    of_class,
    of_head,
    qualified,
    source_of,
)
from commonhold.code.analysis.scopes import AUGMENTED, DEFINED, DELETED, Bound, Names, bound_names, grouped
from commonhold.code.regions.python_ast import parse_module

CONSTRUCTORS: Final = ("__init__", "__new__")
_PLAIN_CLASS_DECORATORS: Final = frozenset({"dataclass", "final", "total_ordering", "unique"})
# For two files, before and after an edit.
_TREES_KEPT: Final = 8
_LARGEST_KEPT: Final = 100_000
OPEN: Final = ("__getattr__", "__getattribute__")


class Sort(StrEnum):
    """The kind of definition of a name."""

    FUNCTION = "function"
    CLASS = "class"
    VALUE = "value"


class Module:
    """One file. Classes are keyed by their qualified name; the top level has the empty class name.

    If a class or function is defined several times (under conditions), all definitions are kept.
    """

    def __init__(self, tree: ast.Module, read: Callable[[FunctionNode], CallableInterface] = of_callable) -> None:
        """Find the definitions; their interfaces are read, with `read`, on demand."""
        self.tree = tree
        self._read = read
        self.functions: dict[tuple[str, str], list[FunctionNode]] = {}
        self.classes: dict[str, list[ast.ClassDef]] = {}
        self._sorts: dict[tuple[str, str], Sort | None] = {}
        self._definers: dict[str, frozenset[str]] = {}
        self._enter(tree.body, "")

    def _enter(self, body: Iterable[ast.AST], class_name: str) -> None:
        pending: list[tuple[ast.AST, str]] = [(node, class_name) for node in reversed([*body])]
        while pending:
            node, class_name = pending.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.setdefault((class_name, node.name), []).append(node)
            elif isinstance(node, ast.ClassDef):
                qualname = qualified(class_name, node.name)
                self.classes.setdefault(qualname, []).append(node)
                pending.extend((child, qualname) for child in reversed(node.body))
            elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                pending.extend((child, class_name) for child in reversed(parts_of(node)))

    @cached_property
    def names(self) -> Names:
        """The names that the file binds at its top level, without those that it only augments."""
        return _without_augmented(self.tree.body)

    @cached_property
    def declared_global(self) -> frozenset[str]:
        """Names that some function declares `global`."""
        return declared_global(self.tree)

    @cached_property
    def has_star_import(self) -> bool:
        """Whether names may come from `from … import *`."""
        return any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in walk(self.tree))

    def deleted(self, class_name: str) -> frozenset[str]:
        """Return the names that the body of a class, or of the file for the empty name, removes with `del`."""
        bodies = [node.body for node in self.classes.get(class_name, ())] if class_name else [self.tree.body]
        bounds = (bound for body in bodies for bound in bound_names(body))
        return frozenset(bound.name for bound in bounds if bound.origin == DELETED)

    def members(self, class_name: str) -> Names:
        """Return the bindings in the body of a class, or of the file for the empty name."""
        return self._members.get(class_name, {}) if class_name else self.names

    @cached_property
    def _members(self) -> Mapping[str, Names]:
        return {
            class_name: _without_augmented(child for node in nodes for child in node.body)
            for class_name, nodes in self.classes.items()
        }

    def sort_of(self, class_name: str, name: str) -> Sort | None:
        """Return the kind of `name` in `class_name` itself; a definition takes precedence over an assignment or import.

        `@x.setter def x` and similar define nothing without the `x` that they extend.
        """
        place = class_name, name
        if place not in self._sorts:
            self._sorts[place] = self._sort(class_name, name)
        return self._sorts[place]

    def _sort(self, class_name: str, name: str) -> Sort | None:
        if not all(map(extends, self.functions.get((class_name, name), ()))):
            return Sort.FUNCTION
        if qualified(class_name, name) in self.classes:
            return Sort.CLASS
        return Sort.VALUE if self._has_value(class_name, name) else None

    def _has_value(self, class_name: str, name: str) -> bool:
        bounds = self.members(class_name).get(name, ())
        return self.is_instance_attribute(class_name, name) or any(bound.origin != DEFINED for bound in bounds)

    @cached_property
    def _instance_attributes(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        for (class_name, _), methods in self.functions.items():
            if class_name:
                found.setdefault(class_name, set()).update(
                    name for method in methods for name in assigned_on_self(method)
                )
        return found

    def interfaces(self, class_name: str, name: str) -> tuple[CallableInterface, ...]:
        """Return the interfaces of a function's definitions, without overload stubs, `@name.setter` and similar."""
        nodes = self.functions.get((class_name, name), [])
        main = [node for node in nodes if not _is_accessory(node)]
        return tuple(map(self._read, main or nodes))

    def class_interface(self, qualname: str) -> ClassInterface:
        """Return the interface of the last definition of a class of this file."""
        return of_class(self.classes[qualname][-1])

    def bases(self, qualname: str) -> tuple[str, ...]:
        """Return the bases of a class that are classes of this file, in order."""
        return self._bases.get(qualname, ())

    @cached_property
    def _bases(self) -> Mapping[str, tuple[str, ...]]:
        return {
            qualname: tuple(filter(None, (self._resolved(base, qualname) for base in nodes[-1].bases)))
            for qualname, nodes in self.classes.items()
        }

    def _resolved(self, base: ast.expr, user: str) -> str:
        """Return the class that a base expression names; looked up beside the class first, then in the file."""
        name = dotted(base.value if isinstance(base, ast.Subscript) else base)
        beside = qualified(user.rpartition(".")[0], name)
        return next((choice for choice in (beside, name) if choice in self.classes and choice != user), "")

    def ancestors(self, qualname: str) -> tuple[str, ...]:
        """Return the classes of this file that a class inherits from, depth first, without itself."""
        return self._ancestors.get(qualname, ())

    @cached_property
    def _ancestors(self) -> Mapping[str, tuple[str, ...]]:
        return {qualname: self._inherited(qualname) for qualname in self.classes}

    def _inherited(self, qualname: str) -> tuple[str, ...]:
        seen: dict[str, None] = {}
        pending = list(self.bases(qualname))
        while pending:
            current = pending.pop(0)
            if current not in seen and current != qualname:
                seen[current] = None
                pending[:0] = self.bases(current)
        return tuple(seen)

    def descendants(self, qualname: str) -> tuple[str, ...]:
        """Return the classes of this file that inherit from a class."""
        return tuple(self._descendants.get(qualname, ()))

    @cached_property
    def _descendants(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for heir, ancestors in self._ancestors.items():
            for ancestor in ancestors:
                found.setdefault(ancestor, []).append(heir)
        return found

    def provider(self, qualname: str, name: str) -> str | None:
        """Return the class that provides `name` for a class: itself or a base in this file; None if neither does."""
        if not qualname:
            return "" if self.sort_of("", name) else None
        return next((each for each in (qualname, *self.ancestors(qualname)) if self.sort_of(each, name)), None)

    def base_provider(self, qualname: str, name: str) -> str | None:
        """Return the class that provides `super().name`, as far as this file shows."""
        return next((each for each in self.ancestors(qualname) if self.sort_of(each, name)), None)

    def definers(self, name: str) -> frozenset[str]:
        """Return all classes that define or assign `name` themselves."""
        if name not in self._definers:
            self._definers[name] = frozenset(each for each in self.classes if self.sort_of(each, name))
        return self._definers[name]

    def is_closed(self, qualname: str) -> bool:
        """Whether this file shows all attributes of a class."""
        return qualname in self.classes and all(map(self._is_plain, (qualname, *self.ancestors(qualname))))

    def has_bases_in_sight(self, qualname: str) -> bool:
        """Whether all bases of a class are classes of this file."""
        bases = self.classes[qualname][-1].bases
        return len(self.bases(qualname)) == sum(dotted(base) != "object" for base in bases)

    def _is_plain(self, qualname: str) -> bool:
        node = self.classes[qualname][-1]
        known = self.has_bases_in_sight(qualname)
        is_open = any((qualname, name) in self.functions for name in OPEN)
        return known and not node.keywords and not is_open and self.has_plain_decorators(qualname)

    def has_plain_decorators(self, qualname: str) -> bool:
        """Whether the decorators of a class leave its attributes as they are written."""
        return has_plain_decorators(self.classes[qualname][-1])

    def makes_fields(self, qualname: str) -> bool:
        """Whether a class generates its constructor from its fields."""
        return fields.makes_constructor(self.classes[qualname][-1])

    def is_instance_attribute(self, qualname: str, name: str) -> bool:
        """Whether a method of the class assigns `name` on its first parameter."""
        return name in self._instance_attributes.get(qualname, frozenset())

    def constructor(self, qualname: str) -> CallableInterface | None:
        """Return the signature of a class's constructor, without `self`; None if it depends on another file."""
        return next(filter(None, map(self._own_constructor, (qualname, *self.ancestors(qualname)))), None) or (
            CallableInterface(()) if self.is_closed(qualname) else None
        )

    def _own_constructor(self, qualname: str) -> CallableInterface | None:
        for name in CONSTRUCTORS:
            if own := self.interfaces(qualname, name):
                return own[-1].without_first()
        node = self.classes[qualname][-1] if qualname in self.classes else None
        if node is None or not fields.makes_constructor(node):
            return None
        return CallableInterface(self._fields(qualname))

    def _fields(self, qualname: str) -> Params:
        found: Params = ()
        for class_name in (*reversed(self.ancestors(qualname)), qualname):
            node = self.classes[class_name][-1]
            if fields.is_dataclass(node) or fields.is_named_tuple(node):
                found = fields.merged(found, fields.own_fields(node))
        return found


def module_of(source: bytes) -> Module:
    """Return the definitions of a text. Raises the errors of `ast.parse`."""
    return Module(tree_of(source), of_callable if b"yield" in source else of_head)


def tree_of(source: bytes) -> ast.Module:
    """Return the tree of a text. Recent trees are shared, so no caller may change them. Raises as `ast.parse` does.

    A tree takes up to a hundred times the memory of its text: those of large texts are not kept.
    """
    return _kept_tree(source) if len(source) <= _LARGEST_KEPT else parse_module(source)


@lru_cache(maxsize=_TREES_KEPT)
def _kept_tree(source: bytes) -> ast.Module:
    return parse_module(source)


def declared_global(tree: ast.Module) -> frozenset[str]:
    """Return the names that some function declares `global`."""
    return frozenset(name for node in walk(tree) if isinstance(node, ast.Global) for name in node.names)


def has_plain_decorators(node: ast.ClassDef) -> bool:
    """Whether the decorators of a class leave its attributes as they are written."""
    return {last_name(source_of(decorator)) for decorator in node.decorator_list} <= _PLAIN_CLASS_DECORATORS


def _without_augmented(body: Iterable[ast.AST]) -> dict[str, tuple[Bound, ...]]:
    return grouped(bound for bound in bound_names(body) if bound.origin not in (AUGMENTED, DELETED))


def assigned_on_self(method: FunctionNode) -> Iterator[str]:
    """Yield the attributes that a method assigns on its first parameter."""
    first = [*method.args.posonlyargs, *method.args.args][:1]
    for node in walk(method) if first else ():
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and dotted(node.value) == first[0].arg:
            yield node.attr


def extends(node: FunctionNode) -> bool:
    """Whether this is `@x.setter def x` or similar."""
    return any(source_of(decorator).startswith(f"{node.name}.") for decorator in node.decorator_list)


def _is_accessory(node: FunctionNode) -> bool:
    is_overload = any(last_name(source_of(decorator)) == "overload" for decorator in node.decorator_list)
    return is_overload or extends(node)
