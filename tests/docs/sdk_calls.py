"""The tables of docs/python.md that are made from the operations of the service."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from inspect import Parameter, cleandoc, signature
from typing import Any, get_args, get_origin, get_type_hints

import commonhold
from commonhold.api.operations import Operation
from commonhold.api.service import OPERATIONS, Service

SDK = commonhold.Commonhold
STARS: Mapping[object, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
INSIDE = {"drive"}
"""Methods that all others stand on."""


def of_users() -> Iterator[tuple[str, ...]]:
    """Rows for the calls that users make: those of the service, then the SDK's own."""
    yield "call", "answer", "command", "meaning"
    for name in [*_offered(for_hooks=False), *_own()]:
        command = OPERATIONS.get(name, Operation()).command
        shown = f"`{command}`" if command else ""
        yield f"`{name}({_parameters(name)})`", _answer(name), shown, _meaning(name)


def of_hooks() -> Iterator[tuple[str, ...]]:
    """Rows for the calls that hooks make."""
    yield "call", "answer", "meaning"
    for name in _offered(for_hooks=True):
        yield f"`{name}({_parameters(name)})`", _answer(name), _meaning(name)


def _offered(*, for_hooks: bool) -> Iterator[str]:
    return (name for name, each in OPERATIONS.items() if each.in_sdk and each.for_hooks is for_hooks)


def _own() -> Iterator[str]:
    """The SDK's methods that are no operation of the service."""
    for name, _ in inspect.getmembers(SDK, inspect.isfunction):
        if name not in OPERATIONS.keys() | INSIDE and not name.startswith("_"):
            yield name


def _parameters(name: str) -> str:
    described, is_named = [], False
    for each in signature(getattr(SDK, name)).parameters.values():
        if each.name == "self":
            continue
        if each.kind is Parameter.KEYWORD_ONLY and not is_named:
            described.append("*")
        is_named = is_named or each.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_POSITIONAL)
        described.append(_parameter(each))
    return ", ".join(described)


def _parameter(each: Parameter) -> str:
    return STARS.get(each.kind, "") + each.name + ("" if each.default is each.empty else f"={_literal(each.default)}")


def _literal(value: object) -> str:
    if isinstance(value, Enum):
        return str(f"{type(value).__name__}.{value.name}")
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _answer(name: str) -> str:
    """The answer; of a method that the SDK drives itself, as the service declares it."""
    method: Callable[..., Any] = getattr(Service if name in OPERATIONS else SDK, name)
    answer = get_type_hints(method)["return"]
    if get_origin(answer) is tuple:
        return f"tuple of {_type(get_args(answer)[0])}"
    return "a `with` block" if name == "hold" else _type(answer)


def _type(kind: Any) -> str:
    return f"`{'None' if kind is type(None) else kind.__name__}`"


def _meaning(name: str) -> str:
    return " ".join(cleandoc(getattr(SDK, name).__doc__ or "").split())
