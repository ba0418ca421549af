"""Whoever cannot wait until all files are read gets the library if that is soon, and one summary in any case."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.unit.index.rig import Rig, assert_same

from commonhold.code.analysis.repository.summarise import summarise
from commonhold.index import index, working_tree_library
from commonhold.index.index import SqliteIndex

pytestmark = pytest.mark.slow

TEXT = "def f():\n    return g()\n"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    made = Rig(tmp_path)
    for number in range(10):
        made.write(f"m{number}.py", f"def f{number}():\n    return f{number + 1}()\n")
    return made


def test_files_that_nobody_has_read_are_not_read_in_a_hurry(rig: Rig) -> None:
    assert rig.index.library_if_read() is None
    assert rig.check().paths
    assert_same(rig.index.library_if_read() or rig.fail(), rig.expected())


def test_what_another_process_has_read_is_at_hand(rig: Rig) -> None:
    assert rig.index.library_if_read() is None
    rig.opened().library()
    assert_same(rig.index.library_if_read() or rig.fail(), rig.expected())


def test_a_few_changes_are_read_in_a_hurry(rig: Rig) -> None:
    rig.index.library()
    rig.write("m1.py", TEXT)
    rig.write("new.py", TEXT)
    assert_same(rig.index.library_if_read() or rig.fail(), rig.expected())


@pytest.mark.parametrize("is_watched", [False, True])
@pytest.mark.parametrize("limit", ["_MOST_FILES_AT_ONCE", "_MOST_BYTES_AT_ONCE"])
def test_many_changes_are_left_to_whoever_can_wait(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, limit: str, *, is_watched: bool
) -> None:
    for _ in range(3 if is_watched else 1):  # from the third look on the folders are watched
        rig.index.library()
    with monkeypatch.context() as patch:
        patch.setattr(working_tree_library, limit, 2)
        for number in range(3):
            rig.write(f"m{number}.py", TEXT)
        assert rig.index.library_if_read() is None
        assert rig.index.library_if_read() is None
    assert_same(rig.index.library_if_read() or rig.fail(), rig.expected())


@contextmanager
def in_use(taken: SqliteIndex, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A block in which another thread reads all files."""
    begun, over = threading.Event(), threading.Event()

    def read(*_: object) -> None:
        begun.set()
        over.wait(60)

    thread = threading.Thread(target=taken.library, args=(read,))
    thread.start()
    begun.wait(60)
    monkeypatch.setattr(index, "_SECONDS_TO_LIBRARY", 0.01)
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_nobody_waits_for_another_who_reads_all_files(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    with in_use(rig.index, monkeypatch):
        assert rig.index.library_if_read() is None
        assert rig.index.summary("m1.py", TEXT.encode()) == summarise("m1.py", TEXT.encode())
    rig.check()
