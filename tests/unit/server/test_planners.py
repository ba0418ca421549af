"""The planners of a daemon: who makes a plan, and what becomes of it when they die."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import ClassVar

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.code.type_checkers import TypeReport
from commonhold.commits.plan import CommitRequest, CrossFileEffects, Plan, Rejected
from commonhold.config import Settings
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.errors import Code, InputError, InternalError
from commonhold.kernel.refusals import Refusal
from commonhold.machine.worker_process import SILENCE_SECONDS, Ask, ChildSilent
from commonhold.merging.branches.verification import CheckResult
from commonhold.server.planning import pool as pool_module
from commonhold.server.planning.planner import AnnouncedCheck, Daemon, DaemonsTypes, Planner
from commonhold.server.planning.pool import RESTING_SECONDS, Planners, PooledPlans, Process
from commonhold.server.planning.wire import (
    Answer,
    Defect,
    LinksAsked,
    PlanAsked,
    Tree,
    TypesAsked,
    asked,
    packed,
    type_report,
)

TREE = Tree("/nowhere", Settings(), 0o022)
HERE = Rejected(Refusal.REGION_CHANGED, "planned in the daemon", ())
THERE = Rejected(Refusal.REGION_CHANGED, "planned by a planner", ())
PIDS = count(1)
Silence = Callable[[], float]


def request(path: str = "a.py") -> CommitRequest:
    return CommitRequest("one", Changeset((Edit(Op.REPLACE, path, "0" * 64, "x = 1\n"),)), TREE.root)


@dataclass
class FakePlanner:
    """Stands in for a process: what it `answers`, or dies of."""

    answers: Callable[[], Answer] = lambda: THERE
    asked: list[object] = field(default_factory=list)
    is_ended: bool = False
    has_crashed: bool = False
    pid: int = field(default_factory=lambda: next(PIDS))

    def ask(self, data: bytes, _reply: Ask, _silence: Silence) -> bytes:
        self.asked.append(asked(data))
        return packed(self.answers())

    def end(self) -> None:
        self.is_ended = True


@dataclass
class OwnPlans:
    """Who plans in the daemon itself, after `meanwhile`."""

    meanwhile: Callable[[], object] = lambda: None

    def plan(self, _request: CommitRequest, _earlier: CrossFileEffects | None = None) -> Plan | Rejected:
        self.meanwhile()
        return HERE

    def still_links(self, _crossed: CrossFileEffects) -> bool:
        return True


class Room:
    """A pool of fake planners."""

    opened: ClassVar[list["Room"]] = []

    def __init__(self, *planners: FakePlanner) -> None:
        self.opened.append(self)
        self.left, self.all = list(planners), planners
        self.seconds = 0.0
        self.pool = Planners(len(planners), self.start, lambda: self.seconds)

    def start(self) -> Process:
        if not self.left:
            raise OSError("no more processes")
        return self.left.pop(0)

    def plans(self, own: OwnPlans | None = None) -> PooledPlans:
        return PooledPlans(self.pool, TREE, own or OwnPlans())

    def start_all(self) -> None:
        """Have all planners, as after two plans at once, in their order, whichever was ready first."""
        with self.pool._change:
            self.pool._begin_starting()
            assert self.pool._change.wait_for(lambda: not self.pool._starting, PATIENCE_SECONDS)
            self.pool._planners.sort(key=lambda each: [planner is each.process for planner in self.all].index(True))


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is waited for in vain, and no planner is still being started (and complained of) when a test is over."""
    monkeypatch.setattr(pool_module, "PATIENCE_SECONDS", 0.01)
    yield
    while Room.opened:
        Room.opened.pop().pool.close()  # else a thread that puts a planner back may start another one later
    for thread in threading.enumerate():
        if thread.name == "commonhold-planner":
            thread.join(PATIENCE_SECONDS)


def test_a_plan_made_alone_is_made_in_the_daemon() -> None:
    room = Room(FakePlanner())
    assert [room.plans().plan(request()) for _ in range(3)] == [HERE] * 3
    assert room.left


def test_planners_are_started_when_two_plan_at_once_and_used_from_then_on() -> None:
    planner = FakePlanner()
    room = Room(planner)
    room.plans(OwnPlans(lambda: room.plans().plan(request()))).plan(request())
    with room.pool._change:
        assert room.pool._change.wait_for(lambda: bool(room.pool._planners), PATIENCE_SECONDS)
    assert room.plans().plan(request()) == THERE
    assert planner.asked[-1] == PlanAsked(TREE, request(), None)


