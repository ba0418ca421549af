"""Edges of `examine` that no story tells: unreadable files, encodings, depth, syntax of later Pythons."""

import ast
import sys
from typing import Any

import pytest

from commonhold.code.analysis.admission import Changed, Findings, examine
from commonhold.code.analysis.collector import collect
from commonhold.code.analysis.fragment import differ_in_body
from commonhold.code.analysis.references import Receiver, Use
from commonhold.code.regions.discover import discover
from commonhold.kernel.keys import Key


def find(before: bytes, after: bytes, *names: str) -> Findings:
    old, new = discover(before, "m.py"), discover(after, "m.py")
    keys = {region.key.qualname: region.key for region in (*old.regions, *new.regions)}
    return examine(old, new, [Changed(keys[name], keys[name]) for name in names])


def required(findings: Findings) -> list[str]:
    return [one.key.qualname for one in findings.required]


def test_an_unreadable_file_before_is_not_compared() -> None:
    findings = find(b"def f(x):\n    pass\nprint 1\n", b"def f(x, y):\n    pass\nf(1)\n", "f")
    assert findings.required == ()
    assert len(findings.notices) == 1


def test_a_function_that_python_cannot_read_is_not_compared() -> None:
    findings = find(b"def f(x):\n    print 1\n", b"def f(x, y):\n    print(1)\n\ndef g():\n    f(1)\n", "f")
    assert (findings.required, len(findings.notices)) == ((), 1)


def test_a_file_that_could_not_be_decoded_is_not_compared() -> None:
    old, new = discover(b"x = '\xff'\n", "m.py"), discover(b"y = 1\n", "m.py")
    findings = examine(old, new, [Changed(old.file.key, new.file.key)])
    assert (findings.required, len(findings.notices)) == ((), 1)


def test_a_renamed_parameter_that_nobody_gives_is_not_told() -> None:
    findings = find(
        b"def f(width):\n    pass\n\ndef g():\n    pass\n", b"def f(depth):\n    pass\n\ndef g():\n    pass\n", "f"
    )
    assert (findings.required, findings.notices) == ((), ())


@pytest.mark.parametrize("name", ["C", "f"])
def test_a_function_that_became_the_header_of_a_class(name: str) -> None:
    source, changed = "def f(x): pass\n\ndef g(): f(1)\n", f"class {name}:\n    x = 1\n\ndef g(): f(1)\n"
    old, new = discover(source.encode(), "m.py"), discover(changed.encode(), "m.py")
    keys = {region.key.qualname: region.key for region in (*old.regions, *new.regions)}
    assert required(examine(old, new, [Changed(keys["f"], keys[f"{name}.@header"])])) == ["g"]


def test_other_languages_are_not_examined() -> None:
    regions = discover(b'{"a": 1}\n', "m.json")
    assert examine(regions, regions, [Changed(regions.file.key, regions.file.key)]) == Findings()


def test_keys_that_no_map_has_are_left_out() -> None:
    regions = discover(b"def f(): pass\n", "m.py")
    unknown = Key("file", ("other.py",))
    assert examine(regions, regions, [Changed(unknown, None), Changed(None, unknown)]) == Findings()


@pytest.mark.parametrize(
    "head", [b"", b"\xef\xbb\xbf", b"# coding: latin-1\n# \xe9\n"], ids=["plain", "byte order mark", "latin-1"]
)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_encodings_and_newlines(head: bytes, newline: bytes) -> None:
    before = head + b"def f(x):\n    '''two\nlines'''\n\ndef g():\n    return f(1)\n"
    after = before.replace(b"(x)", b"(x, y)")
    findings = find(before.replace(b"\n", newline), after.replace(b"\n", newline), "f")
    assert required(findings) == ["g"]
    assert findings.required[0].line == 6 + head.count(b"\n")


def test_a_body_in_latin_1() -> None:
    before = b"# coding: latin-1\ndef f(x):\n    return '\xe9'\n"
    assert find(before, before.replace(b"\xe9", b"\xe8"), "f") == Findings()


def test_strings_of_several_lines_in_methods() -> None:
    before = (
        b"class C:\n    def m(self, x='''a\nb'''):\n        return 1\n\n    def n(self):\n        return self.m()\n"
    )
    assert find(before, before.replace(b"return 1", b"return 2"), "C.m") == Findings()
    (notice,) = find(before, before.replace(b"'''a\nb'''", b"'''a\n    b'''"), "C.m").notices
    assert notice.endswith("was 'a\\nb' and is now 'a\\n    b': 1 call leaves it out")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            b"@d(lambda: {})\ndef f(x=':', *y: a[1:2]):\n    a",
            b"@d(lambda: {})\ndef f(x=':', *y: a[1:2]):\n    b",
            True,
        ),
        (
            b"    # why\r\n    async def m(self\r\n    ):\r\n        a",
            b"    # why\r\n    async def m(self\r\n    ): b",
            True,
        ),
        (b"def f(x):\n    getattr(x)", b"def f(x):\n    return x", True),
        (b"def f(x):\n    return x", b"def f(x):\n    getattr(x)", False),
        (b"def f(x):\n    yield x", b"def f(x):\n    return x", False),
        (b"def f(x):\n    return x", b"def f(x, y):\n    return x", False),
        (b"def f(x): pass", b"def f(x", False),
        (b"@lambda f: f\ndef f(x): pass", b"@lambda f: f\ndef f(x): 1", False),
        (b"class C:\n    def f(x): pass", b"class C:\n    def f(x): 1", False),
        (b"def f(x) -> int | None: pass", b"def f(x) -> int: pass", False),
        (b"x = 1", b"x = 2", False),
    ],
)
def test_functions_that_differ_in_nothing_but_their_bodies(old: bytes, new: bytes, expected: object) -> None:
    assert differ_in_body(old, new) is expected


