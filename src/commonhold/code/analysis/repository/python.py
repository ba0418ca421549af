"""Python: the names that some statements of a file use and offer."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from commonhold.code.analysis import fields
from commonhold.code.analysis.calls import is_left_open
from commonhold.code.analysis.chains import COLLECTION, UNKNOWN, Chain, chain_of, chain_of_annotation, extended, yielded
from commonhold.code.analysis.collector import VISITS, Collector
from commonhold.code.analysis.expected_failures import expecting
from commonhold.code.analysis.expressions import dotted, walk
from commonhold.code.analysis.interface import (
    FunctionNode,
    has_yield,
    last_name,
    of_callable,
    of_class,
    of_head,
    source_of,
)
from commonhold.code.analysis.module_definitions import Module, declared_global, extends, has_plain_decorators
from commonhold.code.analysis.references import Receiver, Reference, Use
from commonhold.code.analysis.repository.facts import Watched
from commonhold.code.analysis.repository.parts import Binding, ClassPart, Facts, FunctionPart, Part, Place
from commonhold.code.analysis.repository.python_branches import surely_bound
from commonhold.code.analysis.repository.python_wrappers import hands_on
from commonhold.code.analysis.repository.summary import HANDS_ON, STAR, ClassShape, Import
from commonhold.code.analysis.repository.tuple_sizes import items_given, with_unpacking
from commonhold.code.analysis.scopes import (
    AUGMENTED,
    DELETED,
    Bound,
    Scope,
    ScopeKind,
    binds_of,
    class_scope,
    function_scope,
    grouped,
    type_scope,
)

_DOTTED_TEXT: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+(?::[^\W\d]\w*)?")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_LONGEST_TEXT: Final = 200
_BY_NAME: Final = frozenset(
    {"getattr", "setattr", "delattr", "hasattr", "patch", "object", "attrgetter", "methodcaller"}
)
_YIELDING: Final = frozenset({"contextmanager", "asynccontextmanager", "fixture"})
_DESCEND: Final = ("body", "orelse", "handlers", "finalbody", "cases")


def read_part(statements: Sequence[ast.stmt], source: bytes, facts: Facts, first: int = 1) -> Part:
    """Return the uses and offers of some statements of the top level; `facts` are those of the whole file.

    `first` is the first line of the statements' own text, in their line numbers. `source` may be a longer text.
    """
    return _Reader(statements, source, facts).part(first)


def read_class(node: ast.ClassDef, source: bytes, facts: Facts, first: int = 1) -> Part:
    """Return the uses and offers of a class of the top level, without members that its body lacks here.

    `facts` describe what the members see of each other.
    """
    return _ClassReader(node, source, facts).part(first)


def read_members(node: ast.ClassDef, source: bytes, facts: Facts, first: int = 1) -> Part:
    """Return the uses and offers of some members of a class of the top level, which `read_class` left out."""
    return _MembersReader(node, source, facts).part(first)


class _Reader(Collector):
    """Collects the uses of statements, and on the way their offers."""

    def __init__(self, statements: Sequence[ast.stmt], source: bytes, facts: Facts) -> None:
        self._names = Watched(facts)
        super().__init__(Scope(ScopeKind.MODULE, names=self._names, binds=binds_of(source)))
        self._tree = ast.Module([*statements], [])
        # A search in the text saves a walk through every expression for rare constructs.
        self._guarded = _guarded(self._tree) if b"ImportError" in source or b"ModuleNotFound" in source else frozenset()
        self._globals = declared_global(self._tree) if b"global" in source else frozenset()
        self._read = of_callable if b"yield" in source else of_head
        self._module = Module(self._tree)
        self._source = source
        self._sure: dict[str, frozenset[str]] = {}
        # The outermost functions by the identity of their scopes, which are kept so that no identity is reused.
        self._functions: dict[int, tuple[Scope, FunctionNode]] = {}
        self._gives: dict[int, list[Chain]] = {}
        self._forwards: dict[int, list[Chain]] = {}
        self._scopes: dict[int, tuple[Scope, Scope]] = {}
        self._attributes: dict[tuple[str, str], list[tuple[Chain, int]]] = {}

    def part(self, first: int) -> Part:
        for statement in reversed(self._tree.body):
            # The meaning of a statement must not depend on the others that are read together with it.
            self._bases.clear()
            if isinstance(statement, ast.ClassDef):
                self._read_class(statement)
            else:
                self.run([statement])
        module = self._module
        expected = expecting(self.references, self._tree, self._source, first)
        return Part(
            first,
            tuple(with_unpacking(expected, self._tree, self._source)),
            tuple(self.markers),
            tuple(_imports(self._tree, self._guarded)),
            {
                place: tuple(self._function_part(place, each) for each in nodes)
                for place, nodes in module.functions.items()
            },
            {qualname: tuple(map(self._class_part, nodes)) for qualname, nodes in module.classes.items()},
            {"": self._bindings(self._tree.body, self.root), **{name: self._members(name) for name in module.classes}},
            {place: tuple(found) for place, found in self._attributes.items() if place[0] in module.classes},
            self._globals,
            _exports(self._tree),
            frozenset(self._names.reads),
        )

    def _read_class(self, node: ast.ClassDef) -> None:
        """Read a class of the top level: a member's meaning must not depend on the others that are read, either."""
        inner = self._scope_in(node)
        self.entered(node, self.root, inner)
        for member in reversed(node.body):
            self._bases = {inner.class_name: node.bases}
            self.run([member], inner)
        self._read_head(node)

    def _read_head(self, node: ast.ClassDef) -> None:
        self.push_class_head(node, self.root)
        self.run_pushed()

    def _scope_in(self, node: ast.ClassDef) -> Scope:
        return class_scope(node, self.root)

    def _is_partial(self, place: Place) -> bool:
        """Whether a function stands in a branch, and the other branches do not bind its name."""
        owner, name = place
        bodies = [each.body for each in self._module.classes[owner]] if owner else [self._tree.body]
        # Most stand in no branch, which is quick to check.
        if any(each in body for each in self._module.functions[place] for body in bodies):
            return False
        if owner not in self._sure:
            self._sure[owner] = frozenset[str]().union(*map(surely_bound, bodies))
        return name not in self._sure[owner]

    def _function_part(self, place: Place, node: FunctionNode) -> FunctionPart:
        interface = self._read(node)
        is_extension = extends(node)
        return FunctionPart(
            node.lineno,
            node.end_lineno or node.lineno,
            interface,
            is_extension,
            is_extension or interface.is_decorated("overload"),
            _is_left_open(node),
            tuple(self._gives.get(id(node), ())),
            tuple(self._forwards.get(id(node), ())),
            self._is_partial(place),
            items_given(node) | ({HANDS_ON} if hands_on(node) else frozenset()),
        )

    def _class_part(self, node: ast.ClassDef) -> ClassPart:
        return ClassPart(node.lineno, node.end_lineno or node.lineno, self._shape(node, self._scopes[id(node)][0]))

    def _members(self, qualname: str) -> dict[str, tuple[Binding, ...]]:
        """Return the bindings in the bodies of a class, later bodies first, each as it sees them itself."""
        found: dict[str, tuple[Binding, ...]] = {}
        for node in reversed(self._module.classes[qualname]):
            for name, bindings in self._bindings(node.body, self._scopes[id(node)][1]).items():
                found[name] = (*found.get(name, ()), *bindings)
        return found

    def _bindings(self, body: Iterable[ast.AST], scope: Scope) -> dict[str, tuple[Binding, ...]]:
        lasting = grouped(bound for bound in scope.binds(body) if bound.origin not in (AUGMENTED, DELETED))
        return {name: tuple(_binding(bound, scope) for bound in bounds) for name, bounds in lasting.items()}

    # Visitors in addition to those of the collector.

    def function(self, node: FunctionNode, scope: Scope, _use: Use) -> None:
        self.push_head(node, scope)
        inner = function_scope(node, scope)
        self.push(node.body, inner)
        if inner.takes_fixtures:
            self._fixtures(node, inner)
        if scope.kind is not ScopeKind.FUNCTION:
            self._functions[id(inner)] = inner, node
            if node.returns is not None:
                self._gives[id(node)] = [_of_returns(node, type_scope(node, inner))]

    def _fixtures(self, node: FunctionNode, scope: Scope) -> None:
        for arg in node.args.args[: len(node.args.args) - len(node.args.defaults)]:
            if arg.arg != scope.first_name:
                self.references.append(Reference(arg.arg, Use.FIXTURE, None, Receiver.OUTSIDE, "", arg.lineno))

    def entered(self, node: ast.ClassDef, scope: Scope, inner: Scope) -> None:
        self._scopes[id(node)] = type_scope(node, scope), inner

    def _shape(self, node: ast.ClassDef, scope: Scope) -> ClassShape:
        written = of_class(node)
        has_fields = fields.is_named_tuple(node) or (fields.is_dataclass(node) and fields.makes_constructor(node))
        return ClassShape(
            bases=tuple(_base(base, scope) for base in node.bases),
            texts=written.plain_bases,
            keywords=written.keywords,
            decorators=written.active_decorators,
            fields=fields.own_fields(node) if has_fields else None,
            is_open=bool(node.keywords) or not has_plain_decorators(node),
        )

    def _function_of(self, scope: Scope) -> FunctionNode | None:
        return self._functions.get(id(scope), (None, None))[1]

    def returned(self, node: ast.Return | ast.Yield, scope: Scope, use: Use) -> None:
        function = self._function_of(scope)
        if function is not None and function.returns is None and node.value is not None:
            is_none = isinstance(node.value, ast.Constant) and node.value.value is None
            if not is_none:
                chain = chain_of(node.value, scope)
                is_collection = isinstance(node, ast.Yield) and not _is_entered(function)
                given = extended(chain, COLLECTION) if is_collection else chain
                self._gives.setdefault(id(function), []).append(given)
        self.children(node, scope, use)

    def call(self, node: ast.Call, scope: Scope, use: Use) -> None:
        super().call(node, scope, use)
        function = self._function_of(scope)
        if function is not None and function.args.vararg and function.args.kwarg and _hands_on(node, function):
            self._forwards.setdefault(id(function), []).append(chain_of(node.func, scope))
        if (getattr(node.func, "attr", None) or getattr(node.func, "id", None)) in _BY_NAME:
            self._texts(node.args)

    def _texts(self, arguments: Iterable[ast.expr]) -> None:
        for each in arguments:
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and _WORD.fullmatch(each.value):
                self.references.append(
                    Reference(each.value, Use.TEXT, None, Receiver.UNKNOWN, "", each.lineno, UNKNOWN)
                )

    def subscript(self, node: ast.Subscript, scope: Scope, use: Use) -> None:
        super().subscript(node, scope, use)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        owner = dotted(node.value).rpartition(".")[2]
        if isinstance(key, str) and use is Use.NAME and owner[:1].isupper() and _WORD.fullmatch(key):
            chain = chain_of(node.value, scope)  # a member of an enumeration, by its name
            if chain != UNKNOWN:
                self.references.append(Reference(key, Use.TEXT, None, Receiver.UNKNOWN, "", node.lineno, chain))

    def constant(self, node: ast.Constant, _scope: Scope, _use: Use) -> None:
        text = node.value
        if isinstance(text, str) and "." in text and len(text) < _LONGEST_TEXT and _DOTTED_TEXT.fullmatch(text):
            module, _, name = text.replace(":", ".").rpartition(".")
            chain = (f"import {module}",)
            self.references.append(Reference(name, Use.TEXT, None, Receiver.OUTSIDE, "", node.lineno, chain))

    def imported(self, node: ast.ImportFrom, scope: Scope, use: Use) -> None:
        super().imported(node, scope, use)
        chain = (f"import {'.' * node.level}{node.module or ''}",)
        for alias in node.names:
            if alias.name != STAR and alias.lineno not in self._guarded:
                line = alias.lineno
                self.references.append(Reference(alias.name, Use.IMPORT, None, Receiver.OUTSIDE, "", line, chain))

    def module_imported(self, node: ast.Import, _scope: Scope, _use: Use) -> None:
        for alias in node.names:
            head, _, last = alias.name.rpartition(".")
            chain = (f"import {head}",) if head else ()
            self.references.append(Reference(last, Use.IMPORT, None, Receiver.OUTSIDE, "", alias.lineno, chain))

    def assigned(self, node: ast.Assign, scope: Scope, use: Use) -> None:
        super().assigned(node, scope, use)
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                self._stored(target, lambda: chain_of(node.value, scope), scope)

    def annotated(self, node: ast.AnnAssign, scope: Scope, use: Use) -> None:
        super().annotated(node, scope, use)
        if isinstance(node.target, ast.Attribute):
            self._stored(node.target, lambda: chain_of_annotation(node.annotation, scope), scope)

    def augmented(self, node: ast.AugAssign, scope: Scope, use: Use) -> None:
        super().augmented(node, scope, use)
        chain = chain_of(node.target.value, scope) if isinstance(node.target, ast.Attribute) else UNKNOWN
        is_own = len(chain) == 1 and chain[0].partition(" ")[0] in ("self", "cls")
        if isinstance(node.target, ast.Attribute) and chain != UNKNOWN and not is_own:
            line = node.target.lineno
            self.references.append(Reference(node.target.attr, Use.STORE, None, Receiver.UNKNOWN, "", line, chain))

    def _stored(self, target: ast.Attribute, value: Callable[[], Chain], scope: Scope) -> None:
        chain = chain_of(target.value, scope)
        root, _, owner = chain[0].partition(" ")
        if len(chain) == 1 and root in ("self", "cls") and owner:
            self._attributes.setdefault((owner, target.attr), []).append((value(), target.lineno))
        elif chain != UNKNOWN:
            stored = Reference(target.attr, Use.STORE, None, Receiver.UNKNOWN, "", target.lineno, chain)
            self.references.append(stored)

    visits: ClassVar = {
        **VISITS,
        ast.FunctionDef: function,
        ast.AsyncFunctionDef: function,
        ast.Return: returned,
        ast.Yield: returned,
        ast.Call: call,
        ast.Constant: constant,
        ast.Subscript: subscript,
        ast.ImportFrom: imported,
        ast.Import: module_imported,
        ast.Assign: assigned,
        ast.AnnAssign: annotated,
        ast.AugAssign: augmented,
    }


