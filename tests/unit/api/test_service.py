"""What no story can stage: endless interference, the same request twice at once, a state that cannot be written."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.commits.plan import CommitRequest, CrossFileEffects, Plan, Rejected
from commonhold.commits.recovery import left_behind
from commonhold.commits.service import Commits
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, CommonholdError, StoreError, UsageError
from commonhold.kernel.events import CommitRefused, Committed
from commonhold.kernel.files import Journal
from commonhold.kernel.lease import MAX_TTL_SECONDS
from commonhold.kernel.options import Options
from commonhold.kernel.ports import Step, no_step
from commonhold.kernel.refusals import Refusal
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

CREATE = Changeset((Edit(Op.CREATE_FILE, "b.py", text="x = 1\n"),), request_id="r1")
CHMOD = Changeset((Edit(Op.CHMOD, "a.py", mode="755"),), request_id="r1")


@dataclass
class House:
    """One working tree; each service in it has a store of its own, as a process would."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    opened: list[Service] = field(default_factory=list)

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def service(self, agent: str | None = "one", at_step: Step = no_step, retention_seconds: float = 100.0) -> Service:
        service = Service(
            store=SqliteStore(str(self.state), synchronous="OFF"),
            files=WorkingTree(str(self.folder / "root"), at_step=at_step),
            clock=self.clock,
            ids=self.ids,
            agent=agent,
            options=Options(retention_seconds=retention_seconds),
            at_step=at_step,
        )
        self.opened.append(service)
        return service

    def write(self, text: str) -> None:
        self.folder.joinpath("root/a.py").write_text(text)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    tmp_path.joinpath("root").mkdir()
    house.write("x = 0\n")
    yield house
    for service in house.opened:
        service.close()


def code_of(call: Callable[[], object]) -> Code:
    with pytest.raises(CommonholdError) as caught:
        call()
    return caught.value.code


def replaced(service: Service, text: str) -> Changeset:
    (region,) = service.read("a.py")
    return Changeset((Edit(Op.REPLACE, "a.py", base=region.hash, text=text),))


def test_endless_interference_ends_in_an_error_and_nothing_written(house: House) -> None:
    count = iter(range(100))

    def interfere(step: str) -> None:
        if step == "staged a.py":
            house.folder.joinpath("root/a.py").chmod(0o600)
            house.write(f"y = {next(count)}\n")

    service = house.service(at_step=interfere)
    chmod = Changeset((Edit(Op.CHMOD, "a.py", mode="755"),))
    with pytest.raises(StoreError) as caught:
        service.commit(chmod)
    assert caught.value.code is Code.REPOSITORY_BUSY
    assert caught.value.retryable
    assert [path.name for path in house.folder.joinpath("root").iterdir()] == ["a.py"]


@pytest.mark.parametrize("changeset", [CREATE, CHMOD])
def test_a_request_made_twice_at_once_takes_effect_once(house: House, changeset: Changeset) -> None:
    """Whoever comes second gets the first answer, though it had begun before the first was done."""
    first, second = house.service(), house.service()
    plan = second._writing.commits._planner.plan

    def plan_and_be_overtaken(changeset: Changeset, _earlier: object = None) -> object:
        planned = plan(changeset)
        first.commit(changeset)
        return planned

    second._writing.commits._planner.plan = plan_and_be_overtaken  # type: ignore[method-assign, assignment]
    answer = second.commit(changeset)
    assert answer == first.commit(changeset)
    assert [type(each.event) for each in first.log()] == [Committed]


def test_threads_of_one_process_take_turns(house: House) -> None:
    service = house.service()
    changesets = [Changeset((Edit(Op.CREATE_FILE, f"{n}.py", text="x = 1\n"),)) for n in range(20)]
    threads = [threading.Thread(target=service.commit, args=(changeset,)) for changeset in changesets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.sequence for each in service.log()] == list(range(1, 21))
    assert len(list(house.folder.joinpath("root").iterdir())) == 21


