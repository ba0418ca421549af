"""Who only looks does not wait for a commit of the same process, unless it could see half of one."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.patience import PATIENCE_SECONDS

from commonhold.api.service import Service
from commonhold.commits.turns import Turns
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.ports import Step, no_step
from commonhold.stores.sqlite.mirror import MirroredStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

OLD, NEW = "x = 0\n", "x = 1\n"


class Watched(MirroredStore):
    """A store that tells when a thread other than the main one asks for the gate, or somebody waits for a commit."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder, synchronous="OFF")
        self.is_asked = threading.Event()

    @contextmanager
    def gate(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            self.is_asked.set()
        with super().gate():
            yield


class Daemon:
    """A process that serves several sessions."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        self.store = Watched(str(folder / "state"))
        self.store.own()
        self._turns = Turns(wait=self._wait, is_complete=True)
        self._clock, self._ids = FakeClock(), CountingIds()

    def _wait(self, event: threading.Event, seconds: float) -> object:
        self.store.is_asked.set()
        return event.wait(seconds)

    def session(self, agent: str, at_step: Step = no_step) -> Service:
        return Service(
            store=self.store,
            files=WorkingTree(str(self.root), at_step=at_step),
            clock=self._clock,
            ids=self._ids,
            agent=agent,
            surroundings=Surroundings(turns=self._turns),
            at_step=at_step,
        )


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path)
    for name in "ab":
        (daemon.root / f"{name}.py").write_text(OLD)
    yield daemon
    daemon.store.close()


def changes(session: Service, *paths: str, text: str = NEW) -> Changeset:
    read = [session.read(path)[0] for path in paths]
    return Changeset(tuple(Edit(Op.REPLACE, each.key, each.hash, text) for each in read))


def beside(call: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    return thread, answers


@pytest.mark.parametrize(("step", "text"), [("journalled", OLD), ("swapped a.py", NEW)])
def test_a_commit_of_one_file_keeps_no_reader_waiting(daemon: Daemon, step: str, text: str) -> None:
    other = daemon.session("two")
    seen: list[object] = []

    def look(at: str) -> None:
        if at == step:
            for call in (lambda: other.read("a.py")[0].text, lambda: other.status().leases, lambda: other.who("a.py")):
                thread, answers = beside(call)
                thread.join(PATIENCE_SECONDS)
                seen.extend(answers)

    session = daemon.session("one", look)
    assert session.commit(changes(session, "a.py")).outcome == "committed"
    assert seen[:1] == [text]
    assert len(seen) == 3
    assert not daemon.store.is_asked.is_set()
    assert other.read("a.py")[0].text == NEW


@pytest.mark.parametrize(
    ("path", "is_waiting"), [("b.py", False), ("a.py", True)], ids=["unchanged", "written by the commit"]
)
def test_a_search_for_external_changes_waits_only_if_it_finds_one(
    daemon: Daemon, path: str, *, is_waiting: bool
) -> None:
    other = daemon.session("two")
    other.read("a.py", "b.py")
    searches: list[tuple[threading.Thread, list[object]]] = []

    def look(at: str) -> None:
        if at == "swapped a.py":
            search = beside(lambda: other.record_external_changes([path]).outcome)
            searches.append(search)
            if is_waiting:
                assert daemon.store.is_asked.wait(PATIENCE_SECONDS)
            else:
                search[0].join(PATIENCE_SECONDS)
                assert search[1] == ["nothing"]

    session = daemon.session("one", look)
    assert session.commit(changes(session, "a.py")).outcome == "committed"
    [(thread, answers)] = searches
    thread.join(PATIENCE_SECONDS)
    assert answers == ["nothing"], "a commit of a session is no external change"
    assert daemon.store.is_asked.is_set() == is_waiting


def test_who_might_see_half_a_commit_waits_until_it_is_whole(daemon: Daemon) -> None:
    other = daemon.session("two")
    waiting: list[tuple[threading.Thread, list[object]]] = []

    def look(at: str) -> None:
        if at == "swapped a.py":
            waiting.append(beside(lambda: [each.text for each in other.read("a.py", "b.py")]))
            assert daemon.store.is_asked.wait(PATIENCE_SECONDS)

    session = daemon.session("one", look)
    assert session.commit(changes(session, "a.py", "b.py")).outcome == "committed"
    ((thread, answers),) = waiting
    thread.join(PATIENCE_SECONDS)
    assert answers == [[NEW, NEW]]


def test_who_has_seen_what_was_taken_back_overwrites_nothing(daemon: Daemon) -> None:
    """The commit fails once its file is there: what another has read of it is no base for any edit."""
    other = daemon.session("two")
    based: list[object] = []

    def fail(at: str) -> None:
        if at == "swapped a.py":
            thread, _ = beside(lambda: based.append(changes(other, "a.py", text="x = 2\n")))
            thread.join(PATIENCE_SECONDS)
            raise StoreError(Code.DISK_FULL, "no room", hint="make some")

    session = daemon.session("one", fail)
    with pytest.raises(StoreError):
        session.commit(changes(session, "a.py"))
    assert (daemon.root / "a.py").read_text() == OLD
    (changeset,) = based
    assert isinstance(changeset, Changeset)
    assert other.commit(changeset).outcome == "refused"
    assert (daemon.root / "a.py").read_text() == OLD
