"""A daemon that is killed is there again at once, begun by the process that watches over it."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.e2e.cli_driver import make_repository
from tests.e2e.daemon_process import Place, place
from tests.patience import PATIENCE_SECONDS, until

import commonhold
from commonhold.client import hook_program
from commonhold.server.daemon.supervisor import MOST_DEATHS
from commonhold.workspace.daemon_files import http_address

pytestmark = pytest.mark.slow


@contextmanager
def supervised(root: Path) -> Iterator[tuple[Place, subprocess.Popen[bytes]]]:
    """A repository whose daemon is watched over, and the process that does so."""
    with place(root) as found:
        command = [sys.executable, "-m", "commonhold.server.daemon.supervisor", str(root)]
        watching = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            found.wait_until_served()
            yield found, watching
        finally:
            watching.kill()
            watching.wait()


def kill(found: Place) -> int:
    """Kill the daemon, and wait for the next; the process that was killed."""
    pid = found.pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: found.is_served and found.pid != pid)
    return pid


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_killed_daemon_is_begun_again_by_who_watches_over_it(root: Path) -> None:
    with supervised(root) as (found, watching):
        with found.session() as hold:
            lease = hold.acquire("account:1").lease
        kill(found)
        found.wait_until_served()
        assert parent_of(found.pid) == watching.pid
        with found.session() as hold:
            assert [each.id for each in hold.leases()] == [lease.id if lease else None]


def test_one_that_ends_by_itself_is_not_begun_again(root: Path) -> None:
    with supervised(root) as (found, watching):
        os.kill(found.pid, signal.SIGTERM)
        assert watching.wait(PATIENCE_SECONDS) == 0
        assert not found.is_served


def test_who_ends_the_watching_process_ends_the_daemon_gently(root: Path) -> None:
    with supervised(root) as (found, watching):
        watching.terminate()
        assert watching.wait(PATIENCE_SECONDS) == 0
        assert not found.is_served
        assert not Path(found.address).exists()


ASKED_AS_IT_BEGINS = """
import os, signal, sys
from commonhold.server.daemon import supervisor

real = os.fork

def fork():
    child = real()
    if child:
        os.kill(os.getpid(), signal.SIGTERM)
    return child

os.fork = fork
sys.exit(supervisor.supervise(sys.argv[1], supervisor.Times()))
"""


def test_who_ends_the_watching_process_as_it_begins_a_daemon_ends_both(root: Path) -> None:
    with place(root) as found:
        command = [sys.executable, "-c", ASKED_AS_IT_BEGINS, str(root)]
        status = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE_SECONDS).returncode
        assert status in (0, signal.SIGTERM), "it has waited for the daemon, which may not have had a handler yet"
        assert not found.is_served


def test_after_an_upgrade_the_next_daemon_is_of_the_new_program(root: Path, tmp_path: Path) -> None:
    """Else it would be a fork of a process that has the old modules loaded, and load the rest from the new files."""
    # Other processes keep bytecode in there: its files come and go while they are copied.
    without = shutil.ignore_patterns("__pycache__")
    program = Path(shutil.copytree(Path(commonhold.__file__).parent, tmp_path / "program/commonhold", ignore=without))
    environment = {**os.environ, "PYTHONPATH": str(program.parent)}
    command = [sys.executable, "-m", "commonhold.server.daemon.supervisor", str(root)]
    with place(root) as found:
        watching = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            found.wait_until_served()
            kill(found)
            assert not has_begun_anew(watching.pid), "the program is as it was"
            upgraded = program / "__init__.py"
            upgraded.write_text(f"{upgraded.read_text()}\n# another one\n")
            kill(found)
            assert has_begun_anew(watching.pid)
            assert parent_of(found.pid) == watching.pid
        finally:
            watching.kill()
            watching.wait()


def has_begun_anew(pid: int) -> bool:
    """Whether a process was begun in the way in which the program begins itself."""
    return b"-I" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def test_one_that_dies_over_and_over_is_left_alone(root: Path) -> None:
    """A daemon that dies of what it is asked would die of it forever."""
    with supervised(root) as (found, watching):
        for _ in range(MOST_DEATHS):
            kill(found)
        os.kill(found.pid, signal.SIGKILL)
        assert watching.wait(PATIENCE_SECONDS) == signal.SIGKILL


def test_what_hooks_need_is_loaded_for_the_next_one(root: Path) -> None:
    """It is loaded once the first hook was answered, by the process that the next daemon is a fork of."""
    with supervised(root) as (found, watching):
        before = memory_of(watching.pid)
        time.sleep(0.1)
        assert memory_of(watching.pid) == before, "a daemon that only leases needs none of it"
        with open_door(found):
            until(lambda: memory_of(watching.pid) > before)


def test_hooks_at_once_begin_one_daemon_by_themselves() -> None:
    """Each would load the whole `commonhold` command for it, and a daemon that finds itself to be too many."""
    # At a short path, so that the socket is in the repository and tells where that is.
    with (
        TemporaryDirectory(prefix="c") as folder,
        place(root := make_repository(Path(folder).resolve() / "r")) as found,
    ):
        with found.session(daemon=False) as hold:
            hold.acquire("account:1")
        words = [sys.executable, "-I", "-S", hook_program.__file__, "claude", http_address(str(found.state))]
        payload = json.dumps({"session_id": "s", "hook_event_name": "Notification", "cwd": str(root)}).encode()
        hooks = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(5)]
        for hook in hooks:
            assert hook.stdin is not None
            hook.stdin.write(payload)
            hook.stdin.close()
            hook.stdin = None
        assert [(hook.communicate(timeout=PATIENCE_SECONDS)[0], hook.returncode) for hook in hooks] == [(b"", 0)] * 5
        assert found.log == "", "none was too many"
        watching = parent_of(found.pid)
        assert b"commonhold.server.daemon.supervisor" in Path(f"/proc/{watching}/cmdline").read_bytes()
        assert is_begun_alone(found), "what keeps others from beginning one lasts as long as the daemon"


def is_begun_alone(found: Place) -> bool:
    with (found.state / "daemon.begin").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def memory_of(pid: int) -> int:
    """How many pages a process has of its own."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[5])


@contextmanager
def open_door(found: Place) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as hook:
        hook.connect(http_address(str(found.state)))
        yield
