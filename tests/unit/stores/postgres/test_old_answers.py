"""Answers are kept for a week, and then dropped by those that come after them."""

from tests.services.postgres_server import Database
from tests.unit.stores.postgres.asking import ask
from tests.unit.stores.postgres.conftest import OpenTables

from commonhold.kernel.commands import Heartbeat
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.outcomes import Acknowledged
from commonhold.stores.postgres.registry import PostgresRegistry

DAY = 86400.0


def test_answers_are_kept_for_a_week(open_tables: OpenTables) -> None:
    days = 0.0
    registry = PostgresRegistry(open_tables(skew=lambda: days * DAY))
    beside = PostgresRegistry(open_tables(suffix="beside"))
    once = Once("request-1", "show")
    for each in (registry, beside):
        each.execute(Heartbeat("one"), once)
    for days in (6.0, 8.0):
        assert registry.first_outcome("one", once) == Acknowledged()
        registry.execute(Heartbeat("one"), Once(f"request on day {days}", "show"))
    assert registry.first_outcome("one", once) is None
    assert registry.first_outcome("one", Once("request on day 6.0", "show")) == Acknowledged()
    assert beside.first_outcome("one", once) == Acknowledged(), "another namespace has its own"


def test_a_backlog_shrinks_by_ten_with_each_answer(
    open_tables: OpenTables, namespace: str, common_database: Database
) -> None:
    days = 0.0
    registry = PostgresRegistry(open_tables(skew=lambda: days * DAY))
    for number in range(25):
        registry.execute(Heartbeat("one"), Once(f"request-{number}", "show"))
    days, left = 8.0, []
    for number in range(4):
        registry.execute(Heartbeat("one"), Once(f"later-{number}", "show"))
        left.append(ask(common_database.url, "SELECT namespace FROM commonhold.answers").count((namespace,)))
    assert left == [16, 7, 3, 4]
