"""Commands and MCP tools offer the operations that are declared so, with the arguments that these take."""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import click
import pytest

from commonhold import Changeset
from commonhold.api.service import OPERATIONS
from commonhold.cli import program
from commonhold.client.session import Commonhold
from commonhold.kernel.task import Task
from commonhold.server.tools import TOOLS

CLI = Path(program.__file__).parent
BESIDES = {"news", "leases", "hold"}
"""Calls that commands make on the way: for notices, for the leases that an argument means, to hold one meanwhile."""
CHOICE = "action"
"""The argument by which a tool for several operations chooses one of them."""
JSON_TYPES: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def callback_of(path: str) -> Any:
    """The function of a command. Raises KeyError if there is no such command."""
    command: click.Command = program.cli
    for name in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        if found is None:
            raise KeyError(path)
        command = found
    assert command.callback is not None
    return inspect.unwrap(command.callback)


def calls_in(file: Path) -> set[str]:
    """The methods of a session that a file calls."""
    calls = (node.func for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return {
        call.attr
        for call in calls
        if isinstance(call, ast.Attribute)
        and (isinstance(call.value, ast.Attribute) and call.value.attr == "hold")
        | (isinstance(call.value, ast.Name) and call.value.id == "hold")
    }


@pytest.mark.parametrize("name", [name for name, each in OPERATIONS.items() if each.command])
def test_the_command_of_an_operation_calls_it(name: str) -> None:
    file = Path(sys.modules[callback_of(OPERATIONS[name].command).__module__].__file__ or "")
    assert name in calls_in(file)


def test_a_command_calls_operations_that_have_a_command() -> None:
    called = {name for file in CLI.glob("*.py") for name in calls_in(file)} - BESIDES
    assert called == {name for name, each in OPERATIONS.items() if each.command}


def test_every_tool_offers_operations() -> None:
    assert {each.tool for each in OPERATIONS.values() if each.tool} == TOOLS.keys()


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_takes_what_its_operations_take(name: str) -> None:
    takes: dict[str, Any] = {}
    for operation in (each for each, traits in OPERATIONS.items() if traits.tool == name):
        takes |= dict(parameters(operation))
    properties = TOOLS[name].input_schema["properties"]
    assert properties.keys() <= takes.keys()
    for argument, schema in properties.items():
        if argument != CHOICE:
            assert schema_type(schema) == json_type(takes[argument]), argument


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_reads_the_arguments_that_its_schema_lists(name: str) -> None:
    assert set(TOOLS[name].arguments.__struct_fields__) == TOOLS[name].input_schema["properties"].keys()


def parameters(operation: str) -> Iterator[tuple[str, Any]]:
    """The arguments of a call: one key may be asked for as several, and a changeset or a task comes in its parts."""
    method = getattr(Commonhold, operation)
    hints = get_type_hints(method)
    for each in inspect.signature(method).parameters.values():
        kind = hints.get(each.name)
        if kind in {Changeset, Task}:
            types = get_type_hints(kind)
            yield from ((part.name, types[part.name]) for part in fields(kind))
        elif each.kind is each.VAR_POSITIONAL:
            yield each.name, Sequence[kind]  # type: ignore[valid-type]
        else:
            yield each.name, kind
            if each.name == "key":
                yield "keys", Sequence[str]


def json_type(kind: Any) -> object:
    """The JSON type of a Python type: a name, or the values of an enumeration."""
    (kind,) = [each for each in get_args(kind) if each is not NoneType] if NoneType in get_args(kind) else [kind]
    if get_origin(kind) is not None:
        return "array"
    return [each.value for each in kind] if issubclass(kind, StrEnum) else JSON_TYPES[kind]


def schema_type(schema: Mapping[str, Any]) -> object:
    return schema.get("type") or schema["enum"]
