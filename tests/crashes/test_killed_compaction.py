"""A compaction killed before each statement and file operation: the log is the old one or the new one, and whole."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.crashes.chronicle import STATE
from tests.crashes.disk import read_tree
from tests.crashes.dying import OLD
from tests.crashes.ledger import damage, log_of, tables
from tests.crashes.survey import lay_out
from tests.crashes.test_kill import Case, Children, children, deaths
from tests.fakes import FakeClock

from commonhold.bootstrap import open_repository
from commonhold.history.check import chain_fault
from commonhold.history.snapshot import Progress, beginning_of
from commonhold.kernel.commands import Put
from commonhold.kernel.keys import canonical
from commonhold.leases.registry import TableRegistry
from commonhold.stores.sqlite.store import SqliteStore

__all__ = ["children"]
pytestmark = pytest.mark.slow

EVENTS = 30


def old_log(root: Path) -> Case:
    """Return the case of a state whose events are all years old."""
    lay_out(root, OLD)
    clock = FakeClock(-1e8)  # the children count their time from 0
    with closing(SqliteStore(str(root / STATE))) as store:
        registry = TableRegistry(store, clock)
        for number in range(EVENTS):
            registry.execute(Put(canonical(f"key:{number}"), "ann", "text", 0))
            clock.advance(1.0)
        with store.read() as session:
            log = log_of(session)
    return Case(root, "compact", read_tree(root), log, ())


def compacted_until(root: Path) -> int:
    """Check that the log is whole, and explains the tables; return the last event that a snapshot replaced."""
    with closing(SqliteStore(str(root / STATE))) as store, store.read() as session:
        assert damage(session) == []
        assert chain_fault(session) is None
        beginning = beginning_of(session)
        progress = Progress(beginning.snapshot)
        for each in session.events(after=beginning.after):
            progress.apply(each)
        assert progress.state.values == tables(session)["values"]
        assert session.events()[0].sequence == beginning.after + 1
        return beginning.after


def test_a_killed_compaction_leaves_the_old_log_or_the_new_one(root: Path, children: Children) -> None:
    this = old_log(root)
    assert len(this.log) == EVENTS
    found = set()
    points = 0
    for points, _ in deaths(children, this):  # noqa: B007 - the last one is checked
        found.add(compacted_until(root))
        assert children.do("compact", root).code == 0
        assert compacted_until(root) >= EVENTS - 1
        with open_repository(str(root), agent="eve") as hold:
            lease = hold.acquire("account:9", ttl_seconds=600.0).lease
            assert lease is not None
            assert lease.fence > EVENTS
    assert found == {0, EVENTS - 1}
    assert points > 20
