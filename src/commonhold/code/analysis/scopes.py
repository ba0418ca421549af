"""Which scope binds a name, by Python's rules as far as the syntax alone decides them."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from commonhold.code.analysis.expressions import parts_of, walk
from commonhold.code.analysis.interface import IMPLICIT_CLASSMETHODS, FunctionNode, last_name, source_of

AUGMENTED: Final = "augmented"
ASSIGNED: Final = "assigned"
DECLARED: Final = "declared"
DEFINED: Final = "defined"
DELETED: Final = "deleted"
PARAMETER: Final = "parameter"

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True, slots=True)
class Bound:
    """A binding of `name`: `origin` is the import that binds it, or the kind of the binding.

    `value` is the value of a plain assignment, `annotation` the annotation of the binding (or the class that an
    `except` names), `entered` the expression of a `with` statement, `source` the expression that a loop iterates over.
    `decorator` is the outermost one of a function: the name stands for the result of calling it.
    """

    name: str
    origin: str
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    entered: ast.expr | None = None
    source: ast.expr | None = None
    decorator: ast.expr | None = None

    @property
    def is_import(self) -> bool:
        """Whether an import statement binds the name."""
        return self.origin.startswith(("import ", "from "))


Names = Mapping[str, tuple[Bound, ...]]


def bound_names(nodes: Iterable[ast.AST]) -> Iterator[Bound]:
    """Yield every binding that these nodes make in their own scope, in no particular order."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        binds = _BINDS.get(type(node))
        if binds is not None:
            yield from binds(node)
        pending += _INSIDE.get(type(node), parts_of)(node)


def bound_by_statements(nodes: Iterable[ast.AST]) -> Iterator[Bound]:
    """Do the same as `bound_names` for texts without `:=`: as expressions bind nothing, only targets are visited."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            continue
        binds = _BINDS.get(type(node))
        if binds is not None:
            yield from binds(node)
        pending += _INSIDE.get(type(node), parts_of)(node)


Binds = Callable[[Iterable[ast.AST]], Iterator[Bound]]


def binds_of(source: bytes) -> Binds:
    """Return the finder of a text's bindings: a search in the text may save a walk through every expression."""
    return bound_names if b":=" in source else bound_by_statements


def grouped(bounds: Iterable[Bound]) -> dict[str, tuple[Bound, ...]]:
    """Return the bindings by name."""
    names: defaultdict[str, list[Bound]] = defaultdict(list)
    for bound in bounds:
        names[bound.name].append(bound)
    return {name: tuple(found) for name, found in names.items()}


def _closed(_node: ast.AST) -> Iterator[ast.AST]:
    return iter(())


def _of_name(node: ast.Name) -> Iterator[Bound]:
    if not isinstance(node.ctx, ast.Load):
        yield Bound(node.id, DELETED if isinstance(node.ctx, ast.Del) else ASSIGNED)


def _of_definition(node: FunctionNode | ast.ClassDef) -> Iterator[Bound]:
    is_replaced = isinstance(node, FunctionNode) and node.decorator_list
    yield Bound(node.name, DEFINED, decorator=node.decorator_list[0] if is_replaced else None)


def _of_import(node: ast.Import) -> Iterator[Bound]:
    for alias in node.names:
        yield Bound(alias.asname or alias.name.partition(".")[0], f"import {alias.name}")


def _of_import_from(node: ast.ImportFrom) -> Iterator[Bound]:
    source = "." * node.level + (node.module or "")
    for alias in node.names:
        if alias.name != "*":
            yield Bound(alias.asname or alias.name, f"from {source} import {alias.name}")


def _of_assignment(node: ast.Assign) -> Iterator[Bound]:
    plain = len(node.targets) == 1
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield Bound(target.id, ASSIGNED, node.value if plain else None)


def _of_annotated(node: ast.AnnAssign) -> Iterator[Bound]:
    if isinstance(node.target, ast.Name):
        yield Bound(node.target.id, DECLARED, node.value, node.annotation)


def _of_augmented(node: ast.AugAssign) -> Iterator[Bound]:
    if isinstance(node.target, ast.Name):
        yield Bound(node.target.id, AUGMENTED)


def _of_except(node: ast.ExceptHandler) -> Iterator[Bound]:
    if node.name is not None:
        yield Bound(node.name, ASSIGNED, annotation=node.type)


def _of_loop(node: ast.For | ast.AsyncFor) -> Iterator[Bound]:
    """Yield the targets of a loop."""
    yield from loop_bounds(node.target, node.iter)


def loop_bounds(target: ast.expr, source: ast.expr) -> Iterator[Bound]:
    """Yield the names that a loop over `source` binds, each as an element of an expression if that is certain.

    In `for i, x in enumerate(xs)` and `for k, v in d.items()` the second is an element of `xs` and of `d.values()`.
    """
    if isinstance(target, ast.Name):
        yield Bound(target.id, ASSIGNED, source=source)
        return
    last = target.elts[-1] if isinstance(target, ast.Tuple) and target.elts else None
    inside = _paired(source)
    for name in walk(target):
        if isinstance(name, ast.Name):
            yield Bound(name.id, ASSIGNED, source=inside if name is last else None)


