"""A check is a real command in a fresh copy: it sees the candidate, and ends in time with all it began."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.kernel.errors import InputError
from commonhold.machine import process_groups
from commonhold.workspace.checks import CommandCheck

pytestmark = pytest.mark.slow


def fill(folder: str) -> None:
    Path(folder, "src").mkdir()
    Path(folder, "src", "a.py").write_text("old", encoding="utf-8")
    Path(folder, "src", "a.py").chmod(0o755)
    Path(folder, "rest").write_text("there", encoding="utf-8")


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made: nothing may be left there."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.mark.parametrize(
    ("command", "passes"),
    [
        ("grep -q new src/a.py", True),
        ("grep -q old src/a.py", False),
        ("test -x src/a.py && grep -q there rest", True),
        ("grep -q new {file}", True),
        ('grep -q new "$COMMONHOLD_CANDIDATE"', True),
        ('test "$COMMONHOLD_WORKTREE" = /of/user', True),
        ('test -z "$GIT_DIR"', True),
        ("true; false", False),
        ("no-such-command-at-all", False),
        ("kill -9 $$", False),
        ("read line", False),
    ],
)
def test_the_exit_status_decides(command: str, scratch: Path, monkeypatch: pytest.MonkeyPatch, *, passes: bool) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    check = CommandCheck(command, fill, worktree="/of/user")
    assert check.passes({"src/a.py": b"new"}, PATIENCE_SECONDS).passed is passes
    assert list(scratch.iterdir()) == []


def test_every_try_has_a_copy_of_its_own() -> None:
    check = CommandCheck("test ! -e left && touch left && rm rest src/a.py", fill)
    assert [check.passes({"src/a.py": b"new"}, PATIENCE_SECONDS).passed for _ in range(2)] == [True, True]


@pytest.mark.parametrize(
    "name", ["a b.py", "it's.py", '"; touch hacked; ".py', "-rf", "$(touch hacked).py", "new\nline", "é.py"]
)
def test_odd_names_reach_the_command_as_they_are(name: str) -> None:
    result = CommandCheck("cat -- {file} && test ! -e hacked").passes(
        {f"odd/{name}": b"content of it"}, PATIENCE_SECONDS
    )
    assert (result.passed, result.tail) == (True, "content of it")


def test_a_name_that_is_no_utf8() -> None:
    name = os.fsdecode(b"\xff.py")
    assert CommandCheck('cat -- "$COMMONHOLD_CANDIDATE"').passes({name: b"content"}, PATIENCE_SECONDS).tail == "content"


def test_several_candidates_are_all_named() -> None:
    assert CommandCheck("cat {file}").passes({"a": b"1", "b c": b"2"}, PATIENCE_SECONDS).tail == "12"


def test_the_end_of_what_is_printed_is_kept() -> None:
    result = CommandCheck("seq 1 100000; echo problem >&2; printf '\\377'; exit 1").passes({"a": b""}, PATIENCE_SECONDS)
    assert result.tail.endswith("100000\nproblem\n\N{REPLACEMENT CHARACTER}")
    assert len(result.tail) <= 4000


def test_a_link_in_the_copy_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()

    def fill_with_link(folder: str) -> None:
        Path(folder, "link").symlink_to(outside)
        Path(folder, "file").symlink_to(outside / "file")

    with pytest.raises(InputError, match="link"):
        CommandCheck("true", fill_with_link).passes({"link/a": b"1"}, PATIENCE_SECONDS)
    assert CommandCheck("cat file", fill_with_link).passes({"file": b"1"}, PATIENCE_SECONDS).tail == "1"
    assert list(outside.iterdir()) == []


def test_time_is_limited_for_all_that_the_command_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids, begun = tmp_path / "pids", tmp_path / "begun"
    looks = count()
    # Each look at the clock is an hour later, once all has begun.
    clock = SimpleNamespace(monotonic=lambda: 3600.0 * next(looks) if begun.exists() else 0.0, sleep=time.sleep)
    monkeypatch.setattr(process_groups, "time", clock)
    command = f"trap '' TERM; sleep 600 & echo $! >{pids}; echo $$ >>{pids}; echo begun; >{begun}; sleep 600; sleep 600"
    result = CommandCheck(command).passes({"a": b""}, 600)
    assert not result.passed
    assert result.tail.startswith("begun")
    assert "ended after" in result.tail
    for pid in map(int, pids.read_text(encoding="ascii").split()):
        assert not is_alive(pid)


def test_what_runs_on_in_the_background_is_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    assert CommandCheck(f"sleep 600 & echo $! >{pids}").passes({"a": b""}, PATIENCE_SECONDS).passed
    assert not is_alive(int(pids.read_text(encoding="ascii")))


def is_alive(pid: int) -> bool:
    """Whether a process goes on after it was killed: the kernel needs a moment, and its parent may not have looked."""
    for _ in range(6_000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        if state == "Z":
            return False
        time.sleep(0.01)
    return True


def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    pids, code = tmp_path / "pids", "from commonhold.workspace.checks import CommandCheck as C"
    code += f"; C('echo $$ >{pids}.new; mv {pids}.new {pids}; sleep 600').passes({{'a': b''}}, 600)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as waiting:
        while not pids.exists():
            time.sleep(0.01)
        waiting.send_signal(signal.SIGINT)
    assert not is_alive(int(pids.read_text(encoding="ascii")))
    assert not list(tmp_path.glob("commonhold-check-*"))


def test_ctrl_c_while_the_command_is_just_being_begun_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs before Python knows that it does."""
    begun: list[int] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **choices: Any) -> None:
            super().__init__(*words, **choices)
            begun.append(self.pid)
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        CommandCheck("sleep 600").passes({"a": b""}, 600)
    signal.signal(signal.SIGINT, before)
    assert not is_alive(begun[0])


