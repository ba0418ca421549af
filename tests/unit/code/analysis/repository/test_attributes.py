"""Which attributes of its own object a piece of a program uses, and which of them it sets, in each language."""

import pytest

from commonhold.code.analysis.repository.attributes import attributes
from commonhold.code.regions.language import parse
from commonhold.code.regions.languages import PYTHON, language_for


def found(path: str, text: str) -> dict[str, bool]:
    """The attributes, and whether any use sets them."""
    language = language_for(path, text.encode())
    assert language is not None
    uses: dict[str, bool] = {}
    for each in attributes(parse(text.encode(), language), language.name, 0, len(text.encode()), 0):
        uses[each.name] = uses.get(each.name, False) or each.is_written
    return uses


def in_method(statement: str) -> str:
    return f"class C:\n    def m(self, other):\n        {statement}\n"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("return self.x", {"x": False}),
        ("return other.x", {}),
        ("self.x = 1", {"x": True}),
        ("self.x: int = 1", {"x": True}),
        ("self.x += 1", {"x": True}),
        ("self.x[0] = 1", {"x": True}),
        ("self.x.y = 1", {"x": True}),
        ("self.x, self.y = other", {"x": True, "y": True}),
        ("del self.x", {"x": True}),
        ("del self.x[0]", {"x": True}),
        ("self.x.append(1)", {"x": True}),
        ("self.x[0].update(other)", {"x": True}),
        ("self.x.index(1)", {"x": False}),
        ("self.append(1)", {"append": False}),
        ("other[self.x] = 1", {"x": False}),
        ("other = self.x", {"x": False}),
        ("self.m(other)", {"m": False}),
        ("cls.x = other", {"x": True}),
        ("return self.x < other", {"x": False}),
        ('return "self.x"  # self.y', {}),
    ],
)
def test_in_python(statement: str, expected: dict[str, bool]) -> None:
    assert found("a.py", in_method(statement)) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "class C { m() { this.x = this.y; this.z.push(1); } }", {"x": True, "y": False, "z": True}),
        ("a.js", "class C { m() { this.x++; if (this.y < 1) delete this.z.a; } }", {"x": True, "y": False, "z": False}),
        ("a.ts", "class C { m() { this.x[0] = 1; return this.y.map(f); } }", {"x": True, "y": False}),
        (
            "A.java",
            "class A { void m() { this.x = 1; this.y.add(2); int a = this.z; } }",
            {"x": True, "y": True, "z": False},
        ),
        (
            "a.rs",
            "impl A { fn m(&mut self) { self.x += 1; self.y.push(2); self.z.len(); } }",
            {"x": True, "y": True, "z": False},
        ),
        ("a.go", "package a\n\nfunc (s *S) M() {\n\ts.x = 1\n}\n", {}),
    ],
)
def test_in_other_languages(path: str, text: str, expected: dict[str, bool]) -> None:
    assert found(path, text) == expected


def test_lines_are_counted_from_the_row_that_is_given_and_only_the_span_is_looked_at() -> None:
    text = in_method("self.a = 1\n        self.b = 1").encode()
    start = text.index(b"self.b")
    (only,) = attributes(parse(text, PYTHON), "python", start, len(text), 1)
    assert (only.name, only.row) == ("b", 2)
