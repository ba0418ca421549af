"""Long stories in a small world: what Hypothesis lets happen at a desk."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from tests import strategies
from tests.unit.leases.desk import Desk

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

Step = Callable[[Desk], object]

holders = st.sampled_from(("one", "two", "three"))
_ids = st.integers(1, 12).map("l{}".format)


def _ask(holder: str, keys: list[Key], mode: Mode, patience: float | None, replaces: str | None) -> Step:
    return lambda desk: desk.ask(holder, *keys, mode=mode, patience=patience, replaces=replaces)


def _work(holder: str, key: Key) -> Step:
    """Ask for a key in order to change it."""
    bases = (Base(str(key), "h"),)

    def work(desk: Desk) -> None:
        desk.count += 1
        desk.run(Acquire(f"l{desk.count}", "acq", holder, "", (key,), Mode.EXCLUSIVE, 30.0, None, None, "/w", bases))

    return work


def _reboot(desk: Desk) -> None:
    desk.boot += 1


def _again(number: int) -> Step:
    def again(desk: Desk) -> None:
        unclaimed = [lease for lease in desk.state.leases.values() if not lease.is_claimed]
        known: list[Lease | Waiter] = [*unclaimed, *desk.state.waiters.values()]
        if known:
            desk.again(known[number % len(known)])

    return again


def _pass(seconds: float) -> Step:
    def wait(desk: Desk) -> None:
        desk.seconds += seconds

    return wait


def _run(command: Command[Any]) -> Step:
    return lambda desk: desk.run(command)


def _of_holder(make: Callable[[Lease], Command[Any]], number: int) -> Step:
    """Let the holder of some lease do something with it."""

    def act(desk: Desk) -> None:
        leases = list(desk.state.leases.values())
        if leases:
            desk.run(make(leases[number % len(leases)]))

    return act


def _look_for_work(desk: Desk) -> None:
    for lease in desk.state.lost.values():
        desk.run(RecordPartialWork(lease.id, lease.holder, (UnfinishedChange(lease.keys[0], None, "h"),)))


_picks = st.integers(0, 5)
_hot = st.sampled_from([canonical(text) for text in ("file:a#f", "file:b", "account:a")])
_keys = st.one_of(_hot, _hot, _hot, strategies.small_keys)
_modes = st.sampled_from((Mode.EXCLUSIVE, Mode.EXCLUSIVE, *Mode))
_asks = st.builds(
    _ask,
    holders,
    st.lists(_keys, min_size=1, max_size=2),
    _modes,
    st.sampled_from((50.0, 20.0, 50.0, None)),
    st.sampled_from((*[None] * 12, "l1", "l2", "l3")),
)
_commands = st.one_of(
    st.builds(Renew, _ids, holders, st.sampled_from((1.0, 30.0))),
    st.builds(Release, _ids, holders),
    st.builds(Break, _ids, holders, st.just("why")),
    st.builds(Ask, _ids, holders, st.just("why")),
    st.builds(HandOver, _ids, holders, holders),
    st.builds(Heartbeat, holders),
    st.builds(RecordPartialWork, _ids, holders, st.just((UnfinishedChange("file:a", None, "h"),))),
    st.builds(Review, _ids, holders, st.just("note")),
    st.builds(Put, _keys, holders, st.none() | st.just("x"), st.integers(0, 3)),
)
_own: st.SearchStrategy[Callable[[Lease], Command[Any]]] = st.sampled_from(
    (
        lambda lease: Release(lease.id, lease.holder),
        lambda lease: HandOver(lease.id, lease.holder, "two"),
        lambda lease: Break(lease.id, "one", "why"),
        lambda lease: Renew(lease.id, lease.holder, 40.0),
        lambda lease: Put(canonical(lease.keys[0]), lease.holder, "x", 0, lease.fence),
    )
)
_passing = st.builds(_pass, st.sampled_from((1.0, 10.0, 30.0)))
_rare = st.sampled_from((_look_for_work, _look_for_work, _pass(50.0), _look_for_work, _pass(100.0), _reboot))
_kinds: tuple[tuple[int, st.SearchStrategy[Step]], ...] = (
    (6, _asks),
    (2, st.builds(_work, holders, _keys)),
    (3, st.builds(_of_holder, _own, _picks)),
    (2, st.builds(_again, _picks)),
    (2, _commands.map(_run)),
    (1, _passing),
    (2, _rare),
)
# A choice of many would take each alternative inside each kind for as likely as a whole kind.
steps = st.sampled_from([kind for weight, kind in _kinds for _ in range(weight)]).flatmap(lambda kind: kind)
stories = st.lists(steps, min_size=12, max_size=40)
