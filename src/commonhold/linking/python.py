"""Python: from the text of a file to its summary, and from the name of a module to its file."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Final

from commonhold.linking.summary import STAR, ClassShape, Import, Offer, Summary
from commonhold.semantics import fields
from commonhold.semantics.calls import is_left_open
from commonhold.semantics.chains import COLLECTION, UNKNOWN, Chain, chain_of, chain_of_annotation, extended, yielded
from commonhold.semantics.expressions import dotted, walk
from commonhold.semantics.interface import (
    FunctionNode,
    has_yield,
    last_name,
    of_callable,
    of_class,
    of_head,
    qualified,
    source_of,
)
from commonhold.semantics.module import OPEN, Module, Sort, declared_global, extends
from commonhold.semantics.references import VISITS, Collector, Receiver, Reference, Use
from commonhold.semantics.scopes import (
    Bound,
    Scope,
    ScopeKind,
    bound_by_statements,
    bound_names,
    function_scope,
    module_scope,
    type_scope,
)

_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
_DOTTED_TEXT: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+(?::[^\W\d]\w*)?")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_LONGEST_TEXT: Final = 200
_BY_NAME: Final = frozenset(
    {"getattr", "setattr", "delattr", "hasattr", "patch", "object", "attrgetter", "methodcaller"}
)
_YIELDING: Final = frozenset({"contextmanager", "asynccontextmanager", "fixture"})
_DESCEND: Final = ("body", "orelse", "handlers", "finalbody", "cases")


def summarise_python(source: bytes) -> Summary:
    """The summary of a Python file. Never raises: what does not parse offers nothing, with the reason."""
    try:
        tree = ast.parse(source)
        return _Reader(tree, source).summary()
    except _UNREADABLE as fault:
        return Summary("python", problem=str(fault) or type(fault).__name__)


class _Reader(Collector):
    """Collects what a file uses, and on the way what it offers."""

    def __init__(self, tree: ast.Module, source: bytes) -> None:
        # A look at the letters saves looking through every expression for what is rare.
        super().__init__(module_scope(tree, bound_names if b":=" in source else bound_by_statements))
        self._guarded = _guarded(tree) if b"ImportError" in source or b"ModuleNotFound" in source else frozenset()
        self._globals = declared_global(tree) if b"global" in source else frozenset()
        self._module = Module(tree, of_callable if b"yield" in source else of_head)
        # The outermost functions by the identity of their scopes, which are kept, so that none is given twice.
        self._functions: dict[int, tuple[Scope, FunctionNode]] = {}
        self._gives: dict[int, list[Chain]] = {}
        self._forwards: dict[int, list[Chain]] = {}
        self._shapes: dict[str, ClassShape] = {}
        self._scopes: dict[str, Scope] = {}
        self._attributes: dict[tuple[str, str], list[tuple[Chain, int]]] = {}

    def summary(self) -> Summary:
        self.run(self._module.tree.body)
        return Summary(
            language="python",
            offers=tuple(self._offers()),
            imports=tuple(_imports(self._module.tree, self._guarded)),
            uses=tuple(self.references),
            markers=tuple(self.markers),
            exports=_exports(self._module.tree),
        )

    def _offers(self) -> Iterator[Offer]:
        for (owner, name), nodes in self._module.functions.items():
            if not all(map(extends, nodes)):
                yield self._function_offer(owner, name, nodes)
        for qualname, classes in self._module.classes.items():
            node = classes[-1]
            is_sole = len(classes) == 1 and self._is_sole(*qualname.rpartition(".")[::2])
            shape = self._shapes.get(qualname, ClassShape())
            yield Offer(qualname, Sort.CLASS, node.lineno, node.end_lineno or node.lineno, shape=shape, is_sole=is_sole)
        for owner in ("", *self._module.classes):
            yield from self._values(owner)

    def _function_offer(self, owner: str, name: str, nodes: list[FunctionNode]) -> Offer:
        last = nodes[-1]
        is_sole = len(nodes) == 1 and self._is_sole(owner, name)
        return Offer(
            qualified(owner, name),
            Sort.FUNCTION,
            last.lineno,
            last.end_lineno or last.lineno,
            self._module.interfaces(owner, name),
            gives=_agreed(self._gives.get(id(node), []) for node in nodes),
            forwards=_agreed(self._forwards.get(id(node), []) for node in nodes) if is_sole else (),
            is_sole=is_sole,
            is_left_open=bool(owner) and _is_left_open(last),
        )

    def _is_sole(self, owner: str, name: str) -> bool:
        return len(self._module.members(owner).get(name, ())) <= 1

    def _values(self, owner: str) -> Iterator[Offer]:
        scope = self._scopes.get(owner, self.root)
        names = self._module.members(owner)
        for name, bounds in names.items():
            if not self._is_defined(owner, name) and not all(bound.is_import for bound in bounds):
                line = _line_of(bounds)
                gives = _agreed([[_chain_of_bound(bound, scope) for bound in bounds]])
                yield Offer(qualified(owner, name), Sort.VALUE, line, line, gives=gives, is_sole=len(bounds) == 1)
        for name in self._globals - names.keys() if not owner else ():
            yield Offer(name, Sort.VALUE, 1, 1, is_sole=False)
        for (class_name, name), found in self._attributes.items():
            if class_name == owner and name not in names:
                yield _attribute_offer(qualified(owner, name), found)

    def _is_defined(self, owner: str, name: str) -> bool:
        return (owner, name) in self._module.functions or qualified(owner, name) in self._module.classes

    # Visitors beside those of the collector.

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
        if self._module.classes.get(inner.class_name, [None])[-1] is node:
            self._scopes[inner.class_name] = inner
            self._shapes[inner.class_name] = self._shape(node, inner.class_name, type_scope(node, scope))

    def _shape(self, node: ast.ClassDef, qualname: str, scope: Scope) -> ClassShape:
        written = of_class(node)
        has_hooks = any((qualname, name) in self._module.functions for name in OPEN)
        has_fields = fields.is_named_tuple(node) or (fields.is_dataclass(node) and fields.makes_constructor(node))
        return ClassShape(
            bases=tuple(_base(base, scope) for base in node.bases),
            texts=written.plain_bases,
            keywords=written.keywords,
            decorators=written.active_decorators,
            fields=fields.own_fields(node) if has_fields else None,
            is_open=has_hooks or bool(node.keywords) or not self._module.has_plain_decorators(qualname),
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
        ast.ImportFrom: imported,
        ast.Import: module_imported,
        ast.Assign: assigned,
        ast.AnnAssign: annotated,
    }


def _agreed(found: Iterable[list[Chain]]) -> Chain:
    """The one chain that all agree on; empty where there is none, or where one is not known."""
    chains = {chain for each in found for chain in each}
    chain = chains.pop() if len(chains) == 1 else ()
    return () if chain == UNKNOWN else chain


def _of_returns(node: FunctionNode, scope: Scope) -> Chain:
    assert node.returns is not None  # noqa: S101 - asked by whoever calls
    is_yielded = _is_entered(node) and has_yield(node.body)
    return yielded(node.returns, scope) if is_yielded else chain_of_annotation(node.returns, scope)


def _is_entered(node: FunctionNode) -> bool:
    """Whether what a function yields is what others get, one at a time."""
    return bool({last_name(source_of(decorator)) for decorator in node.decorator_list} & _YIELDING)


def _attribute_offer(qualname: str, found: list[tuple[Chain, int]]) -> Offer:
    line = found[-1][1]
    return Offer(
        qualname, Sort.VALUE, line, line, gives=_agreed([[chain for chain, _ in found]]), is_sole=len(found) == 1
    )


def _chain_of_bound(bound: Bound, scope: Scope) -> Chain:
    if bound.annotation is not None:
        return chain_of_annotation(bound.annotation, scope)
    return chain_of(bound.value, scope) if bound.value is not None else UNKNOWN


def _line_of(bounds: Iterable[Bound]) -> int:
    nodes = (node for bound in bounds for node in (bound.annotation, bound.value, bound.entered) if node is not None)
    return next((node.lineno for node in nodes), 1)


def _base(base: ast.expr, scope: Scope) -> Chain:
    return chain_of(base.value if isinstance(base, ast.Subscript) else base, scope)


def _is_left_open(method: FunctionNode) -> bool:
    """Whether heirs have to say what it does: it is abstract, or has no body to speak of."""
    statements = [each for each in method.body if not _is_constant(each)]
    decorators = {last_name(source_of(decorator)) for decorator in method.decorator_list}
    return "abstractmethod" in decorators or not statements or is_left_open(method)


def _is_constant(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or `...`."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _hands_on(call: ast.Call, function: FunctionNode) -> bool:
    """Whether a call passes on all that the function got, and nothing else."""
    args, kwargs = function.args.vararg, function.args.kwarg
    stars = [each.value for each in call.args if isinstance(each, ast.Starred)]
    doubles = [each.value for each in call.keywords if each.arg is None]
    is_whole = len(call.args) == len(stars) == 1 and len(call.keywords) == len(doubles) == 1
    return bool(is_whole and args and kwargs and dotted(stars[0]) == args.arg and dotted(doubles[0]) == kwargs.arg)


def _guarded(tree: ast.Module) -> frozenset[int]:
    """The lines of imports that may fail: they are tried, and an error of importing is caught."""
    tried = (node for node in walk(tree) if isinstance(node, ast.Try) and any(map(_catches_imports, node.handlers)))
    imports = (part for node in tried for each in node.body for part in walk(each) if isinstance(part, ast.ImportFrom))
    return frozenset(alias.lineno for part in imports for alias in part.names)


def _catches_imports(clause: ast.ExceptHandler) -> bool:
    caught = clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type]
    return any(dotted(each).endswith(("ImportError", "ModuleNotFoundError")) for each in caught)


def _imports(tree: ast.Module, guarded: frozenset[int]) -> Iterator[Import]:
    """The imports of the top level, in order, those under `if` and `try` too."""
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
        targets = node.targets if isinstance(node, ast.Assign) else []
        if [dotted(target) for target in targets] == ["__all__"] and isinstance(node, ast.Assign):
            elements = getattr(node.value, "elts", ())
            return tuple(each.value for each in elements if isinstance(getattr(each, "value", None), str))
    return None
