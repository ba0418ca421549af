"""Whether what two sides did to bodies meets."""

from collections.abc import Mapping

import pytest
from tests.unit.code.analysis.repository.shelves import shelf

from commonhold.code.analysis.repository.changed_bodies import Touched
from commonhold.code.analysis.repository.interacting_changes import InteractingChange, Touches, crossings

LIB = """class Box:
    def get(self, key):
        return self.items[key]

    def find(self, key):
        return self.get(key) or self.get(key.lower())

    def put(self, key):
        self.items[key] = 1

    def run(self):
        self.load()
        self.save()

    def load(self):
        return 1

    def save(self):
        return 2

    def __contains__(self, key):
        return False


def used(x):
    return x


def user(x):
    return used(x)


def stranger(x):
    return x
"""
FILES = {
    "lib.py": LIB,
    "app.py": "from lib import Box, used\n\n\ndef far():\n    return used(1)\n\n\ndef make():\n    return 1 in Box()\n",
    "tests/test_lib.py": "from lib import used\n\n\ndef test_used():\n    assert used(1)\n",
}


def body(name: str, *, new: bool = False, uses: str = "", sets: str = "", words: str = "") -> Touched:
    used, written, named = (frozenset(each.split()) for each in (uses, sets, words))
    return Touched(name, new, used, written, named)


def met(ours: Touches, theirs: Touches, files: Mapping[str, str] = FILES) -> list[tuple[str, str]]:
    return [(each.qualname, each.target) for each in crossings(shelf(files), ours, theirs)]


def lib(*bodies: Touched | str) -> Touches:
    return {"lib.py": tuple(body(each) if isinstance(each, str) else each for each in bodies)}


@pytest.mark.parametrize("is_exchanged", [False, True])
def test_a_caller_and_what_it_calls_meet(is_exchanged: bool) -> None:  # noqa: FBT001 - a case
    sides = lib("used"), {"app.py": (body("far"),)}
    ours, theirs = reversed(sides) if is_exchanged else sides
    (crossing,) = crossings(shelf(FILES), ours, theirs)
    why = "`far` calls `used`; each side changed one of them"
    assert crossing == InteractingChange("app.py", "far", 5, "lib.py", "used", 25, why, is_exchanged, is_sure=True)


def test_so_do_methods_of_one_class_that_call_each_other() -> None:
    assert met(lib("Box.get"), lib("Box.find")) == [("Box.find", "Box.get")]
    assert met(lib("Box.find"), lib("Box.get")) == [("Box.find", "Box.get")]


def test_what_has_nothing_to_do_with_each_other_does_not_meet() -> None:
    assert met(lib("used"), lib("stranger")) == []
    assert met(lib("Box.get"), lib("Box.load")) == []
    assert met(lib("Box.load"), lib("stranger")) == []


def test_two_steps_are_too_many() -> None:
    files = {**FILES, "top.py": "from lib import user\n\n\ndef top():\n    return user(1)\n"}
    assert met(lib("used"), {"top.py": (body("top"),)}, files) == []


def test_a_body_that_both_changed_is_for_the_merge_to_judge() -> None:
    assert met(lib("used"), lib("used")) == []


def test_a_test_is_there_to_decide() -> None:
    assert met(lib("used"), {"tests/test_lib.py": (body("test_used"),)}) == []


def test_nobody_knew_what_is_new_but_what_is_new_may_know_others() -> None:
    assert met(lib(body("used", new=True)), {"app.py": (body("far"),)}) == []
    assert met(lib("used"), {"app.py": (body("far", new=True),)}) == [("far", "used")]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (("put", "items", "items"), ("get", "items", ""), True),
        (("put", "items", ""), ("get", "items", "items"), True),
        (("put", "items", ""), ("get", "items", ""), False),
        (("put", "items", "items"), ("get", "others", ""), False),
    ],
)
def test_methods_share_what_one_of_them_sets_anew(
    one: tuple[str, str, str],
    other: tuple[str, str, str],
    expected: bool,  # noqa: FBT001 - a case
) -> None:
    ours, theirs = (lib(body(f"Box.{name}", uses=uses, sets=sets)) for name, uses, sets in (one, other))
    assert bool(met(ours, theirs)) is expected
    assert bool(met(theirs, ours)) is expected


def test_classes_share_nothing_with_others() -> None:
    theirs = {"app.py": (body("Box.get", uses="items", sets="items"),)}
    assert met(lib(body("Box.put", uses="items", sets="items")), theirs) == []


def test_methods_that_one_method_calls_meet() -> None:
    (crossing,) = crossings(shelf(FILES), lib("Box.load"), lib("Box.save"))
    assert (crossing.qualname, crossing.target) == ("Box.load", "Box.save")
    assert "both called by `Box.run`" in crossing.why


def test_what_the_language_calls_is_met_through_the_class() -> None:
    assert met(lib("Box.__contains__"), {"app.py": (body("make"),)}) == [("make", "Box.__contains__")]


def test_what_nearly_all_use_is_met_only_where_the_change_is_about_it() -> None:
    users = "".join(f"\n\ndef user{number}():\n    return used({number})\n" for number in range(20))
    files = {**FILES, "many.py": f"from lib import used\n{users}"}
    assert met(lib("used"), {"many.py": (body("user7"),)}, files) == []
    assert met(lib("used"), {"many.py": (body("user7", words="return used"),)}, files) == [("user7", "used")]


def test_a_name_that_only_one_has_is_enough_and_another_is_not() -> None:
    files = {
        "a.py": "class A:\n    def fetch_it(self):\n        return 1\n",
        "b.py": "def user(x):\n    return x.fetch_it()\n",
    }
    sides = {"a.py": (body("A.fetch_it"),)}, {"b.py": (body("user"),)}
    (crossing,) = crossings(shelf(files), *sides)
    assert not crossing.is_sure
    stub = {**files, "a.pyi": "class A:\n    def fetch_it(self) -> int: ...\n"}
    assert met(*sides, stub) == [("user", "A.fetch_it")]
    two = {**files, "c.py": "class C:\n    def fetch_it(self):\n        return 2\n"}
    assert met(*sides, two) == []


def test_each_pair_is_told_once() -> None:
    ours, theirs = lib(body("Box.get", uses="items", sets="items")), lib(body("Box.find", uses="items"))
    assert met(ours, theirs) == [("Box.find", "Box.get")]
