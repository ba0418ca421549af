"""Undo: the commits of one session are taken back, and nothing of others."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.in_memory.index import MemoryIndex
from tests.in_memory.store import MemoryStore

from commonhold.api.service import Service
from commonhold.commits.cross_file_admission import Insight
from commonhold.commits.undo.answers import LaterWork, UndoAnswer
from commonhold.commits.undo.service import _ways_of
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, InputError, UsageError
from commonhold.kernel.events import Committed
from commonhold.kernel.options import Options
from commonhold.kernel.task import Task
from commonhold.tasks.answers import TaskAction
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

SOURCE = "def f(x):\n    return x\n\n\ndef g(x):\n    return x + 1\n\n\ndef h(x):\n    return x + 2\n"


@dataclass
class Shop:
    """A folder, and sessions that share its state."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    store: MemoryStore = field(default_factory=MemoryStore)
    services: dict[str, Service] = field(default_factory=dict)

    def session(self, name: str) -> Service:
        if name not in self.services:
            self.services[name] = Service(
                store=self.store,
                files=WorkingTree(str(self.folder / "root")),
                clock=self.clock,
                ids=self.ids,
                agent=name,
                options=Options(retention_seconds=1e6),
                surroundings=Surroundings(see=lambda: Insight(MemoryIndex(self.sources))),
            )
        return self.services[name]

    def sources(self) -> dict[str, bytes]:
        return {each.name: each.read_bytes() for each in (self.folder / "root").glob("*.py")}

    def file(self, path: str = "a.py") -> Path:
        return self.folder / "root" / path

    @property
    def text(self) -> str:
        return self.file().read_text(encoding="utf-8")

    def commit(self, name: str, *edits: Edit, intent: str = "") -> int:
        answer = self.session(name).commit(Changeset(edits, intent))
        assert answer.sequence is not None, answer
        return answer.sequence

    def replace(self, name: str, key: str, text: str, intent: str = "") -> int:
        """Give a region of `a.py` a new text, and return the number of the event."""
        base = self.session(name).read(f"a.py#{key}")[0].hash
        return self.commit(name, Edit(Op.REPLACE, f"a.py#{key}", base, text), intent=intent)

    def undo(self, what: object, *only: str, apply: bool = True, request_id: str | None = None) -> UndoAnswer:
        return self.session("person").undo(str(what), apply=apply, only=only, request_id=request_id)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    (tmp_path / "root").mkdir()
    made = Shop(tmp_path)
    made.file().write_text(SOURCE, encoding="utf-8")
    yield made
    for each in made.services.values():
        each.close()


def test_the_undo_is_shown_before_it_is_made(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x):\n    return -x\n", "negate")
    shown = shop.undo(sequence, apply=False)
    assert shown.outcome == "shown"
    assert [each.sequence for each in shown.commits] == [sequence]
    assert "-    return -x" in (shown.files[0].diff or "")
    assert "+    return x" in (shown.files[0].diff or "")
    assert [(each.call, each.arguments) for each in shown.ways] == [("undo", {"what": str(sequence), "apply": True})]
    assert "return -x" in shop.text


def test_the_undo_of_a_session_leaves_what_others_did_to_the_same_file(shop: Shop) -> None:
    shop.replace("one", "f", "def f(x):\n    return -x\n")
    shop.replace("two", "g", "def g(x):\n    return x + 10\n")
    shop.replace("one", "h", "def h(x):\n    return x - 2\n")
    answer = shop.undo("one")
    assert answer.outcome == "undone"
    assert [each.holder for each in answer.commits] == ["one", "one"]
    assert answer.files[0].is_merged
    assert shop.text == SOURCE.replace("x + 1\n", "x + 10\n")


def test_commits_in_one_region_are_undone_newest_first(shop: Shop) -> None:
    shop.replace("one", "f", "def f(x):\n    return 1\n")
    shop.replace("one", "f", "def f(x):\n    return 2\n")
    answer = shop.undo("one")
    assert not answer.files[0].is_merged
    assert shop.text == SOURCE


