"""Sessions that end without a word: nothing of them stays but what they wrote, wherever leases are kept."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from tests.contract.rigs import ServerRig
from tests.in_memory.store import MemoryStore
from tests.own_tools import Hand, Workshop, commits, workshop

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.attendance import GONE_SECONDS
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.options import IDLE_SECONDS
from commonhold.kernel.presence import Proposal
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.write_slots import SLOT_SECONDS

pytestmark = pytest.mark.slow

ROUNDS, AT_ONCE = 4, 5


@dataclass
class Town:
    """A workshop, with the leases where the store keeps them."""

    shop: Workshop
    registry: Callable[[], Registry | None]
    advance: Callable[[float], None]

    def hand(self, agent: str) -> Hand:
        return self.shop.hand(agent, registry=self.registry())

    def waiting(self) -> tuple[Proposal, ...]:
        service = self.shop.opened[0]
        with service._uses.place.store.read() as reader:
            return reader.proposals(service.root)

    def present(self) -> list[str]:
        service = self.shop.opened[0]
        with service._uses.place.store.read() as reader:
            return [each.holder for each in reader.presences(service.root)]


@pytest.fixture(params=["memory", "sqlite", "postgresql", "redis"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    with workshop(tmp_path) as shop:
        if request.param == "memory":
            store = MemoryStore()
            shop.store = lambda _: store
        if request.param in ("memory", "sqlite"):
            yield Town(shop, lambda: None, shop.clock.advance)
            return
        rig: ServerRig = request.getfixturevalue("on_postgres" if request.param == "postgresql" else "on_redis")

        def advance(seconds: float) -> None:
            rig.advance(seconds)
            shop.clock.advance(seconds)

        yield Town(shop, rig.registry, advance)


def test_sessions_come_and_die_and_nothing_is_left_but_what_they_wrote(town: Town) -> None:
    chance = random.Random(6)
    keeper = town.hand("keeper")
    proposed: list[Proposal] = []
    written: list[tuple[str, str]] = []
    for turn in range(ROUNDS):
        for number in range(AT_ONCE):
            path = f"m{turn}_{number}.py"
            one = town.hand(f"one-{turn}-{number}")
            if chance.random() < 0.5:
                one.service.start_session(f"{turn}:{number}")
            one.propose({path: f"X = {number}\n"})
            text = chance.choice([None, f"X = {number}\n", "X = 'otherwise'\n"])
            if text is not None:
                town.shop.write(path, text)
                written.append((path, text))
        proposed += town.waiting()
        assert len(town.waiting()) == AT_ONCE
        town.advance(IDLE_SECONDS + SLOT_SECONDS)
        keeper.service.sweep()
        assert town.waiting() == ()
        assert keeper.service.leases() == ()
    assert len({each.holder for each in proposed}) == ROUNDS * AT_ONCE
    made = {(each.path, each.after) for commit in commits(keeper.service) for each in commit.files}
    assert made == {(path, hash_bytes(text.encode())) for path, text in written}
    assert all(town.shop.text(path) == text for path, text in written)
    for each in proposed:
        assert each.after is not None
        assert hash_bytes(keeper.service.content(each.after)) == each.after
    town.advance(GONE_SECONDS)
    keeper.service.sweep()
    assert town.present() == []


def test_who_is_heard_of_holds_something_or_runs_has_not_ended(town: Town) -> None:
    heard, holds, runs, keeper = (town.hand(name) for name in ("heard", "holds", "runs", "keeper"))
    for hand in (heard, holds, runs):
        hand.service.start_session(f"{hand.service.holder}:1")
        hand.propose({f"{hand.service.holder}.py": "X = 1\n"})
    town.shop.running.add("runs:1")
    holds.service.acquire("account:1", ttl_seconds=3 * IDLE_SECONDS)
    town.advance(IDLE_SECONDS - 1)
    heard.service.set_intent("go on")
    town.advance(SLOT_SECONDS)
    keeper.service.sweep()
    assert {each.holder for each in town.waiting()} == {"heard", "holds", "runs"}
    town.advance(GONE_SECONDS)
    for _ in range(2):  # the second knows only what the first has left
        keeper.service.sweep()
    assert {each.holder for each in town.waiting()} == {"runs"}
    town.shop.write("runs.py", "X = 1\n")
    assert runs.finish_proposal().outcome == "recorded", "its user has been asked for that long, and is let to answer"
    assert [each.holder for each in commits(keeper.service)] == ["runs"]


def test_who_wakes_up_begins_again(town: Town) -> None:
    one, keeper = town.hand("one"), town.hand("keeper")
    one.propose({"a.py": "X = 1\n"})
    town.advance(IDLE_SECONDS + SLOT_SECONDS)
    keeper.service.sweep()
    one.write()
    assert one.finish_proposal().outcome == "nothing"
    keeper.service.record_external_changes(["a.py"])
    assert one.propose({"a.py": "X = 2\n"}, blind=["a.py"]).code is Refusal.REGION_CHANGED
    assert one.edit({"a.py": "X = 2\n"}).outcome == "recorded"
    steps = [each for commit in commits(keeper.service) for each in commit.files]
    assert [commit.holder for commit in commits(keeper.service)] == ["outside", "one"]
    assert all(later.before == earlier.after for earlier, later in pairwise(steps))


def test_what_became_of_a_file_that_is_a_file_no_more_stops_nobody(town: Town) -> None:
    one, two = town.hand("one"), town.hand("two")
    one.propose({"b.py": "X = 1\n"})
    town.advance(IDLE_SECONDS + SLOT_SECONDS)
    town.shop.path("b.py").mkdir()
    assert two.edit({"a.py": "Y = 1\n"}).outcome == "recorded"
    two.service.sweep()
    assert town.waiting() == ()
