"""Whose a change is: whatever sessions do to a file, the part of each holds its own lines and nobody else's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from commonhold.workspace.line_ownership import OUTSIDE, Inseparable, Step, Version, authors_of

HOLDERS = ("ann", "bob", "cat", OUTSIDE)
BASE = "".join(f"base {number}\n" for number in range(6)).encode()


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[Step], bytes]:
    """Steps of several holders on one file, each of its new lines unlike all others; what nobody did is no step."""
    now, steps, written = BASE, [], 0
    for holder in draw(st.lists(st.sampled_from(HOLDERS), min_size=1, max_size=7)):
        lines = now.splitlines(keepends=True)
        start = draw(st.integers(0, len(lines)))
        taken = draw(st.integers(0, min(2, len(lines) - start)))
        count = draw(st.integers(0 if taken else 1, 2))
        lines[start : start + taken] = [f"{holder} {written + number}\n".encode() for number in range(count)]
        written += count
        after = b"".join(lines)
        if holder != OUTSIDE:
            steps.append(Step(holder, now, after))
        now = after
    return steps, now


def lines_of(content: bytes) -> set[str]:
    return set(content.decode().splitlines())


@given(stories())
def test_a_part_holds_the_lines_of_its_holder_alone(story: tuple[list[Step], bytes]) -> None:
    steps, now = story
    authors = authors_of(Version(BASE), Version(now), steps)
    for holder in HOLDERS[:-1]:
        part = authors.part(holder, "notes.txt")
        if isinstance(part, Version):
            new = lines_of(part.content) - lines_of(BASE)
            assert all(line.startswith(holder) for line in new)
            assert {line for line in lines_of(now) if line.startswith(holder)} <= new


@examples(0.4)
@given(stories(), st.permutations(HOLDERS[:-1]))
def test_who_commits_one_after_the_other_commits_all_and_nothing_twice(
    story: tuple[list[Step], bytes], order: list[str]
) -> None:
    steps, now = story
    head = BASE
    for holder in [*order, *order]:
        authors = authors_of(Version(head), Version(now), steps)
        part = authors.part(holder, "notes.txt")
        if isinstance(part, Version):
            gone = lines_of(head) - lines_of(part.content)
            assert not gone & lines_of(now) - lines_of(part.content)
            head = part.content
    left = authors_of(Version(head), Version(now), steps)
    if left.holders <= {order[0]}:
        assert left.part(order[0], "notes.txt") == Version(now)


@pytest.mark.parametrize(
    ("undone", "of"),
    [(BASE, set()), (BASE + b"by hand\n", {OUTSIDE}), (BASE.replace(b"base 3", b"again"), {"ann"})],
)
def test_what_was_undone_by_hand_is_nobodys_change(undone: bytes, of: set[str]) -> None:
    steps = [Step("ann", BASE, BASE.replace(b"base 0", b"zero"))]
    if "ann" in of:
        steps.append(Step("ann", BASE, undone))
    assert authors_of(Version(BASE), Version(undone), steps).holders == of


def test_a_file_that_another_made_is_committed_by_who_made_it() -> None:
    steps = [Step("ann", None, b"one\n"), Step("bob", b"one\n", b"one\ntwo\n")]
    authors = authors_of(None, Version(b"one\ntwo\n"), steps)
    assert authors.part("ann", "n.txt") == Version(b"one\n")
    assert isinstance(authors.part("bob", "n.txt"), Inseparable)
    assert authors.part("cat", "n.txt") is None


def test_a_deletion_is_of_who_deleted() -> None:
    authors = authors_of(Version(BASE), None, [Step("ann", BASE, BASE + b"x\n"), Step("bob", BASE + b"x\n", None)])
    assert authors.part("bob", "n.txt") is None
    assert authors.part("cat", "n.txt") == Version(BASE)


@pytest.mark.parametrize("old", [b"\0a", b"a\0b\n" * 3])
def test_a_binary_file_is_one_piece(old: bytes) -> None:
    steps = [Step("ann", old, b"\0b"), Step("bob", b"\0b", b"\0c")]
    authors = authors_of(Version(old), Version(b"\0c"), steps)
    assert authors.part("ann", "x.png") == Version(b"\0b")
    assert isinstance(authors.part("bob", "x.png"), Inseparable)


def test_code_that_would_be_broken_without_anothers_lines_is_not_taken_apart() -> None:
    old = b"def a():\n    return 1\n"
    one = b"def a():\n    if True:\n        pass\n    return 1\n"
    two = one.replace(b"        pass\n", b"        pass\n        print()\n")
    steps = [Step("ann", old, one), Step("bob", one, two)]
    authors = authors_of(Version(old), Version(two), steps)
    assert authors.part("ann", "a.py") == Version(one)
    part = authors.part("bob", "a.py")
    assert isinstance(part, Inseparable)
    assert part.others == ("ann",)


def test_the_permission_to_be_run_goes_with_who_gave_it() -> None:
    steps = [
        Step("ann", BASE, BASE + b"x\n", is_executable=False),
        Step("bob", BASE + b"x\n", BASE, is_executable=True),
    ]
    authors = authors_of(Version(BASE), Version(BASE, is_executable=True), steps[1:])
    assert authors.holders == {"bob"}
    alone = authors_of(Version(BASE), Version(BASE, is_executable=True), [])
    assert alone.is_mode_alone
    both = authors_of(Version(BASE), Version(BASE + b"x\n", is_executable=True), steps[:1])
    assert both.part("ann", "run") == Version(BASE + b"x\n", is_executable=True)
