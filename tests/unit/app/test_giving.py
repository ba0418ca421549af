"""Which folders a command gets, and whose a change is that was found after it."""

from hypothesis import given
from hypothesis import strategies as st

from commonhold.app.attribution import attributed
from commonhold.app.giving import Given, Holding, Sought, give, holdings, is_in
from commonhold.domain.clock import Deadline
from commonhold.domain.lease import Lease
from commonhold.domain.modes import Mode
from commonhold.domain.slots import slot_of

PATHS = st.sampled_from(["a", "src/a", "src/b", "src/sub/c", "lib/d", "src/", "src/sub/", "lib/", "", "src2/e"])


def sought(path: str) -> Sought:
    return Sought(path, path.rstrip("/").rpartition("/")[0] + "/" if "/" in path.rstrip("/") else "", in_place=True)


def other(path: str) -> Holding:
    return Holding(path, "bob", "his work")


def test_the_folder_of_what_is_sought_is_given() -> None:
    found = give([sought("src/a")], ["build/"], [other("lib/d")], can_mask=False)
    assert found == Given(("build/", "src/"))


def test_a_folder_where_another_is_at_work_is_not_but_the_file_alone_is() -> None:
    found = give([sought("src/a")], [], [other("src/sub/c")], can_mask=False)
    assert found.writable == ("src/a",)
    assert [each.because.path for each in found.withheld] == ["src/sub/c"]


def test_what_another_holds_is_taken_out_where_that_can_be() -> None:
    found = give([sought("src/a")], [], [other("src/sub/c")], can_mask=True)
    assert found == Given(("src/",), ("src/sub/c",))
    assert found.reaches("src/sub/new")
    assert not found.reaches("src/sub/c")


def test_a_folder_that_another_holds_as_a_whole_is_never_given() -> None:
    assert give([sought("src/sub/c")], [], [other("src/")], can_mask=True).writable == ()


@given(wanted=st.lists(PATHS, max_size=4), held=st.lists(PATHS, max_size=4), can_mask=st.booleans())
def test_nothing_that_another_holds_is_ever_reached(*, wanted: list[str], held: list[str], can_mask: bool) -> None:
    found = give([sought(path) for path in wanted], [], list(map(other, held)), can_mask=can_mask)
    assert [path for path in held if not path.endswith("/") and path and found.reaches(path)] == []


def test_leases_say_which_paths_are_held_and_so_do_write_slots() -> None:
    keys = ("file:src/a.py#f", "file:lib/", "account:1", str(slot_of("/r", "x y.py")), "file:./")
    lease = Lease("l", 1, "bob", "t", keys, Mode.EXCLUSIVE, "", 0.0, Deadline("", 0.0, 0.0), 60.0)
    assert [each.path for each in holdings([lease])] == ["src/a.py", "lib/", "x y.py", ""]


def test_what_one_command_alone_could_write_is_its_own() -> None:
    found = attributed(["src/a", "lib/b"], lambda path: is_in(path, "src/"), [lambda path: is_in(path, "lib/")], [], [])
    assert (found.own, found.nobody, found.others) == (("src/a",), (), ("lib/b",))


def test_what_two_could_have_written_is_nobodys_unless_one_holds_it() -> None:
    found = attributed(["src/a", "src/b"], lambda _: True, [lambda _: True], [Holding("src/a", "me", "")], [])
    assert (found.own, found.nobody) == (("src/a",), ("src/b",))


def test_what_another_holds_is_the_others_to_account_for() -> None:
    found = attributed(["src/a"], lambda _: True, [], [], [other("src/")])
    assert found.others == ("src/a",)


@given(st.sets(PATHS), st.sets(PATHS), st.sets(PATHS), st.sets(PATHS))
def test_every_change_is_somebodys_or_nobodys_once(
    paths: set[str], reached: set[str], mine: set[str], others: set[str]
) -> None:
    found = attributed(
        sorted(paths), reached.__contains__, [], [Holding(path, "me", "") for path in mine], list(map(other, others))
    )
    assert sorted(found.own + found.nobody + found.others) == sorted(paths)
    assert set(found.own) <= reached