def test_a_file_goes_to_the_planner_that_knows_it() -> None:
    first, second = FakePlanner(), FakePlanner()
    room = Room(first, second)
    room.start_all()
    for path in ("a.py", "b.py", "a.py", "a.py#f"):
        room.plans().plan(request(path))
    asked_of = [[each.request.changeset.edits[0].key for each in one.asked] for one in (first, second)]  # type: ignore[attr-defined]
    assert sorted(map(len, asked_of)) == [1, 3]


def test_where_all_are_busy_for_long_the_daemon_plans_by_itself() -> None:
    is_asked, may_go = threading.Event(), threading.Event()

    def hang() -> Answer:
        is_asked.set()
        assert may_go.wait(PATIENCE_SECONDS)
        return THERE

    room = Room(FakePlanner(hang))
    room.start_all()
    thread = threading.Thread(target=lambda: room.plans().plan(request()))
    thread.start()
    assert is_asked.wait(PATIENCE_SECONDS)
    assert room.plans().plan(request("b.py")) == HERE
    may_go.set()
    thread.join()


def test_where_none_can_be_started_the_daemon_plans_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    room = Room(FakePlanner())
    room.left.clear()
    room.start_all()
    assert room.plans().plan(request()) == HERE
    assert "no more processes" in caplog.text


def test_after_a_while_it_is_tried_again_to_start_planners(caplog: pytest.LogCaptureFixture) -> None:
    planner = FakePlanner()
    room = Room(planner)
    room.left.clear()
    room.start_all()
    room.left.append(planner)
    room.start_all()
    assert room.plans().plan(request()) == HERE
    room.seconds = RESTING_SECONDS
    room.start_all()
    assert room.plans().plan(request()) == THERE
    assert "no more processes" in caplog.text


