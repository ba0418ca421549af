"""Imports of both sides are joined where they give different names, and refused where they give one."""

import pytest

from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven

# A file, a line after which ours imports, one after which theirs does, and how something is imported by path and name.
IMPORTS = {
    "A.java": ("import a.A;\nimport b.B;\n\nclass C {}\n", "import {}.{};\n"),
    "a.kt": ("import a.A\nimport b.B\n\nclass C\n", "import {}.{}\n"),
    "a.rs": ("use a::A;\nuse b::B;\n\nfn f() {{}}\n", "use {}::{};\n"),
    "a.go": ('package p\n\nimport (\n\t"a/A"\n\t"b/B"\n)\n\nfunc f() {{}}\n', '\t"{}/{}"\n'),
    "a.js": ('import {A} from "a";\nimport {B} from "b";\n\nf();\n', 'import {{{1}}} from "{0}";\n'),
    "a.cs": ("using a.A;\nusing b.B;\n\nclass C {}\n", "using {1} = {0}.{1};\n"),
}


def merged(path: str, names: tuple[str, str], *, at_one_point: bool) -> Proven | Unproven:
    text, form = IMPORTS[path]
    lines = text.replace("{{}}", "{}").splitlines(keepends=True)
    at = next(index for index, line in enumerate(lines) if "a" in line and "A" in line) + 1
    places = (at, at) if at_one_point else (at, at + 1)
    sides = (
        "".join([*lines[:place], form.format(*given), *lines[place:]])
        for place, given in zip(places, (("x", names[0]), ("z", names[1])), strict=True)
    )
    ours, theirs = sides
    return merge("".join(lines).encode(), ours.encode(), theirs.encode(), path)


@pytest.mark.parametrize("at_one_point", [True, False])
@pytest.mark.parametrize("path", IMPORTS)
def test_imports_of_different_names_are_joined(path: str, at_one_point: bool) -> None:  # noqa: FBT001 - a parameter
    answer = merged(path, ("One", "Other"), at_one_point=at_one_point)
    assert isinstance(answer, Proven)
    assert b"One" in answer.source
    assert b"Other" in answer.source


@pytest.mark.parametrize("at_one_point", [True, False])
@pytest.mark.parametrize("path", IMPORTS)
def test_imports_of_one_name_from_two_places_are_refused(path: str, at_one_point: bool) -> None:  # noqa: FBT001 - a parameter
    assert isinstance(merged(path, ("One", "One"), at_one_point=at_one_point), Unproven)


@pytest.mark.parametrize(
    ("path", "base", "definition", "imported"),
    [
        ("a.go", 'package a\n\nimport "fmt"\n', "type Added struct {\n\tsize int\n}\n", 'import "math"\n'),
        ("A.java", "package a;\n\nimport b.C;\n", "class Added {}\n", "import b.E;\n"),
        ("a.py", "import b\n", "class Added:\n    pass\n", "import e\n"),
    ],
)
def test_an_import_stands_before_what_the_other_side_defined(
    path: str, base: str, definition: str, imported: str
) -> None:
    rest = definition.replace("Added", "Last")
    before, ours, theirs = (f"{base}{new}{rest}".encode() for new in ("", definition, imported))
    answer = merge(before, ours, theirs, path)
    assert isinstance(answer, Proven)
    assert answer.source.index(imported.encode()) < answer.source.index(b"Added")
