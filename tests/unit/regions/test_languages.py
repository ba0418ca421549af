"""Which files have regions."""

import subprocess
import sys

import pytest

from commonhold.regions.languages import language_for


@pytest.mark.parametrize("path", ["a.py", "a/b.pyi", "A.PY", "x.pyw", "dir.d/a.py"])
def test_python_by_extension(path: str) -> None:
    language = language_for(path, b"")
    assert language is not None
    assert language.name == "python"


@pytest.mark.parametrize(
    "line",
    [
        b"#!/usr/bin/python",
        b"#!/usr/bin/python3.11 -u\n",
        b"#! /usr/bin/env python3\n",
        b"#!/usr/bin/env -S PATH=/x python -O\r\n",
        b"#!/opt/pypy3\nimport a\n",
    ],
)
def test_python_by_interpreter(line: bytes) -> None:
    language = language_for("bin/tool", line)
    assert language is not None
    assert language.name == "python"


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"#!",
        b"#!\n/usr/bin/python",
        b"#!/bin/awk\npython",
        b"#!/usr/bin/env\n",
        b"# python\n",
        b"#!/usr/bin/pythonic\n",
    ],
)
def test_no_language(source: bytes) -> None:
    assert language_for("bin/tool", source) is None


def test_a_grammar_is_imported_with_the_first_parse() -> None:
    loaded = "print('tree_sitter_python' in sys.modules)"
    code = f"import sys\nfrom commonhold.regions.discover import discover\n{loaded}\ndiscover(b'x = 1')\n{loaded}"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["False", "True"]