def test_the_undo_of_an_older_commit_under_a_newer_one_in_the_same_region_is_refused(shop: Shop) -> None:
    first = shop.replace("one", "f", "def f(x):\n    return 1\n")
    second = shop.replace("two", "f", "def f(x):\n    return 2\n", "two is better")
    before = shop.text
    answer = shop.undo(first)
    assert (answer.outcome, answer.code) == ("refused", "REGION_CHANGED")
    assert [(each.key, each.holder, each.sequence) for each in answer.later] == [("file:a.py#f", "two", second)]
    assert answer.unmerged[0].marked is not None
    assert "<<<<<<<" in answer.unmerged[0].marked
    assert [each.arguments for each in answer.ways] == [{"what": str(second)}]
    assert shop.text == before
    assert shop.undo(second).outcome == "undone"
    assert shop.undo(first).outcome == "undone"
    assert shop.text == SOURCE


def test_an_undo_can_be_undone_and_its_commit_undone_again(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x):\n    return -x\n")
    undo = shop.undo(sequence)
    again = shop.undo(sequence)
    assert again.outcome == "nothing"
    assert str(undo.sequence) in again.why
    redo = shop.undo(undo.sequence)
    assert redo.outcome == "undone"
    assert "return -x" in shop.text
    assert shop.undo(sequence).outcome == "undone"
    assert shop.text == SOURCE


def test_only_the_undos_of_the_commits_in_question_are_named(shop: Shop) -> None:
    first = shop.replace("one", "f", "def f(x):\n    return -x\n")
    shop.replace("two", "g", "def g(x):\n    return -x\n")
    shop.undo("two")
    undo = shop.undo("one").sequence
    again = shop.undo(first)
    assert (again.outcome, again.why) == ("nothing", f"undone already by event {undo}")
    assert [each.arguments for each in again.ways] == [{"what": str(undo)}]


def test_the_event_of_an_undo_names_the_commits_that_it_takes_back(shop: Shop) -> None:
    first = shop.replace("one", "f", "def f(x):\n    return -x\n", "negate")
    second = shop.replace("one", "g", "def g(x):\n    return -x\n")
    sequence = shop.undo("one").sequence or 0
    event = shop.session("one").log(after=sequence - 1, limit=1)[0].event
    assert isinstance(event, Committed)
    assert (event.holder, event.undoes, event.intent) == ("person", (second, first), "undo one: negate")


def test_a_repeated_request_gets_the_first_answer(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x):\n    return -x\n")
    first = shop.undo(sequence, request_id="r1")
    shop.undo(first.sequence)
    assert shop.undo(sequence, request_id="r1") == first
    assert "return -x" in shop.text


def test_files_that_were_made_deleted_and_renamed_come_back(shop: Shop) -> None:
    shop.file("old.txt").write_text("old\n", encoding="utf-8")
    shop.file("moved.txt").write_text("moved\n", encoding="utf-8")
    shop.file("moved.txt").chmod(0o755)
    hashes = {each: shop.session("one").read(each)[0].hash for each in ("old.txt", "moved.txt")}
    shop.commit(
        "one",
        Edit(Op.CREATE_FILE, "new.txt", text="new\n"),
        Edit(Op.DELETE_FILE, "old.txt", hashes["old.txt"]),
        Edit(Op.RENAME_FILE, "moved.txt", hashes["moved.txt"], to="here.txt"),
    )
    assert shop.undo("one").outcome == "undone"
    assert not shop.file("new.txt").exists()
    assert not shop.file("here.txt").exists()
    assert shop.file("old.txt").read_text(encoding="utf-8") == "old\n"
    assert shop.file("moved.txt").stat().st_mode & 0o777 == 0o755


def test_permission_bits_come_back(shop: Shop) -> None:
    shop.file().chmod(0o644)
    sequence = shop.commit("one", Edit(Op.CHMOD, "a.py", shop.session("one").read("a.py")[0].hash, mode="755"))
    shown = shop.undo(sequence, apply=False)
    assert shown.files[0].diff == "mode 755 becomes 644"
    assert shop.undo(sequence).outcome == "undone"
    assert shop.file().stat().st_mode & 0o777 == 0o644


