"""The summary of a text of which only what differs was read is that of the whole text, whatever was edited."""

import ast
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonhold.code.analysis.module_definitions import Sort
from commonhold.code.analysis.repository import python_pieces
from commonhold.code.analysis.repository.facts import Watched
from commonhold.code.analysis.repository.interface_changes import is_restated, stated
from commonhold.code.analysis.repository.new_use_errors import added_uses
from commonhold.code.analysis.repository.parts import PartedSummary
from commonhold.code.analysis.repository.python import read_part
from commonhold.code.analysis.repository.python_files import summarise_python, update_python
from commonhold.code.analysis.repository.summary import ClassShape, Offer, Summary

# So many lines that what follows is in a chunk of its own.
_APART: Final = "# apart\n" * 8
_FRAGMENTS: Final = (
    "import os\nimport box.lid\n",
    "from box import Box, make as maker\n",
    "from shop import *\n",
    "try:\n    from box import Box\nexcept ImportError:\n    Box = None\n",
    "box = Box()\n",
    "box = make().it\nlid = box.lid\n",
    "box: Box\n",
    "box: 'Case | None' = None\n",
    "box += 1\n",
    "del box\n",
    "for box in boxes: pass\n",
    "with Box() as box: pass\n",
    "__all__ = ['f', 'Box']\n",
    "def list(a): return a\n",
    "def make(a, *, b=1):\n    return Box(a)\n",
    "def make(a, *rest, **more):\n    return Box(*rest, **more)\n",
    "async def make(a) -> Box:\n    return list(a)[0].open()\n",
    "def f(a: Box, b):\n    box.open(a)\n    return make(*b)\n",
    "def f():\n    global total, box\n    total = box = 1\n    yield total\n",
    "@overload\ndef f(a: int) -> int: ...\n",
    "@overload\ndef f(a: str) -> str: ...\n",
    "@f.register\ndef _(a): return run(*a)\n",
    "class Box:\n    size = 1\n    def open(self, *a):\n        self.is_open = True\n        return super().open(*a)\n",
    "class Box(Case):\n    def __getattr__(self, name): return box.lid(name)\n    size: int = make()\n",
    "class Box:\n  def shut(self):\n    class In(Case):\n      def x(self): super().x(*1)\n    self.is_open = In\n",
    "if os:\n    class Case: pass\nelse:\n    def Case(): return box\n",
    "run = os.make(1)\nrun(*run)\n",
    "run = make(1)[0](2)\n",
    "text = '''\ndef f():\n    return 1\n'''\n",
    "x = 1; y = (\n    2)\n",
    "y = [n for n in (last := 1, 2)]\n",
    "(\nmake\n)(*box)\n",
    "@(\nf)\ndef g(): pass\n",
    "x = \\\n1\n",
    "# a comment \\\n",
    "def f(a='é'): pass\n",
    "# -*- coding: utf-8 -*-\n",
    "def one():\n    class In(maker):\n        def x(self): super().x(*1)\n",
    "def other():\n    class In(Case): pass\n",
    "\n\n",
    "\t# a note\n",
    "\f\n",
    "def g(a):\r\n    x = a\r\n    return box(x)\r\n",
    _APART,
)
_ODD: Final = (
    "    x = 1\n",
    "else:\n    x = 1\n",
    "def broken(:\n",
    "'''\n",
    "x = (\n",
    "x = 1; \\\n",
    "  \fx = box\n",
    "x = 1; \\\r\n",
    "x = 1\rx = 2\n",
    "# coding: latin-1\n",
    "# coding: utf-8.x\n",
)
_ENDS: Final = ("\n", "", "x = a", "x = ab", "x = 1\\\n")

fragments = st.lists(st.sampled_from(_FRAGMENTS), max_size=8)
odd = st.sampled_from(_ODD).map(lambda each: [each])


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[str], ...]:
    """A file, and what it becomes edit by edit."""
    versions = [draw(fragments)]
    for _ in range(draw(st.integers(1, 4))):
        versions.append(edited(draw, versions[-1], fragments))
    return tuple(versions)