def test_what_the_candidate_removes_is_not_in_the_copy(scratch: Path) -> None:
    check = CommandCheck("test ! -e src/a.py && test ! -e rest && grep -q new moved.py", fill)
    assert check.passes({"src/a.py": None, "rest": None, "moved.py": b"new"}, PATIENCE_SECONDS).passed
    assert list(scratch.iterdir()) == []


def test_what_was_never_there_may_be_removed() -> None:
    assert CommandCheck("test -e rest", fill).passes({"never": None, "no/folder/either": None}, PATIENCE_SECONDS).passed


def test_a_file_may_give_way_to_a_folder_of_its_name() -> None:
    check = CommandCheck("grep -q new rest/inside", fill)
    assert check.passes({"rest": None, "rest/inside": b"new"}, PATIENCE_SECONDS).passed


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("kept", encoding="utf-8")

    def linked(folder: str) -> None:
        Path(folder, "link").symlink_to(target)

    assert CommandCheck("test ! -e link", linked).passes({"link": None}, PATIENCE_SECONDS).passed
    assert target.read_text(encoding="utf-8") == "kept"


def test_nothing_is_removed_through_a_link_that_leads_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.joinpath("a.py").write_text("kept", encoding="utf-8")

    def linked(folder: str) -> None:
        Path(folder, "src").symlink_to(outside)

    with pytest.raises(InputError, match="leads out of the copy"):
        CommandCheck("true", linked).passes({"src/a.py": None}, PATIENCE_SECONDS)
    assert outside.joinpath("a.py").read_text(encoding="utf-8") == "kept"


def test_several_candidates_are_named_each_in_its_place() -> None:
    check = CommandCheck('test -z "$COMMONHOLD_CANDIDATE" && cat {file} | tr -d "\\n" | grep -q onetwo', fill)
    assert check.passes({"one.py": b"one", "two words.py": b"two"}, PATIENCE_SECONDS).passed