def test_a_file_that_others_changed_since_it_was_made_is_not_deleted(shop: Shop) -> None:
    made = shop.commit("one", Edit(Op.CREATE_FILE, "new.txt", text="new\n"))
    base = shop.session("two").read("new.txt")[0].hash
    changed = shop.commit("two", Edit(Op.REPLACE, "new.txt", base, text="new\nmore\n"))
    answer = shop.undo(made)
    assert answer.outcome == "refused"
    assert [(each.holder, each.sequence) for each in answer.later] == [("two", changed)]
    assert shop.file("new.txt").read_text(encoding="utf-8") == "new\nmore\n"


def test_a_change_outside_commonhold_in_the_same_place_is_named_as_such(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x):\n    return 1\n")
    shop.file().write_text(shop.text.replace("return 1", "return 3"), encoding="utf-8")
    answer = shop.undo(sequence)
    assert answer.outcome == "refused"
    assert answer.later[0].holder is None
    assert answer.later[0].why.endswith("outside Commonhold")
    assert [(each.call, each.arguments["keys"]) for each in answer.ways] == [("acquire", ["file:a.py"])]


def test_nobody_can_be_asked_about_a_change_outside_commonhold() -> None:
    later = (
        LaterWork("file:a.py", "", "outside", 7),
        LaterWork("file:a.py", "", "two", 5),
        LaterWork("file:a.py", "", "one", 4),
    )
    assert [each.why for each in _ways_of("one", later)] == [
        "if you know who made that change outside of Commonhold: undo it first",
        "ask two, and undo their work first",
        "undo your own event 4 first",
    ]


def test_the_files_that_nothing_hinders_can_be_undone_alone(shop: Shop) -> None:
    hash_of_a = shop.session("one").read("a.py#f")[0].hash
    both = shop.commit(
        "one",
        Edit(Op.REPLACE, "a.py#f", hash_of_a, "def f(x):\n    return 1\n"),
        Edit(Op.CREATE_FILE, "b.txt", text="b\n"),
    )
    shop.replace("two", "f", "def f(x):\n    return 2\n")
    answer = shop.undo(both)
    assert answer.outcome == "refused"
    rest = answer.ways[-1]
    assert rest.arguments == {"what": str(both), "only": ["b.txt"]}
    assert shop.undo(both, "b.txt").outcome == "undone"
    assert not shop.file("b.txt").exists()
    assert "return 2" in shop.text
    assert shop.undo(both).outcome == "refused"  # the commit is still in effect in the other file


def test_a_lease_of_another_session_is_respected(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x):\n    return -x\n")
    shop.session("two").acquire("a.py#f", task="rewrite f")
    answer = shop.undo(sequence)
    assert (answer.outcome, answer.code) == ("refused", "LOCK_CONFLICT")
    assert [(each.key, each.holder, each.intent) for each in answer.later] == [("file:a.py#f", "two", "rewrite f")]
    assert "return -x" in shop.text
    assert answer.ways[-1].call == "undo"


def test_a_caller_in_the_same_file_is_named_by_the_merge(shop: Shop) -> None:
    """The undone commit had added the parameter with which another session calls the function."""
    sequence = shop.replace("one", "f", "def f(x, y):\n    return x + y\n")
    caller = shop.replace("two", "g", "def g(x):\n    return f(x, 1)\n")
    answer = shop.undo(sequence)
    assert (answer.outcome, answer.code) == ("refused", "REGION_CHANGED")
    assert [(each.key, each.holder, each.sequence) for each in answer.later] == [("file:a.py#g", "two", caller)]


def test_a_caller_in_another_file_is_named_by_the_admission(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x, y=1):\n    return x + y\n")
    text = "from a import f\n\n\ndef use():\n    return f(1, 2)\n"
    caller = shop.commit("two", Edit(Op.CREATE_FILE, "b.py", text=text))
    answer = shop.undo(sequence)
    assert (answer.outcome, answer.code) == ("refused", "REQUIRE_ADDITIONAL_LOCKS")
    assert [(each.key, each.holder, each.sequence) for each in answer.later] == [("file:b.py#use", "two", caller)]
    assert [each.call for each in answer.ways] == ["undo", "acquire", "undo"]
    shop.session("person").acquire("b.py#use")
    undone = shop.undo(sequence)
    assert undone.outcome == "undone"
    assert undone.commit is not None
    assert any("owed by you" in each for each in undone.commit.notices)