def edited(draw: st.DrawFn, before: Sequence[str], known: st.SearchStrategy[list[str]]) -> list[str]:
    """Something is put in, taken out, replaced, doubled or moved."""
    now = list(before)
    first, last = sorted((draw(st.integers(0, len(now))), draw(st.integers(0, len(now)))))
    few = known.map(lambda each: each[:2])
    new = draw(st.one_of(few, few, st.just(now[first:last]), odd))
    at = draw(st.one_of(st.just(first), st.integers(0, len(now))))
    now[first:last] = []
    now[at:at] = new
    return now


_HEADS: Final = (
    "class Box:\n    size = 1\n",
    "class Box(Case, box.lid):\n    size: int = make()\n",
    "class Box(Case[int], box.lid):\n    size = make()\n    size += 1\n",
    "class Box(make()):\n    '''A box.'''\n",
    "class Box(Case):  # a note\n\t__slots__ = ('size',)\n",
    "class Box(Case):\n    @property\n    def size(self): return 1\n",
    "class Box(Case, metaclass=box.lid):\n    size = 1\n",
    "@final\n@make(1)\nclass Box(Case):\n    # first\n    size = 1\n",
    "@dataclass\nclass Box:\n    size: int\n",
    "class Box(NamedTuple):\n    size: int\n",
    "class Box:\n    global size\n    size = 1\n",
    "class Case:\n    size = Box()\n",
    "class Box: size = 1\n",
    "if box:\n  class Box:\n    size = 1\n",
    "Box = 1\nclass Box(Case):\n    size = 1\n",
    "def Box():\n    size = 1\n",
)
_MEMBERS: Final = (
    "    size = 1\n",
    "    size = make()\n    lid = box.lid\n",
    "    size: Box\n",
    "    size += 1\n",
    "    del size\n",
    "    import size\n",
    "    lid: 'Box | None' = None\n",
    "    weight: int = field(default=1)\n",
    "    __slots__ = ('a', 'b')\n",
    "    @property\n    def size(self): return self.a\n",
    "    @size.setter\n    def size(self, a): self.a = a\n",
    "    @overload\n    def open(self, a: int) -> int: ...\n",
    "    @overload\n    def open(self, a: str) -> str: ...\n",
    "    def open(self, *a):\n        self.is_open = make(a)\n        return super().open(*a)\n",
    "    def open(self, *a, b=size, **more) -> size:\n        return box.run(*a, **more)\n",
    "    async def open(self) -> Box: yield size\n",
    "    def open(self, a=size()): size.run(*a); lid.shut()\n",
    "    @(\n    size)\n    def shut(self): pass\n",
    "    @size.run(*lid)\n    @staticmethod\n    def shut(a): return list(a)\n",
    "    @classmethod\n    def shut(cls): cls.count = cls()\n",
    "    def shut(self):\n        global total\n        total = self.size = 1\n",
    "    def shut(self):\n        class In(Case):\n            def x(self): super().x(*1)\n",
    "    class In(Case):\n        size = 1\n        def x(self): super().x(*1); self.y = 1\n",
    "    class In(make):\n        def x(self): return super().x(*1)\n",
    "    class In:\n        class Deep(Box): pass\n",
    "    def __getattr__(self, name): return 1\n",
    "    if box:\n        def open(self): pass\n    else:\n        open = 1\n",
    "    else:\n        size = 2\n",
    "    for size in boxes: pass\n",
    "    size(*[size for size in size])\n",
    "    x = [size := 1, lambda: size]\n",
    "    x = 1 \\\n ;\n",
    "    x = 1; \\\n    y = 2\n",
    "    text = '''\n    def f(self):\n        pass\n'''\n",
    "    global lid\n",
    "        deeper = 1\n",
    "\tsize = 1\n",
    "    # a note\n",
    "  # another\n",
    "# one more\n",
    "\n\n",
    "    def g(self):\r\n        size = 1\r\n",
    "    def g(self, a='é'): pass\n",
    "x = size\n",
    "class Box: pass\n",
    "class Other(Box):\n    size = 1\n",
    "    # apart\n" * 8,
)
members = st.lists(st.sampled_from(_MEMBERS), max_size=8)


