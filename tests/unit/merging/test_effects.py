"""What code does to names, and what of it bears on what another side changed: small tables."""

from dataclasses import fields

import pytest
from tests.unit.merging.elements import change, element

from commonhold.merging.cross_file_interference import bearing
from commonhold.merging.effects import Effects, effects_of
from commonhold.merging.footprint import Footprint, footprint_of
from commonhold.merging.merge import merge
from commonhold.merging.profiles import PYTHON as PROFILE
from commonhold.merging.verdict import Proven, Reason, Unproven


def effects(text: str) -> Effects:
    return effects_of([element(text).node], PROFILE)


@pytest.mark.parametrize(
    ("text", "defines", "uses"),
    [
        ("a = b", "a", "b"),
        ("a, (b, *c) = d", "a b c", "d"),
        ("a: int = b", "a", "int b"),
        ("a += b", "a", "a b"),
        ("a.b = c", ".b", "a c"),
        ("a.b.c = d", ".c", "a .b d"),
        ("a.b += 1", ".b", "a .b"),
        ("a[b] = c", "a", "a b c"),
        ("a.b[c] = d", ".b", "a c d"),
        ("del a", "a", ""),
        ("a.append(b)", "a", "a .append b"),
        ("a.b.add(c)", ".b", "a .add c"),
        ("self.append(b)", "", "self .append b"),
        ("a.read(b)", "", "a .read b"),
        ("f(a, b=c)", "", "f a c"),
        ("f()()", "", "f"),
        ("import a", "a", ""),
        ("import a.b", "a", ""),
        ("import a.b as c", "c", ""),
        ("from a import b, c as d", "b d", ""),
        ("from a import *", "*", ""),
        ("for a in b: c", "a", "b c"),
        ("with a as b: c", "b", "a c"),
        ("try: a\nexcept b as c: d", "c", "a b d"),
        ("def a(b, c=d, *e, **f): return b + g", "a", "d g"),
        ("class a(b):\n    c = d\n    def e(self): self.f = g", "a .f", "b d g"),
        ("lambda a, b=c: a + d", "", "c d"),
        ("[a for a in b if c]", "", "b c"),
        ("(a := b)", "a", "b"),
        ("global a\na = 1", "a", ""),
        ("async def a(): await b", "a", "b"),
        ("# a\n1", "", ""),
        ("f'{a}'", "", "a"),
    ],
)
def test_what_is_given_a_value_and_what_is_used(text: str, defines: str, uses: str) -> None:
    found = effects(text + "\n")
    assert {name.decode() for name in found.defines} == {*defines.split()}
    assert {name.decode() for name in found.uses} - {*defines.split()} == {*uses.split()} - {*defines.split()}


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(g())", "f g"),
        ("a.b(c.d())", ".b .d"),
        ("with a: pass", ".__enter__ .__exit__"),
        ("for a in b: pass", ".__iter__"),
        ("def f(): g()", "g"),
    ],
)
def test_what_is_called_even_unsaid(text: str, calls: str) -> None:
    assert [name.decode() for name in effects(text).calls] == calls.split()


def footprint(text: str) -> Footprint:
    return footprint_of(element(text + "\n").node.named_children, PROFILE)


@pytest.mark.parametrize("text", ["return", "raise a", "break", "continue", "yield a", "if a: return", "exit()"])
def test_what_may_leave(text: str) -> None:
    assert footprint(text).leaves
    assert not footprint("a = b()").leaves


@pytest.mark.parametrize(
    "text",
    [
        "f()",
        "a.b()",
        "a = f()",
        "await f()",
        "del a",
        "if a: f()",
        "for a in b: pass",
        "with a: pass",
        "@f\ndef g(): pass",
    ],
)
def test_what_may_do_anything(text: str) -> None:
    assert footprint(text).does_anything


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        "a.b = c",
        "a[b] += c",
        "a = len(b)",
        "a = list(b)",
        "def f(): g()",
        "a = lambda: g()",
        "@property\ndef f(): g()",
    ],
)
def test_what_is_known_to_do_no_more_than_it_says(text: str) -> None:
    assert not footprint(text).does_anything


@pytest.mark.parametrize(
    ("text", "touched", "whole"),
    [
        ("a.b = c", "a", "c"),
        ("a.b.c = d", "a .b", "d"),
        ("a.b[c] = d", "a .b", "c d"),
        ("a = b.c", "", ".c"),
        ("a = b.c.d", "", ".d"),
        ("a = b[c]", "", "c"),
        ("f(a, b.c)", "", "f a .c"),
        ("a.f()", "", ".f"),
    ],
)
def test_what_is_touched_and_what_is_used_whole(text: str, touched: str, whole: str) -> None:
    found = effects(text + "\n")
    assert {name.decode() for name in found.touched} == {*touched.split()}
    assert {name.decode() for name in found.whole} == {*whole.split()}


def test_effects_know_no_more_than_this() -> None:
    names = ["defines", "uses", "calls", "receivers", "touched", "whole"]
    assert [each.name for each in fields(Effects)] == names


