"""Expressions as chains: a root and the steps from it, for an analysis that can read other files.

Names that a function binds once are replaced by their value, so a chain starts at a name of the file, at `self`, or at
an import.
"""

import ast
from collections.abc import Iterator
from typing import Final

from commonhold.code.analysis.expressions import dotted, without_none
from commonhold.code.analysis.scopes import PARAMETER, Bound, First, Scope, ScopeKind, declared_bindings

Chain = tuple[str, ...]
"""An expression as far as it can be followed: a root, then steps.

A root is a name of the file; ``import M``, the module that M names from here; ``self C``, ``cls C`` or ``super C``
inside the class C; ``fixture N``, the test fixture N; or ``?`` if it is unknown. Each step is the name of an attribute,
or ``()`` (the result of a call), ``@`` (an instance of an annotation's class), ``with`` (the value that a with
statement binds), ``*`` (a collection of it), ``:`` (a mapping to it), ``[]`` (an element), ``for`` (an element in a
loop). The empty chain stands for no receiver: a bare name.
"""

UNKNOWN: Final[Chain] = ("?",)
CALLED: Final = "()"
INSTANCE: Final = "@"
ENTERED: Final = "with"
COLLECTION: Final = "*"
MAPPING: Final = ":"
ELEMENT: Final = "[]"
EACH: Final = "for"
_MOST_BINDINGS: Final = 4
_DEPTH: Final = 6  # how many names may stand for each other in turn
_LONGEST: Final = 12
_CLASSES_OF: Final = frozenset({"type", "Type"})
_COLLECTIONS: Final = frozenset({
    "AsyncIterable", "AsyncIterator", "Collection", "Container", "Deque", "FrozenSet", "Iterable", "Iterator", "List",
    "MutableSequence", "MutableSet", "Sequence", "Set", "Tuple", "ValuesView", "deque", "frozenset", "list", "set",
    "tuple",
})  # fmt: skip
# For these, the chain follows the values: the last type argument.
_MAPPINGS: Final = frozenset({
    "ChainMap", "DefaultDict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "dict",
})  # fmt: skip
_SAME_ELEMENTS: Final = frozenset({"frozenset", "iter", "list", "reversed", "set", "sorted", "tuple"})
_SEE_THROUGH: Final = frozenset({"Annotated", "ClassVar", "Final", "NotRequired", "Required", "ReadOnly"})


def chain_of(value: ast.expr, scope: Scope, depth: int = _DEPTH) -> Chain:
    """Return the chain of an expression that is visible from `scope`."""
    steps: list[str] = []
    node: ast.expr | None = value
    while node is not None and len(steps) < _LONGEST:
        root = _root(node, scope, depth)
        if root:
            return extended(root, *reversed(steps))
        step, node = _step(node)
        steps += step
    return UNKNOWN


def _root(node: ast.expr, scope: Scope, depth: int) -> Chain:
    if isinstance(node, ast.Name):
        return _of_name(node.id, scope, depth)
    return _of_special(node, scope, depth) if isinstance(node, ast.Call) else ()


def _step(node: ast.expr) -> tuple[tuple[str, ...], ast.expr | None]:
    """Return the steps that an expression takes, and the expression before them; None if it cannot be followed."""
    if isinstance(node, ast.Attribute):
        return (node.attr,), node.value
    if isinstance(node, ast.Call):
        return (CALLED,), node.func
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        return (ELEMENT,), node.value
    return (), node.value if isinstance(node, ast.Await | ast.NamedExpr) else None


def _of_special(call: ast.Call, scope: Scope, depth: int) -> Chain:
    """Return the chain of `super()`, `type(x)`, `cast(T, x)`; empty for any other call."""
    name = dotted(call.func)
    if name == "super":
        return (f"super {scope.enclosing_class()}",)
    if name == "type" and len(call.args) == 1:
        chain = chain_of(call.args[0], scope, depth)
        return (chain[0].replace("self ", "cls "),) if len(chain) == 1 and chain[0].startswith("self ") else UNKNOWN
    if name in _SAME_ELEMENTS and len(call.args) == 1 and scope.home(name).names.get(name) is None:
        return extended(chain_of(call.args[0], scope, depth), EACH, COLLECTION)
    is_cast = name.rpartition(".")[2] == "cast" and len(call.args) == 2  # noqa: PLR2004 - the type and the value
    return chain_of_annotation(call.args[0], scope, depth) if is_cast else ()


_FIRST: Final = {First.SELF: "self", First.CLS: "cls"}


