"""A daemon has all files read in the background, so that the first question about other files finds them read."""

import os
import pty
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests import warm
from tests.e2e.daemon_process import Serving, serving
from tests.patience import until

from commonhold.code.regions.region import hash_bytes
from commonhold.index.index import index_at
from commonhold.kernel.options import DEFAULT_MAX_FILE_BYTES
from commonhold.machine import file_stamps
from commonhold.server.daemon.indexing import Indexing
from commonhold.workspace.repository import find_repository

pytestmark = pytest.mark.slow


def unread(root: Path) -> int:
    """How many files a question has to read before it is answered."""
    told = [0]
    with closing(index_at(find_repository(str(root)), DEFAULT_MAX_FILE_BYTES)) as index:
        index.library(lambda _, total: told.append(total))
    return max(told)


def make_files(root: Path) -> None:
    for number in range(200):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n")


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def settle(root: Path) -> None:
    """Wait until the disk's stamps of the files are to be believed: what is younger is read again at each question."""
    newest = max(
        (stamp for path in root.glob("*.py") if (stamp := file_stamps.at(str(path)))), key=lambda stamp: stamp[1]
    )
    until(lambda: file_stamps.settled(newest, time.time_ns()))


def test_a_daemon_has_all_files_read(root: Path) -> None:
    make_files(root)
    settle(root)
    daemon = Serving(root)
    command = [sys.executable, "-m", "commonhold.server.daemon", str(root), "600", "600", "0"]
    daemon.process = warm.Warm(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        daemon.wait_until_served()
        until(lambda: (daemon.state / "index.db").exists() and not children_of(daemon.process.pid))
        assert unread(root) == 0
        assert daemon.stop() == ""
    finally:
        daemon.process.kill()
        daemon.process.communicate()


def test_it_is_ended_with_the_daemon_at_the_lowest_priority(root: Path) -> None:
    make_files(root)
    indexing = Indexing(str(root), DEFAULT_MAX_FILE_BYTES, 5.0)
    indexing.look(4.9)
    before = indexing.pid
    indexing.look(5.0)
    pid = indexing.pid
    assert before is None
    assert pid is not None
    until(lambda: os.getpriority(os.PRIO_PROCESS, pid) == 19)
    indexing.end()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_it_is_done_once(root: Path) -> None:
    indexing = Indexing(str(root), DEFAULT_MAX_FILE_BYTES, 5.0)
    indexing.look(5.0)
    until(lambda: has_ended(indexing))
    indexing.look(6.0)
    assert indexing.pid is None


def has_ended(indexing: Indexing) -> bool:
    indexing.look(5.5)
    return indexing.pid is None


def test_it_can_be_chosen_that_nothing_is_read(root: Path) -> None:
    indexing = Indexing(str(root), DEFAULT_MAX_FILE_BYTES, None)
    indexing.look(1e9)
    assert indexing.pid is None
    indexing.end()


def seen_on_a_terminal(root: Path, *words: str) -> str:
    """What a command writes to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "commonhold", *words]
        subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, stderr=theirs, check=True, timeout=60)
        os.write(theirs, b".")
        told = b""
        while not told.endswith(b"."):
            told += os.read(ours, 65_536)
        return told[:-1].decode()
    finally:
        os.close(ours)
        os.close(theirs)


def test_who_watches_sees_how_far_it_is(root: Path) -> None:
    make_files(root)
    assert seen_on_a_terminal(root, "impact", "m1.py#f1", "--json") == ""
    (root / ".git/commonhold/index.db").unlink()
    told = seen_on_a_terminal(root, "impact", "m1.py#f1")
    assert "of 201 files" in told
    assert told.endswith("\r\x1b[K"), "the line is taken away again"


def test_what_is_asked_for_is_read_before_its_time_once(root: Path) -> None:
    indexing = Indexing(str(root), DEFAULT_MAX_FILE_BYTES, 1e9)
    indexing.begin(str(root))
    indexing.begin(str(root))
    assert indexing.is_reading(str(root))
    until(lambda: has_ended(indexing))
    assert not indexing.is_reading(str(root))
    indexing.look(2e9)
    assert indexing.pid is None


def test_nothing_is_read_for_anybody_where_that_was_chosen(root: Path) -> None:
    indexing = Indexing(str(root), DEFAULT_MAX_FILE_BYTES, None)
    indexing.begin(str(root))
    assert not indexing.is_reading(str(root))
    indexing.look(1e9)
    assert indexing.pid is None


def test_what_is_written_before_all_files_are_read_is_examined_once_they_are(root: Path) -> None:
    make_files(root)
    (root / "user.py").write_text("from m1 import f1\n\n\ndef user():\n    return f1()\n")
    before = (root / "m1.py").read_bytes()
    with serving(root) as daemon, daemon.session("ann") as ann:
        ann.store_contents([before])
        (root / "m1.py").write_text("def f1(more):\n    return more\n")
        taken = ann.record_external_writes({"m1.py": hash_bytes(before)}, intent="by a command")
        assert taken.outcome == "recorded"
        told: list[str] = []

        def has_news() -> bool:
            told.extend(each.text for each in ann.news())
            return bool(told)

        until(has_news)
        assert "user.py" in told[0]
        assert "REQUIRE_ADDITIONAL_LOCKS" in told[0]
        assert [work.holder for work in ann.status().works] == ["ann"]
