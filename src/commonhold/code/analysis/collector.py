"""Collect the uses in a Python file.

A name that a function, class or comprehension binds for itself is no reference. Text in strings is none either, except
the entries of `__all__`.
"""

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final

from commonhold.code.analysis.chains import chain_of, chain_of_import
from commonhold.code.analysis.expressions import dotted, parts_of
from commonhold.code.analysis.interface import CallShape, FunctionNode, shape_of
from commonhold.code.analysis.markers import STARRED_CALL, marks_of_call, marks_of_import
from commonhold.code.analysis.receivers import is_rooted_outside, receiver_of
from commonhold.code.analysis.references import BUILTINS, ITSELF, Marker, Receiver, Reference, Usage, Use
from commonhold.code.analysis.scopes import (
    DEFINED,
    Binds,
    Comprehension,
    Scope,
    ScopeKind,
    bound_names,
    class_scope,
    function_scope,
    local_scope,
    loop_bounds,
    module_scope,
    parameters,
    type_scope,
)

# Forms that only make types of their arguments.
_TYPE_FORMS: Final = frozenset({
    "Annotated", "AsyncGenerator", "AsyncIterator", "Awaitable", "Callable", "ClassVar", "Coroutine", "Dict", "Final",
    "FrozenSet", "Generator", "Iterable", "Iterator", "List", "Mapping", "Optional", "Sequence", "Set", "Tuple", "Type",
    "Union",
})  # fmt: skip
_PLACES: Final = frozenset({Use.BASE, Use.DECORATOR, Use.ANNOTATION})

Concerns = Callable[[ast.stmt], bool]
"""Whether to examine a statement of the top level, or the body of a function."""


def _every(_node: ast.stmt) -> bool:
    return True


def collect(tree: ast.Module, binds: Binds = bound_names, concerns: Concerns = _every) -> Usage:
    """Find all references and markers of a tree. Linear in its size; depth does not matter.

    Statements of the top level, and bodies of functions, for which `concerns` is false are left out, and cost nothing.
    """
    collector = Collector(module_scope(tree, binds), concerns)
    collector.run(node for node in tree.body if concerns(node))
    return Usage(tuple(collector.references), tuple(collector.markers))


