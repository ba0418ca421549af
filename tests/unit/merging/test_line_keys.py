"""A name that both sides give in one section of a file merged by lines is not proven."""

import pytest
from tests.unit.merging.test_given_names import merged

from commonhold.merging.verdict import Proven, Unproven

# A file, and what either side puts in: ours at `@`, theirs at `&`.
TWICE = {
    "ini key": ("a.ini", "[a]\none = 1\n@two = 2\nthree = 3\n&four = 4\n", "zone = 6\n", "zone = 7\n"),
    "ini section": (
        "setup.cfg",
        "[a]\none = 1\n@\n[b]\nthree = 3\n&\n[c]\nfour = 4\n",
        "\n[zone]\nx = 6\n",
        "\n[zone]\ny = 7\n",
    ),
    "env": (".env", "ONE=1\n@TWO=2\nTHREE=3\n&FOUR=4\n", "ZONE=6\n", "ZONE=7\n"),
    "properties": ("a.properties", "one=1\n@two=2\nthree=3\n&four=4\n", "zone=6\n", "zone=7\n"),
    "make target": (
        "Makefile",
        "one:\n\ttrue\n@\ntwo:\n\ttrue\n\nthree:\n\ttrue\n&",
        "\nzone:\n\tfalse\n",
        "\nzone:\n\ttrue\n",
    ),
    "html id": (
        "a.html",
        "<div>\n<p>1</p>\n@<p>2</p>\n<p>3</p>\n&<p>4</p>\n</div>\n",
        '<p id="zone">6</p>\n',
        '<p id="zone">7</p>\n',
    ),
    "sql column": (
        "a.sql",
        "CREATE TABLE t (\n  one INT,\n@  two INT,\n  three INT,\n&  four INT\n);\n",
        "  zone INT,\n",
        "  zone TEXT,\n",
    ),
    "proto number": (
        "a.proto",
        "message A {\n  int32 one = 1;\n@  int32 two = 2;\n  int32 three = 3;\n&  int32 four = 4;\n}\n",
        "  int32 six = 6;\n",
        "  int32 seven = 6;\n",
    ),
    "proto name": (
        "a.proto",
        "message A {\n  int32 one = 1;\n@  int32 two = 2;\n  int32 three = 3;\n&  int32 four = 4;\n}\n",
        "  int32 zone = 6;\n",
        "  int64 zone = 7;\n",
    ),
    "graphql field": (
        "a.graphql",
        "type A {\n  one: Int\n@  two: Int\n  three: Int\n&  four: Int\n}\n",
        "  zone: Int\n",
        "  zone: String\n",
    ),
    "tf": (
        "a.tf",
        'resource "a" "b" {\n  one = 1\n@  two = 2\n  three = 3\n&  four = 4\n}\n',
        "  zone = 1\n",
        "  zone = 2\n",
    ),
}


def renamed(case: tuple[str, str, str, str]) -> tuple[str, str, str, str]:
    """The case, but theirs gives another name and another number."""
    path, text, ours, theirs = case
    return (
        path,
        text,
        ours,
        theirs.replace("zone", "cone").replace("ZONE", "CONE").replace("six", "ten").replace("6", "7"),
    )


@pytest.mark.parametrize("name", TWICE)
def test_a_name_given_by_both_sides_in_one_section_is_not_proven(name: str) -> None:
    assert isinstance(merged(TWICE[name], "", ""), Unproven)


@pytest.mark.parametrize("name", TWICE)
def test_names_that_differ_are_proven(name: str) -> None:
    assert isinstance(merged(renamed(TWICE[name]), "", ""), Proven)


@pytest.mark.parametrize(
    "case",
    [
        ("a.ini", "[a]\none = 1\n@\n[b]\nthree = 3\n&", "zone = 6\n", "zone = 7\n"),
        (
            "a.proto",
            "message A {\n  int32 one = 1;\n@}\nmessage B {\n  int32 three = 3;\n&}\n",
            "  int32 z = 6;\n",
            "  int64 z = 6;\n",
        ),
    ],
)
def test_one_name_in_two_sections_is_proven(case: tuple[str, str, str, str]) -> None:
    assert isinstance(merged(case, "", ""), Proven)
