"""The constructor parameters that `@dataclass` and `NamedTuple` generate from a class header."""

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from commonhold.code.analysis.interface import Parameter, ParamKind, Params, last_name, source_of

_DEFAULTS: Final = frozenset({"default", "default_factory"})


def is_dataclass(node: ast.ClassDef) -> bool:
    """Whether a decorator is named `dataclass`, whichever module it is from."""
    return _decoration(node) is not None


def is_named_tuple(node: ast.ClassDef) -> bool:
    """Whether a base is named `NamedTuple`."""
    return any(last_name(source_of(base)) == "NamedTuple" for base in node.bases)


def makes_constructor(node: ast.ClassDef) -> bool:
    """Whether the fields become the parameters of the constructor."""
    return is_named_tuple(node) or _option(_decoration(node), "init") not in (None, "False")


def own_fields(node: ast.ClassDef) -> Params:
    """The parameters of the fields that this header declares itself."""
    return tuple(_fields(node.body, by_name=_option(_decoration(node), "kw_only") == "True"))


def merged(inherited: Params, own: Params) -> Params:
    """Return the fields of a base, then one's own; a redeclared field keeps its place, keyword-only ones go last."""
    latest = {param.name: param for param in (*inherited, *own)}
    return tuple(sorted(latest.values(), key=lambda param: param.kind is ParamKind.KEYWORD_ONLY))


def _decoration(node: ast.ClassDef) -> ast.expr | None:
    return next((one for one in node.decorator_list if last_name(source_of(one)) == "dataclass"), None)


def _option(call: ast.expr | None, name: str) -> str | None:
    """Return the source of a decorator's keyword; empty if it is not given, None if there is no decorator."""
    if not isinstance(call, ast.Call):
        return None if call is None else ""
    return next((source_of(keyword.value) for keyword in call.keywords if keyword.arg == name), "")


def _fields(body: Iterable[ast.stmt], *, by_name: bool) -> Iterator[Parameter]:
    for statement in body:
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        annotation = source_of(statement.annotation)
        if last_name(annotation) == "KW_ONLY":
            by_name = True
        elif not last_name(annotation.partition("[")[0].strip("'\"")).startswith("ClassVar"):
            yield from _field(statement.target.id, statement.value, annotation, by_name=by_name)


def _field(name: str, value: ast.expr | None, annotation: str, *, by_name: bool) -> Iterator[Parameter]:
    options = _field_options(value)
    if options.get("init") == "False":
        return
    kw_only = options.get("kw_only", str(by_name)) == "True"
    kind = ParamKind.KEYWORD_ONLY if kw_only else ParamKind.POSITIONAL
    default = next((text for option, text in options.items() if option in _DEFAULTS), None)
    yield Parameter(name, kind, default, annotation)


def _field_options(value: ast.expr | None) -> dict[str, str]:
    """Return the arguments of `field(...)`; any other value is a default itself."""
    if value is None:
        return {}
    if isinstance(value, ast.Call) and last_name(source_of(value.func)) == "field":
        return {keyword.arg: source_of(keyword.value) for keyword in value.keywords if keyword.arg}
    return {"default": source_of(value)}