def test_work_of_others_in_the_same_region_that_the_merge_keeps_is_named(shop: Shop) -> None:
    body = "".join(f"    a{number} = {number}\n    print(a{number})\n" for number in range(6))
    shop.replace("zero", "f", f"def f(x):\n{body}    return x\n")
    first = shop.replace("one", "f", f"def f(x):\n{body}    return x\n".replace("a0 = 0", "a0 = 100"))
    second = shop.replace("two", "f", shop.text.partition("\n\n\n")[0].replace("a5 = 5", "a5 = 500") + "\n")
    answer = shop.undo(first)
    assert answer.outcome == "undone", answer
    assert [(each.key, each.sequence) for each in answer.later] == [("file:a.py#f", second)]
    assert "a5 = 500" in shop.text
    assert "a0 = 0" in shop.text


def test_the_undo_of_a_session_covers_its_subagents_and_no_session_whose_name_begins_so(shop: Shop) -> None:
    shop.replace("one", "f", "def f(x):\n    return 1\n")
    shop.replace("one/helper", "g", "def g(x):\n    return 2\n")
    shop.replace("one-more", "h", "def h(x):\n    return 3\n")
    shop.undo("one")
    assert shop.text == SOURCE.replace("x + 2", "3")


def test_the_undo_of_a_task_covers_the_commits_of_its_attempts(shop: Shop) -> None:
    shop.replace("one", "g", "def g(x):\n    return 0\n")
    shop.clock.advance(1.0)
    shop.session("person").add_tasks(Task("price", "price"))
    lease = shop.session("one").claim_task("price").lease
    assert lease is not None
    shop.clock.advance(1.0)
    during = shop.replace("one", "f", "def f(x):\n    return 1\n")
    shop.replace("two", "h", "def h(x):\n    return 3\n")
    done = shop.session("one").change_task("price", TaskAction.DONE, fence=lease.fence)
    assert done.outcome == "changed", done
    shop.clock.advance(1.0)
    shop.replace("one", "g", "def g(x):\n    return 5\n")
    answer = shop.undo("task:price")
    assert [each.sequence for each in answer.commits] == [during]
    assert shop.text == SOURCE.replace("x + 1\n", "5\n").replace("x + 2", "3")


def test_changes_by_tools_are_undone_too(shop: Shop) -> None:
    service = shop.session("one")
    before = service.read("a.py")[0].hash
    shop.file().write_text(SOURCE.replace("x + 2", "x + 3"), encoding="utf-8")
    service.record_external_writes({"a.py": before}, intent="by a tool")
    assert shop.undo("one").outcome == "undone"
    assert shop.text == SOURCE


@pytest.mark.parametrize("what", ["0", "²", "999", "99999999999999999999999", "stranger", "task:none", ""])
def test_what_means_no_commit_is_an_error(shop: Shop, what: str) -> None:
    shop.replace("one", "f", "def f(x):\n    return 1\n")
    with pytest.raises(InputError) as caught:
        shop.undo(what)
    assert caught.value.code is Code.COMMIT_UNKNOWN


@pytest.mark.parametrize("only", ["b.py", "a.py#f", "src/"])
def test_only_takes_files_that_the_commits_changed(shop: Shop, only: str) -> None:
    shop.replace("one", "f", "def f(x):\n    return 1\n")
    with pytest.raises(UsageError):
        shop.undo("one", only)


def test_contents_whose_time_is_over_are_named(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x):\n    return 1\n")
    shop.clock.advance(2e6)
    shop.session("one").apply_retention()
    answer = shop.undo(sequence)
    assert (answer.outcome, answer.code) == ("refused", "CONTENT_UNKNOWN")
    assert "no longer kept" in answer.why
    assert [each.call for each in answer.ways] == ["acquire"]


def test_what_is_already_as_before_needs_no_undo(shop: Shop) -> None:
    sequence = shop.replace("one", "f", "def f(x):\n    return 1\n")
    shop.file().write_text(SOURCE, encoding="utf-8")
    answer = shop.undo(sequence)
    assert (answer.outcome, answer.sequence) == ("nothing", None)