def test_a_function_that_is_overwritten_by_nothing_a_function_is() -> None:
    findings = find(b"def f(x):\n    pass\n\ndef g():\n    f(1)\n", b"class f:\n    pass\n\ndef g():\n    f(1)\n", "f")
    assert required(findings) == ["g"]


def test_depth_is_no_limit() -> None:
    chain = "".join(f"    elif x == {n}:\n        f({n})\n" for n in range(150))
    deep = f"def g(x):\n    if x:\n        pass\n{chain}\n\ndef h():\n    return {'+'.join(['f(1)'] * 800)}\n"
    before, after = f"def f(x):\n    pass\n\n{deep}", f"def f(x, y):\n    pass\n\n{deep}"
    assert required(find(before.encode(), after.encode(), "f")) == ["g", "h"]


LATER = """\
def f(x): ...
type Alias[T] = dict[T, f]
class C[f]:
    def m[T](self, x: T) -> T:
        return f(x)
def shadowed[f](x: f) -> f:
    return f
def plain[T](x: T = f(1)) -> T:
    return x
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_type_parameters() -> None:
    findings = find(LATER.encode(), LATER.replace("f(x)", "f(x, y)", 1).encode(), "f")
    assert required(findings) == ["plain"]


def test_type_parameters_as_made_by_hand() -> None:
    """What 3.12 would parse, on any version: a type parameter hides a name of the module."""
    tree = ast.parse("def g(x: f):\n    return f\nclass C(f):\n    y = f\n")
    for node in tree.body:
        node.type_params = [type("TypeVar", (ast.AST,), {"name": "f"})()]  # type: ignore[attr-defined]
    assert "f" not in [reference.name for reference in collect(tree).references]


def test_an_alias_of_a_type_names_others_in_an_annotation() -> None:
    alias: Any = ast.AST()
    alias._fields = ("value",)
    alias.value = ast.Name("f", ast.Load(), lineno=1, col_offset=0)
    tree = ast.Module([alias], [])
    if sys.version_info >= (3, 12):
        tree = ast.parse("type X[T] = dict[T, f]")
    (reference,) = [one for one in collect(tree).references if one.name == "f"]
    assert reference.use is Use.ANNOTATION


ZOO = """\
async def zoo(a, /, b, *c, d=f, **e):
    async with f(1) as x, y as (z, *w):
        pass
    async for q in f(2):
        await f(3)
    else:
        f(4)
    match a:
        case f.x(1, k=2) | {"k": 1} | [*_] if f(5):
            pass
        case {"k": 1, **more}:
            pass
    try:
        raise f from f(6)
    except* (OSError, f.E):
        raise
    finally:
        a.b += f(7)
        a[f(8)] = f"{f(9)!r:>{f(10)}}"
    del a.b, a[f(11)]
    assert f(12), f(13)
    return (yield f(14)), (lambda *g, h=f(15), **i: f(16)), [u async for u in f(17) for v in f(18) if f(19)]
"""


def test_every_kind_of_syntax_is_walked() -> None:
    calls = [one.line for one in collect(ast.parse(ZOO)).references if one.name == "f" and one.use is Use.CALL]
    assert len(calls) == 20  # 19 calls and a raise


RECEIVERS = {
    "self.m()": (Receiver.SELF, "C"),
    "self.__class__.m()": (Receiver.CLS, "C"),
    "type(self).m()": (Receiver.CLS, "C"),
    "type(x).m()": (Receiver.UNKNOWN, ""),
    "super().m()": (Receiver.SUPER, "C"),
    "self.other.m()": (Receiver.UNKNOWN, ""),
    "D.m()": (Receiver.CLASS, "D"),
    "D.E.m()": (Receiver.CLASS, "D.E"),
    "D().m()": (Receiver.INSTANCE, "D"),
    "d.m()": (Receiver.INSTANCE, "D"),
    "e.m()": (Receiver.INSTANCE, "D"),
    "n.m()": (Receiver.UNKNOWN, ""),
    "os.m()": (Receiver.OUTSIDE, ""),
    "p.m()": (Receiver.OUTSIDE, ""),
    "u.m()": (Receiver.INSTANCE, "C"),
    "s.m()": (Receiver.INSTANCE, "C"),
    "o.m()": (Receiver.INSTANCE, "C"),
    "both.m()": (Receiver.UNKNOWN, ""),
    "odd.m()": (Receiver.UNKNOWN, ""),
    "made.m()": (Receiver.OUTSIDE, ""),
    "[].m()": (Receiver.OUTSIDE, ""),
    "os.x[0]().m()": (Receiver.OUTSIDE, ""),
    "(x + y).m()": (Receiver.UNKNOWN, ""),
    "x.m()": (Receiver.UNKNOWN, ""),
}


@pytest.mark.parametrize("expression", RECEIVERS)
def test_receivers(expression: str) -> None:
    source = f"""\
import os
from pathlib import Path
class C:
    def method(self, x, y, e: "D", p: Path, u: C | None,
               s: "None | C", o: "Optional[C]", both: "C | D", odd: "C |"):
        d = D()
        made = os.made()
        n = x
        return {expression}
"""
    (found,) = [one for one in collect(ast.parse(source)).references if one.name == "m"]
    assert (found.receiver, found.class_name, found.use) == (*RECEIVERS[expression], Use.CALL)
