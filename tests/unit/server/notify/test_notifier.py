"""Every decision is delivered at least once and in order, across failures, restarts and targets that hang."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from commonhold.kernel.events import Recorded, ValuePut
from commonhold.kernel.run import RunMove, RunMoved
from commonhold.server.notify import notifier
from commonhold.server.notify.decisions import Decision
from commonhold.server.notify.notifier import Notifier
from commonhold.server.notify.targets import DESKTOP, Target, add


class Bench:
    """A log, a clock, and what was sent: the sequences, by target."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.log: list[Recorded] = []
        self.sent: list[tuple[str, int]] = []
        self.fails: Callable[[Target], bool] = lambda _: False
        self.now = 0.0
        self.reads = 0
        self.notifier = self.begin()

    def begin(self) -> Notifier:
        return Notifier(
            self.folder,
            "shop",
            self.read,
            lambda: len(self.log),
            send=self.send,
            wall=lambda: self.now,
            monotonic=lambda: self.now,
            uniform=lambda _, most: most,
        )

    def read(self, after: int, limit: int) -> list[Recorded]:
        self.reads += 1
        return self.log[after : after + limit]

    def send(self, target: Target, decision: Decision | None, repository: str, now: float) -> str:
        assert (repository, now) == ("shop", self.now)
        assert decision is not None
        self.sent.append((target.id, decision.sequence))
        return "it is down" if self.fails(target) else ""

    def record(self, *moves: RunMove | None) -> None:
        for move in moves:
            event = ValuePut("ann", "x:1", "") if move is None else RunMoved("ann", "r1", move)
            self.log.append(Recorded(len(self.log) + 1, self.now, event))

    def look(self, seconds: float = 1.0) -> list[tuple[str, int]]:
        """Let time pass and look again; return what is sent then."""
        self.now += seconds
        self.sent = []
        self.notifier.look(self.now)
        for thread in self.notifier._threads.values():
            thread.join()
        return self.sent


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_decisions_are_sent_once_and_in_order_from_the_time_of_adding_on(bench: Bench) -> None:
    bench.record(RunMove.FAIL)
    target = add(bench.folder, DESKTOP, [], after=1)
    assert bench.look() == []
    bench.record(None, RunMove.FAIL, RunMove.COMPLETE, RunMove.FAIL)
    assert bench.look() == [(target.id, 3), (target.id, 5)]
    assert bench.look() == []


def test_a_later_daemon_goes_on_where_this_one_stopped(bench: Bench) -> None:
    target = add(bench.folder, DESKTOP, [], after=0)
    bench.record(RunMove.FAIL, None)
    assert bench.look() == [(target.id, 1)]
    bench.notifier = bench.begin()
    bench.record(RunMove.FAIL)
    assert bench.look() == [(target.id, 3)]


def test_a_failed_delivery_is_repeated_after_longer_and_longer_pauses(bench: Bench) -> None:
    target = add(bench.folder, DESKTOP, [], after=0)
    bench.record(RunMove.FAIL, RunMove.FAIL)
    bench.fails = lambda _: True
    for pause in (1.0, 2.0, 4.0, 8.0):
        assert bench.look(pause) == [(target.id, 1)]
        assert bench.look(1.0) == []
        bench.now -= 1.0
    bench.fails = lambda _: False
    assert bench.look(16.0) == [(target.id, 1), (target.id, 2)]


def test_a_target_that_fails_or_hangs_delays_no_other(bench: Bench) -> None:
    first, second = (add(bench.folder, DESKTOP, [], after=0) for _ in range(2))
    bench.record(RunMove.FAIL)
    hangs = threading.Event()
    sent = bench.send

    def hang(target: Target, *rest: object) -> str:
        if target.id == first.id:
            hangs.wait(30)
        return sent(target, *rest)  # type: ignore[arg-type]

    bench.notifier = Notifier(bench.folder, "shop", bench.read, lambda: 1, send=hang, wall=lambda: 0.0)
    bench.notifier.look(1.0)
    bench.notifier._threads[second.id].join(30)
    assert bench.sent == [(second.id, 1)]
    hangs.set()
    bench.notifier._threads[first.id].join(30)
    assert bench.sent == [(second.id, 1), (first.id, 1)]


def test_a_decision_that_stays_undeliverable_for_a_week_is_given_up(bench: Bench) -> None:
    target = add(bench.folder, DESKTOP, [], after=0)
    bench.record(RunMove.FAIL)
    bench.now += notifier.MOST_AGE_SECONDS
    bench.record(RunMove.FAIL)
    assert bench.look() == [(target.id, 2)]


def test_a_log_that_cannot_be_read_is_read_again_later(bench: Bench) -> None:
    target = add(bench.folder, DESKTOP, [], after=0)
    bench.record(RunMove.FAIL)
    bench.notifier._read = lambda *_: (_ for _ in ()).throw(OSError("gone"))
    assert bench.look() == []
    bench.notifier._read = bench.read
    assert bench.look(3.0) == [(target.id, 1)]


def test_events_without_decisions_are_read_once_and_seldom_written(bench: Bench, tmp_path: Path) -> None:
    add(bench.folder, DESKTOP, [], after=0)
    bench.record(*[None] * 20)
    bench.look()
    reads = bench.reads
    bench.look()
    assert bench.reads == reads
    assert not (tmp_path / notifier.CURSORS).exists()


def test_without_targets_nothing_is_read(bench: Bench) -> None:
    bench.record(RunMove.FAIL)
    assert bench.look() == []
    assert bench.reads == 0
