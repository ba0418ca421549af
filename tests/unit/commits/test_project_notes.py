"""Quotations of the project's notes in the answers to refused calls."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.in_memory.store import MemoryStore

from commonhold.api.service import Service
from commonhold.commits.project_notes import KEPT_SECONDS, LINKS_KEY, FindNotes
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.answers import NoteQuote
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, StoreError
from commonhold.workspace.files import WorkingTree

QUOTE = NoteQuote("a.md#1", "T", "it mentions k", "text")


class Finder:
    def __init__(self, *, fails: bool = False) -> None:
        self.asked: list[tuple[Sequence[str], str, str | None]] = []
        self.fails = fails

    def __call__(self, keys: Sequence[str], words: str, links: str | None) -> tuple[NoteQuote, ...]:
        self.asked.append((keys, words, links))
        if self.fails:
            raise StoreError(Code.GIT_FAILED, "no git", hint="")
        return (QUOTE,)


class World:
    """Two sessions in one working tree."""

    def __init__(self, folder: Path) -> None:
        self.store, self.clock, self.ids = MemoryStore(), FakeClock(), CountingIds()
        self.files = WorkingTree(str(folder))

    def session(self, agent: str, find: FindNotes | None) -> Service:
        return Service(
            agent=agent,
            store=self.store,
            files=self.files,
            clock=self.clock,
            ids=self.ids,
            surroundings=Surroundings(find_notes=find),
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    return World(tmp_path)


def test_a_denied_acquire_quotes_what_bears_on_the_keys(world: World) -> None:
    find = Finder()
    ann, ben = world.session("ann", None), world.session("ben", find)
    ann.put(LINKS_KEY, "{}", expected_version=0)
    assert ann.acquire("gpu:1", "gpu:2").context == ()
    assert ben.acquire("gpu:3").context == ()
    assert find.asked == []
    assert ben.acquire("gpu:1", "gpu:2", task="train").context == (QUOTE,)
    assert find.asked == [(("gpu:1", "gpu:2"), "train", "{}")]


def test_a_refused_commit_quotes_what_bears_on_the_regions(world: World) -> None:
    find = Finder()
    ben = world.session("ben", find)
    stale = Changeset((Edit(Op.REPLACE, "a.py#f", base="0" * 16, text="def f():\n    return 2\n"),), "two")
    answer = ben.commit(stale)
    assert (answer.outcome, answer.context) == ("refused", (QUOTE,))
    assert find.asked == [(("file:a.py#f",), "two", None)]


def test_a_quotation_is_used_again_for_a_while(world: World) -> None:
    find = Finder()
    world.session("ann", None).acquire("gpu:1", ttl_seconds=1000.0)
    ben = world.session("ben", find)
    for _ in range(2):
        assert ben.acquire("gpu:1").context == (QUOTE,)
    assert len(find.asked) == 1
    assert ben.acquire("gpu:1", task="other").context == (QUOTE,)
    world.clock.advance(KEPT_SECONDS)
    ben.acquire("gpu:1")
    assert [words for _, words, _ in find.asked] == ["", "other", ""]


def test_a_refusal_does_not_depend_on_the_notes(world: World) -> None:
    world.session("ann", None).acquire("gpu:1")
    for find in (None, Finder(fails=True)):
        answer = world.session("ben", find).acquire("gpu:1")
        assert (answer.outcome, answer.context) == ("denied", ())