class _ClassReader(_Reader):
    """Reads a class of the top level, or the first part of it, with the names of all of it."""

    def __init__(self, node: ast.ClassDef, source: bytes, facts: Facts) -> None:
        super().__init__([node], source, facts)

    def _scope_in(self, node: ast.ClassDef) -> Scope:
        names = self._names.members(node.name)
        return Scope(ScopeKind.CLASS, self.root, names, class_name=node.name, binds=self.root.binds)


class _MembersReader(_ClassReader):
    """Reads members of a class whose head is read by another reader."""

    def __init__(self, node: ast.ClassDef, source: bytes, facts: Facts) -> None:
        super().__init__(node, source, facts)
        self._node = node

    def part(self, first: int) -> Part:
        name, end = self._node.name, self._node.end_lineno
        found = super().part(first)
        return replace(
            found,
            classes={qualname: each for qualname, each in found.classes.items() if qualname != name},
            names={owner: each for owner, each in found.names.items() if owner},
            continues=(name, end) if self._node.body and end is not None else None,
        )

    def _read_head(self, node: ast.ClassDef) -> None:
        """Skip the head."""


def _of_returns(node: FunctionNode, scope: Scope) -> Chain:
    assert node.returns is not None  # noqa: S101 - the caller checks this
    is_yielded = _is_entered(node) and has_yield(node.body)
    return yielded(node.returns, scope) if is_yielded else chain_of_annotation(node.returns, scope)


