"""Edits that leave the types of the rest of their file alone."""

import pytest

from commonhold.code.analysis.confined import is_confined
from commonhold.code.regions.discover import discover

FILE = (
    "SIZE = 1\n\n\ndef f(value):\n    return value\n\n\ndef g():\n    return SIZE\n"
    "\n\nclass C:\n    def m(self):\n        return 1\n"
)
HEAD = "def f(value):\n    return value\n"
SCALED = "def f(value, scale=1):\n    return value * scale\n"
NEW = "\n\ndef new(value):\n    return new(value - 1)\n"


def edited(names: str, before: str, after: str, path: str = "a.py") -> bool:
    """Whether the regions with these names are confined, by what they were and what they are."""
    old, new = (
        {region.key.qualname: region for region in discover(text.encode(), path).regions} for text in (before, after)
    )
    pairs = [(old.get(name), new.get(name)) for name in names.split()]
    return is_confined(discover(before.encode(), path), discover(after.encode(), path), pairs)


def test_a_function_that_only_other_files_use_is_confined() -> None:
    assert edited("f", FILE, FILE.replace(HEAD, SCALED))
    assert edited("new", FILE, FILE.replace(HEAD, HEAD + NEW))
    assert edited("f new", FILE, FILE.replace(HEAD, SCALED + NEW))
    assert edited("f", FILE, FILE.replace(HEAD + "\n\n", ""))
    assert edited("", FILE, FILE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (FILE + "\n\ndef h():\n    return f(1)\n", SCALED),
        (FILE + "\n\ndef h():\n    return 'f'\n", SCALED),
        (FILE + "\n\nNAME = 'café'\n", SCALED),
        (FILE, "@cached\n" + SCALED),
        (FILE, SCALED.replace("    return", "    global SIZE\n    SIZE = ''\n    return")),
        (FILE, SCALED.replace("    return", "    import os.path\n    return")),
        (FILE, SCALED.replace("scale=1", "scale=(SIZE := '')")),
    ],
    ids=["called", "named in a string", "another spelling", "decorated", "global", "import", "walrus"],
)
def test_a_function_that_the_rest_of_its_file_may_depend_on_is_not(before: str, after: str) -> None:
    assert not edited("f", before, before.replace(HEAD, after))


def test_methods_classes_and_other_statements_are_not() -> None:
    assert not edited("C.m", FILE, FILE.replace("    def m(self)", "    def m(self, more=1)"))
    assert not edited("C D", FILE, FILE.replace("class C", "class D"))
    assert not edited("@header", FILE, FILE.replace("SIZE = 1", "SIZE = ''"))
    assert not edited("f f~1 g g~2", FILE, FILE.replace("def f(value)", "def g(value)"))


def test_other_languages_are_not() -> None:
    text = "export function f(value) {\n  return value;\n}\n\nexport function g() {\n  return 1;\n}\n"
    assert not edited("f", text, text.replace("f(value)", "f(value, scale)"), "a.ts")