def test_where_no_thread_can_be_started_the_daemon_plans_by_itself(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def start(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    room = Room(FakePlanner())
    monkeypatch.setattr(threading.Thread, "start", start)
    assert room.plans(OwnPlans(lambda: room.plans().plan(request()))).plan(request()) == HERE
    assert (room.pool._under_way, room.pool._starting) == (0, 0)
    assert "can't start" in caplog.text


def dying() -> Answer:
    raise EOFError


def test_a_planner_that_dies_is_ended_and_another_is_asked() -> None:
    dead, alive = FakePlanner(dying), FakePlanner()
    room = Room(dead, alive)
    room.start_all()
    assert room.plans().plan(request()) == THERE
    assert dead.is_ended


def hanging() -> Answer:
    raise ChildSilent


def test_where_two_planners_were_killed_over_a_change_the_daemon_plans_by_itself() -> None:
    room = Room(FakePlanner(dying), FakePlanner(dying))
    room.start_all()
    assert room.plans().plan(request()) == HERE


def test_where_a_planner_hangs_it_is_ended_and_the_daemon_plans_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    hung, alive = FakePlanner(hanging), FakePlanner(hanging)
    room = Room(hung, alive)
    room.start_all()
    assert room.plans().plan(request()) == HERE
    assert sorted(map(len, (hung.asked, alive.asked))) == [0, 1]
    assert hung.is_ended or alive.is_ended
    assert "planner hung and was killed" in caplog.messages


@pytest.mark.parametrize(
    "crashes",
    [[True, True], [True], [True, False, False]],
    ids=["two crash", "one crashes and none is left", "one crashes and two are killed"],
)
def test_a_change_of_which_planners_crash_is_not_planned_in_the_daemon(crashes: list[bool]) -> None:
    room = Room(*(FakePlanner(dying, has_crashed=each) for each in crashes))
    room.start_all()
    with pytest.raises(InternalError, match="nothing was written") as caught:
        room.plans().plan(request())
    assert caught.value.code is Code.PLANNING_CRASHED


def test_an_error_is_raised_as_it_was() -> None:
    fault = InputError(Code.FILE_NOT_FOUND, "no", hint="see", retry_after_seconds=1.0, fields={"path": "a.py"})
    room = Room(FakePlanner(lambda: fault))
    room.start_all()
    with pytest.raises(InputError) as caught:
        room.plans().plan(request())
    assert caught.value.__dict__ == fault.__dict__


def test_a_defect_of_a_planner_is_an_error_with_its_words() -> None:
    room = Room(FakePlanner(lambda: Defect("KeyError: 'x'")))
    room.start_all()
    with pytest.raises(InternalError, match="KeyError: 'x'"):
        room.plans().plan(request())


def test_who_made_a_plan_is_asked_whether_it_still_holds() -> None:
    planner = FakePlanner(lambda: True)
    room = Room(planner)
    room.start_all()
    assert room.plans().still_links(CrossFileEffects(is_linked=True, origin=(planner.pid, 7)))
    assert planner.asked == [LinksAsked(TREE, 7)]
    assert not room.plans().still_links(CrossFileEffects(is_linked=True, origin=(0, 7)))
    planner.answers = dying
    assert not room.plans().still_links(CrossFileEffects(is_linked=True, origin=(planner.pid, 7)))


def test_a_plan_of_the_daemon_itself_is_looked_at_there() -> None:
    assert Room().plans().still_links(CrossFileEffects(is_linked=True))


def test_a_pool_that_was_closed_has_ended_all() -> None:
    planner = FakePlanner()
    room = Room(planner)
    room.start_all()
    room.pool.close()
    assert planner.is_ended
    assert room.plans().plan(request()) == HERE


def test_what_is_planned_while_the_pool_is_closed_is_planned_in_the_daemon() -> None:
    planner = FakePlanner()
    room = Room(planner)

    def close_and_die() -> Answer:
        room.pool.close()
        raise EOFError

    planner.answers = close_and_die
    room.start_all()
    assert room.plans().plan(request()) == HERE


def test_a_planner_answers_whatever_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    planner = Planner()
    assert planner.answer(LinksAsked(TREE, 1)) is False
    fault = planner.answer(PlanAsked(TREE, request(), None))
    assert isinstance(fault, InputError)
    broken = planner.answer(PlanAsked(None, request(), None, "c0ffee"))  # type: ignore[arg-type]
    assert isinstance(broken, Defect)
    assert "Traceback" in caplog.text
    assert [getattr(record, "correlation", "") for record in caplog.records] == ["c0ffee"]


def test_a_planner_asks_the_type_checkers_of_the_daemon() -> None:
    report = TypeReport(checker="a checker")
    heard: list[object] = []

    class Types:
        def compare(
            self, changes: Mapping[str, bytes | None], also: Collection[str] = (), confined: Collection[str] = ()
        ) -> TypeReport:
            heard.append((changes, also, confined))
            return report

        def close(self) -> None:
            """Nothing to close."""

    class Asking(FakePlanner):
        def ask(self, _data: bytes, reply: Ask, _silence: Silence) -> bytes:
            told = type_report(reply(packed(TypesAsked({"a.py": b"x"}, ("b.py",), ("a.py",)))))
            return packed(replace(THERE, why=told.checker))

    room = Room(Asking())
    room.start_all()
    plans = PooledPlans(room.pool, TREE, OwnPlans(), Types)
    assert plans.plan(request()) == replace(THERE, why="a checker")
    assert heard == [({"a.py": b"x"}, ("b.py",), ("a.py",))]


def test_a_planner_that_runs_tests_may_be_silent_for_as_long_as_they_take() -> None:
    heard: list[float] = []

    class Testing(FakePlanner):
        def ask(self, _data: bytes, reply: Ask, silence: Silence) -> bytes:
            heard.append(silence())
            daemon = Daemon()
            daemon.ask = reply
            assert AnnouncedCheck(Passing(), daemon).passes({}, 300.0).passed
            heard.append(silence())
            return packed(THERE)

    room = Room(Testing())
    room.start_all()
    assert room.plans().plan(request()) == THERE
    assert heard == [SILENCE_SECONDS, SILENCE_SECONDS + 300.0]


class Passing:
    """A check that is content with anything."""

    name = "true"

    def passes(self, _contents: Mapping[str, bytes | None], _timeout_seconds: float) -> CheckResult:
        return CheckResult(passed=True)


def test_a_planner_without_anybody_to_ask_says_nothing_of_types() -> None:
    assert DaemonsTypes(Daemon()).compare({"a.py": b"x"}) == TypeReport()
