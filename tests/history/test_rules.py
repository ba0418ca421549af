"""The checker itself: it takes a good history, and sees what is wrong with each bad one."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.history.record import NEVER, Operation, Place, read
from tests.history.rules import broken, ends_of

Facts = dict[str, object]


def operation(holder: str, what: str, asked: float, answered: float, given: Facts, answer: Facts) -> Operation:
    return Operation(what, holder, holder, asked, answered, given, answer)  # type: ignore[arg-type]


def acquired(
    holder: str, asked: float, answered: float, fence: int, *, key: str = "h:1", mode: str = "exclusive"
) -> Operation:
    given: Facts = {"keys": [key], "mode": mode, "ttl": 10.0, "ticket": f"t{fence}", "wait": 0.0}
    return operation(holder, "acquire", asked, answered, given, {"outcome": "granted", "fence": fence})


def released(holder: str, asked: float, answered: float, fence: int, outcome: str = "released") -> Operation:
    return operation(holder, "release", asked, answered, {"ticket": f"t{fence}"}, {"outcome": outcome})


def renewed(holder: str, asked: float, answered: float, fence: int) -> Operation:
    given: Facts = {"ticket": f"t{fence}", "ttl": 10.0}
    return operation(holder, "renew", asked, answered, given, {"outcome": "renewed"})


def put(
    holder: str, asked: float, answered: float, expected: int, version: int | None, fence: int | None = None
) -> Operation:
    given: Facts = {"key": "h:1", "text": "x", "expected": expected, "fence": fence}
    answer: Facts = {} if version is None else {"outcome": "stored", "version": version}
    return operation(holder, "put", asked, answered, given, answer)


GOOD = [
    acquired("ann", 0.0, 1.0, fence=1),
    put("ann", 1.5, 1.6, 0, 2, fence=1),
    released("ann", 2.0, 3.0, fence=1),
    acquired("bob", 1.0, 2.5, fence=3),
    put("bob", 3.0, 3.1, 2, 4, fence=3),
    acquired("cid", 13.0, 14.0, fence=5),
    acquired("dan", 13.0, 14.5, fence=6, key="h:2"),
]


def test_a_good_history_is_good() -> None:
    assert broken(GOOD) == []
    assert broken([]) == []


BAD = {
    "the fence 1 was given out 2 times": [acquired("ann", 0, 1, 1, key="h:1"), acquired("bob", 0, 1, 1, key="h:2")],
    "the fence fell": [acquired("ann", 0, 1, 5), released("ann", 1, 2, 5), acquired("bob", 3, 4, 3)],
    "two hold at once": [acquired("ann", 0, 1, 1), acquired("bob", 2, 3, 2)],
    "two hold at once: a container": [acquired("ann", 0, 1, 1), acquired("bob", 2, 3, 2, key="h:1:a")],
    "two hold at once: one shared": [acquired("ann", 0, 1, 1), acquired("bob", 2, 3, 2, mode="shared")],
    "two hold at once: renewed": [
        acquired("ann", 0, 1, 1),
        renewed("ann", 8, 9, 1),
        acquired("bob", 11, 12, 2),
    ],
    "two hold at once: released later": [
        acquired("ann", 0, 1, 1),
        acquired("bob", 2, 3, 2),
        released("ann", 4, 5, 1),
    ],
    "an update was lost": [put("ann", 0, 1, 0, 1), put("bob", 0, 1, 0, 2)],
    "an update was lost: long ago": [put("ann", 0, 1, 0, 1), put("ann", 2, 3, 1, 2), put("bob", 4, 5, 1, 3)],
    "the version fell": [put("bob", 2, 3, 0, 2), put("ann", 4, 5, 0, 1)],
    "it was taken under a fence that nobody was given": [put("ann", 0, 1, 0, 1, fence=7)],
    "it was taken after the lease was released": [
        acquired("ann", 0, 1, 1),
        released("ann", 2, 3, 1),
        put("ann", 4, 5, 0, 2, fence=1),
    ],
    "a late write was taken": [
        acquired("ann", 0, 1, 1),
        acquired("bob", 11, 12, 2),
        put("ann", 13, 14, 0, 3, fence=1),
    ],
    "ann got nothing": [
        operation("ann", "acquire", 0, 1, {"keys": ["h:1"], "ticket": "t"}, {"outcome": "denied"}),
    ],
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_history_is_seen_to_be_bad(what: str) -> None:
    found = broken(BAD[what])
    assert any(sentence.startswith(what.partition(":")[0]) for sentence in found), found


ALLOWED = {
    "other keys": [acquired("ann", 0, 1, 1), acquired("bob", 2, 3, 2, key="h:2")],
    "a key that only begins alike": [acquired("ann", 0, 1, 1), acquired("bob", 2, 3, 2, key="h:11")],
    "both shared": [acquired("ann", 0, 1, 1, mode="shared"), acquired("bob", 2, 3, 2, mode="shared")],
    "its own": [acquired("ann", 0, 1, 1), acquired("ann", 2, 3, 2)],
    "its time was over": [acquired("ann", 0, 1, 1), acquired("bob", 9, 10.1, 2)],
    "it was being released": [acquired("ann", 0, 1, 1), released("ann", 2, 9, 1), acquired("bob", 0, 2.1, 2)],
    "it may have been released by the one that was killed": [
        acquired("ann", 0, 1, 1),
        replace(released("ann", 2, NEVER, 1), answer={}),
        acquired("bob", 3, 4, 2),
    ],
    "asked at the same time, the fences may come either way": [
        acquired("ann", 0, 5, 9, key="h:1", mode="shared"),
        acquired("bob", 1, 2, 3, key="h:1", mode="shared"),
    ],
    "one that was killed may have stored": [
        put("ann", 0, 1, 0, 1),
        put("bob", 2, NEVER, 1, None),
        put("cid", 4, 5, 3, 6),
    ],
    "without a lease": [put("ann", 0, 1, 0, 1)],
}


@pytest.mark.parametrize("what", ALLOWED)
def test_what_is_allowed_is_not_complained_of(what: str) -> None:
    served = {each.worker for each in ALLOWED[what]}
    others = [acquired(name, 900 + n, 901 + n, 900 + n, key=f"o:{n}") for n, name in enumerate(sorted(served))]
    assert broken([*ALLOWED[what], *others]) == []


def test_clocks_that_differ_are_allowed_for() -> None:
    history = [acquired("ann", 0, 1, 1), acquired("bob", 9, 9.96, 2)]
    assert len(broken(history)) == 1
    assert broken(history, slack=0.05) == []


def test_whoever_came_first_in_line_must_be_served_first() -> None:
    first, second = Place("ann", ("h:1",), 1, 7), Place("bob", ("h:1",), 2, 9)
    assert broken([], [first, second]) == []
    assert len(broken([], [replace(first, fence=9), replace(second, fence=7)])) == 1
    assert broken([], [replace(first, fence=None), second]) == []
    assert broken([], [replace(first, fence=9, keys=("h:2",)), replace(second, fence=7)]) == []


def test_a_lease_ends_by_the_first_of_its_ends() -> None:
    history = [acquired("ann", 0, 1, 1), renewed("ann", 5, 6, 1), released("ann", 8, 9, 1), acquired("bob", 9, 10, 2)]
    assert ends_of(history) == {"t1": 8, "t2": 19}


def test_what_was_never_answered_is_read_as_such(tmp_path: Path) -> None:
    (tmp_path / "w1.history").write_text(
        '{"number": 1, "what": "release", "holder": "w1-0", "asked": 1.5, "given": {"ticket": "t"}}\n'
        '{"number": 1, "answered": 2.5, "answer": {"outcome": "released"}}\n'
        '{"number": 2, "what": "release", "holder": "w1-0", "asked": 3.5, "given": {"ticket": "u"}}\n'
    )
    first, second = read(tmp_path)
    assert (first.answered, first.is_answered, first.answer) == (2.5, True, {"outcome": "released"})
    assert (second.answered, second.is_answered, second.answer) == (NEVER, False, {})
    assert (first.worker, first.holder) == ("w1", "w1-0")
