"""What bears on each other across the files of a tree."""

import pytest

from commonhold.merging.tree import Changed, bearings, concerns
from commonhold.merging.verdict import Reason

LOCK = b"""class Lock:
    def __exit__(self, *error):
        self.drop()

    def drop(self):
        self.held = False
"""
USER = b"import lock\n\n\ndef run():\n    return 1\n"
WITH = USER.replace(b"return 1", b"with lock.Lock():\n        return 1")


def ours(path: str, base: bytes | None, now: bytes | None) -> Changed:
    return Changed(path, base, now, base)


def theirs(path: str, base: bytes | None, now: bytes | None) -> Changed:
    return Changed(path, base, base, now)


def test_an_object_that_is_newly_held_and_whose_exit_comes_to_something_else() -> None:
    dropped = LOCK.replace(b"False", b"lock")
    (found,) = bearings([ours("user.py", USER, WITH), theirs("lock.py", LOCK, dropped)])
    assert (found.ours_path, found.theirs_path) == ("user.py", "lock.py")
    assert found.spot.reason is Reason.INTERFERES
    assert "'__exit__' (lock.py)" in found.spot.why
    assert found.spot.ours == (4, 6)
    assert found.spot.theirs == (5, 6)


def test_an_object_that_is_newly_held_and_whose_exit_comes_to_something_without_a_shared_word() -> None:
    (found,) = bearings([ours("user.py", USER, WITH), theirs("lock.py", LOCK, LOCK.replace(b"False", b"None"))])
    assert (found.ours_path, found.theirs_path) == ("user.py", "lock.py")
    assert found.spot.reason is Reason.INTERFERES
    assert "'__exit__' (lock.py)" in found.spot.why
    assert found.spot.ours == (4, 6)
    assert found.spot.theirs == (5, 6)


def test_a_function_that_one_side_changed_and_the_other_newly_calls() -> None:
    base = b"def f():\n    return 1\n"
    files = [ours("a.py", base, base.replace(b"1", b"2")), theirs("b.py", b"y = 1\n", b"y = f()\n")]
    assert [each.spot.reason for each in bearings(files)] == [Reason.INTERFERES]


def test_a_function_that_one_side_deleted_and_the_other_newly_calls() -> None:
    base = b"def price():\n    return 1\n\n\ndef name():\n    return 2\n"
    files = [theirs("stock.py", base, base[:27]), ours("user.py", USER, USER.replace(b"1", b"lock.name()"))]
    assert [each.spot.reason for each in bearings(files)] == []
    files = [theirs("stock.py", base, base[27:]), ours("user.py", USER, USER.replace(b"1", b"price()"))]
    (found,) = bearings(files)
    assert found.spot.reason is Reason.DANGLING
    assert "took away 'price' (stock.py)" in found.spot.why


@pytest.mark.parametrize("gone", [None, b""])
def test_a_file_that_is_gone_takes_its_functions_with_it(gone: bytes | None) -> None:
    files = [
        ours("stock.py", b"def price():\n    return 1\n", gone),
        theirs("user.py", USER, USER.replace(b"1", b"price()")),
        theirs("new.py", None, b"def weigh():\n    return 1\n"),
    ]
    (found,) = bearings(files)
    assert (found.ours_path, found.theirs_path, found.spot.reason) == ("stock.py", "user.py", Reason.DANGLING)


def test_what_meets_in_one_file_is_the_concern_of_its_own_merge() -> None:
    both = Changed(
        "a.py",
        b"def f():\n    return 1\n\n\nx = 1\n",
        b"def f():\n    return 2\n\n\nx = 1\n",
        b"def f():\n    return 1\n\n\nx = f()\n",
    )
    assert bearings([both]) == []
    (found,) = bearings([both, theirs("b.py", b"def g():\n    return 1\n", b"def g():\n    return f()\n")][::-1])
    assert (found.ours_path, found.theirs_path) == ("a.py", "b.py")


def test_files_that_share_no_word_with_the_other_side_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object) -> None:
        pytest.fail("nothing of this file stands in what the other side wrote")

    monkeypatch.setattr("commonhold.merging.tree.parse", parse)
    assert bearings([ours("a.py", b"alpha = 1\n", b"alpha = 2\n"), theirs("b.py", b"beta = 3\n", b"beta = 4\n")]) == []


def test_other_languages_and_broken_files_are_not_looked_at() -> None:
    broken = ours("stock.py", b"def price(): return 1\n", b"def price( return 2\n")
    unknown = ours("stock.unknown", b"def price(): return 1\n", b"")
    user = theirs("user.py", USER, USER.replace(b"1", b"price()"))
    assert bearings([broken, unknown, user]) == []
    assert bearings([]) == []


def test_which_files_are_looked_at() -> None:
    assert concerns("shop/stock.py")
    assert not concerns("shop/stock.txt")