@st.composite
def edits_of_a_class(draw: st.DrawFn) -> tuple[list[str], ...]:
    """A file with a class that becomes other edit by edit: mostly its members, else its head or what is around it."""
    sections = [draw(fragments)[:2], [draw(st.sampled_from(_HEADS))], draw(members), draw(fragments)[:2]]
    versions = [[each for section in sections for each in section]]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.sampled_from((2, 2, 2, 2, 1, 0, 3)))
        if at == 1:
            sections[1] = [draw(st.sampled_from(_HEADS))]
        else:
            sections[at] = edited(draw, sections[at], members if at == 2 else fragments)
        versions.append([each for section in sections for each in section])
    return tuple(versions)


def read_whole(source: bytes) -> Summary:
    """The summary made from nothing, of classes that are read in one piece."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_pieces, "_opening", lambda *_: None)
        return summarise_python(source)


@contextmanager
def parses() -> Iterator[list[str]]:
    """The texts that are parsed meanwhile."""
    read: list[str] = []
    parse = ast.parse

    def parsed(text: str) -> ast.Module:
        read.append(text)
        return parse(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ast, "parse", parsed)
        yield read


def text_of(parts: Sequence[str], end: str = "\n") -> bytes:
    return ("".join(parts) + end).encode()


def assert_same(found: Summary, expected: Summary) -> None:
    """All that anybody asks of a summary is the same."""
    assert found == expected
    plain = expected.flat
    assert found.used_names == plain.used_names
    assert found.offered_names == plain.offered_names
    assert {name: list(found.uses_by_name[name]) for name in found.uses_by_name} == plain.uses_by_name
    assert found.uses_by_name.get("nowhere") is None


def assert_compared_alike(before: Summary, after: Summary) -> None:
    """Comparing part by part finds what comparing all does."""
    assert is_restated(before, after) == (stated(before) != stated(after))
    assert list(added_uses(before, after)) == list(added_uses(before.flat, after.flat))


@given(edits(), st.lists(st.sampled_from(_ENDS), min_size=5, max_size=5), st.sampled_from((1, 8)))
@example((["def f(): pass\n", "x = 1\n"], ["def f(): pass\n", "    x = 1\n"]), ["\n"] * 2, 1)
@example((["x = 1; \\\n", "x = 2\n"], ["x = 1; \\\n"]), [""] * 2, 1)
@example((["y = 1\n"], ["x = 1; \\\n", "x = 2\n"], ["x = 1; \\\n"]), [""] * 3, 1)
@example((["y = 1\r\n"], ["x = 1; \\\r\n", "x = 2\r\n"], ["x = 1; \\\r\n"]), [""] * 3, 1)
@example((["x = 2\n"], ["x = 2\n"]), ["x = a", "x = ab"], 1)
@example((["é = 1\n", "def f(a='é'): pass\n"], ["# coding: latin-1\n", "def f(a='é'): pass\n"]), [""] * 2, 1)
@example((["def f(a): pass\n", "x = 1\n"], ["def f(b): pass\n", "x = 1\n"]), [""] * 2, 1)
@example((["y = 1\n@(\n", "f)\ndef g(): pass\n"], ["y = 1\n@(\n", "x = 1\n", "f)\ndef g(): pass\n"]), [""] * 2, 1)
@example((["x = 1; y = f(\n", "2); z = 3\n"], ["x = 1; y = f(\n", "u = 1\n", "2); z = 3\n"]), [""] * 2, 1)
@example((["def g(): pass\n", "x = 1\n"], ["@(\nf)\ndef g(): pass\n", "x = 1\n"]), [""] * 2, 1)
def test_what_differs_is_read_as_if_all_was(versions: Sequence[Sequence[str]], ends: Sequence[str], few: int) -> None:
    assert_updated_alike(versions, ends, few)


@given(edits_of_a_class(), st.lists(st.sampled_from(_ENDS), min_size=5, max_size=5), st.sampled_from((1, 1, 8)))
def test_so_is_what_differs_in_a_class(versions: Sequence[Sequence[str]], ends: Sequence[str], few: int) -> None:
    assert_updated_alike(versions, ends, few)


def assert_updated_alike(versions: Sequence[Sequence[str]], ends: Sequence[str], few: int) -> None:
    """Each version is the same whether it is made of the one before or of nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_pieces, "_FEW_LINES", few)
        before = summarise_python(text_of(versions[0], ends[0]))
        for version, end in zip(versions[1:], ends[1:], strict=False):
            text = text_of(version, end)
            after = update_python(before, text)
            assert_same(after, summarise_python(text))
            assert_same(after, read_whole(text))
            assert_compared_alike(before, after)
            before = after


