"""The stored state is compared with the one that the log results in, and a changed log is found in the store."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.history.check import BROKEN
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.task import Task
from commonhold.stores.sqlite.connect import connect
from commonhold.stores.sqlite.store import DATABASE, SqliteStore
from commonhold.workspace.files import WorkingTree


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[Service]:
    (tmp_path / "root").mkdir()
    store = SqliteStore(str(tmp_path / "state"), synchronous="OFF")
    files = WorkingTree(str(tmp_path / "root"))
    with Service(store=store, files=files, clock=FakeClock(), ids=CountingIds(), agent="ann") as service:
        service.acquire("x:1", task="round to cents")
        service.put("x:2", "5", expected_version=0)
        service.add_tasks(Task("price", "the price"))
        yield service


def change(folder: Path, statement: str) -> None:
    """Change the database behind the back of the store."""
    with closing(connect(str(folder / "state" / DATABASE))) as connection:
        connection.execute(statement)
        assert connection.changes() == 1


def test_an_untouched_state_is_the_same(ann: Service) -> None:
    answer = ann.replay()
    assert (answer.outcome, answer.is_stored, answer.last) == ("same", True, 3)
    assert answer.events == answer.checked == {"lease_granted": 1, "value_put": 1, "task_added": 1}


@pytest.mark.parametrize(
    ("since", "until", "code"),
    [(4, None, "EVENT_UNKNOWN"), (0, 4, "EVENT_UNKNOWN"), (2, 9, "EVENT_UNKNOWN"), (3, 2, "USAGE")],
)
def test_a_range_that_is_not_there_is_an_error(ann: Service, since: int, until: int | None, code: str) -> None:
    with pytest.raises(CommonholdError) as fault:
        ann.replay(since=since, until=until)
    assert fault.value.code == code
    assert (ann.replay(since=3).last, ann.replay(since=2, until=3).last) == (3, 3)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("DELETE FROM leases", "the stored leases are not those that the log results in"),
        ("DELETE FROM tasks", "the stored tasks are not those that the log results in"),
        ("DELETE FROM key_values", "the stored values are not those that the log results in"),
        ("DELETE FROM events WHERE seq = 2", "events 2 to 2 are missing"),
        (
            "UPDATE events SET body = replace(body, 'round to cents', 'round to euros') WHERE seq = 1",
            BROKEN,
        ),
        ("UPDATE events SET at = at + 1 WHERE seq = 2", BROKEN),
        ("UPDATE events SET hash = NULL WHERE seq = 3", BROKEN),
        (
            "UPDATE leases SET body = replace(body, 'round to cents', 'round to euros')",
            "the stored leases are not those that the log results in",
        ),
        (
            "UPDATE events SET body = replace(body, '\"fence\":1', '\"fence\":7') WHERE seq = 1",
            "the decision comes out otherwise",
        ),
    ],
)
def test_a_change_behind_the_back_of_the_store_is_found(ann: Service, tmp_path: Path, statement: str, why: str) -> None:
    change(tmp_path, statement)
    answer = ann.replay()
    assert answer.outcome == "different"
    assert answer.difference is not None
    assert answer.difference.why == why