HEAD = "import os\nlimit = 1\nname = 'a'\n\n\n"
PLACES = """class Shop:
    size = 1

    def open(self):
        self.door = 1
        first = 1
        spare = 1
        return first

    def close(self):
        second = 2
        return second


def far(x):
    z = 0
    return x
"""
PROGRAM = HEAD + PLACES


@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        (("limit = 1", "limit = 2"), ("second = 2", "second = limit"), Reason.INTERFERES),
        (("limit = 1", "limit = 2"), ("return x", "return x + 1"), None),
        (("import os\n", ""), ("return x", "return os.path"), Reason.DANGLING),
        (("import os\n", "import os\nimport re\n"), ("return x", "return re.x"), Reason.INTERFERES),
        (("import os\n", "import os\nimport re\n"), ("return x", "return os.path"), None),
        (("limit = 1\n", ""), ("return x", "return limit"), Reason.DANGLING),
        (("self.door = 1", "self.door = 2"), ("return second", "return self.door"), Reason.INTERFERES),
        (("self.door = 1", "self.door = 2"), ("return x", "return x.door"), Reason.INTERFERES),
        (("first = 1", "first = 2"), ("return first", "return first + 1"), Reason.INTERFERES),
        (("first = 1", "first = 2"), ("return x", "return first"), None),
        (("first = 1", "first = 2"), ("spare = 1", "spare = 3"), None),
        (("size = 1", "size = 2"), ("return second", "return self.size"), Reason.INTERFERES),
        (("def far(x)", "def far(x, y)"), ("return first", "return far(first)"), Reason.INTERFERES),
        (("def far(x)", "def far(x, y=1)"), ("return first", "return far(first)"), None),
        (("def far(x)", "def far(x, *, y=1)"), ("return first", "return far(first)"), None),
        (("def far(x)", "def far(x=1)"), ("return first", "return far(first)"), Reason.INTERFERES),
        (("def far(x)", "def far(x) -> int"), ("return first", "return far(first)"), Reason.INTERFERES),
        (("def far(x)", "def near(x)"), ("return first", "return far(first)"), Reason.INTERFERES),
        (("def open(self)", "def open(self, key)"), ("return x", "return x.open()"), Reason.INTERFERES),
        (("return x", "return -x"), ("return first", "return far(first)"), Reason.INTERFERES),
        (("return x", "return -x"), ("return first", "return first + 1"), None),
        (("def close", "@cached\n    def close"), ("return first", "return self.close()"), Reason.INTERFERES),
        (("limit = 1", "limit: int = 1"), ("name = 'a'", "name = 'a' * limit"), Reason.INTERFERES),
        (("limit = 1", "if a: limit = 1"), ("return x", "return limit"), Reason.DANGLING),
    ],
)
def test_what_meets_although_no_text_does(
    ours: tuple[str, str], theirs: tuple[str, str], reason: Reason | None
) -> None:
    assert ours[0] in PROGRAM
    assert theirs[0] in PROGRAM
    base, mine, others = (text.encode() for text in (PROGRAM, PROGRAM.replace(*ours), PROGRAM.replace(*theirs)))
    for pair in ((mine, others), (others, mine)):
        answer = merge(base, *pair, "a.py")
        if reason is None:
            assert isinstance(answer, Proven)
        else:
            assert isinstance(answer, Unproven)
            assert {spot.reason for spot in answer.spots} == {reason}


LOCK = """class Lock:
    def __exit__(self, *error):
        self.release()

    def release(self):
        self.drop()

    def drop(self):
        self.held = False

    @property
    def rest(self):
        return 1

    size = 1
"""
USER = "def run(lock):\n    return 1\n"


@pytest.mark.parametrize(
    ("before", "after", "user", "what"),
    [
        ("self.held = False", "self.held = None", "with lock:\n        return 1", {".__exit__"}),
        ("self.held = False", "self.held = None", "return lock.drop()", {".drop"}),
        ("self.held = False", "self.held = None", "return lock.other()", set()),
        ("return 1\n", "return 2\n", "with lock:\n        return 1", set()),
        ("def drop(self)", "def drop(self, now)", "return lock.drop()", {".drop"}),
        ("class Lock:", "class Lock(Base):", "return Lock()", {"Lock"}),
    ],
)
def test_what_one_side_came_to_call_of_what_the_other_changed(
    before: str, after: str, user: str, what: set[str]
) -> None:
    mine = [change("lock.py", LOCK, LOCK.replace(before, after))]
    others = [change("user.py", USER, USER.replace("return 1", user))]
    found = bearing(mine, others)
    assert {each.spot.reason for each in found} <= {Reason.INTERFERES}
    assert {each.spot.why.split("'")[1] for each in found} == {name.lstrip(".") for name in what}
    assert all((each.ours_path, each.theirs_path) == ("lock.py", "user.py") for each in found)
    mirrored = bearing(others, mine)
    assert [(each.theirs_path, each.ours_path, each.spot.why) for each in mirrored] == [
        (each.ours_path, each.theirs_path, each.spot.why) for each in found
    ]