class Collector:
    """Walks with an explicit stack, so that no depth of nesting exhausts Python's.

    `visits` names the visitor of each kind of node; a subclass that collects more has more of them.
    """

    visits: ClassVar[Mapping[type[ast.AST], Callable[..., None]]]

    def __init__(self, root: Scope, concerns: Concerns = _every) -> None:
        """Start in the scope of the file; visit the bodies of functions for which `concerns` is true."""
        self._concerns = concerns
        self.root = root
        self.references: list[Reference] = []
        self.markers: list[Marker] = []
        self._pending: list[tuple[ast.AST, Scope, Use]] = []
        self._bases: dict[str, list[ast.expr]] = {}

    def run(self, body: Iterable[ast.AST], scope: Scope | None = None) -> None:
        """Visit all nodes below these, as seen from a scope; each only once, in no particular order."""
        self.push(body, scope or self.root)
        self.run_pushed()

    def run_pushed(self) -> None:
        """Visit all nodes below those that were pushed."""
        visits = self.visits
        while self._pending:
            node, scope, use = self._pending.pop()
            visits.get(type(node), Collector.children)(self, node, scope, use)

    def push(self, nodes: Iterable[ast.AST | None], scope: Scope, use: Use = Use.NAME) -> None:
        """Visit these nodes too, as seen from `scope`."""
        self._pending += [(node, scope, use) for node in nodes if node is not None]

    # One visitor for each kind of node; `VISITS` names them.

    def children(self, node: ast.AST, scope: Scope, use: Use) -> None:
        """Visit all children of any other node."""
        inner = use if use is Use.ANNOTATION else Use.NAME
        self.push(parts_of(node), scope, inner)

    def name(self, node: ast.Name, scope: Scope, use: Use, shape: CallShape | None = None) -> None:
        """Visit a bare name."""
        if isinstance(node.ctx, ast.Load):
            self._add_name(node.id, node.lineno, scope, use, shape)

    def _add_name(self, name: str, line: int, scope: Scope, use: Use, shape: CallShape | None = None) -> None:
        home = scope.home(name)
        if home.kind is ScopeKind.CLASS:
            self.references.append(Reference(name, use, shape, Receiver.CLASS, home.class_name, line))
        elif home.kind is ScopeKind.MODULE:
            class_name = scope.class_name if scope.kind is ScopeKind.CLASS else ""
            self.references.append(Reference(name, use, shape, Receiver.NONE, class_name, line))
        elif (taken := home.import_of(name)) and (shape is not None or home.is_imported(name)):
            *chain, own_name = chain_of_import(taken)
            self.references.append(Reference(own_name, use, shape, Receiver.OUTSIDE, "", line, tuple(chain)))

    def attribute(self, node: ast.Attribute, scope: Scope, use: Use, shape: CallShape | None = None) -> None:
        """Visit an attribute after a dot."""
        self.push([node.value], scope, Use.ANNOTATION if use is Use.ANNOTATION else Use.QUALIFIER)
        if isinstance(node.ctx, ast.Load):
            place = use if use in _PLACES or shape is not None else Use.ATTRIBUTE
            receiver, class_name = receiver_of(node.value, scope)
            line = node.end_lineno or node.lineno
            chain = chain_of(node.value, scope)
            self.references.append(Reference(node.attr, place, shape, receiver, class_name, line, chain))

    def call(self, node: ast.Call, scope: Scope, _use: Use) -> None:
        """Visit a call, with its arguments."""
        self._called(node.func, scope, shape_of(node))
        self.push(node.args, scope)
        self.push((keyword.value for keyword in node.keywords), scope)
        self._mark_call(node, scope)

    def _called(self, func: ast.expr, scope: Scope, shape: CallShape) -> None:
        receiver, class_name = receiver_of(func, scope)
        if receiver is Receiver.CLS:
            chain = chain_of(func, scope)
            self.references.append(Reference(ITSELF, Use.CALL, shape, receiver, class_name, func.lineno, chain))
        elif isinstance(func, ast.Name):
            self.name(func, scope, Use.CALL, shape)
        elif isinstance(func, ast.Attribute):
            self.attribute(func, scope, Use.CALL, shape)
        elif isinstance(func, ast.Subscript):
            # `C[T](x)` calls C; a call of any other element leads to no definition anyway.
            self._called(func.value, scope, shape)
            self.push([func.slice], scope)
        else:
            self.push([func], scope)

    def _mark_call(self, node: ast.Call, scope: Scope) -> None:
        self.markers += (marker for marker in marks_of_call(node) if not self._is_harmless(marker, node.func, scope))

    def _is_harmless(self, marker: Marker, func: ast.expr, scope: Scope) -> bool:
        if marker.kind == STARRED_CALL:
            return self._leads_outside(func, scope)
        return isinstance(func, ast.Name) and scope.home(func.id).kind is not ScopeKind.MODULE

    def _leads_outside(self, func: ast.expr, scope: Scope) -> bool:
        """Whether a call leads to no definition of this file, or to none that its syntax could show."""
        if not isinstance(func, ast.Name):
            return isinstance(func, ast.Attribute) and self._is_foreign(func.value, scope)
        home = scope.home(func.id)
        if home.kind is ScopeKind.FUNCTION:
            return not any(bound.origin == DEFINED for bound in home.names[func.id])
        if func.id not in home.names:
            return home.kind is ScopeKind.MODULE and func.id in BUILTINS
        return scope.is_imported(func.id) or _comes_from_outside(func, scope)

    def _is_foreign(self, value: ast.expr, scope: Scope) -> bool:
        receiver, class_name = receiver_of(value, scope)
        if receiver is Receiver.SUPER:
            return all(is_rooted_outside(base, self.root) for base in self._bases.get(class_name, [value]))
        return receiver is Receiver.OUTSIDE or _is_parameter(value, scope)

    def function(self, node: FunctionNode, scope: Scope, _use: Use) -> None:
        """Visit a `def`: its head here, its body inside."""
        self.push_head(node, scope)
        if self._concerns(node):
            self.push(node.body, function_scope(node, scope))

    def push_head(self, node: FunctionNode, scope: Scope) -> None:
        """Visit all of a function except its body."""
        self.push(node.decorator_list, scope, Use.DECORATOR)
        self.push((*node.args.defaults, *node.args.kw_defaults), scope)
        outer = type_scope(node, scope)
        every = (*node.args.posonlyargs, *node.args.args, node.args.vararg, *node.args.kwonlyargs, node.args.kwarg)
        notes = (arg.annotation for arg in every if arg is not None)
        self.push((*notes, node.returns, *getattr(node, "type_params", ())), outer, Use.ANNOTATION)

    def class_(self, node: ast.ClassDef, scope: Scope, _use: Use) -> None:
        """Visit a `class`."""
        self.push_class_head(node, scope)
        inner = class_scope(node, scope)
        self.entered(node, scope, inner)
        self._bases.setdefault(inner.class_name, []).extend(node.bases)
        self.push(node.body, inner)

    def push_class_head(self, node: ast.ClassDef, scope: Scope) -> None:
        """Visit all of a class except its body."""
        self.push(node.decorator_list, scope, Use.DECORATOR)
        outer = type_scope(node, scope)
        self.push(node.bases, outer, Use.BASE)
        self.push((keyword.value for keyword in node.keywords), outer)
        self.push(getattr(node, "type_params", ()), outer, Use.ANNOTATION)

    def entered(self, node: ast.ClassDef, scope: Scope, inner: Scope) -> None:
        """Handle a class, with its outer and its inner scope; a hook for subclasses that collect more."""

    def lambda_(self, node: ast.Lambda, scope: Scope, _use: Use) -> None:
        """Visit a lambda."""
        self.push((*node.args.defaults, *node.args.kw_defaults), scope)
        self.push([node.body], local_scope(parameters(node.args), scope))

    def comprehension(self, node: Comprehension, scope: Scope, _use: Use) -> None:
        """Visit a comprehension: its first source belongs outside of it."""
        first, *others = node.generators
        bounds = (bound for part in node.generators for bound in loop_bounds(part.target, part.iter))
        inner = local_scope(bounds, scope)
        self.push([first.iter], scope)
        self.push((part.iter for part in others), inner)
        self.push((test for part in node.generators for test in part.ifs), inner)
        self.push((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,), inner)

    def subscript(self, node: ast.Subscript, scope: Scope, use: Use) -> None:
        """Visit a subscript: inside an annotation it is one, and the content of `Union[…]` and similar always is."""
        self.push([node.value], scope, use)
        is_type = use in (Use.BASE, Use.ANNOTATION) or dotted(node.value).rpartition(".")[2] in _TYPE_FORMS
        self.push([node.slice], scope, Use.ANNOTATION if is_type else Use.NAME)

    def annotated(self, node: ast.AnnAssign, scope: Scope, _use: Use) -> None:
        """Visit an annotated assignment."""
        self.push([node.annotation], scope, Use.ANNOTATION)
        self.push([node.target, node.value], scope)

    def augmented(self, node: ast.AugAssign, scope: Scope, _use: Use) -> None:
        """Visit an augmented assignment: it reads the name, too."""
        if isinstance(node.target, ast.Name):
            self._add_name(node.target.id, node.lineno, scope, Use.NAME)
        self.push([node.target, node.value], scope)

    def assigned(self, node: ast.Assign, scope: Scope, _use: Use) -> None:
        """Visit an assignment; `__all__` lists names."""
        self.push([*node.targets, node.value], scope)
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if scope.kind is ScopeKind.MODULE and names == ["__all__"]:
            self._exports(node.value)

    def _exports(self, value: ast.expr) -> None:
        for element in getattr(value, "elts", ()):
            if isinstance(element, ast.Constant) and isinstance(element.value, str):
                self._add_name(element.value, element.lineno, self.root, Use.EXPORT)

    def alias(self, node: ast.AST, scope: Scope, _use: Use) -> None:
        """Visit a `type` statement."""
        self.push(parts_of(node), type_scope(node, scope), Use.ANNOTATION)

    def raised(self, node: ast.Raise, scope: Scope, _use: Use) -> None:
        """Visit a `raise`: it calls a class."""
        if isinstance(node.exc, ast.Name | ast.Attribute):
            self._called(node.exc, scope, CallShape())
            self.push([node.cause], scope)
        else:
            self.push([node.exc, node.cause], scope)

    def with_(self, node: ast.With | ast.AsyncWith, scope: Scope, use: Use) -> None:
        """Visit a `with`: it uses two methods that the code does not name."""
        prefix = "__a" if isinstance(node, ast.AsyncWith) else "__"
        for item in node.items:
            receiver, class_name = receiver_of(item.context_expr, scope)
            for name in (f"{prefix}enter__", f"{prefix}exit__"):
                line, chain = item.context_expr.lineno, chain_of(item.context_expr, scope)
                self.references.append(Reference(name, Use.ATTRIBUTE, None, receiver, class_name, line, chain))
        self.children(node, scope, use)

    def imported(self, node: ast.ImportFrom, _scope: Scope, _use: Use) -> None:
        """Visit a `from … import`."""
        self.markers += marks_of_import(node)