_USER: Final = "def f(a: Box, b):\n    box.open()\n    run(*b)\n    list(a)[0].shut()\n"
# What one statement makes of what another means.
_CONTEXTS: Final = {
    "an import becomes a value": ("import box\n", "box = Box()\n"),
    "a value becomes another": ("box = Box()\n", "box = Case()\n"),
    "an annotation becomes another": ("box: Box\n", "box: Case\n"),
    "a value is bound twice": ("box = Box()\n", "box = Box()\nbox = 1\n"),
    "what a value is a call of is imported": ("from m import Box\nbox = Box()\n", "Box = 1\nbox = Box()\n"),
    "what a value is an element of is imported": ("from m import Box\nbox = Box[0]()\n", "Box = 1\nbox = Box[0]()\n"),
    "a literal becomes something else": ("box = ''.join(x)\n", "box = (lambda: 0)()\n"),
    "a builtin gets another meaning": ("", "def list(a): return a\n"),
    "a called function is imported": ("from m import run\n", "def run(*a): return a\n"),
    "a called value comes from outside": ("import m\nrun = m.make()\n", "m = 1\nrun = m.make()\n"),
}


@pytest.mark.parametrize(("before", "after"), _CONTEXTS.values(), ids=_CONTEXTS.keys())
def test_what_statements_know_of_each_other_is_kept_in_step(before: str, after: str) -> None:
    old = summarise_python(text_of([before, _APART, _USER]))
    text = text_of([after, _APART, _USER])
    assert_same(update_python(old, text), summarise_python(text))


@pytest.mark.parametrize(("before", "after"), _CONTEXTS.values(), ids=_CONTEXTS.keys())
def test_each_of_these_would_be_missed_by_who_takes_no_note_of_what_is_read(
    before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watched, "reads", property(lambda _self: set(), lambda _self, _reads: None), raising=False)
    old = summarise_python(text_of([before, _APART, _USER]))
    text = text_of([after, _APART, _USER])
    assert update_python(old, text) != summarise_python(text)


def test_what_comes_together_from_all_statements_does_so_again() -> None:
    """Names declared global, guarded imports, overloads and hooks are told by statements of any chunk."""
    chunks = [
        "def f():\n    global total\n",
        "try:\n    from m import g\nexcept ImportError:\n    pass\n",
        "@overload\ndef h(a): ...\n",
        "def h(a, b): ...\n",
        "class C:\n    def m(self): self.x = 1\n",
        "class C:\n    def __getattr__(self, name): pass\n",
        "__all__ = ['f']\n",
        "total = 1\n",
    ]
    apart = [part for chunk in chunks for part in (chunk, _APART)]
    whole = summarise_python(text_of(apart))
    assert [each.is_guarded for each in whole.imports] == [True]
    assert whole.offered["C"].shape == ClassShape(is_open=True)
    assert len(whole.offered["h"].signatures) == 1
    for at in range(0, len(apart), 2):
        less = text_of([*apart[:at], *apart[at + 2 :]])
        expected = summarise_python(less)
        assert expected != whole
        assert_same(update_python(whole, less), expected)
        assert_same(update_python(expected, text_of(apart)), whole)
    assert update_python(whole, text_of(apart[:-2])).offered["total"] == Offer("total", Sort.VALUE, 1, 1, is_sole=False)


