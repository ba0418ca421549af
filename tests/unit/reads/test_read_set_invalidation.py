"""Whom a commit concerns, and with what: told from the event and from what was seen, without any file."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.kernel.events import Committed, ContractChange, RegionChange
from commonhold.kernel.keys import canonical
from commonhold.kernel.read_set import MOST_CHANGES, Overtaking, Sighting, StaleRead
from commonhold.reads.read_set_invalidation import MOST_PARTS, caught_up, overtaken_by, places_of, shows

A = "file:a.py"


def commit(
    *regions: str, contracts: tuple[str, ...] = (), gone: tuple[str, ...] = (), new: tuple[str, ...] = ()
) -> Committed:
    changes = tuple(RegionChange(key, None if key in new else "old", None if key in gone else "new") for key in regions)
    promises = tuple(ContractChange(key, "what") for key in contracts)
    return Committed("two", "why", "/w", (), (), changes, contracts=promises)


def concerns(made: Committed, *read: str) -> list[tuple[str, str]]:
    """What somebody who has read all this is to be told: keys, and what became of their contracts."""
    seen = [("one", Sighting(key, "old", 1)) for key in read]
    return [(each.key.removeprefix(A), each.changes[-1].what) for each in overtaken_by(made, 7, seen, {})]


@pytest.mark.parametrize(
    ("read", "definition", "is_region", "is_shown"),
    [
        (A, f"{A}#f", True, True),
        (f"{A}#f", f"{A}#f", True, True),
        (f"{A}#f~2", f"{A}#f", True, True),
        (f"{A}#C", f"{A}#C.m", True, True),
        (f"{A}#C.m", f"{A}#C", True, False),
        (f"{A}#C.@header", f"{A}#C", True, True),
        (f"{A}#C.@header", f"{A}#C.m", True, False),
        (f"{A}#C.@header", f"{A}#C.size", False, True),
        (f"{A}#C.@header", "file:b.py#C", True, False),
        (f"{A}#@header", f"{A}#LIMIT", False, True),
        (f"{A}#@header", f"{A}#f", True, False),
        (f"{A}#@header", f"{A}#C.size", False, False),
        ("file:b.py", f"{A}#f", True, False),
        (f"{A}#@header", A, True, False),
    ],
)
def test_what_shows_a_definition(read: str, definition: str, *, is_region: bool, is_shown: bool) -> None:
    assert shows(canonical(read), canonical(definition), is_region=is_region) is is_shown


BODY = commit(A, f"{A}#f")
CONTRACT = commit(A, f"{A}#f", contracts=(f"{A}#f",))


@pytest.mark.parametrize("read", [(A,), (f"{A}#f",), (A, f"{A}#f")])
def test_a_body_and_a_contract_are_told_once_however_they_were_read(read: tuple[str, ...]) -> None:
    assert concerns(BODY, *read) == [("#f", "")]
    assert concerns(CONTRACT, *read) == [("#f", "what")]


def test_who_read_something_else_is_not_concerned() -> None:
    assert concerns(CONTRACT, f"{A}#g", f"{A}#@header", "file:b.py") == []


def test_a_contract_hides_no_other_change() -> None:
    made = commit(A, f"{A}#C", f"{A}#C.m", f"{A}#C.n", contracts=(f"{A}#C.m",))
    assert concerns(made, A) == concerns(made, f"{A}#C") == [("#C.m", "what"), ("#C.n", "")]
    assert concerns(made, f"{A}#C.n") == [("#C.n", "")]


def test_a_class_accounts_for_its_header_and_a_name_for_the_header_around_it() -> None:
    assert concerns(commit(A, f"{A}#C", f"{A}#C.@header", contracts=(f"{A}#C",)), A) == [("#C", "what")]
    made = commit(A, f"{A}#@header", contracts=(f"{A}#LIMIT",))
    assert concerns(made, f"{A}#@header") == [("#LIMIT", "what"), ("#@header", "")]
    assert concerns(made, f"{A}#f") == []


def test_what_is_new_concerns_nobody_nor_does_the_room_that_was_made_for_it() -> None:
    made = commit(A, f"{A}#@header", f"{A}#g", new=(f"{A}#g",))
    assert concerns(made, A) == []
    assert concerns(made, f"{A}#@header") == [("#@header", "")]


def test_what_went_with_something_around_it_is_told_with_that() -> None:
    all_of_it = (A, f"{A}#C", f"{A}#C.m", f"{A}#f")
    contracts = (f"{A}#C", f"{A}#C.m", f"{A}#f")
    made = commit(*all_of_it, contracts=contracts, gone=all_of_it)
    assert concerns(made, A) == [("", "")]
    assert concerns(made, f"{A}#C") == [("#C", "what")]
    assert concerns(made, f"{A}#C.m", f"{A}#f") == [("#C.m", "what"), ("#f", "what")]


def test_a_file_that_was_written_anew_is_told_as_one() -> None:
    functions = [f"{A}#f{number}" for number in range(MOST_PARTS + 1)]
    assert concerns(commit(A, *functions), A) == [("", "")]
    assert len(concerns(commit(A, *functions[:-1]), A)) == MOST_PARTS


def test_of_equal_names_only_those_that_changed_are_told() -> None:
    made = commit(A, f"{A}#f~2", contracts=(f"{A}#f",))
    assert concerns(made, f"{A}#f~2") == [("#f", "what")]
    assert set(places_of(made.regions, made.contracts)) == {A, f"{A}#f~2", f"{A}#f"}


def test_who_saw_the_result_already_is_not_concerned() -> None:
    assert list(overtaken_by(CONTRACT, 7, [("one", Sighting(f"{A}#f", "new", 1))], {})) == []


def test_each_holder_goes_on_from_what_it_knew() -> None:
    (first,) = overtaken_by(CONTRACT, 7, [("one", Sighting(f"{A}#f", "old", 5))], {})
    assert (first.base, first.now, first.seen, first.told) == ("old", "new", 5, 5)
    later = replace(BODY, regions=(RegionChange(f"{A}#f", "new", "newest"),))
    (second,) = overtaken_by(later, 9, [("one", Sighting(f"{A}#f", "old", 5))], {("one", f"{A}#f"): first})
    assert (second.base, second.now) == ("old", "newest")
    assert [each.sequence for each in second.changes] == [7, 9]
    (other,) = overtaken_by(later, 9, [("other", Sighting(f"{A}#f", "new", 8))], {("one", f"{A}#f"): first})
    assert [each.sequence for each in other.changes] == [9]


def test_a_commit_counts_once() -> None:
    (once,) = overtaken_by(CONTRACT, 7, [("one", Sighting(f"{A}#f", "old", 5))], {})
    assert list(overtaken_by(CONTRACT, 7, [("one", Sighting(f"{A}#f", "old", 5))], {("one", f"{A}#f"): once})) == [once]


def test_reading_again_leaves_what_was_not_told() -> None:
    (found,) = overtaken_by(CONTRACT, 7, [("one", Sighting(f"{A}#f", "old", 5))], {})
    assert caught_up(found, [canonical(f"{A}#g"), canonical(f"{A}#@header")], 8) is None
    read = caught_up(found, [canonical(A)], 8)
    assert read is not None
    assert (read.unread, read.untold, read.is_over) == ((), found.changes, False)
    assert read.once_told().is_over
    assert caught_up(read, [canonical(A)], 9) is None


def test_what_is_gone_is_seen_in_the_header_that_it_would_stand_in() -> None:
    (gone,) = overtaken_by(
        commit(A, f"{A}#f", contracts=(f"{A}#f",), gone=(f"{A}#f",)), 7, [("one", Sighting(A, "old", 5))], {}
    )
    assert caught_up(gone, [canonical(f"{A}#@header")], 8) is not None


@given(st.lists(st.sampled_from(["change", "read", "tell"]), max_size=30))
def test_a_change_is_told_once_and_is_unread_until_it_is_read(steps: list[str]) -> None:
    """Beside two plain sets of sequences: whatever comes in which order, both say the same, of the newest changes."""
    found, untold, unread = StaleRead("one", "/w", f"{A}#f", "h0", "h0"), set[int](), set[int]()
    for sequence, step in enumerate(steps, start=1):
        if step == "change":
            found = found.after(Overtaking(sequence, "two", "", "what"), f"h{sequence - 1}", f"h{sequence}")
            untold.add(sequence)
            unread.add(sequence)
        elif step == "read":
            found = found.read_at(sequence)
            unread.clear()
        else:
            found = found.once_told()
            untold.clear()
        kept = {each.sequence for each in found.changes}
        assert len(kept) <= MOST_CHANGES
        assert {each.sequence for each in found.untold} == untold & kept
        assert {each.sequence for each in found.unread} == unread & kept
        assert found.is_over is not bool(untold | unread)
        if unread:
            assert found.base == f"h{min(unread) - 1}"
