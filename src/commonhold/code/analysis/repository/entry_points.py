"""The functions that a `pyproject.toml` names as entry points: `tool = "package.module:main"`."""

import re
from typing import Final

from commonhold.code.analysis.references import Receiver, Reference, Use
from commonhold.code.analysis.repository.summary import Summary

_LANGUAGE: Final = "toml"
_HEADER: Final = re.compile(rb"\s*\[\s*([^\]]+?)\s*\]")
_TABLE: Final = re.compile(
    rb"(?:project\.(?:gui-)?scripts|project\.entry-points\..+|tool\.poetry\.(?:scripts|plugins\..+))\Z"
)
_NAMED: Final = re.compile(rb"\s*[\w.\"'-]+\s*=\s*[\"']([\w.]+):(\w+)[\"'.\s\[]")


def summarise_entry_points(source: bytes) -> Summary:
    """Return the uses of functions by the tables of entry points in a TOML file; all else is not read."""
    uses: list[Reference] = []
    is_table = False
    for number, line in enumerate(source.splitlines(), 1):
        if header := _HEADER.match(line):
            is_table = _TABLE.match(header[1]) is not None
        elif is_table and (named := _NAMED.match(line)):
            module, name = (each.decode() for each in named.groups())
            chain = (f"import {module}",)
            uses.append(Reference(name, Use.TEXT, None, Receiver.OUTSIDE, "", number, chain))
    return Summary(_LANGUAGE, uses=tuple(uses))
