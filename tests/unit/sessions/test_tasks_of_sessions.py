"""Sessions of tasks: the task is claimed, done, failed and given back with the turns and the review of its session."""

from dataclasses import dataclass

import pytest
from tests.unit.sessions.house import FAILED, FINISHED, PAUSED, RESULT, House
from tests.unit.tasks.table import TTL, kind

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.kernel.task import Task, TaskRecord, TaskState
from commonhold.sessions.commands import NoSession, SessionAction, SessionClaimed, SessionReport
from commonhold.tasks.commands import FailTask, LandTask, TaskClaimed

MERGED = "d" * 40


@dataclass
class Board(House):
    """A house with the tasks `first`, and `second`, which needs it."""

    def __post_init__(self) -> None:
        self.add(Task("first", "first", most_attempts=2), Task("second", "second", needs=("first",)))

    def begin(self, task: str = "first") -> ManagedSessionRecord:
        self.start(task_id=task)
        return self.take()

    def task(self, task: str = "first") -> TaskRecord:
        return self.state.tasks[task]


@pytest.mark.parametrize(
    ("report", "state", "tries"),
    [(FINISHED, TaskState.DONE, 1), (FAILED, TaskState.OPEN, 1), (PAUSED, TaskState.OPEN, 0)],
)
def test_a_turn_claims_its_task_and_ends_the_claim(report: SessionReport, state: TaskState, tries: int) -> None:
    house = Board()
    session = house.begin()
    assert (house.task().state, house.task().holder) == (TaskState.CLAIMED, f"agent:{session.id}")
    house.report(session, report)
    assert (house.task().state, house.task().tries, dict(house.state.leases)) == (state, tries, {})


def test_a_session_waits_until_its_task_can_be_claimed() -> None:
    house = Board()
    waits = house.start(task_id="second")
    kind(NoSession, house.ask_claim())
    house.report(house.begin())
    kind(NoSession, house.ask_claim())
    house.run(LandTask("ann", "first", RESULT.snapshot, house.task().attempt, "main"))
    assert house.take().id == waits.id


def test_a_session_whose_task_needs_others_starts_where_their_work_is() -> None:
    house, tips = Board(), {"main": "e" * 40}
    first, second = (house.start(task_id=task, branch="main") for task in ("first", "second"))
    began = kind(SessionClaimed, house.ask_claim(tips=tips)).record
    assert (began.id, began.session.base) == (first.id, first.session.base)
    house.report(began)
    house.run(LandTask("ann", "first", RESULT.snapshot, house.task().attempt, "main"))
    waited = kind(SessionClaimed, house.ask_claim(tips=tips)).record
    assert (waited.id, waited.session.base) == (second.id, tips["main"])
    house.report(waited, PAUSED)
    house.change(waited.id, SessionAction.RESUME)
    resumed = kind(SessionClaimed, house.ask_claim(tips={"main": "f" * 40})).record
    assert (resumed.attempt, resumed.session.base) == (1, tips["main"])


def test_a_session_whose_branch_is_gone_starts_from_its_base() -> None:
    house = Board()
    house.report(house.begin())
    house.run(LandTask("ann", "first", RESULT.snapshot, house.task().attempt, "main"))
    waits = house.start(task_id="second", branch="gone")
    assert kind(SessionClaimed, house.ask_claim(tips={"main": "e" * 40})).record.session.base == waits.session.base


def test_a_session_does_not_take_the_task_of_another() -> None:
    house = Board()
    house.start(task_id="first")
    claimed = house.claim("bob", "first")
    before = len(house.log)
    kind(NoSession, house.ask_claim())
    assert len(house.log) == before
    house.run(FailTask("bob", "first", claimed.fence, "too hard"))
    assert house.take().state is SessionState.RUNNING


def test_a_lost_session_gives_its_task_back_and_claims_it_again() -> None:
    house = Board()
    house.begin()
    house.seconds += TTL + 1
    house.settle()
    assert (house.task().state, house.task().tries) == (TaskState.OPEN, 0)
    house.seconds += TTL
    assert house.task(house.take().session.task_id).state is TaskState.CLAIMED


@pytest.mark.parametrize("action", [SessionAction.DISCARD, SessionAction.CANCEL, SessionAction.RETRY])
def test_refused_work_returns_the_task_and_only_a_retry_has_it_reserved(action: SessionAction) -> None:
    house = Board()
    session = house.begin()
    house.report(session)
    house.change(session.id, action)
    assert house.task().state is TaskState.OPEN
    assert isinstance(house.ask("bob", "first"), TaskClaimed) is (action is not SessionAction.RETRY)
    if action is SessionAction.RETRY:
        assert house.take().attempt == 2


def test_an_approved_merge_becomes_the_result_of_the_task() -> None:
    house = Board()
    session = house.begin()
    house.report(session)
    house.change(session.id, SessionAction.APPROVE, commit=MERGED)
    result = house.task().result
    assert result is not None
    assert (house.task().state, result.commit) == (TaskState.DONE, MERGED)


def test_a_session_of_an_unknown_task_is_not_started() -> None:
    with pytest.raises(InputError) as caught:
        Board().start(task_id="third")
    assert caught.value.code is Code.TASK_UNKNOWN
