"""Whose a change is that was found after a command."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonhold.commits.external.candidate_writers import attributed
from commonhold.shell.held_paths import Holding, is_in
from commonhold.shell.reach import Reach

PATHS = st.sampled_from(["a", "src/a", "src/b", "src/sub/c", "lib/d"])


def reaching(reach: Reach, *named: str) -> Callable[[str], Reach]:
    return lambda path: Reach.NAMED if any(is_in(path, each) for each in named) else reach


@pytest.mark.parametrize(
    ("own", "other", "whose"),
    [
        (reaching(Reach.ANYTHING), reaching(Reach.NOTHING), "own"),
        (reaching(Reach.ANYTHING), reaching(Reach.SELDOM), "own"),
        (reaching(Reach.NOTHING, "src/"), reaching(Reach.ANYTHING), "own"),
        (reaching(Reach.ANYTHING), reaching(Reach.ANYTHING), "nobody"),
        (reaching(Reach.SELDOM), reaching(Reach.SELDOM), "nobody"),
        (reaching(Reach.SELDOM), reaching(Reach.ANYTHING), "others"),
        (reaching(Reach.ANYTHING, ""), reaching(Reach.ANYTHING, "src/"), "own"),
        (reaching(Reach.ANYTHING), reaching(Reach.ANYTHING, "src/"), "others"),
        (reaching(Reach.NOTHING), reaching(Reach.NOTHING), "others"),
    ],
    ids=range(9),
)
def test_it_is_laid_on_the_command_that_most_likely_wrote_it(
    own: Callable[[str], Reach], other: Callable[[str], Reach], whose: str
) -> None:
    assert getattr(attributed(["src/a"], own, [other], [], []), whose) == ("src/a",)


def test_what_the_session_holds_is_its_own() -> None:
    anything = reaching(Reach.ANYTHING)
    found = attributed(["src/a", "src/b"], anything, [anything], [Holding("src/a", "me")], [])
    assert (found.own, found.nobody) == (("src/a",), ("src/b",))


def test_what_another_is_at_is_the_others_to_account_for() -> None:
    found = attributed(["src/a"], reaching(Reach.ANYTHING), [], [], [Holding("src/", "bob")])
    assert found.others == ("src/a",)


@given(st.sets(PATHS), st.sampled_from(Reach), st.lists(st.sampled_from(Reach)), st.sets(PATHS), st.sets(PATHS))
def test_every_change_is_somebodys_or_nobodys_once(
    paths: set[str], own: Reach, beside: list[Reach], mine: set[str], others: set[str]
) -> None:
    found = attributed(
        sorted(paths),
        reaching(own),
        [reaching(each) for each in beside],
        [Holding(path, "me") for path in mine],
        [Holding(path, "bob") for path in others],
    )
    assert sorted(found.own + found.nobody + found.others) == sorted(paths)
