"""Classes of Python that a call makes: `P = namedtuple("P", "x y")`, `Color = Enum("Color", "RED GREEN")`.

They are read as the class statements that would make the same class, with all nodes at the place of the call.
"""

import ast
from collections.abc import Sequence
from keyword import iskeyword
from typing import Final

from commonhold.code.analysis.expressions import dotted
from commonhold.code.analysis.interface import last_name
from commonhold.code.regions.python_ast import parse_module

_FEW: Final = 2  # a name and the members
_OPTIONS: Final = frozenset({"module", "qualname", "start", "type"})
_FIELD, _MEMBER = "{}: object", "{} = 1"
_FORMS: Final = {
    **dict.fromkeys(("NamedTuple", "namedtuple"), _FIELD),
    **dict.fromkeys(("Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"), _MEMBER),
}
_MAKERS: Final = (b"namedtuple", b"NamedTuple", b"Enum", b"Flag")


def parse_definitions(source: bytes | str) -> ast.Module:
    """Return the tree of a text, with class statements in the place of such calls at the top level.

    Raises the errors of `ast.parse`.
    """
    tree = parse_module(source)
    text = source.encode() if isinstance(source, str) else source
    if any(maker in text for maker in _MAKERS):
        tree.body = [_as_class(each) or each for each in tree.body]
    return tree


def _as_class(statement: ast.stmt) -> ast.stmt | None:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    call, name, maker = statement.value, dotted(statement.targets[0]), dotted(statement.value.func)
    form = _FORMS.get(last_name(maker))
    is_plain = _is_name(name) and len(statement.targets) == 1 and len(call.args) == _FEW and _text(call.args[0]) == name
    if form is None or not is_plain or any(each.arg not in _OPTIONS for each in call.keywords):
        return None
    names = _names(call.args[1])
    if not names:
        return None
    base = "NamedTuple" if last_name(maker) == "namedtuple" else maker
    (made,) = parse_module(f"class {name}({base}):\n" + "".join(f" {form.format(each)}\n" for each in names)).body
    for node in ast.walk(made):
        ast.copy_location(node, statement)
    return made


def _names(members: ast.expr) -> Sequence[str]:
    """Return the names of the members; none if one of them is computed."""
    text = _text(members)
    if text is not None:
        names: list[str | None] = [*text.replace(",", " ").split()]
    elif isinstance(members, ast.Dict):
        names = [_text(each) for each in members.keys]
    elif isinstance(members, ast.List | ast.Tuple):
        pairs = (each.elts[0] if isinstance(each, ast.Tuple) and each.elts else each for each in members.elts)
        names = [_text(each) for each in pairs]
    else:
        return ()
    found = [each for each in names if each is not None and _is_name(each)]
    return found if len(found) == len(names) else ()


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
