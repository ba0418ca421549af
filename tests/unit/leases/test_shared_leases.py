"""Leases that machines share: each has its own clone and state, one place keeps the leases of all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes import CountingIds, FakeClock

from commonhold.api.service import Service
from commonhold.commits.use_cases import Surroundings
from commonhold.kernel.changeset import Changeset, Edit, LeaseRef, Op
from commonhold.kernel.commands import Command, Release
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.keys import Key, parse
from commonhold.kernel.lease import Lease
from commonhold.kernel.lease_ports import Once
from commonhold.kernel.modes import Mode
from commonhold.kernel.options import Options
from commonhold.kernel.outcomes import Outcome
from commonhold.kernel.policy import Policies, Policy
from commonhold.kernel.ports import Step, no_step
from commonhold.kernel.refusals import Refusal
from commonhold.leases.registry import TableRegistry
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.workspace.files import WorkingTree

pytestmark = pytest.mark.slow

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


@dataclass
class Net:
    """Machines by name, each with a clone of the same file."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    ids: CountingIds = field(default_factory=CountingIds)
    policies: dict[Key, Policy] = field(default_factory=dict)
    opened: list[Service] = field(default_factory=list)

    def service(self, host: str, agent: str, at_step: Step = no_step) -> Service:
        root = self.folder / host / "root"
        if not root.exists():
            root.mkdir(parents=True)
            (root / "a.py").write_text(SOURCE)
        service = Service(
            store=SqliteStore(str(self.folder / host / "state"), synchronous="OFF"),
            files=WorkingTree(str(root), at_step=at_step),
            clock=self.clock,
            ids=self.ids,
            agent=agent,
            surroundings=Surroundings(
                TableRegistry(SqliteStore(str(self.folder / "shared"), synchronous="OFF"), self.clock)
            ),
            options=Options(host=host, policies=Policies(self.policies)),
            at_step=at_step,
        )
        self.opened.append(service)
        return service

    def text(self, host: str) -> str:
        return (self.folder / host / "root" / "a.py").read_text()


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Net]:
    net = Net(tmp_path)
    yield net
    for service in net.opened:
        service.close()


def replacing(service: Service, key: str, number: int, *leases: Lease) -> Changeset:
    (region,) = service.read(key)
    text = f"def {key[-1]}():\n    return {number}\n"
    refs = tuple(LeaseRef(lease.id, lease.fence) for lease in leases)
    return Changeset((Edit(Op.REPLACE, key, region.hash, text),), f"gives {number}", leases=refs)


def granted(service: Service, *keys: str, mode: Mode = Mode.EXCLUSIVE, ttl_seconds: float = 60.0) -> Lease:
    lease = service.acquire(*keys, mode=mode, ttl_seconds=ttl_seconds).lease
    assert lease is not None
    return lease


def test_what_is_held_at_one_machine_is_not_written_at_another(net: Net) -> None:
    one, two = net.service("here", "one"), net.service("there", "two")
    lease = granted(one, "a.py#f")
    assert two.acquire("a.py#f").outcome == "denied"
    refused = two.commit(replacing(two, "a.py#f", 9))
    assert refused.code is Refusal.LOCK_CONFLICT
    assert [conflict.holder for conflict in refused.conflicts] == ["one"]
    assert net.text("there") == SOURCE
    assert two.commit(replacing(two, "a.py#g", 9)).outcome == "committed"
    assert one.commit(replacing(one, "a.py#f", 9, lease)).outcome == "committed"
    assert [each.id for each in one.leases()] == [lease.id], "nothing is left of what guarded the commits"


def test_nobody_gets_a_lease_while_a_commit_is_under_way(net: Net) -> None:
    two = net.service("there", "two")
    seen = []

    def look(step: str) -> None:
        if step == "journalled":
            seen.append(two.acquire("a.py#f"))

    one = net.service("here", "one", look)
    assert one.commit(replacing(one, "a.py#f", 9)).outcome == "committed"
    (denied,) = seen
    assert (denied.outcome, denied.conflicts[0].holder) == ("denied", "one")
    assert two.acquire("a.py#f").outcome == "granted"


