"""Many leases that expire at once: they are ended in portions, and nobody waits for what does not concern it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from tests.fakes import CountingIds, FakeClock
from tests.in_memory.store import MemoryStore

from commonhold.api.service import Service
from commonhold.kernel.events import LeaseExpired, WorkLeft
from commonhold.kernel.lease_table import ENDED_BESIDE
from commonhold.leases.partial_work import LOOKED_AT_BESIDE
from commonhold.leases.service import ENDED_AT_ONCE
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

MANY: Final = ENDED_AT_ONCE + 50
TTL: Final = 60.0


@dataclass
class House:
    folder: Path
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)

    def service(self, agent: str) -> Service:
        files = WorkingTree(str(self.folder))
        return Service(store=self.store, files=files, clock=self.clock, ids=self.ids, agent=agent)

    def lose(self, *keys: str) -> None:
        """Let somebody hold leases, change what is a file, and be gone."""
        gone = self.service("gone")
        for key in keys:
            path = self.folder / key
            if ":" not in key:
                path.write_text("before\n")
            assert gone.acquire(key, task="much", ttl_seconds=TTL).outcome == "granted"
            if ":" not in key:
                path.write_text("half done\n")
        self.clock.advance(TTL + 1)

    def count(self, kind: type[object]) -> int:
        with self.store.read() as reader:
            return sum(isinstance(each.event, kind) for each in reader.events(limit=100_000))


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_portion_ends_some_and_says_that_there_are_more(house: House) -> None:
    house.lose(*(f"account:{number}" for number in range(MANY)))
    sweeper = house.service("sweeper")
    assert sweeper.sweep_some()
    assert house.count(LeaseExpired) == ENDED_AT_ONCE
    assert not sweeper.sweep_some()
    assert house.count(LeaseExpired) == MANY


def test_a_call_about_something_else_ends_few_and_looks_at_few(house: House) -> None:
    house.lose(*(f"{number}.txt" for number in range(3 * LOOKED_AT_BESIDE)))
    other = house.service("other")
    for number in range(4):
        other.get(f"account:{number}")
        other.acquire(f"account:{number}")
    assert 0 < house.count(LeaseExpired) <= 8 * ENDED_BESIDE
    assert 0 < house.count(WorkLeft) <= 4 * LOOKED_AT_BESIDE
    other.sweep()
    assert house.count(WorkLeft) == house.count(LeaseExpired) == 3 * LOOKED_AT_BESIDE
    assert len(other.partial_works()) == 3 * LOOKED_AT_BESIDE


def test_what_was_left_is_looked_at_before_another_gets_the_file(house: House) -> None:
    paths = [f"{number}.txt" for number in range(3 * LOOKED_AT_BESIDE)]
    house.lose(*paths)
    other = house.service("other")
    assert other.acquire(paths[-1]).outcome == "granted"
    (house.folder / paths[-1]).write_text("another's\n")
    left = {each.changes[0].key: each.changes[0].now for each in other.partial_works()}
    assert len(left) == len(paths)
    assert len(set(left.values())) == 1
