"""Which files have regions."""

import subprocess
import sys

import pytest
from tests.unit.code.regions.checks import check_map

from commonhold.code.regions.discover import discover
from commonhold.code.regions.language import Language
from commonhold.code.regions.languages import LANGUAGES, language_for, language_named


def named(path: str, source: bytes) -> str | None:
    language = language_for(path, source)
    return None if language is None else language.name


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


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        ("a.js a.mjs a.cjs a.jsx", "javascript"),
        ("a.ts a.mts a.cts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.go", "go"),
        ("a.rs", "rust"),
        ("A.java", "java"),
        ("a.kt build.gradle.kts", "kotlin"),
        ("a.scala a.sc", "scala"),
        ("a.swift", "swift"),
        ("a.c a.h", "c"),
        ("a.cc a.cpp a.cxx a.hpp a.hh A.CPP", "cpp"),
        ("a.cs", "csharp"),
        ("a.rb Rakefile Gemfile a.gemspec x/Vagrantfile", "ruby"),
        ("a.php", "php"),
        ("a.sh a.bash a.zsh .bashrc", "shell"),
        ("a.sql", "sql"),
        ("a.json", "json"),
        ("a.jsonc tsconfig.json x.code-workspace", "jsonc"),
        ("a.ipynb", "notebook"),
        ("a.yml a.yaml .clang-format", "yaml"),
        ("a.toml Cargo.lock", "toml"),
        ("a.md a.markdown", "markdown"),
        ("a.html a.htm", "html"),
        ("a.css", "css"),
    ],
)
def test_languages_by_name(paths: str, name: str) -> None:
    found = [language_for(path, b"") for path in paths.split()]
    assert [each and each.name for each in found] == [name] * len(found)


@pytest.mark.parametrize("path", ["a.txt", "a.rst", "Dockerfile", "Makefile", "Jenkinsfile", "LICENSE", "a.unknown"])
def test_what_has_no_language_is_text_in_paragraphs(path: str) -> None:
    assert language_for(path, b"") is None
    assert discover(b"One.\n\nTwo.\n", path).language == "text"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"#!/bin/sh\n", "shell"),
        (b"#!/usr/bin/env bash\n", "shell"),
        (b"#!/usr/bin/env node\n", "javascript"),
        (b"#!/usr/bin/ruby3.1 -w\n", "ruby"),
        (b"#!/usr/bin/php\n", "php"),
        (b"#!/usr/bin/env -S deno run\n", "javascript"),
    ],
)
def test_languages_by_interpreter(line: bytes, name: str) -> None:
    assert named("bin/tool", line) == name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (b"int f(void);\n", "c"),
        (b"class A {\n};\n", "cpp"),
        (b"#pragma once\nnamespace a {\n}\n", "cpp"),
        (b"  template <class T>\n", "cpp"),
        (b"/* class */ struct a;\n", "c"),
    ],
)
def test_a_header_is_c_unless_it_says_what_only_the_other_says(source: bytes, name: str) -> None:
    assert named("a.h", source) == name


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.yaml", b"- " * 5_000),
        ("a.yaml", b"a:\n" + b" " * 200 + b"- b\n"),
        ("a.rb", b'f <<-"X#{\n' * 100),
        ("a.rb", b"a." * 50_000),
        ("a.kt", b"/*" * 50_000),
        ("a.swift", b"/* a\n" * 50_000),
    ],
)
def test_what_a_grammar_cannot_bear_is_text(path: str, source: bytes) -> None:
    assert language_for(path, source) is None
    check_map(discover(source, path))


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.name)
def test_a_language_is_found_by_the_name_that_maps_give(language: Language) -> None:
    assert language_named(language.name) is language
    assert language_named("binary").name == "text"


def test_no_two_languages_claim_one_name() -> None:
    claims = [name for each in LANGUAGES for name in (*each.extensions, *each.filenames)]
    assert len(claims) == len(set(claims))


def test_a_grammar_is_imported_with_the_first_parse() -> None:
    loaded = "print('tree_sitter_python' in sys.modules)"
    code = f"import sys\nfrom commonhold.code.regions.discover import discover\n{loaded}\ndiscover(b'x = 1')\n{loaded}"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["False", "True"]
