"""Whatever a few agents do, the scripts in Redis decide as `decide` does, and record the same events."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from tests.effort import examples
from tests.services.redis_server import RedisServer
from tests.strategies import small_keys
from tests.unit.stores.redis.twins import Twins

from commonhold.kernel.commands import (
    Acquire,
    Ask,
    Break,
    Command,
    HandOver,
    Heartbeat,
    Put,
    RecordPartialWork,
    Release,
    Renew,
    Review,
)
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Base, Lease, Waiter
from commonhold.kernel.modes import Mode
from commonhold.kernel.partial_work import UnfinishedChange
from commonhold.kernel.values import Version

pytestmark = pytest.mark.slow

Each = TypeVar("Each", Lease, Waiter, Lease | Waiter)
# All times are multiples of `UNIT_SECONDS`: what lasts does so for an odd one, what passes is an even one. So what is
# over and what is not is never decided by the moments that a real server takes, on a machine that stalls either.
lasting = st.sampled_from((250.0, 750.0, 3050.0))
patience = st.sampled_from((350.0, 1050.0))
passing = st.sampled_from((100.0, 100.0, 200.0, 500.0, 2000.0))
numbers = st.integers(0, 7)
holders = st.sampled_from(("one", "two", "three", 'fo"ur é/\\'))
texts = st.sampled_from(("fix it", 'say "why"\\n / é', ""))
modes = st.sampled_from((Mode.EXCLUSIVE, *Mode))
code_keys = st.lists(small_keys | st.just(Key("account", ())), min_size=1, max_size=3, unique=True).map(tuple)
slots = st.sampled_from(((Key("slot", ("a",)),), (Key("slot", ("a",)), Key("slot", ("b",)))))
keys = code_keys | code_keys | code_keys | slots
accounts = st.builds(lambda part: Key("account", (part,)), st.sampled_from("abc"))
value_keys = accounts | small_keys
bases = st.sampled_from(((), (Base("file:a", None), Base("file:b", "1f"))))
changes = st.sampled_from(((), (UnfinishedChange("file:a", None, "2e"), UnfinishedChange("file:b", "1f", None))))
request_ids = st.none() | st.none() | st.none() | st.sampled_from(("request-1", "request-2"))
few_keys = st.lists(accounts, min_size=1, max_size=2, unique=True).map(tuple)
long_patience = st.sampled_from((1050.0, 3050.0, 3050.0, None))
kinds = st.sampled_from(
    (
        "want",
        "want",
        "want",
        "ask again",
        "ask again",
        "let go",
        "upgrade",
        "hand over",
        "break",
        "ask for",
        "pass time",
    )
)
acts = st.sampled_from(("release", "release", "renew", "hand over", "break", "ask for"))


class Agents(RuleBasedStateMachine):
    """A few agents who want the same few things. Whatever there is of them is meant by its number, the newest first."""

    url = ""

    @initialize()
    def begin(self) -> None:
        self.twins = Twins(self.url)
        self.wanted: list[Acquire] = []

    @rule(holder=holders, task=texts, keys=keys, mode=modes, ttl=lasting, bases=bases, patience=st.none() | patience)
    def acquire(self, holder: str, task: str, keys: tuple[Key, ...], mode: Mode, ttl: float, **others: Any) -> None:
        lease_id = f"lease-{len(self.wanted)}"
        command = Acquire(lease_id, "acq-1", holder, task, keys, mode, ttl, others["patience"])
        self.want(replace(command, bases=others["bases"], worktree="tree" if others["bases"] else ""))

    @rule(number=numbers, mode=modes, patience=st.none() | patience, by=st.none() | holders)
    def upgrade(self, number: int, mode: Mode, patience: float | None, by: str | None) -> None:
        if held := self.nth(number):
            holder, lease_id = by or held.holder, f"lease-{len(self.wanted)}"
            self.want(Acquire(lease_id, "acq-2", holder, "up", held.keys, mode, 750.0, patience, held.lease_id))

    @rule(number=numbers, patience=patience, bases=bases, ttl=lasting, request_id=request_ids)
    def ask_again(self, number: int, patience: float, bases: tuple[Base, ...], ttl: float, **others: Any) -> None:
        if wanted := self.nth(number):
            command = replace(wanted, patience_seconds=patience, bases=bases, ttl_seconds=ttl)
            self.twins.tell(command, others["request_id"])

    @rule(number=numbers, holder=holders, mode=modes)
    def use_an_id_of_another(self, number: int, holder: str, mode: Mode) -> None:
        if wanted := self.nth(number):
            self.twins.tell(replace(wanted, holder=holder, mode=mode))

    @rule(number=numbers, act=acts, by=st.none() | st.none() | holders, to=holders, why=texts, request_id=request_ids)
    def act(self, number: int, act: str, by: str | None, to: str, why: str, **others: Any) -> None:
        lease_id, holder = self.id_and_holder(number)
        command: Command[Any] = {
            "release": Release(lease_id, by or holder),
            "renew": Renew(lease_id, by or holder, 750.0),
            "hand over": HandOver(lease_id, by or holder, to),
            "break": Break(lease_id, by or to, why),
            "ask for": Ask(lease_id, by or to, why),
        }[act]
        self.twins.tell(command, others["request_id"])

    @rule(key=value_keys, text=st.none() | texts, holder=holders, is_current=st.sampled_from((True, True, False)),
          fence_of=st.none() | numbers, reads=st.lists(value_keys, max_size=2), must_hold=st.booleans())  # fmt: skip
    def put(self, key: Key, holder: str, text: str | None, reads: list[Key], **others: Any) -> None:
        lease = self.twins.state.leases.get(self.id_and_holder(others["fence_of"] or 0)[0])
        fence = None if others["fence_of"] is None else lease.fence if lease else 7
        versions = tuple(Version(str(read), self.version(read) if read != key else 1) for read in reads)
        expected = self.version(key) if others["is_current"] else 3
        by = lease.holder if lease and fence else holder
        self.twins.tell(Put(key, by, text, expected, fence, versions, others["must_hold"]))

    @rule(number=numbers, act=st.sampled_from(("show", "leave", "review")), by=holders, changes=changes, note=texts)
    def look_back(self, number: int, act: str, by: str, changes: tuple[UnfinishedChange, ...], note: str) -> None:
        there = list(self.twins.state.works if act == "review" else self.twins.state.lost)
        lease_id = there[number] if number < len(there) else "lease-0"
        self.twins.tell(
            {
                "show": Heartbeat(by),
                "leave": RecordPartialWork(lease_id, by, changes),
                "review": Review(lease_id, by, note),
            }[act]
        )

    @rule(seconds=passing)
    def wait(self, seconds: float) -> None:
        self.twins.clock.seconds += seconds

    def want(self, command: Acquire) -> None:
        self.wanted.append(command)
        self.twins.tell(command)

    def nth(self, number: int) -> Acquire | None:
        return self.wanted[-1 - number] if number < len(self.wanted) else None

    def id_and_holder(self, number: int) -> tuple[str, str]:
        """Of a lease, or of a place in line."""
        state = self.twins.state
        there: list[Lease | Waiter] = [*state.leases.values(), *state.waiters.values()]
        there.sort(key=lambda each: each.fence if isinstance(each, Lease) else each.number, reverse=True)
        return (there[number].id, there[number].holder) if number < len(there) else ("lease-0", "one")

    def version(self, key: Key) -> int:
        value = self.twins.state.values.get(str(key))
        return value.version if value else 0

    def teardown(self) -> None:
        if hasattr(self, "twins"):
            self.twins.check()
            self.twins.close()


class Line(RuleBasedStateMachine):
    """Agents that stand in line for the same three things, each perhaps more than once."""

    url = ""

    @initialize()
    def begin(self) -> None:
        self.twins = Twins(self.url)
        self.wanted: dict[str, Acquire] = {}

    # One rule, which draws what is done: of many, Hypothesis leaves some out in each story, and all are needed here.
    @rule(data=st.data(), kind=kinds, number=numbers, holder=holders, mode=modes)
    def step(self, data: st.DataObject, kind: str, number: int, holder: str, mode: Mode) -> None:
        state = self.twins.state
        leases, line = list(state.leases.values()), list(state.waiters.values())
        there: list[Lease | Waiter] = [*leases, *line]
        lease, known = nth(number, leases), nth(number, there)
        if kind == "want" or not known:
            self.want(Acquire("", "", holder, "", data.draw(few_keys), mode, 750.0, data.draw(long_patience)))
        elif kind == "ask again":
            self.ask_again([*(lease for lease in leases if not lease.is_claimed), *line], number, data.draw(bases))
        elif kind == "let go":
            self.twins.tell(Release(known.id, known.holder))
        elif kind == "pass time":
            self.twins.clock.seconds += data.draw(passing)
        elif lease and kind == "upgrade":
            keys = tuple(map(canonical, lease.keys))
            self.want(Acquire("", "", lease.holder, "", keys, mode, 750.0, data.draw(patience), lease.id))
        elif lease:
            self.act(lease, kind, line[0].holder if line and mode is Mode.EXCLUSIVE else holder)

    def want(self, command: Acquire) -> None:
        command = replace(command, lease_id=f"lease-{len(self.wanted)}")
        self.wanted[command.lease_id] = command
        self.twins.tell(command)

    def ask_again(self, there: list[Lease | Waiter], number: int, bases: tuple[Base, ...]) -> None:
        if known := nth(number, there):
            self.twins.tell(replace(self.wanted[known.id], holder=known.holder, bases=bases, worktree="tree"))

    def act(self, lease: Lease, kind: str, other: str) -> None:
        if kind == "hand over":
            self.twins.tell(HandOver(lease.id, lease.holder, other))
        elif kind == "break":
            self.twins.tell(Break(lease.id, other, ""))
            self.twins.tell(RecordPartialWork(lease.id, lease.holder, ()))
        else:
            self.twins.tell(Ask(lease.id, other, ""))

    def teardown(self) -> None:
        if hasattr(self, "twins"):
            self.twins.check()
            self.twins.close()


def nth(number: int, there: Sequence[Each]) -> Each | None:
    return there[number % len(there)] if there else None


@pytest.mark.parametrize("agents", [Agents, Line])
def test_the_same_is_decided(
    worker_redis: RedisServer, monkeypatch: pytest.MonkeyPatch, agents: type[Agents | Line]
) -> None:
    monkeypatch.setattr(agents, "url", worker_redis.socket_url)
    run_state_machine_as_test(agents, settings=examples(0.4))
