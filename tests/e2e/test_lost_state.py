"""What becomes of a state whose files are deleted or exchanged while sessions use it: refused or healed, never doubled.

Whatever is done to the files, no second session is granted what the first one holds, and what was acknowledged is
there afterwards, or its loss is told.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tests import warm
from tests.e2e.cli_driver import Call, git, make_repository
from tests.e2e.daemon_process import serving
from tests.effort import is_stress
from tests.patience import PATIENCE_SECONDS, until

from commonhold.workspace import daemon_files

pytestmark = pytest.mark.slow

SESSION: Final = Path(__file__).with_name("session_process.py")
UNSAFE: Final = "STORE_UNSAFE"
RESET: Final = "commonhold doctor --reset-state"
PAIRS: Final = [("direct", "direct"), ("daemon", "daemon"), ("daemon", "direct")]


class Session:
    """A session in a process of its own, which is asked line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def __call__(self, *call: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def session(root: Path, agent: str, way: str) -> Iterator[Session]:
    command = [sys.executable, str(SESSION), str(root), agent, way]
    with warm.Warm(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Session(process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()


def asked_alone(root: Path, *call: str) -> dict[str, Any]:
    """What a session is answered that begins now, and goes past the daemon."""
    with session(root, "new", "direct") as new:
        return new(*call)


def database_deleted(state: Path, _: Path) -> None:
    for path in state.glob("state.db*"):
        path.unlink()


def database_alone_deleted(state: Path, _: Path) -> None:
    (state / "state.db").unlink()


def database_restored(state: Path, copy: Path) -> None:
    database_deleted(state, copy)
    shutil.copy(copy / "state.db", state / "state.db")


def database_exchanged(state: Path, copy: Path) -> None:
    shutil.copy(copy / "state.db", state / "restored")
    (state / "restored").replace(state / "state.db")


def log_deleted(state: Path, _: Path) -> None:
    (state / "state.db-wal").unlink()


def shared_index_deleted(state: Path, _: Path) -> None:
    (state / "state.db-shm").unlink()


def gate_deleted(state: Path, _: Path) -> None:
    (state / "gate").unlink()


def gate_exchanged(state: Path, _: Path) -> None:
    (state / "other").touch()
    (state / "other").replace(state / "gate")


def folder_exchanged(state: Path, copy: Path) -> None:
    state.rename(state.with_name("away"))
    shutil.copytree(copy, state)


def folder_linked(state: Path, copy: Path) -> None:
    state.rename(state.with_name("away"))
    state.symlink_to(copy)


def folder_deleted(state: Path, _: Path) -> None:
    shutil.rmtree(state, ignore_errors=True)
    shutil.rmtree(state, ignore_errors=True)  # a daemon may have made something in it meanwhile


def git_moved(state: Path, _: Path) -> None:
    state.parent.rename(state.parent.with_name(".git.away"))


def git_exchanged(state: Path, copy: Path) -> None:
    git_moved(state, copy)
    git(state.parent.parent, "init", "--quiet")


Damage = Callable[[Path, Path], None]
# No session may go on, and none may begin before the state was reset.
LOST: Final[tuple[Damage, ...]] = (
    database_deleted,
    database_alone_deleted,
    database_restored,
    database_exchanged,
    log_deleted,
    folder_exchanged,
    folder_linked,
)
# Who has the old file open is refused; whoever opens the state again, as when a daemon has ended, loses nothing.
HEALED: Final[tuple[Damage, ...]] = (shared_index_deleted, gate_deleted, gate_exchanged)
# A session that begins again makes a new state, whose numbers go on above those of the first one.
WIPED: Final[tuple[Damage, ...]] = (folder_deleted,)
# A session that begins again finds another state, or none: nothing tells it of the first one.
OTHER: Final[tuple[Damage, ...]] = (git_moved, git_exchanged)


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """A copy of the state with one event in it."""
    assert asked_alone(root, "acquire", "first:1")["outcome"] == "granted"
    return Path(shutil.copytree(root / ".git/commonhold", tmp_path / "copy"))


# Each damage meets one pair of ways here, in turn, and each of them in `make stress`.
MET: Final = [
    pytest.param(damage, pair, id=f"{damage.__name__}-{'-'.join(pair)}")
    for place, damage in enumerate(LOST + HEALED + WIPED + OTHER)
    for pair in (PAIRS if is_stress() else [PAIRS[place % len(PAIRS)]])
]


@pytest.mark.parametrize(("damage", "pair"), MET)
def test_nothing_is_granted_twice_and_nothing_lost_unsaid(
    damage: Damage, pair: tuple[str, str], root: Path, copy: Path, run: Call
) -> None:
    state = root / ".git/commonhold"
    with ExitStack() as stack:
        if "daemon" in pair:
            stack.enter_context(serving(root))
        one, two = (stack.enter_context(session(root, agent, way)) for agent, way in zip("ab", pair, strict=True))
        held = one("acquire", "account:1")
        assert held["outcome"] == "granted"
        # Past a daemon one gets nothing; it has had the state all the same, or none yet.
        assert two("acquire", "account:1")["outcome"] in ("denied", "failed")
        assert one("put", "account:0", "before")["outcome"] == "stored"
        damage(state, copy)
        assert two("acquire", "account:1")["outcome"] in ("denied", "failed")
        after = one("put", "account:2", "after")
        is_stored = damage in HEALED and after["outcome"] == "stored"
        assert is_stored or (after["outcome"], after.get("code")) == ("failed", UNSAFE)
        assert damage in HEALED or one("acquire", "account:3").get("code") == UNSAFE
    if damage in LOST:
        refused = asked_alone(root, "acquire", "account:1")
        assert (refused["code"], RESET in refused["hint"]) == (UNSAFE, True)
        assert run("doctor").status == 4
        assert run("doctor", "--reset-state").status == 0
        anew = asked_alone(root, "acquire", "account:1")
        assert anew["outcome"] == "granted"
        assert anew["fence"] > held["fence"] + 1
    elif damage in WIPED:
        anew = asked_alone(root, "acquire", "account:1")
        assert anew["outcome"] == "granted"
        assert anew["fence"] > held["fence"] + 1
        assert run("doctor").status == 0
    elif damage in HEALED:
        assert asked_alone(root, "acquire", "account:1")["outcome"] == "denied"
        assert asked_alone(root, "get", "account:0")["text"] == "before"
        assert asked_alone(root, "get", "account:2")["text"] == ("after" if is_stored else None)


@pytest.mark.parametrize("way", ["direct", "daemon"])
def test_a_git_folder_that_was_away_for_a_while_is_as_it_was(way: str, root: Path, run: Call) -> None:
    with ExitStack() as stack:
        if way == "daemon":
            stack.enter_context(serving(root))
        one, two = (stack.enter_context(session(root, agent, way)) for agent in "ab")
        assert one("acquire", "account:1")["outcome"] == "granted"
        assert two("acquire", "account:1")["outcome"] == "denied"
        (root / ".git").rename(root / ".git.away")
        refused = two("acquire", "account:1")
        assert (refused["outcome"], refused.get("code")) == ("failed", UNSAFE)
        assert not (root / ".git").exists()
        subprocess.run(["mv", ".git.away", ".git"], cwd=root, check=True)
        git(root, "status")
        assert two("acquire", "account:1")["outcome"] == "denied"
        assert one("put", "account:2", "after")["outcome"] == "stored"
    assert run("doctor").status == 0
    assert asked_alone(root, "get", "account:2") == {"outcome": "found", "text": "after"}


SMALL: Final = ["daemon.sock", "http.sock", "daemon.lock", "index.db", "daemon.log"]


def place_of(name: str, state: Path) -> Path:
    """Where it is: a socket is outside of the state folder where its address would be too long."""
    elsewhere = {"daemon.sock": daemon_files.address, "http.sock": daemon_files.http_address}
    return Path(elsewhere[name](str(state))) if name in elsewhere else state / name


@pytest.mark.parametrize("name", SMALL)
def test_what_holds_no_state_is_made_anew(name: str, root: Path) -> None:
    state = root / ".git/commonhold"
    with serving(root) as daemon, session(root, "a", "daemon") as one, session(root, "b", "daemon") as two:
        assert one("acquire", "account:1")["outcome"] == "granted"
        place_of(name, state).unlink(missing_ok=True)
        assert two("acquire", "account:1")["outcome"] == "denied"
        if name in ("daemon.sock", "http.sock", "daemon.lock"):
            until(lambda: daemon.process.poll() is not None, what="the daemon that cannot be found any more ends")
        assert two("acquire", "account:1")["outcome"] == "denied"
        assert one("put", "account:2", "after")["outcome"] == "stored"
    daemon.end()
    assert asked_alone(root, "get", "account:2") == {"outcome": "found", "text": "after"}


@pytest.mark.usefixtures("copy")
def test_a_copy_of_a_repository_has_a_state_of_its_own(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "second")
    for each in (root, tmp_path / "second"):
        assert asked_alone(each, "acquire", "first:2")["outcome"] == "granted"
    clone = make_repository(tmp_path / "third")
    assert asked_alone(clone, "acquire", "first:1") == {"outcome": "granted", "fence": 1}
