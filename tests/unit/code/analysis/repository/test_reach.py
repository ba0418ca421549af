"""Who depends on a definition, step by step."""

import pytest
from tests.unit.code.analysis.repository.shelves import shelf

from commonhold.code.analysis.repository.reach import Reached, reach

FILES = {
    "lib.py": "def base(x):\n    return x\n\n\ndef own(x):\n    return base(x)\n",
    "app.py": "from lib import own\n\n\ndef first(x):\n    return own(x)\n\n\ndef second(x):\n    return first(x)\n",
    "again.py": "import lib\n\n\ndef third(x):\n    lib.base(x)\n    return lib.base(x, 1)\n\n\nRESULT = lib.base(1)\n",
    "tests/test_app.py": "from app import second\n\n\ndef test_second():\n    assert second(1) == 1\n",
}


def told(found: tuple[Reached, ...]) -> list[tuple[str, int]]:
    return [(f"{each.path}#{each.qualname}", each.depth) for each in found]


def test_each_step_is_one_further_off() -> None:
    found = reach(shelf(FILES), [("lib.py", "base")], 10)
    assert told(found.reached) == [
        ("again.py#third", 1),
        ("again.py#", 1),
        ("lib.py#own", 1),
        ("app.py#first", 2),
        ("app.py#second", 3),
        ("tests/test_app.py#test_second", 4),
    ]
    assert not found.is_cut
    assert all(each.is_sure for each in found.reached)


@pytest.mark.parametrize(("depth", "count"), [(1, 3), (2, 4), (3, 5), (4, 6)])
def test_it_goes_no_further_than_asked(depth: int, count: int) -> None:
    assert len(reach(shelf(FILES), [("lib.py", "base")], depth).reached) == count


def test_all_uses_in_one_place_are_one() -> None:
    third = reach(shelf(FILES), [("lib.py", "base")], 1).reached[0]
    assert (third.place, third.line, third.target) == (("again.py", "third"), 5, ("lib.py", "base"))
    assert [use.line for use in third.uses] == [5, 6]


def test_it_stops_at_most_and_says_so() -> None:
    found = reach(shelf(FILES), [("lib.py", "base")], 10, most=2)
    assert len(found.reached) == 2
    assert found.is_cut
    assert not reach(shelf(FILES), [("lib.py", "base")], 10, most=6).is_cut


def test_circles_end() -> None:
    files = {"a.py": "def one():\n    return two()\n\n\ndef two():\n    return one() + two()\n"}
    assert told(reach(shelf(files), [("a.py", "one")], 10).reached) == [("a.py#two", 1)]


def test_what_is_asked_about_is_not_told() -> None:
    starts = [("lib.py", "base"), ("lib.py", "own"), ("lib.py", "base")]
    found = reach(shelf(FILES), starts, 1)
    assert found.starts == (("lib.py", "base"), ("lib.py", "own"))
    assert ("lib.py", "own") not in [each.place for each in found.reached]


def test_guesses_are_told_as_such_and_followed_no_further() -> None:
    files = {
        "a.py": "class A:\n    def fetch_it(self):\n        return 1\n",
        "b.py": "def user(x):\n    return x.fetch_it()\n\n\ndef far():\n    return user(1)\n",
    }
    (only,) = reach(shelf(files), [("a.py", "A.fetch_it")], 5).reached
    assert (only.place, only.is_sure) == (("b.py", "user"), False)


def test_an_import_counts_where_nothing_else_in_the_file_uses_it() -> None:
    files = {
        "a.py": "def f():\n    return 1\n",
        "b.py": "from a import f\n",
        "c.py": "from a import f\n\n\ndef g():\n    f()\n",
    }
    assert told(reach(shelf(files), [("a.py", "f")], 1).reached) == [("b.py#", 1), ("c.py#g", 1)]


def test_of_what_is_not_there_nothing_is_reached() -> None:
    assert reach(shelf(FILES), [("lib.py", "nothing"), ("nowhere.py", "f")], 3).reached == ()