def _paired(source: ast.expr) -> ast.expr | None:
    """Return the expression whose elements are the second items of the pairs."""
    if not isinstance(source, ast.Call):
        return None
    if isinstance(source.func, ast.Name) and source.func.id == "enumerate" and source.args:
        return source.args[0]
    if isinstance(source.func, ast.Attribute) and source.func.attr == "items" and not source.args:
        return ast.Call(ast.Attribute(source.func.value, "values", ast.Load()), [], [])
    return None


def _beside_target(node: ast.For | ast.AsyncFor) -> Iterator[ast.AST]:
    yield node.iter
    yield from node.body
    yield from node.orelse


def _of_with_item(node: ast.withitem) -> Iterator[Bound]:
    if isinstance(node.optional_vars, ast.Name):
        yield Bound(node.optional_vars.id, ASSIGNED, entered=node.context_expr)


def _of_optional_name(node: ast.MatchAs | ast.MatchStar) -> Iterator[Bound]:
    if node.name is not None:
        yield Bound(node.name, ASSIGNED)


def _of_mapping_pattern(node: ast.MatchMapping) -> Iterator[Bound]:
    if node.rest is not None:
        yield Bound(node.rest, ASSIGNED)


def _beside_names(node: ast.Assign) -> Iterator[ast.AST]:
    yield node.value
    yield from (target for target in node.targets if not isinstance(target, ast.Name))


def _beside_name(node: ast.AnnAssign | ast.AugAssign) -> Iterator[ast.AST]:
    if node.value is not None:
        yield node.value


def _beside_bound(node: ast.withitem) -> Iterator[ast.AST]:
    yield node.context_expr
    if node.optional_vars is not None and not isinstance(node.optional_vars, ast.Name):
        yield node.optional_vars


def _beside_targets(node: Comprehension) -> Iterator[ast.AST]:
    """Yield the parts of a comprehension except its targets, which are local to it; a walrus in it binds outside."""
    parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    yield from parts
    for generator in node.generators:
        yield generator.iter
        yield from generator.ifs


_BINDS: Final[Mapping[type[ast.AST], Callable[..., Iterator[Bound]]]] = {
    ast.Name: _of_name,
    ast.FunctionDef: _of_definition,
    ast.AsyncFunctionDef: _of_definition,
    ast.ClassDef: _of_definition,
    ast.Import: _of_import,
    ast.ImportFrom: _of_import_from,
    ast.Assign: _of_assignment,
    ast.AnnAssign: _of_annotated,
    ast.AugAssign: _of_augmented,
    ast.ExceptHandler: _of_except,
    ast.withitem: _of_with_item,
    ast.For: _of_loop,
    ast.AsyncFor: _of_loop,
    ast.MatchAs: _of_optional_name,
    ast.MatchStar: _of_optional_name,
    ast.MatchMapping: _of_mapping_pattern,
}
_INSIDE: Final[Mapping[type[ast.AST], Callable[..., Iterator[ast.AST]]]] = {
    ast.FunctionDef: _closed,
    ast.AsyncFunctionDef: _closed,
    ast.ClassDef: _closed,
    ast.Lambda: _closed,
    ast.Assign: _beside_names,
    ast.AnnAssign: _beside_name,
    ast.AugAssign: _beside_name,
    ast.withitem: _beside_bound,
    ast.For: _beside_target,
    ast.AsyncFor: _beside_target,
    ast.ListComp: _beside_targets,
    ast.SetComp: _beside_targets,
    ast.DictComp: _beside_targets,
    ast.GeneratorExp: _beside_targets,
}


class ScopeKind(StrEnum):
    """The kind of construct that opens a scope; comprehensions, lambdas and type parameters count as functions."""

    MODULE = "module"
    FUNCTION = "function"
    CLASS = "class"