def _is_entered(node: FunctionNode) -> bool:
    """Whether a decorator turns a generator into a function whose users get the yielded values one at a time."""
    return bool({last_name(source_of(decorator)) for decorator in node.decorator_list} & _YIELDING)


def _binding(bound: Bound, scope: Scope) -> Binding:
    if bound.annotation is not None:
        return Binding(bound.is_import, chain_of_annotation(bound.annotation, scope), bound.annotation.lineno)
    if bound.value is not None:
        return Binding(bound.is_import, chain_of(bound.value, scope), bound.value.lineno)
    return Binding(bound.is_import, UNKNOWN, bound.entered.lineno if bound.entered is not None else None)


def _base(base: ast.expr, scope: Scope) -> Chain:
    return chain_of(base.value if isinstance(base, ast.Subscript) else base, scope)


def _is_left_open(method: FunctionNode) -> bool:
    """Whether subclasses must define a method: it is abstract, or its body does nothing."""
    # Docstrings and `...` do nothing.
    is_idle = all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in method.body)
    decorators = {last_name(source_of(decorator)) for decorator in method.decorator_list}
    return "abstractmethod" in decorators or is_idle or is_left_open(method)


def _hands_on(call: ast.Call, function: FunctionNode) -> bool:
    """Whether a call passes on all arguments of the function, and nothing else."""
    args, kwargs = function.args.vararg, function.args.kwarg
    stars = [each.value for each in call.args if isinstance(each, ast.Starred)]
    doubles = [each.value for each in call.keywords if each.arg is None]
    is_whole = len(call.args) == len(stars) == 1 and len(call.keywords) == len(doubles) == 1
    return bool(is_whole and args and kwargs and dotted(stars[0]) == args.arg and dotted(doubles[0]) == kwargs.arg)


