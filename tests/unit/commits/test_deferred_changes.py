"""What is written already never waits until all files are read: it is recorded at once, and examined later."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.in_memory.index import MemoryIndex
from tests.in_memory.store import MemoryStore

from commonhold.api.service import Service
from commonhold.code.analysis.repository.library import Library
from commonhold.code.regions.region import hash_bytes
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.deferred_changes import DeferredChanges, Unexamined
from commonhold.commits.turns import Turns
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.events import Committed
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

LIBRARY = "def one(a):\n    return a\n"
CHANGED = "def one(a, b):\n    return a\n"
USER = "from library import one\n\n\ndef two():\n    return one(1)\n"
MENDED = USER.replace("one(1)", "one(1, 2)")


class UnreadIndex(MemoryIndex):
    """An index of files that are not read yet. It counts how often somebody has waited for them."""

    is_read = False
    waits = 0

    def library(self, *words: object) -> Library:
        del words
        self.waits += not self.is_read
        return super().library()

    def library_if_read(self) -> Library | None:
        return super().library() if self.is_read else None


class House:
    """A working tree with two files, in which a session writes with its own tools."""

    def __init__(self, root: Path, deferred_changes: DeferredChanges | None) -> None:
        self.root = root
        (root / "library.py").write_text(LIBRARY)
        (root / "user.py").write_text(USER)
        self.index = UnreadIndex(lambda: {each.name: each.read_bytes() for each in sorted(root.iterdir())})
        self.turns = Turns(is_complete=True)
        self.store = MemoryStore()
        self.clock, self.ids, self.deferred_changes = FakeClock(), CountingIds(), deferred_changes
        self.service = self.of("one")
        self.service.store_contents([LIBRARY.encode(), USER.encode()])

    def of(self, agent: str | None) -> Service:
        return Service(
            store=self.store,
            files=WorkingTree(str(self.root)),
            clock=self.clock,
            ids=self.ids,
            agent=agent,
            surroundings=Surroundings(
                see=lambda: Insight(self.index), turns=self.turns, deferred_changes=self.deferred_changes
            ),
        )

    def write(self, name: str, text: str) -> RecordAnswer:
        before = (self.root / name).read_bytes()
        (self.root / name).write_text(text)
        return self.service.record_external_writes({name: hash_bytes(before)}, intent="by a command")

    def examine(self) -> None:
        """As a daemon does once all files are read."""
        self.index.is_read = True
        self.of(None).examine_deferred()

    def told(self) -> Sequence[str]:
        return [each.text for each in self.service.news()]

    def reviews(self) -> list[str]:
        return [each.holder for each in self.service.status().works]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, DeferredChanges())


def test_a_change_is_recorded_while_files_are_still_unread(house: House) -> None:
    answer = house.write("library.py", CHANGED)
    commit = house.service.log()[-1].event
    assert answer.outcome == "recorded"
    assert isinstance(commit, Committed)
    assert [each.what for each in commit.contracts] != [], "whoever relies on it is still told and stopped"
    assert house.turns.linked(str(house.root)) == 1, "commits that were planned before look again"
    assert house.index.waits == 0


def test_what_it_breaks_in_another_file_is_told_once_all_are_read(house: House) -> None:
    house.write("library.py", CHANGED)
    assert house.told() == []
    house.examine()
    (told,) = house.told()
    assert "your change was recorded before Commonhold had read all files (library.py)" in told
    assert "user.py" in told
    assert "REQUIRE_ADDITIONAL_LOCKS" in told
    assert house.reviews() == ["one"]
    house.examine()
    assert house.told() == [], "once"


def test_nothing_is_told_of_what_was_mended_in_the_other_file_meanwhile(house: House) -> None:
    house.write("library.py", CHANGED)
    house.write("user.py", MENDED)
    house.examine()
    assert (house.told(), house.reviews()) == ([], [])


def test_nothing_is_told_of_what_was_taken_back_meanwhile(house: House) -> None:
    house.write("library.py", CHANGED)
    house.write("library.py", LIBRARY)
    house.examine()
    assert (house.told(), house.reviews()) == ([], [])


def test_several_changes_of_one_session_are_examined_together(house: House) -> None:
    house.write("library.py", CHANGED)
    house.write("library.py", CHANGED.replace("b)", "b, c)"))
    house.examine()
    assert len(house.told()) == 1
    assert house.reviews() == ["one"]


def test_a_change_that_concerns_no_other_file_is_not_put_off(house: House) -> None:
    assert house.write("library.py", LIBRARY.replace("return a", "return 2")).outcome == "recorded"
    assert house.deferred_changes is not None
    assert house.deferred_changes.roots == []


def test_a_change_made_by_nobody_known_is_recorded_and_nobody_is_told(house: House) -> None:
    house.service.read("library.py")
    (house.root / "library.py").write_text(CHANGED)
    assert house.service.record_external_changes(None).outcome == "recorded"
    assert house.deferred_changes is not None
    assert house.deferred_changes.roots == []
    assert house.index.waits == 0


def test_a_commit_waits_until_all_files_are_read(house: House) -> None:
    (region, *_) = house.service.read("library.py#one")
    answer = house.service.commit(Changeset((Edit(Op.REPLACE, "library.py#one", region.hash, CHANGED),)))
    assert answer.code == "REQUIRE_ADDITIONAL_LOCKS"
    assert house.index.waits == 1


def test_a_process_that_does_not_live_on_waits(tmp_path: Path) -> None:
    house = House(tmp_path, None)
    assert house.write("library.py", CHANGED).code == "REQUIRE_ADDITIONAL_LOCKS"
    assert house.index.waits == 1


def test_the_first_of_what_a_session_wrote_is_where_its_examination_begins() -> None:
    deferred_changes = DeferredChanges()
    deferred_changes.add(Unexamined("/r", "one", {"a": "1"}, ""))
    deferred_changes.add(Unexamined("/r", "one", {"a": "2", "b": "3"}, "later"))
    deferred_changes.add(Unexamined("/r", "two", {"a": "2"}, ""))
    assert deferred_changes.roots == ["/r"]
    assert deferred_changes.take("/r") == [
        Unexamined("/r", "one", {"a": "1", "b": "3"}, "later"),
        Unexamined("/r", "two", {"a": "2"}, ""),
    ]
    assert deferred_changes.take("/r") == []