class First(StrEnum):
    """The role of a method's first parameter."""

    NONE = "none"
    SELF = "self"
    CLS = "cls"


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """One scope. `class_name` is the qualified name of the class whose body or method this is, else empty."""

    kind: ScopeKind
    parent: "Scope | None" = None
    names: Names = field(default_factory=dict)
    globals: frozenset[str] = frozenset()
    class_name: str = ""
    first_name: str = ""
    first: First = First.NONE
    takes_fixtures: bool = False
    binds: Binds = bound_names

    def home(self, name: str) -> "Scope":
        """Return the scope that binds `name` as seen from here; the module's if no other does."""
        scope = self
        while scope.parent is not None:
            if name in scope.globals:
                return scope.root()
            if name in scope.names and (scope is self or scope.kind is not ScopeKind.CLASS):
                return scope
            scope = scope.parent
        return scope

    def root(self) -> "Scope":
        """The module's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def enclosing_class(self) -> str:
        """The class around this method, at any depth; empty outside of classes."""
        scope: Scope | None = self
        while scope is not None and not scope.class_name:
            scope = scope.parent
        return scope.class_name if scope else ""

    def is_imported(self, name: str) -> bool:
        """Whether only imports bind `name`."""
        bounds = self.home(name).names.get(name, ())
        return bool(bounds) and all(bound.is_import for bound in bounds)

    def import_of(self, name: str) -> Bound | None:
        """Return the first import that binds `name`, perhaps beside other bindings."""
        return next((bound for bound in self.home(name).names.get(name, ()) if bound.is_import), None)

    def sole_binding(self, name: str) -> Bound | None:
        """Return the only binding of `name`, or the one that declares the type of all; None if there is neither."""
        bounds = declared_bindings(self.home(name).names.get(name, ()))
        return bounds[0] if len(bounds) == 1 else None


def declared_bindings(bounds: Sequence[Bound]) -> Sequence[Bound]:
    """Return the bindings of a name, or the one of several that declares the type of all: `x: T | None = None`."""
    declared = [bound for bound in bounds if bound.origin == DECLARED]
    is_variable = not any(bound.is_import or bound.origin in (DEFINED, PARAMETER) for bound in bounds)
    return declared if len(declared) == 1 and is_variable else bounds


def module_scope(tree: ast.Module, binds: Binds = bound_names) -> Scope:
    """Return the scope of a whole file; `binds` finds the bindings in it and in all scopes inside."""
    return Scope(ScopeKind.MODULE, names=grouped(binds(tree.body)), binds=binds)


def class_scope(node: ast.ClassDef, site: Scope) -> Scope:
    """Return the scope of a class body. A class inside a function gets a name that no class of the file has."""
    prefix = {ScopeKind.MODULE: "", ScopeKind.CLASS: f"{site.class_name}."}.get(site.kind, "<locals>.")
    names = grouped(site.binds(node.body))
    outer = declared(node.body)[0]
    return Scope(ScopeKind.CLASS, type_scope(node, site), names, outer, class_name=prefix + node.name, binds=site.binds)


def function_scope(node: FunctionNode, site: Scope) -> Scope:
    """Return the scope of a function's body; `site` is the scope around the `def`."""
    first_name, first = _first(node, site)
    outer, further = declared(node.body)
    bounds = (*parameters(node.args), *site.binds(node.body))
    names = grouped(bound for bound in bounds if bound.name not in outer and bound.name not in further)
    class_name = site.class_name if site.kind is ScopeKind.CLASS else ""
    kind, parent = ScopeKind.FUNCTION, type_scope(node, site)
    return Scope(kind, parent, names, outer, class_name, first_name, first, takes_fixtures(node), site.binds)


def takes_fixtures(node: FunctionNode) -> bool:
    """Whether a test runner fills the parameters of a function by their names, as pytest does."""
    # Those of a fixture, too, whichever module its decorator is from.
    names = (last_name(source_of(decorator)) for decorator in node.decorator_list)
    return node.name.startswith("test") or any(name.endswith("fixture") for name in names)


def local_scope(bounds: Iterable[Bound], parent: Scope) -> Scope:
    """Return a small scope inside another: a lambda, a comprehension, type parameters."""
    return Scope(ScopeKind.FUNCTION, parent, grouped(bounds), binds=parent.binds)


def type_scope(node: ast.AST, site: Scope) -> Scope:
    """Return the scope of PEP 695 type parameters, or `site` itself if there are none."""
    params = getattr(node, "type_params", None)
    return local_scope([Bound(param.name, DEFINED) for param in params], site) if params else site


def parameters(args: ast.arguments) -> Iterator[Bound]:
    """Yield the bindings that parameters make."""
    every = (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg)
    catchers = (args.vararg, args.kwarg)
    for arg in every:
        if arg is not None:
            yield Bound(arg.arg, PARAMETER, annotation=None if arg in catchers else arg.annotation)


def _first(node: FunctionNode, parent: Scope) -> tuple[str, First]:
    positional = [*node.args.posonlyargs, *node.args.args]
    decorators = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
    if parent.kind is not ScopeKind.CLASS or not positional or "staticmethod" in decorators:
        return "", First.NONE
    is_cls = "classmethod" in decorators or node.name in IMPLICIT_CLASSMETHODS or node.name == "__new__"
    return positional[0].arg, First.CLS if is_cls else First.SELF


def declared(body: Iterable[ast.AST]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that are declared `global`, and those that are declared `nonlocal`."""
    pending, outer, further = list(body), set[str](), set[str]()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Global):
            outer.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            further.update(node.names)
        elif isinstance(node, _HOLD_STATEMENTS):
            pending += parts_of(node)
    return frozenset(outer), frozenset(further)


_HOLD_STATEMENTS: Final = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match),
    *(ast.ExceptHandler, ast.match_case, getattr(ast, "TryStar", ast.Try)),
)