def test_what_a_statement_means_does_not_depend_on_those_that_are_read_with_it() -> None:
    texts = ["def a():\n  class In(m):\n    def x(self): super().x(*1)\n", "def b():\n  class In(C): pass\n"]
    statements = ast.parse("".join(texts)).body
    facts = {"m": ((True, None, None),)}
    together = read_part(statements, b"", facts)
    alone = [read_part([each], b"", facts) for each in reversed(statements)]
    assert together.markers == tuple(marker for each in alone for marker in each.markers)
    assert together.uses == tuple(use for each in alone for use in each.uses)


def test_only_what_differs_is_read() -> None:
    functions = [f"def f{n}(a):\n" + f"    a.open({n})\n" * 9 for n in range(20)]
    before = summarise_python(text_of(functions))
    functions[7] = functions[7].replace("open", "shut")
    functions[15] = "def new(): pass\n" + functions[15]
    with parses() as read:
        after = update_python(before, text_of(functions))
    assert read == [functions[7], "def new(): pass\n"]
    assert isinstance(before, PartedSummary)
    assert isinstance(after, PartedSummary)
    assert len({*map(id, before.chunks)} & {*map(id, after.chunks)}) == 19


# What one member makes of what another means, or the head, in a file and in the file that it becomes.
_MEMBER_CONTEXTS: Final = {
    "a default becomes an import": ("", "    size = Case()\n", "", "    import size\n"),
    "an attribute becomes another": ("", "    size = Box()\n", "", "    size = Case()\n"),
    "an attribute is bound twice": ("", "    size = Box()\n", "", "    size = Box()\n    size = 1\n"),
    "a name of the file becomes the class's": ("", "    a = 1\n", "", "    size = 1\n"),
    "a base becomes an import": ("Case = 1\n", "", "import Case\n", ""),
}
_MEMBER: Final = "    def f(self, a=size.open(), *b):\n        super().run(*b)\n"


@pytest.mark.parametrize(("top", "member", "new_top", "new_member"), _MEMBER_CONTEXTS.values(), ids=_MEMBER_CONTEXTS)
def test_what_members_know_of_each_other_is_kept_in_step(top: str, member: str, new_top: str, new_member: str) -> None:
    head, apart = "class Box(Case):\n    '''A box.'''\n", "    # apart\n" * 8
    old = summarise_python(text_of([top, head, apart, member, apart, _MEMBER]))
    text = text_of([new_top, head, apart, new_member, apart, _MEMBER])
    new = update_python(old, text)
    assert isinstance(old, PartedSummary)
    assert isinstance(new, PartedSummary)
    assert_same(new, read_whole(text))
    assert old.chunks[-1].part != new.chunks[-1].part
    assert old.chunks[-1].text == new.chunks[-1].text


def methods(count: int) -> list[str]:
    return [f"    def m{n}(self):\n" + f"        self.x{n}.open({n})\n" * 9 for n in range(count)]


_METHOD: Final = "    @property\n    def m7(self):\n        self.y = 1\n        return super().m7\n"
_TURNED: Final = {
    "another body": _METHOD,
    "a value": "    m7 = 1\n",
    "a class": "    class m7(Box):\n        def x(self): self.y = 1\n",
    "nothing": "",
    "two": _METHOD + "\n" + _METHOD.replace("m7", "other"),
    "a function of the top level, and another class": "def m7(): pass\n\nclass Other(Box):\n",
    "only notes": "    # gone\n# and more\n",
    "what is conditional": "    if box:\n" + _METHOD.replace("    ", "        "),
    "what takes the next into its brackets": "    m7 = '''\n",
    "what has another indent": _METHOD.replace("    ", "  "),
}


@pytest.mark.parametrize("new", _TURNED.values(), ids=_TURNED.keys())
def test_a_method_turns_into_something_else(new: str) -> None:
    head, rest = "@final\nclass Box(Case):\n    '''A box.'''\n", "\n\ndef f():\n    pass\n"
    before = methods(12)
    after = [*before[:7], new, *before[8:]]
    old, text = summarise_python(text_of([head, *before, rest])), text_of([head, *after, rest])
    assert_same(update_python(old, text), read_whole(text))
    back = update_python(summarise_python(text), text_of([head, *before, rest]))
    assert_same(back, old)


