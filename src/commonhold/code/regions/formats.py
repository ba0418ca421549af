"""The first error that a parser of JSON, TOML or YAML finds in bytes, or None. Never raise on any bytes."""

import json
import re
from collections.abc import Iterable
from typing import Final, Protocol

import yaml

from commonhold.code.regions.encoding import BOM
from commonhold.code.regions.lines import line_end
from commonhold.code.regions.region import Problem
from commonhold.code.regions.toml import parse_toml


class _Mark(Protocol):
    """A place as both of YAML's readers give it, counted from 0."""

    line: int
    column: int


_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)")
_TOO_DEEP: Final = "it is nested too deeply"


def json_problem(source: bytes) -> Problem | None:
    """Return why bytes are no JSON; None if they are."""
    try:
        # Numbers are checked and not computed: no number is too long for JSON.
        json.loads(_text(source), parse_int=len, parse_float=len)
    except json.JSONDecodeError as error:
        return _at(source, error.lineno, error.colno, error.msg)
    except RecursionError:
        return _somewhere(source, _TOO_DEEP)
    except ValueError as error:
        return _somewhere(source, str(error))
    return None


def toml_problem(source: bytes) -> Problem | None:
    """Return why bytes are no TOML; None if they are."""
    try:
        parse_toml(_text(source))
    except ValueError as error:
        message = str(error)
        place = _PLACE.search(message)
        if place is None or place[1] is None:
            return _somewhere(source, message)
        return _at(source, int(place[1]), int(place[2]), message[: place.start()])
    return None


def yaml_problem(source: bytes) -> Problem | None:
    """Return why bytes are no YAML; None if they are. Any tag is accepted, since nothing is constructed."""
    loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        unknown = _unknown_alias(yaml.parse(_text(source), Loader=loader))
    except yaml.MarkedYAMLError as error:
        return _marked(source, error.problem_mark, error.problem or "it is no YAML")
    except (yaml.YAMLError, ValueError) as error:
        return _somewhere(source, " ".join(str(error).split()))
    return _marked(source, unknown.start_mark, f"no anchor {unknown.anchor!r} above") if unknown else None


def _unknown_alias(events: Iterable[yaml.Event]) -> yaml.AliasEvent | None:
    """Return the first alias of an anchor that its document does not have above it; reads all events."""
    anchors: set[str] = set()
    unknown: yaml.AliasEvent | None = None
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            anchors.clear()
        elif isinstance(event, yaml.AliasEvent):
            unknown = unknown or (event if event.anchor not in anchors else None)
        elif isinstance(event, yaml.NodeEvent) and event.anchor:
            anchors.add(event.anchor)
    return unknown


def _text(source: bytes) -> str:
    """Return the text, with a line feed at the end of every line. Raises UnicodeDecodeError, which is a ValueError."""
    return source.removeprefix(BOM).decode()


def _marked(source: bytes, mark: _Mark | None, message: str) -> Problem:
    return _somewhere(source, message) if mark is None else _at(source, mark.line + 1, mark.column + 1, message)


def _at(source: bytes, line: int, column: int, message: str) -> Problem:
    start = 0
    for _ in range(line - 1):
        start = line_end(source, start)
    return Problem("SYNTAX", f"line {line}, column {column}: {message}", (start, line_end(source, start)))


def _somewhere(source: bytes, message: str) -> Problem:
    return Problem("SYNTAX", message, (0, len(source)))