def _guarded(tree: ast.Module) -> frozenset[int]:
    """Return the lines of imports that may fail: they stand in a `try` that catches errors of importing."""
    tried = (node for node in walk(tree) if isinstance(node, ast.Try) and any(map(_catches_imports, node.handlers)))
    imports = (part for node in tried for each in node.body for part in walk(each) if isinstance(part, ast.ImportFrom))
    return frozenset(alias.lineno for part in imports for alias in part.names)


def _catches_imports(clause: ast.ExceptHandler) -> bool:
    caught = clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type]
    return any(dotted(each).endswith(("ImportError", "ModuleNotFoundError")) for each in caught)


def _imports(tree: ast.Module, guarded: frozenset[int]) -> Iterator[Import]:
    """Yield the imports of the top level, in order, including those under `if` and `try`."""
    pending: list[ast.AST] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from map(_whole_import, node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                name = "" if alias.name == STAR else alias.asname or alias.name
                yield Import(name, module, alias.name, node.lineno, is_guarded=alias.lineno in guarded)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            pending.extend(reversed([child for part in _DESCEND for child in getattr(node, part, ())]))


def _whole_import(alias: ast.alias) -> Import:
    top = alias.name.partition(".")[0]
    return Import(alias.asname or top, alias.name if alias.asname else top, "", alias.lineno)


def _exports(tree: ast.Module) -> tuple[str, ...] | None:
    for node in reversed(tree.body):
        targets = [node.target] if isinstance(node, ast.AugAssign) else getattr(node, "targets", ())
        if [dotted(target) for target in targets] == ["__all__"] and isinstance(node, ast.Assign | ast.AugAssign):
            elements = getattr(node.value, "elts", ())
            names = tuple(each.value for each in elements if isinstance(getattr(each, "value", None), str))
            is_whole = isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple)
            return names if is_whole and len(names) == len(elements) else (*names, STAR)
    return None
