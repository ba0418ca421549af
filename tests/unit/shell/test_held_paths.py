"""What is held, and what of it a command must leave alone."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.clock import Deadline
from commonhold.kernel.lease import Lease
from commonhold.kernel.modes import Mode
from commonhold.kernel.purposes import HELD_FOR_TURN
from commonhold.kernel.write_slots import slot_of
from commonhold.shell.held_paths import Holding, barred, holdings, is_in, overlap

PATHS = st.sampled_from(["a", "src/a", "src/b", "src/sub/c", "lib/d", "src/", "src/sub/", "lib/", "", "src2/e"])


def lease(*keys: str, holder: str = "bob", acquisition: str = "") -> Lease:
    return Lease("l", 1, holder, "t", keys, Mode.EXCLUSIVE, acquisition, 0.0, Deadline("", 0.0, 9.0), 60.0)


def paths(held: tuple[Holding, ...]) -> list[str]:
    return [each.path for each in held]


def test_leases_say_which_paths_are_held_and_so_do_write_slots_of_this_tree() -> None:
    slots = (str(slot_of("/r", "x y.py")), str(slot_of("/other", "z.py")))
    found = holdings([lease("file:src/a.py#f", "file:lib/", "account:1", *slots, "file:./")], "/r")
    assert paths(found) == ["src/a.py", "lib/", "x y.py", ""]
    assert [each.is_slot for each in found] == [False, False, True, False]
    assert {(each.holder, each.task, each.expires_at) for each in found} == {("bob", "t", 9.0)}


def test_what_a_command_has_while_it_runs_bars_nobody() -> None:
    found = holdings([lease("file:a", acquisition="shell-1-2"), lease("file:b")], "/r")
    assert paths(barred(found, "ann")) == ["b"]


def test_what_a_session_edits_in_another_working_tree_is_not_held_here_and_what_it_asked_for_is() -> None:
    edited, asked = (replace(lease("file:a", acquisition=each), worktree="/other") for each in (HELD_FOR_TURN, "mine"))
    assert holdings([edited], "/r") == ()
    assert paths(holdings([edited], "/other")) == paths(holdings([asked], "/r")) == ["a"]


def test_what_is_ones_own_bars_nobody() -> None:
    assert barred(holdings([lease("file:a")], "/r"), "bob") == ()


def test_what_a_session_edits_bars_none_of_its_subagents_and_what_it_asked_for_does() -> None:
    found = holdings([lease("file:a", acquisition=HELD_FOR_TURN), lease("file:b")], "/r")
    assert paths(barred(found, "bob/part")) == ["b"]
    assert paths(barred(found, "bobby/part")) == ["a", "b"]


@given(PATHS, PATHS)
def test_paths_overlap_where_one_is_in_the_other(one: str, other: str) -> None:
    assert overlap(one, other) == overlap(other, one) == (is_in(one, other) or is_in(other, one))
