"""Records as lines: one line each, whatever agents send, without secrets; and a log file that stays small."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonhold.machine import log_output
from commonhold.machine.correlation import correlated
from commonhold.machine.log_output import LONGEST_TEXT, Lines, StandardError, fields_of, older, rotate

HOSTILE = 'x" level=error event="forged"\nlevel=error event=forged \x1b[31m\u202e\x00\udcff'
WRITER = """
import os, sys
from commonhold.machine import log_output
from commonhold.machine.logs import Log
path, name, count = sys.argv[1:]
log_output.MOST_BYTES, log_output.MOST_KEPT = 20_000, 100
os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 2)
log_output.log_to_standard_error("debug", path, with_libraries=True)
log = Log("commonhold.tests")
for number in range(int(count)):
    log.info("line", writer=name, number=number)
"""


def line_of(event: str = "event", fault: Exception | None = None, **fields: object) -> str:
    exception = (type(fault), fault, fault.__traceback__) if fault else None
    record = logging.LogRecord("commonhold.tests", logging.INFO, "file", 1, event, (), exception)
    record.fields = fields
    return Lines().format(record)


def test_a_line_has_the_moment_the_level_the_event_and_the_fields() -> None:
    with correlated("a1"):
        line = line_of("lease granted", holder="ann", keys=["file:a.py#one", "acc:1"], code=None, is_new=True, n=0.25)
    assert fields_of(line) == {
        "time": line[5:29],
        "level": "info",
        "event": "lease granted",
        "correlation": "a1",
        "holder": "ann",
        "keys": "file:a.py#one,acc:1",
        "is_new": "true",
        "n": "0.25",
        "logger": "commonhold.tests",
        "pid": str(os.getpid()),
    }
    assert line[28] == "Z"


@pytest.mark.parametrize("where", ["event", "field", "list", "fault"])
def test_text_of_an_agent_stays_inside_its_field(where: str) -> None:
    line = {
        "event": lambda: line_of(HOSTILE),
        "field": lambda: line_of(task=HOSTILE),
        "list": lambda: line_of(task=[HOSTILE]),
        "fault": lambda: line_of(fault=ValueError(HOSTILE)),
    }[where]()
    assert line.isascii()
    assert line.isprintable()
    found = fields_of(line)
    name = {"event": "event", "fault": "traceback"}.get(where, "task")
    assert HOSTILE in found[name]
    assert found["level"] == "info"
    assert found.keys() <= {"time", "level", "event", "task", "traceback", "logger", "pid"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:s3cret@host/db is gone", "postgresql://ann:***@host/db is gone"),
        ("redis://:s3cret@host", "redis://:***@host"),
        ("Authorization: Bearer s3cret", "Authorization: Bearer ***"),
        ("http://127.0.0.1:80/t/s3cret/mcp", "http://127.0.0.1:80/t/***/mcp"),
        ("host=h password=s3cret", "host=h password=***"),
    ],
)
def test_passwords_and_tokens_are_hidden(text: str, shown: str) -> None:
    assert fields_of(line_of(message=text))["message"] == shown
    assert "s3cret" not in line_of(fault=OSError(text))


def test_long_texts_and_lists_are_shortened() -> None:
    found = fields_of(line_of(why="x" * 10 * LONGEST_TEXT, keys=range(1000)))
    assert found["why"] == "x" * LONGEST_TEXT + "..."
    assert found["keys"] == "0,1,2,3,4,5,6,7,8,9,..."


@pytest.mark.parametrize("line", ["", "Traceback (most recent call last):", "x=1", 'time=1 level=info event="\\q"'])
def test_other_lines_have_no_fields(line: str) -> None:
    assert fields_of(line) == {}


@contextmanager
def as_standard_error(path: Path, named: Path | None = None) -> Iterator[StandardError]:
    """The handler while standard error is the log file at `path`, which is `named` to it."""
    before = os.dup(2)
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 2)
    os.close(log)
    try:
        yield StandardError(str(named or path))
    finally:
        os.dup2(before, 2)
        os.close(before)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of a log file that is full after ten lines or so."""
    monkeypatch.setattr(log_output, "MOST_BYTES", 1000)
    return tmp_path / "daemon.log"