def _of_name(name: str, scope: Scope, depth: int) -> Chain:
    home = scope.home(name)
    if name == home.first_name and home.first in _FIRST:
        return (f"{_FIRST[home.first]} {home.class_name}",)
    if home.kind is ScopeKind.MODULE:
        return (name,)
    if home.kind is ScopeKind.CLASS:
        return (f"cls {home.class_name}", name)
    bounds = home.names.get(name, ())
    if not depth or len(bounds) > _MOST_BINDINGS:
        return UNKNOWN
    chains = {_of_bound(bound, home, depth - 1) for bound in declared_bindings(bounds)}
    return chains.pop() if len(chains) == 1 else UNKNOWN


def _of_bound(bound: Bound, home: Scope, depth: int) -> Chain:
    if bound.is_import:
        return chain_of_import(bound)
    if bound.annotation is not None:
        return chain_of_annotation(bound.annotation, home, depth)
    if bound.value is not None:
        return chain_of(bound.value, home, depth)
    for origin, step in ((bound.decorator, CALLED), (bound.source, EACH), (bound.entered, ENTERED)):
        if origin is not None:
            return extended(chain_of(origin, home, depth), step)
    return (f"fixture {bound.name}",) if bound.origin == PARAMETER and home.takes_fixtures else UNKNOWN


def chain_of_import(bound: Bound) -> Chain:
    """Return the chain of an import's binding: a root that names a module, and the name in it."""
    word, module, *rest = bound.origin.split(" ")
    if word == "from":
        return (f"import {module}", rest[-1])
    top, _, below = module.partition(".")
    return (f"import {top}",) if bound.name == top and below else _dotted_import(module)


def _dotted_import(module: str) -> Chain:
    """Return the chain of `import a.b`: the module's name is its last part, as with `from a import b`."""
    head, _, last = module.rpartition(".")
    return (f"import {head}", last) if head else (f"import {module}",)


def extended(chain: Chain, *steps: str) -> Chain:
    """Return a chain with further steps; an unknown one stays unknown."""
    return UNKNOWN if not chain or chain == UNKNOWN else (*chain, *steps)


def chain_of_annotation(annotation: ast.expr, scope: Scope, depth: int = _DEPTH) -> Chain:
    """Return an instance of the one class that an annotation names, or for `type[C]` the class."""
    plain = without_none(annotation)
    if isinstance(plain, ast.Subscript) and depth:
        return _of_subscript(plain, scope, depth - 1)
    if not isinstance(plain, ast.Name | ast.Attribute):
        return UNKNOWN
    if dotted(plain).rpartition(".")[2] == "Self":
        return (f"self {scope.enclosing_class()}",)
    return extended(chain_of(plain, scope, depth), INSTANCE)


def _of_subscript(annotation: ast.Subscript, scope: Scope, depth: int) -> Chain:
    name = dotted(annotation.value).rpartition(".")[2]
    if name in _CLASSES_OF:
        instance = chain_of_annotation(annotation.slice, scope, depth)
        return instance[:-1] if instance[-1] == INSTANCE else UNKNOWN
    if name in _SEE_THROUGH:
        return chain_of_annotation(next(_elements(annotation.slice)), scope, depth)
    if name in _COLLECTIONS or name in _MAPPINGS:
        *others, last = [each for each in _elements(annotation.slice) if not _is_ellipsis(each)] or [annotation.slice]
        if name in _MAPPINGS:
            return extended(chain_of_annotation(last, scope, depth), MAPPING)
        return UNKNOWN if others else extended(chain_of_annotation(last, scope, depth), COLLECTION)
    if name.endswith("ContextManager"):
        return chain_of_annotation(next(_elements(annotation.slice)), scope, depth)
    return chain_of_annotation(annotation.value, scope, depth)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def yielded(annotation: ast.expr, scope: Scope) -> Chain:
    """Return the chain of the values that a generator with this return annotation yields."""
    plain = without_none(annotation)
    return chain_of_annotation(next(_elements(plain.slice)), scope) if isinstance(plain, ast.Subscript) else UNKNOWN


def _elements(node: ast.expr) -> Iterator[ast.expr]:
    return iter(node.elts) if isinstance(node, ast.Tuple) and node.elts else iter((node,))


_MARKS: Final = frozenset({INSTANCE, ENTERED, COLLECTION, MAPPING, EACH})


def text_of(chain: Chain) -> str:
    """Return the text before a name, with the dot, as people write it: `app.make().`, or `….` if it is unknown."""
    if not chain:
        return ""
    if chain == UNKNOWN:
        return "…."
    root = chain[0].partition(" ")[0] if chain[0].startswith(("self ", "cls ")) else chain[0].rpartition(" ")[2]
    text = root
    for step in chain[1:]:
        text += "" if step in _MARKS else step if step in (CALLED, ELEMENT) else f".{step}"
    return text if text.endswith(".") else f"{text}."