def interrupt(house: House, at: str, changeset: Changeset) -> None:
    """Let a commit die after a step, without the chance to clean up."""

    def die(step: str) -> None:
        if step == at:
            os._exit(1)

    pid = os.fork()
    if pid == 0:
        house.service(at_step=die).commit(changeset)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def two_files(house: House) -> Changeset:
    """A change of a.py, and a new file beside it."""
    (region,) = house.service().read("a.py")
    return Changeset((Edit(Op.REPLACE, region.key, region.hash, "x = 1\n"), Edit(Op.CREATE_FILE, "b.py", text="")))


def test_a_commit_whose_record_fails_is_taken_back_by_nobody_else_meanwhile(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, left = list[str](), list[Journal]()
    service, other = house.service(at_step=steps.append), house.service("two")
    place = service._uses.maintenance._place
    write = place.store.write

    @contextmanager
    def write_until_the_record() -> Iterator[object]:
        try:
            with write() as writer:
                yield writer
                if steps and steps.pop().startswith("flushed"):
                    raise StoreError(Code.DISK_FULL, "full", hint="make room")  # noqa: TRY301
        except StoreError:
            left.extend(left_behind(place))
            raise

    monkeypatch.setattr(place.store, "write", write_until_the_record)
    assert code_of(lambda: service.commit(CREATE)) is Code.DISK_FULL
    assert left == []
    assert not house.folder.joinpath("root/b.py").exists()
    assert other.commit(CREATE).outcome == "committed"


def test_an_interrupted_commit_waits_for_its_working_tree(house: House) -> None:
    interrupt(house, "swapped a.py", two_files(house))
    root, away = house.folder / "root", house.folder / "away"
    root.rename(away)
    root.symlink_to(root)  # cannot be reached
    other = house.service("two")
    assert other.recover() == ()
    root.unlink()
    away.rename(root)
    (undone,) = other.recover()
    assert undone.restored == ("a.py",)
    assert root.joinpath("a.py").read_text() == "x = 0\n"


def test_a_commit_that_cannot_be_undone_blocks_the_next_and_loses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no")

    interrupt(house, "swapped a.py", two_files(house))
    other = house.service("two")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        assert code_of(lambda: other.read("a.py")) is Code.RECOVERY_BLOCKED
        assert code_of(lambda: other.commit(CREATE)) is Code.RECOVERY_BLOCKED
    assert other.read("a.py")[0].text == "x = 0\n"


def test_a_commit_that_swapped_no_file_blocks_no_reader(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is read-only meanwhile keeps its stages from being taken away; nobody can see them."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "no")

    interrupt(house, "staged b.py", two_files(house))
    other = house.service("two")
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        assert other.read("a.py")[0].text == "x = 0\n"
        assert code_of(lambda: other.commit(CREATE)) is Code.RECOVERY_BLOCKED
    assert other.commit(CREATE).outcome == "committed"


@pytest.mark.parametrize("foreign", ["folder", "link", "pipe", "huge"])
def test_what_no_commit_made_is_left_and_the_rest_is_undone(house: House, foreign: str) -> None:
    interrupt(house, "swapped a.py", two_files(house))
    place = house.folder / "root/b.py"
    make: dict[str, Callable[[], object]] = {
        "folder": place.mkdir,
        "link": lambda: place.symlink_to("a.py"),
        "pipe": lambda: os.mkfifo(place),
        "huge": lambda: place.write_bytes(bytes(10_000_001)),
    }
    make[foreign]()
    (undone,) = house.service("two").recover()
    assert (undone.restored, undone.left) == (("a.py",), ("b.py",))
    assert house.folder.joinpath("root/a.py").read_text() == "x = 0\n"
    assert os.path.lexists(place)


def test_a_mode_given_from_outside_survives_the_undoing(house: House) -> None:
    interrupt(house, "swapped a.py", two_files(house))
    house.folder.joinpath("root/a.py").chmod(0o600)
    (undone,) = house.service("two").recover()
    assert undone.restored == ("a.py",)
    path = house.folder.joinpath("root/a.py")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("x = 0\n", 0o600)


def test_forgetting_keeps_what_an_undoing_needs(house: House) -> None:
    interrupt(house, "swapped a.py", two_files(house))
    house.service("two", retention_seconds=-1.0).apply_retention()
    assert house.folder.joinpath("root/a.py").read_text() == "x = 0\n"


def test_a_commit_whose_record_fails_is_undone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreError(Code.DISK_FULL, "full", hint="")

    service = house.service()
    changeset = two_files(house)
    with monkeypatch.context() as patch:
        patch.setattr(Commits, "_record", full)
        assert code_of(lambda: service.commit(changeset)) is Code.DISK_FULL
    assert house.folder.joinpath("root/a.py").read_text() == "x = 0\n"
    assert service.commit(changeset).outcome == "committed"


def test_a_mode_that_another_gave_meanwhile_is_not_lost(house: House) -> None:
    """One plans a new text; before it enters the gate, two makes the file executable."""
    one, two = house.service("one"), house.service("two")
    (region,) = one.read("a.py")
    plan = one._writing.own_plans.plan

    def plan_and_wait(request: CommitRequest, earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        one._writing.own_plans.plan = plan  # type: ignore[method-assign]
        planned = plan(request, earlier)
        two.commit(Changeset((Edit(Op.CHMOD, "a.py", mode="755"),)))
        return planned

    one._writing.own_plans.plan = plan_and_wait  # type: ignore[method-assign]
    assert one.commit(Changeset((Edit(Op.REPLACE, "a.py", region.hash, "x = 1\n"),))).outcome == "committed"
    path = house.folder.joinpath("root/a.py")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("x = 1\n", 0o755)


def test_refused_work_is_kept(house: House) -> None:
    service = house.service()
    service.read("a.py")
    answer = service.commit(Changeset((Edit(Op.REPLACE, "a.py", "0" * 64, "y = 1\n"),)))
    assert answer.code is Refusal.REGION_CHANGED
    (refused,) = [each.event for each in service.log() if isinstance(each.event, CommitRefused)]
    assert [service.content(each) for each in refused.contents] == [b"y = 1\n"]


@pytest.mark.parametrize("text", ["\n\nLIMIT_OF_A = 1\n\n\n"])
def test_two_edits_of_like_gaps_never_overwrite_each_other(house: House, text: str) -> None:
    house.folder.joinpath("root/a.py").write_text("import os\n\n\ndef f(): ...\n\n\ndef g(): ...\n\n\ndef h(): ...\n")
    one, two = house.service("one"), house.service("two")
    gap = one.read("a.py#@header")[0].pieces[1]
    theirs = Edit(Op.REPLACE, "a.py#@header", gap.hash, text.replace("_A", "_B"), span=1)
    mine = Edit(Op.REPLACE, "a.py#@header", gap.hash, text, span=1)
    assert two.commit(Changeset((theirs,))).outcome == "committed"
    answer = one.commit(Changeset((mine,)))
    written = house.folder.joinpath("root/a.py").read_text()
    assert "LIMIT_OF_B" in written
    assert ("LIMIT_OF_A" in written) is (answer.outcome == "committed")


def test_a_path_is_no_file_and_folder_at_once(house: House) -> None:
    both = Changeset((Edit(Op.CREATE_FILE, "q", text=""), Edit(Op.CREATE_FILE, "q/z", text="")))
    service = house.service()
    assert code_of(lambda: service.commit(both)) is Code.CHANGESET_INVALID
    assert not house.folder.joinpath("root/q").exists()


def test_a_repository_inside_is_entered_by_itself_only(house: House) -> None:
    house.folder.joinpath("root/sub/.git").mkdir(parents=True)
    assert code_of(lambda: house.service().acquire("sub/x.py")) is Code.PATH_RESERVED


def test_a_state_that_was_moved_away_is_not_used_on(house: House) -> None:
    one = house.service("one")
    one.acquire("a.py")
    house.state.rename(house.state.with_name("damaged"))
    assert code_of(lambda: one.acquire("b.py")) is Code.STORE_UNSAFE


def test_a_session_without_a_name_may_only_ask(house: House) -> None:
    service = house.service(None)
    assert service.leases() == ()
    assert service.read("a.py")[0].text == "x = 0\n"
    assert code_of(lambda: service.acquire("a.py")) is Code.HOLDER_MISSING
    assert code_of(lambda: service.commit(CREATE)) is Code.HOLDER_MISSING
    with pytest.raises(UsageError):
        house.service("  ")


def test_a_lease_is_on_1_to_1000_keys_for_up_to_30_days(house: House) -> None:
    service = house.service()
    assert code_of(service.acquire) is Code.USAGE
    assert code_of(lambda: service.acquire(*(f"k:{n}" for n in range(1001)))) is Code.USAGE
    assert service.acquire(*(f"k:{n}" for n in range(1000)), ttl_seconds=MAX_TTL_SECONDS).outcome == "granted"


def test_leases_are_asked_for_by_holder(house: House) -> None:
    house.service("one").acquire("k:1")
    house.service("two").acquire("k:2")
    assert [lease.holder for lease in house.service(None).leases(holder="two")] == ["two"]


def test_what_was_read_and_overwritten_is_kept_and_found_by_hash(house: House) -> None:
    service = house.service()
    (before,) = service.read("a.py")
    service.commit(replaced(service, "x = 1\n"))
    assert service.content(before.hash) == service.content(before.hash[:16]) == b"x = 0\n"
    assert code_of(lambda: service.content("0" * 16)) is Code.CONTENT_UNKNOWN
    assert code_of(lambda: service.content("")) is Code.CONTENT_UNKNOWN


def test_what_is_kept_is_forgotten_after_its_time(house: House) -> None:
    service = house.service()
    (before,) = service.read("a.py")
    house.clock.advance(100.0)
    service.apply_retention()
    assert service.content(before.hash) == b"x = 0\n"
    house.clock.advance(0.1)
    service.apply_retention()
    assert code_of(lambda: service.content(before.hash)) is Code.CONTENT_UNKNOWN


def test_reading_needs_no_state_that_can_be_written(house: House) -> None:
    service = house.service()
    service.read("a.py")
    house.write("x = 1\n")

    def refuse(*_: object) -> None:
        raise StoreError(Code.DISK_FULL, "full", hint="free some space")

    service._uses.place.store.write = refuse  # type: ignore[method-assign, assignment]
    assert service.read("a.py")[0].text == "x = 1\n"


def test_the_log_is_told_from_either_end_and_by_lease(house: House) -> None:
    service = house.service()
    leases = [service.acquire(f"k:{n}").lease for n in range(4)]
    assert [each.sequence for each in service.log(limit=2)] == [3, 4]
    assert [each.sequence for each in service.log(after=1, limit=2)] == [2, 3]
    assert leases[2] is not None
    assert [each.sequence for each in service.log(lease_id=leases[2].id)] == [3]


def test_status_shows_the_newest_commits(house: House) -> None:
    service = house.service()
    for number in range(7):
        service.commit(Changeset((Edit(Op.CREATE_FILE, f"{number}.py", text=""),), intent=str(number)))
    status = service.status()
    assert status.root == service.root
    assert [change.intent for change in status.changes] == ["6", "5", "4", "3", "2", "1", "0"]


def test_what_is_missing_in_the_middle_of_anothers_commit_is_looked_for_again(house: House) -> None:
    """One swaps two files; two looks while one of them is away, and waits instead of failing."""
    house.folder.joinpath("root/b.py").write_text("y = 0\n")
    other = house.service("two")
    (region,) = other.read("a.py")
    answers: list[str] = []
    asking = threading.Thread(
        target=lambda: answers.append(
            other.commit(Changeset((Edit(Op.REPLACE, "a.py", base=region.hash, text="x = 2\n"),))).outcome
        )
    )
    is_away = threading.Event()

    def look(step: str) -> None:
        if step == "swapped a.py":
            asking.start()
            is_away.wait()

    plan = other._writing.commits._planner.plan

    def plan_and_tell(changeset: Changeset, _earlier: object = None) -> object:
        try:
            return plan(changeset)
        finally:
            is_away.set()

    other._writing.commits._planner.plan = plan_and_tell  # type: ignore[method-assign, assignment]
    service = house.service("one", at_step=look)
    (a,), (b,) = service.read("a.py"), service.read("b.py")
    move = (Edit(Op.RENAME_FILE, "a.py", base=a.hash, to="c.py"), Edit(Op.DELETE_FILE, "b.py", base=b.hash))
    assert service.commit(Changeset(move)).outcome == "committed"
    asking.join()
    assert answers == ["refused"]


def test_what_cannot_be_read_any_more_is_partial_work_too(house: House) -> None:
    one = house.service("one")
    one.acquire("a.py", ttl_seconds=10.0)
    place = house.folder.joinpath("root/a.py")
    place.unlink()
    place.mkdir()
    house.clock.advance(11.0)
    (work,) = house.service("two").partial_works()
    assert [(left.key, left.now) for left in work.changes] == [("file:a.py", None)]


def test_a_file_that_changes_while_it_is_leased_is_looked_at_again(house: House) -> None:
    """One looks at a.py; before it is leased, somebody writes it: the lease goes by what is there then."""
    one = house.service("one")
    resolve = one._uses.leases._resolve

    def resolve_and_be_overtaken(texts: tuple[str, ...]) -> object:
        resolved = resolve(texts)
        house.write("x = 1\n")
        return resolved

    one._uses.leases._resolve = resolve_and_be_overtaken  # type: ignore[method-assign, assignment]
    house.write("def f(): ...\n")
    (region,) = one.acquire("a.py#f").regions
    assert region.hash is None


def test_any_call_of_a_holder_is_a_sign_of_life(house: House) -> None:
    one = house.service("one")
    calls: list[Callable[[], object]] = [
        *(lambda: one.read("a.py"), lambda: one.regions("a.py"), lambda: one.get("x:9"), one.status),
        *(lambda: one.who("a.py"), one.sweep, one.partial_works, lambda: one.acquire("y:1")),
        *(lambda: one.put("x:9", "y", expected_version=7), lambda: one.release("nothing"), lambda: one.commit(CREATE)),
    ]
    lease = one.acquire("x:1", ttl_seconds=10.0).lease
    assert lease is not None
    for call in calls:
        house.clock.advance(6.0)
        call()
        (held,) = [each for each in one.leases() if each.id == lease.id]
        assert held.deadline.ticks == house.clock.now().ticks + 10.0


def test_a_lease_call_with_its_news_is_one_transaction(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is told something is told it once, with an answer that holds: both are durable, or neither."""
    one, two = house.service("one"), house.service("two")
    begun: list[str] = []
    transaction = SqliteStore._transaction

    def counted(store: SqliteStore, connection: apsw.Connection, begin: str, end: str) -> object:
        begun.append(begin)
        return transaction(store, connection, begin, end)

    for call in (lambda: one.acquire("account:1", ticket="t"), lambda: one.release("t")):
        one.read("a.py")
        two.commit(replaced(two, f"x = {len(begun) + 1}\n"))
        with monkeypatch.context() as patch:
            patch.setattr(SqliteStore, "_transaction", counted)
            (notice,) = call().notices
        assert "two" in notice
        assert not one.news()
    assert begun == ["BEGIN IMMEDIATE"] * 2