VISITS: Final[Mapping[type[ast.AST], Callable[..., None]]] = {
    ast.Name: Collector.name,
    ast.Attribute: Collector.attribute,
    ast.Call: Collector.call,
    ast.FunctionDef: Collector.function,
    ast.AsyncFunctionDef: Collector.function,
    ast.ClassDef: Collector.class_,
    ast.Lambda: Collector.lambda_,
    ast.ListComp: Collector.comprehension,
    ast.SetComp: Collector.comprehension,
    ast.DictComp: Collector.comprehension,
    ast.GeneratorExp: Collector.comprehension,
    ast.Subscript: Collector.subscript,
    ast.AnnAssign: Collector.annotated,
    ast.AugAssign: Collector.augmented,
    ast.Assign: Collector.assigned,
    ast.Raise: Collector.raised,
    ast.ImportFrom: Collector.imported,
    ast.With: Collector.with_,
    ast.AsyncWith: Collector.with_,
    getattr(ast, "TypeAlias", ast.AST): Collector.alias,
}


Collector.visits = VISITS


def _is_parameter(value: ast.expr, scope: Scope) -> bool:
    """Whether this is a parameter of an unknown class, other than `self` and `cls`."""
    if not isinstance(value, ast.Name) or receiver_of(value, scope)[0] is not Receiver.UNKNOWN:
        return False
    home = scope.home(value.id)
    return home.kind is ScopeKind.FUNCTION and all(bound.value is None for bound in home.names[value.id])


def _comes_from_outside(value: ast.expr, scope: Scope) -> bool:
    """Whether a name is bound once, to the result of calling something imported."""
    bound = scope.sole_binding(value.id) if isinstance(value, ast.Name) else None
    return bound is not None and isinstance(bound.value, ast.Call) and is_rooted_outside(bound.value, scope)
