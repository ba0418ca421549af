"""The daemon is killed while a shell command runs: its work is credited to its session all the same."""

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT, make_repository
from tests.e2e.daemon_process import Serving, serving
from tests.e2e.test_exec import Shell
from tests.patience import until

pytestmark = pytest.mark.slow


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Serving]:
    root = make_repository(tmp_path / "work")
    for name in ("first.txt", "second.txt", "person.txt", "old.txt"):
        root.joinpath(name).write_text("as it was\n", encoding="utf-8")
    subprocess.run((*GIT, "add", "-A"), cwd=root, check=True)
    subprocess.run((*GIT, "commit", "-q", "-m", "files"), cwd=root, check=True)
    with serving(root) as made:
        yield made


@contextmanager
def interrupted(
    daemon: Serving, before: str, after: str
) -> Iterator[tuple["subprocess.Popen[bytes]", Callable[[], None]]]:
    """A command that does `before`, and goes on with `after` once that is wanted; the daemon is killed in between."""
    beside = daemon.root.parent
    wait = f"touch {shlex.quote(str(beside))}/begun; read _"
    words = Shell(daemon).words("bash", "-c", f"{before}; {wait}; {after}")
    with subprocess.Popen(words, cwd=daemon.root, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until((beside / "begun").exists)
        daemon.process.kill()
        daemon.process.wait()

        def go_on() -> None:
            _, said = process.communicate(b"\n", timeout=60)
            assert (process.returncode, said) == (0, b"")

        yield process, go_on


def test_all_that_the_command_wrote_is_credited_and_nothing_else(daemon: Serving) -> None:
    daemon.root.joinpath("person.txt").write_text("by a person, before\n", encoding="utf-8")
    with interrupted(daemon, "echo 1 > first.txt; rm old.txt", "echo 2 > second.txt; echo 3 > new.txt") as (_, go_on):
        go_on()
    assert Shell(daemon).commits() == [("ann", ["first.txt", "new.txt", "old.txt", "second.txt"], "")]


def test_its_session_can_commit_it_to_git_in_the_same_command(daemon: Serving) -> None:
    daemon.root.joinpath("person.txt").write_text("by a person, before\n", encoding="utf-8")
    commit = "git add -A && git -c user.name=a -c user.email=a@b commit -q -m both"
    with interrupted(daemon, "echo 1 > first.txt", f"echo 2 > second.txt; {commit}") as (process, _):
        _, said = process.communicate(b"\n", timeout=60)
        assert process.returncode == 0, said
    shown = subprocess.run((*GIT, "show", "--name-only", "--format="), cwd=daemon.root, capture_output=True, check=True)
    assert shown.stdout.split() == [b"first.txt", b"second.txt"]


def test_a_command_that_is_killed_with_the_daemon_is_credited_with_nothing_later(daemon: Serving) -> None:
    with interrupted(daemon, "f=first; echo 1 > $f.txt", ":") as (process, _):
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    daemon.root.joinpath("person.txt").write_text("by a person, later\n", encoding="utf-8")
    shell = Shell(daemon)
    assert shell.run("true").returncode == 0
    assert [paths for holder, paths, _ in shell.commits() if holder == "ann"] == []


def test_a_daemon_that_is_started_in_an_agents_shell_does_not_ask_itself(daemon: Serving) -> None:
    """Its `git` would be the stand-in of that shell, which asks the daemon for each call."""
    started = "commonhold daemon start >/dev/null && commonhold daemon status"
    with interrupted(daemon, ":", f"{started} && echo 2 > second.txt && git add second.txt") as (process, _):
        _, said = process.communicate(b"\n", timeout=60)
        assert (process.returncode, said) == (0, b"")
    assert Shell(daemon).commits() == [("ann", ["second.txt"], "")]
