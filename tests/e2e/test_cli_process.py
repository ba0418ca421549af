"""What only a real process shows: signals, closed streams, odd encodings."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.cli_driver import process, start
from tests.patience import until

from commonhold.bootstrap import open_repository

pytestmark = pytest.mark.slow


def wait_for_the_gate(pid: int) -> None:
    """Return when the process stands in the queue of a lock, which the kernel lists with an arrow."""
    until(lambda: any("->" in line and f" {pid} " in line for line in Path("/proc/locks").read_text().splitlines()))


def test_ctrl_c_while_waiting_for_the_gate(root: Path) -> None:
    process("acquire", "a.py", cwd=root)
    with (root / ".git" / "commonhold" / "gate").open("r+b") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        with start("acquire", "a.py#one", cwd=root) as waiting:
            wait_for_the_gate(waiting.pid)
            waiting.send_signal(signal.SIGINT)
            out, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert out == b""
    assert err.count(b"\n") == 1
    assert err.startswith(b"interrupted; ")
    assert process("leases", cwd=root).stdout.count(b"lease-") == 1


@pytest.mark.parametrize("words", [("log",), ("regions", "a.py", "--json"), ("show", "a.py"), ("--help",)])
def test_a_reader_that_stops_reading(words: tuple[str, ...], root: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open_repository(str(root), agent="ann") as hold:
        hold.acquire("a.py")
    done = process(*words, cwd=root, stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert b"error" not in done.stderr


@pytest.mark.parametrize("words", [("status",), ("status", "--json"), ("regions", "nope.py", "--json")])
def test_standard_output_that_is_full(words: tuple[str, ...], root: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = process(*words, cwd=root, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 4
    assert done.stderr.startswith(b"error: the answer could not be written")
    assert b"[DISK_FULL]" in done.stderr
    assert b"Traceback" not in done.stderr


def test_closed_standard_streams(root: Path) -> None:
    command = f"{sys.executable} -m commonhold"
    for words in ("acquire a.py", "status --json", "regions nope.py", "show a.py"):
        done = subprocess.run(["sh", "-c", f"{command} {words} <&- >&- 2>&-"], cwd=root, check=False)
        assert done.returncode == (3 if "nope" in words else 0)
    assert process("leases", cwd=root).stdout.count(b"lease-") == 1


def test_a_commit_without_standard_input(root: Path) -> None:
    line = f"{sys.executable} -m commonhold commit --key b.py --create <&-"
    done = subprocess.run(["sh", "-c", line], cwd=root, check=False, capture_output=True)
    assert done.returncode == 3
    assert b"standard input is closed" in done.stderr
    assert not (root / "b.py").exists()


def test_a_terminal_that_does_not_speak_utf_8(root: Path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = process("acquire", "é.py", "--task", "größer", cwd=root, env=env)
    assert done.returncode == 0
    assert b"\\xe9.py" in done.stdout
    shape = process("leases", "--json", cwd=root, env=env).stdout
    assert "größer" in shape.decode()


def test_arguments_that_are_not_utf_8(root: Path) -> None:
    done = process("regions", b"\xff.py", cwd=root)
    assert done.returncode == 3
    assert b"[TEXT_INVALID]" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_unknown_command_in_json(root: Path) -> None:
    done = process("nonsense", "--json", cwd=root)
    assert done.returncode == 2
    assert b'"code": "USAGE"' in done.stdout
    assert done.stderr == b""


def test_json_after_a_double_dash_is_a_key(root: Path) -> None:
    done = process("nonsense", "--", "--json", cwd=root)
    assert done.stdout == b""
    assert done.stderr.startswith(b"error: ")
