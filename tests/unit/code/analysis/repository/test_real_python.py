"""Edits to real files: what is read of the edited definition alone gives the summary of the whole file."""

import ast
import random
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from commonhold.code.analysis.repository.interface_changes import is_restated, stated
from commonhold.code.analysis.repository.new_use_errors import added_uses
from commonhold.code.analysis.repository.parts import PartedSummary
from commonhold.code.analysis.repository.python_files import summarise_python, update_python

_LIBRARY: Final = Path(sysconfig.get_path("stdlib"))
_MODULES: Final = ("abc", "bisect", "contextlib", "functools", "queue", "sched")
_EDITS: Final = 3


@pytest.mark.parametrize("module", _MODULES)
def test_any_definition_can_be_edited(module: str) -> None:
    source = (_LIBRARY / f"{module}.py").read_bytes()
    before = summarise_python(source)
    assert isinstance(before, PartedSummary)
    lines = source.splitlines(keepends=True)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in random.Random(module).sample(nodes, min(_EDITS, len(nodes))):
        for text in _edited(lines, node):
            after, expected = update_python(before, text), summarise_python(text)
            assert after == expected
            assert isinstance(after, PartedSummary) == isinstance(expected, PartedSummary)
            assert is_restated(before, after) == (stated(before) != stated(expected))
            assert list(added_uses(before, after)) == list(added_uses(before.flat, expected.flat))


def _edited(lines: list[bytes], node: ast.FunctionDef | ast.ClassDef) -> list[bytes]:
    """The file with another body, without the definition, with it twice, with another name, moved to the end."""
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1
    end = node.end_lineno or node.lineno
    last = lines[end - 1]
    indent = last[: len(last) - len(last.lstrip())]
    own = lines[first:end]
    renamed = [line.replace(node.name.encode(), b"another", 1) for line in own]
    top = [line[node.col_offset :] or b"\n" for line in own]
    return [
        b"".join(each)
        for each in (
            [*lines[:end], indent + b"self.added = made(*here).it\n", *lines[end:]],
            [*lines[:first], *lines[end:]],
            [*lines[:end], *own, *lines[end:]],
            [*lines[:first], *renamed, *lines[end:]],
            [*lines[:first], *lines[end:], *top],
            [b"import another\n", *lines],
        )
    ]
