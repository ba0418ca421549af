"""YAML that people, planners and other clones write, read without surprises.

The constructors of PyYAML raise whatever Python raises for an odd value (`!!timestamp soon`), and aliases of aliases
make of a few bytes a value that no memory holds as text.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import yaml

MOST_EXPANDED: Final = 4_000_000
"""The most characters of a document, each alias counted at full length."""
_MOST_BITS: Final = 1_000
"""A longer whole number is no number: a float cannot hold it, and Python does not write it as text."""


class _Loader(yaml.SafeLoader):
    """Reads YAML's own types only, of bounded size."""

    def construct_document(self, node: yaml.Node) -> Any:  # noqa: ANN401 - PyYAML's own form
        _expanded(node, {})
        return super().construct_document(node)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        found = int(super().construct_yaml_int(node))
        if found.bit_length() > _MOST_BITS:
            raise yaml.YAMLError("it has a number of hundreds of digits")
        return found


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def _expanded(node: yaml.Node, known: dict[int, int]) -> int:
    """Return the size of a node in characters. Raises YAMLError if it is too large, or part of itself."""
    size = known.get(id(node))
    if size is None:
        known[id(node)] = MOST_EXPANDED  # an alias inside its own anchor has no end
        size = 1
        match node:
            case yaml.MappingNode():
                size += sum(_expanded(each, known) for pair in node.value for each in pair)
            case yaml.SequenceNode():
                size += sum(_expanded(each, known) for each in node.value)
            case _:
                size += len(node.value)
        if size > MOST_EXPANDED:
            raise yaml.YAMLError(f"it has more than {MOST_EXPANDED} characters, or an alias of what it is part of")
        known[id(node)] = size
    return size


def read_yaml(content: str | bytes) -> object:
    """Return the value of a YAML (or JSON) document. Raises ValueError with one line that names the fault."""
    try:
        return yaml.load(content, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except RecursionError as fault:
        raise ValueError("it is nested too deeply") from fault
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as fault:
        mark = getattr(fault, "problem_mark", None)
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = str(getattr(fault, "problem", None) or fault) or type(fault).__name__
        raise ValueError(f"{' '.join(problem.split())}{where}") from fault


def text_of(fields: Mapping[Any, object], *names: str) -> str | None:
    """Return the first of these fields that is set, as one line; "" if none is, None if it is no text, number or date.

    A number or a date is written without quotation marks where a text is meant: `title: 404`.
    """
    value = next((fields[each] for each in names if fields.get(each) not in (None, "")), "")
    return " ".join(str(value).split()) if isinstance(value, str | int | float | date) else None