def test_a_late_writer_is_refused_by_its_fence(net: Net) -> None:
    one, two = net.service("here", "one"), net.service("there", "two")
    lease = granted(one, "a.py#f")
    changeset = replacing(one, "a.py#f", 9, lease)
    net.clock.advance(61.0)
    granted(two, "a.py#f")
    assert one.commit(changeset).code is Refusal.LOCK_CONFLICT
    two.release(two.leases()[0].id)
    assert one.commit(changeset).code is Refusal.LEASE_LOST
    assert net.text("here") == SOURCE


def test_the_guard_of_a_commit_is_no_lease_of_its_holder(net: Net) -> None:
    """What a policy asks for is a lease that the agent took, not the one that the commit takes for itself."""
    net.policies = {parse("a.py#f").key(): Policy.PESSIMISTIC}
    one = net.service("here", "one")
    assert one.commit(replacing(one, "a.py#f", 9)).code is Refusal.LEASE_REQUIRED
    shared = granted(one, "a.py#f", mode=Mode.SHARED)
    assert one.commit(replacing(one, "a.py#f", 9, shared)).code is Refusal.LEASE_REQUIRED
    lease = granted(one, "a.py#f")
    assert one.commit(replacing(one, "a.py#f", 9, lease)).outcome == "committed"


def test_partial_work_is_found_where_it_is(net: Net) -> None:
    one, two = net.service("here", "one"), net.service("there", "two")
    lease = granted(one, "a.py#f")
    (net.folder / "here" / "root" / "a.py").write_text(SOURCE.replace("1", "half"))
    net.clock.advance(61.0)
    assert two.partial_works() == (), "the other machine cannot look"
    (work,) = one.partial_works()
    assert (work.lease_id, [left.key for left in work.changes]) == (lease.id, ["file:a.py#f"])
    assert two.partial_works() == (work,)


def test_whose_keys_others_wait_for_may_write_on(net: Net) -> None:
    one, two = net.service("here", "one"), net.service("there", "two")
    lease = granted(one, "a.py#f")
    assert two.acquire("a.py#f", patience_seconds=60).outcome == "queued"
    assert one.commit(replacing(one, "a.py#f", 9, lease)).outcome == "committed"
    assert one.commit(replacing(one, "a.py#f", 8)).outcome == "committed"


def test_values_are_shared(net: Net) -> None:
    one, two = net.service("here", "one"), net.service("there", "two")
    assert one.put("x:1", "y", expected_version=0).outcome == "stored"
    assert two.get("x:1").text == "y"


def test_a_commit_whose_guard_cannot_be_released_is_committed(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    one = net.service("here", "one")
    execute = TableRegistry.execute

    def unreachable(registry: TableRegistry, command: Command[Outcome], once: Once | None = None) -> Outcome:
        if isinstance(command, Release):
            raise StoreError(Code.STORE_UNREACHABLE, "nobody answers", hint="repeat the call")
        return execute(registry, command, once)

    monkeypatch.setattr(TableRegistry, "execute", unreachable)
    assert one.commit(replacing(one, "a.py#f", 9)).outcome == "committed"
    assert net.text("here") == SOURCE.replace("1", "9")


def test_partial_work_is_looked_for_before_another_writes_over_it(net: Net) -> None:
    one, two = net.service("here", "one"), net.service("here", "two")
    lease = granted(one, "a.py#f")
    (net.folder / "here" / "root" / "a.py").write_text(SOURCE.replace("1", "half"))
    net.clock.advance(61.0)
    half_done = two.read("a.py#f")[0].hash
    assert two.commit(replacing(two, "a.py#f", 9)).outcome == "committed"
    (work,) = two.partial_works()
    assert (work.lease_id, [left.now for left in work.changes]) == (lease.id, [half_done])