def test_of_a_class_only_what_differs_is_read() -> None:
    head, rest = "class Box(\n    Case, lid.Lid[int], metaclass=Meta\n):\n    size = 1\n\n", "\nimport os\n"
    members = methods(20)
    before = summarise_python(text_of([head, *members, rest]))
    members[7] = members[7].replace("open", "shut")
    members[15] = "    def new(self): pass\n" + members[15]
    with parses() as read:
        after = update_python(before, text_of([head, *members, rest]))
    above = "class Box(Case, lid.Lid):\n    0\n"
    assert read == [above + members[7], above + "    def new(self): pass\n"]
    assert isinstance(before, PartedSummary)
    assert isinstance(after, PartedSummary)
    assert len({*map(id, before.chunks)} & {*map(id, after.chunks)}) == len(before.chunks) - 1


@pytest.mark.parametrize("rest", ["", "import os\n", "class Other: pass\n"])
def test_what_is_put_behind_the_last_statement_of_a_definition_belongs_to_it(rest: str) -> None:
    head, members = "class Box:\n    size = 1\n\n", methods(12)
    function = "def f(a):\n" + "    a.open()\n" * 9
    before = [head, *members, rest, function]
    for at, added in ((12, "\n        self.y = 1\n"), (len(before) - 1, "    a.shut()\n")):
        after = list(before)
        after[at] += added
        text = text_of(after, "")
        old = summarise_python(text_of(before, ""))
        with parses() as read:
            new = update_python(old, text)
        assert max(map(len, read)) < len(text) / 4
        assert_same(new, read_whole(text))


def test_a_file_of_nothing_has_a_summary_of_nothing() -> None:
    before = summarise_python(b"")
    assert before == Summary("python")
    assert_same(update_python(before, b"x = 1\n"), summarise_python(b"x = 1\n"))
    assert_same(update_python(summarise_python(b"x = 1\n"), b""), before)


def test_a_summary_goes_to_another_process_with_its_parts() -> None:
    functions = ["import os\n", _APART, *(f"def f{n}(a):\n" + f"    a.open({n})\n" * 9 for n in range(3))]
    before = summarise_python(text_of(functions))
    after = update_python(before, text_of([*functions, "x = 1\n"]))
    assert after.used_names > {"open"}
    gone = pickle.loads(pickle.dumps((before, after)))  # noqa: S301 - our own
    assert gone == (before, after)
    assert hash(gone) == hash((before.flat, after.flat))
    assert gone[0].chunks[0] is gone[1].chunks[0]
    assert_same(update_python(gone[1], text_of(functions)), before)


def test_a_file_in_another_encoding_is_read_whole() -> None:
    text = b"# coding: unicode_escape\n" + b"x = 1\\n" * 20 + b"def f(): pass\n"
    found = summarise_python(text)
    assert type(found) is Summary
    assert found.offered["f"].line == 22  # twenty lines further down than its bytes
    assert update_python(summarise_python(b"x = 1\n"), text) == found


@pytest.mark.parametrize(
    "head", ["", "# -*- coding: utf-8 -*-\n", '"""Encoding and decoding."""\n', "\n\n# coding: cp037\n"]
)
def test_other_files_are_not(head: str) -> None:
    assert isinstance(summarise_python(f"{head}def f(): pass\n".encode()), PartedSummary)


@pytest.mark.parametrize(
    "head", ["# coding: latin-1\n", "#!x\n# coding=cp037\n", "x = 1\r# coding: koi8-r\r", "\ufeff"]
)
def test_who_begins_with_another_encoding_is_read_whole(head: str) -> None:
    before = summarise_python(b"y = 1\ndef f(a='\xc3\xa9'): pass\n")
    text = f"{head}y = 1\ndef f(a='é'): pass\n".encode()
    assert_same(update_python(before, text), summarise_python(text))
    assert type(summarise_python(text)) is Summary
