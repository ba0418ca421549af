"""Transactions that share a flush: nobody is told before its own is durable, and few flushes serve many."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import CommitUndone
from commonhold.stores.sqlite import mirror
from commonhold.stores.sqlite.group_commit import GroupCommit
from commonhold.stores.sqlite.mirror import MirroredStore

pytestmark = pytest.mark.slow


class Disk:
    """A disk on which each flush takes until it is let go on."""

    def __init__(self) -> None:
        self.flushes = 0
        self.has_begun, self.may_end = threading.Semaphore(0), threading.Semaphore(0)
        self.fault: OSError | None = None

    def flush(self) -> None:
        self.flushes += 1
        self.has_begun.release()
        assert self.may_end.acquire(timeout=PATIENCE_SECONDS)
        if self.fault:
            raise self.fault


@pytest.fixture
def disk() -> Disk:
    return Disk()


def test_what_was_written_after_a_flush_began_waits_for_the_next_one(disk: Disk) -> None:
    group = GroupCommit(disk.flush)
    group.add()
    with ThreadPoolExecutor() as threads:
        first = threads.submit(group.wait, 1)
        assert disk.has_begun.acquire(timeout=PATIENCE_SECONDS)
        for _ in range(5):
            group.add()
        others = [threads.submit(group.wait, number) for number in range(2, 7)]
        disk.may_end.release()
        first.result(PATIENCE_SECONDS)
        assert disk.has_begun.acquire(timeout=PATIENCE_SECONDS)
        assert not any(each.done() for each in others)
        disk.may_end.release()
        for each in others:
            each.result(PATIENCE_SECONDS)
    assert disk.flushes == 2


def test_what_is_durable_is_not_waited_for(disk: Disk) -> None:
    group = GroupCommit(disk.flush)
    disk.may_end.release()
    group.add()
    group.wait(1)
    group.wait(1)
    assert disk.flushes == 1


def test_after_a_flush_that_failed_nothing_is_called_durable(disk: Disk) -> None:
    group = GroupCommit(disk.flush)
    disk.fault = OSError("no disk")
    disk.may_end.release()
    group.add()
    with pytest.raises(OSError, match="no disk"):
        group.wait(1)
    disk.fault = None
    group.add()
    with pytest.raises(OSError, match="no disk"):
        group.wait(2)
    with pytest.raises(OSError, match="no disk"):
        group.check()
    assert not group.is_sound
    assert disk.flushes == 1


Flushes = list[str]


@pytest.fixture
def flushes(monkeypatch: pytest.MonkeyPatch) -> Flushes:
    found: Flushes = []
    monkeypatch.setattr(mirror, "flush_data", lambda _descriptor: found.append("flush"))
    return found


@pytest.fixture
def store(tmp_path: Path) -> MirroredStore:
    store = MirroredStore(str(tmp_path / "state"))
    store.own()
    return store


def record(store: MirroredStore) -> None:
    with store.write() as writer:
        writer.record([CommitUndone("one", "", (), ())], 1.0)


def test_a_transaction_is_flushed_at_its_end(store: MirroredStore, flushes: Flushes) -> None:
    record(store)
    assert flushes == ["flush"]


def test_all_that_was_written_inside_the_gate_is_flushed_when_it_is_left(
    store: MirroredStore, flushes: Flushes
) -> None:
    with store.gate():
        record(store)
        with store.gate():
            record(store)
        assert not flushes
    assert flushes == ["flush"]


def test_what_was_written_inside_the_gate_is_flushed_whatever_comes_after(
    store: MirroredStore, flushes: Flushes
) -> None:
    def fail() -> None:
        with store.gate():
            record(store)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert flushes == ["flush"]


def test_nothing_is_flushed_where_nothing_was_written(store: MirroredStore, flushes: Flushes) -> None:
    record(store)
    flushes.clear()
    with store.read():
        pass
    with store.gate(), store.write():
        pass
    assert not flushes


def test_what_nobody_is_promised_is_flushed_with_what_comes_next(store: MirroredStore, flushes: Flushes) -> None:
    with store.write_unawaited() as writer:
        writer.keep([("hash", b"bytes")], 1.0)
    assert not flushes
    with store.write(), store.write_unawaited() as writer:
        writer.keep([("other", b"bytes")], 1.0)
    assert flushes == ["flush"]


def test_weaker_durability_is_for_measuring_and_flushes_nothing(tmp_path: Path, flushes: Flushes) -> None:
    for durability in ("normal", "full"):  # as the settings spell them
        store = MirroredStore(str(tmp_path / durability), synchronous=durability)
        store.own()
        record(store)
        store.close()
        assert len(flushes) == (durability == "full")


def test_others_are_let_in_while_it_is_flushed(
    store: MirroredStore, monkeypatch: pytest.MonkeyPatch, disk: Disk
) -> None:
    monkeypatch.setattr(mirror, "flush_data", lambda _descriptor: disk.flush())
    with ThreadPoolExecutor() as threads:
        first = threads.submit(record, store)
        assert disk.has_begun.acquire(timeout=PATIENCE_SECONDS)
        with store.read() as reader:
            assert reader.events(after=0, limit=1)
        second = threads.submit(record, store)
        disk.may_end.release()
        first.result(PATIENCE_SECONDS)
        disk.may_end.release()
        second.result(PATIENCE_SECONDS)


def test_a_flush_that_fails_is_told_and_nothing_more_is_written(
    store: MirroredStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(mirror, "flush_data", fail)
    for _ in range(2):
        with pytest.raises(StoreError, match="may be lost: Input/output error") as caught:
            record(store)
        assert caught.value.code is Code.IO_FAILED
    assert not store.is_sound