def write(handler: StandardError, event: str) -> None:
    handler.handle(logging.LogRecord("commonhold.tests", logging.INFO, "file", 1, event, (), None))


def test_a_full_file_is_renamed_and_the_oldest_is_dropped(path: Path) -> None:
    with as_standard_error(path) as handler:
        for number in range(100):
            write(handler, f"event {number}")
        os.write(2, b"the last words of a crash\n")
    files = [str(path), *older(str(path))]
    assert files == [str(path), f"{path}.1", f"{path}.2", f"{path}.3"]
    found = [Path(each).stat() for each in files]
    assert all(each.st_size < 1200 and each.st_mode & 0o777 == 0o600 for each in found)
    assert path.read_text(encoding="utf-8").endswith("the last words of a crash\n")
    assert "event 99" in path.read_text(encoding="utf-8")


def test_a_file_that_another_process_renamed_or_removed_is_made_anew(path: Path) -> None:
    with as_standard_error(path) as handler:
        path.rename(f"{path}.1")
        write(handler, "after the renaming")
        first = path.read_text(encoding="utf-8")
        path.unlink()
        write(handler, "after the removal")
    assert "after the renaming" in first
    assert "after the removal" in path.read_text(encoding="utf-8")
    assert Path(f"{path}.1").read_text(encoding="utf-8") == ""


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    with as_standard_error(path) as handler:
        path.rename(f"{path}.1")
        path.symlink_to(victim)
        write(handler, "still written")
    assert victim.read_text() == "mine\n"
    assert "still written" in Path(f"{path}.1").read_text(encoding="utf-8")


def test_standard_error_that_is_not_the_log_is_left_alone(path: Path, tmp_path: Path) -> None:
    with as_standard_error(path, named=tmp_path / "another.log") as handler:
        for number in range(100):
            write(handler, f"event {number}")
    assert path.stat().st_size > 5000
    assert list(tmp_path.iterdir()) == [path]


def test_a_closed_standard_error_fails_no_request(path: Path) -> None:
    with as_standard_error(path) as handler:
        os.close(2)
        write(handler, "dropped")


def test_a_file_that_is_not_full_is_not_renamed(path: Path) -> None:
    path.write_text("a line\n")
    rotate(str(path))
    assert older(str(path)) == []


def test_nothing_is_lost_where_several_processes_write_and_rename(tmp_path: Path) -> None:
    path, each = tmp_path / "daemon.log", 300
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(each)], stderr=subprocess.PIPE)
        for name in "abc"
    ]
    assert [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers] == [(b"", 0)] * 3
    files = sorted(tmp_path.iterdir())
    assert len(files) > 3
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    found = {(fields_of(line)["writer"], fields_of(line)["number"]) for line in lines}
    assert found == {(name, str(number)) for name in "abc" for number in range(each)}


def test_exceptions_that_end_threads_and_processes_are_records() -> None:
    script = (
        "import threading\n"
        "from commonhold.machine.log_output import log_to_standard_error\n"
        "log_to_standard_error('info', with_libraries=True)\n"
        "thread = threading.Thread(target=lambda: 1 / 0, name='t'); thread.start(); thread.join()\n"
        "import logging; logging.getLogger('uvicorn.error').error('of %s', 'a library')\n"
        "logging.getLogger('uvicorn.access').info('unseen')\n"
        "raise KeyError('x')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    found = [fields_of(line) for line in done.stderr.splitlines()]
    assert [each["event"] for each in found] == [
        "thread ended by an exception",
        "of a library",
        "process ended by an exception",
    ]
    assert (found[0]["thread"], found[0]["traceback"].endswith("ZeroDivisionError: division by zero")) == ("t", True)
    assert found[2]["traceback"].endswith("KeyError: 'x'")
    assert done.returncode == 1
