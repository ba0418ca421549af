"""The receiver of an attribute in Python: the kind and the class of the expression before the dot."""

import ast
from typing import Final

from commonhold.code.analysis.expressions import dotted, without_none
from commonhold.code.analysis.references import Receiver
from commonhold.code.analysis.scopes import Bound, First, Scope, ScopeKind

LITERALS: Final = (
    ast.Constant, ast.JoinedStr, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp,
)  # fmt: skip
_FIRST: Final = {First.SELF: Receiver.SELF, First.CLS: Receiver.CLS}


def receiver_of(value: ast.expr, scope: Scope) -> tuple[Receiver, str]:
    """Return the kind and the class of `value` in `value.attr`, as far as a look at the scope shows them."""
    name = dotted(value)
    if name:
        return _of_dotted(name, scope)
    if isinstance(value, ast.Call):
        return _of_call(value, scope)
    return (Receiver.OUTSIDE if is_rooted_outside(value, scope) else Receiver.UNKNOWN), ""


def _of_dotted(name: str, scope: Scope) -> tuple[Receiver, str]:
    root, _, rest = name.partition(".")
    home = scope.home(root)
    if root == home.first_name and home.first in _FIRST:
        return _of_first(home, rest)
    bound = scope.sole_binding(root)
    if not rest and bound is not None and (bound.value or bound.annotation):
        return _of_binding(bound, scope)
    if scope.is_imported(root):
        return Receiver.OUTSIDE, ""
    prefix = f"{home.class_name}." if home.kind is ScopeKind.CLASS else ""
    return (Receiver.UNKNOWN, "") if home.kind is ScopeKind.FUNCTION else (Receiver.CLASS, prefix + name)


def _of_first(home: Scope, rest: str) -> tuple[Receiver, str]:
    """Return the receiver for `self`, `cls`, `self.__class__`; any other attribute of them is unknown."""
    receivers = {"": _FIRST[home.first], "__class__": Receiver.CLS}
    receiver = receivers.get(rest, Receiver.UNKNOWN)
    return receiver, home.class_name if receiver is not Receiver.UNKNOWN else ""


def _of_binding(bound: Bound, scope: Scope) -> tuple[Receiver, str]:
    if bound.annotation is not None:
        return _of_annotation(bound.annotation, scope)
    if isinstance(bound.value, ast.Call):
        is_outside = is_rooted_outside(bound.value, scope)
        return (Receiver.OUTSIDE, "") if is_outside else (Receiver.INSTANCE, dotted(bound.value.func))
    return Receiver.UNKNOWN, ""


def _of_annotation(annotation: ast.expr, scope: Scope) -> tuple[Receiver, str]:
    name = dotted(without_none(annotation))
    if not name:
        return Receiver.UNKNOWN, ""
    return (Receiver.OUTSIDE, "") if scope.is_imported(name.partition(".")[0]) else (Receiver.INSTANCE, name)


def _of_call(call: ast.Call, scope: Scope) -> tuple[Receiver, str]:
    name = dotted(call.func)
    if name == "super":
        return Receiver.SUPER, scope.enclosing_class()
    if name == "type" and len(call.args) == 1:
        receiver, class_name = receiver_of(call.args[0], scope)
        return (Receiver.CLS, class_name) if receiver is Receiver.SELF else (Receiver.UNKNOWN, "")
    if is_rooted_outside(call, scope):
        return Receiver.OUTSIDE, ""
    return Receiver.INSTANCE, name


def is_rooted_outside(value: ast.expr, scope: Scope) -> bool:
    """Whether an expression begins at an import or a literal."""
    root = value
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
        root = root.func if isinstance(root, ast.Call) else root.value
    return isinstance(root, LITERALS) or (isinstance(root, ast.Name) and scope.is_imported(root.id))
