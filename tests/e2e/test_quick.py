"""Commands that only look print the same, whether the daemon is asked the short way or by the full program."""

import os
import re
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.cli_driver import make_repository, process
from tests.e2e.daemon_process import Place, Serving, serving
from tests.patience import PATIENCE_SECONDS

from commonhold.cli import quick
from commonhold.client import glance
from commonhold.client.opening import open_session
from commonhold.commits import queries
from commonhold.kernel.changeset import Changeset, Edit, Op
from commonhold.kernel.modes import Mode

pytestmark = pytest.mark.slow
HOUR = 3600.0

_AGO = re.compile(rb"(less than )?(a moment|\d+ s) ago")
Said = tuple[int, bytes, bytes]


def go_to(served: Serving, patch: pytest.MonkeyPatch) -> Serving:
    """Be in the repository of a daemon, as one who has no name and lets daemons be asked."""
    patch.chdir(served.root)
    patch.setenv("COMMONHOLD_DAEMON", "on")
    patch.setenv("HOME", str(served.root.parent))
    patch.delenv("COMMONHOLD_AGENT", raising=False)
    return served


@contextmanager
def begun(root: Path) -> Iterator[Serving]:
    """A daemon for a repository with files of several kinds."""
    make_repository(root)
    (root / "sub").mkdir()
    (root / "sub/wörter.py").write_text("def größe():\n    return 'ä'\n")
    (root / "empty.py").touch()
    (root / "bad.py").write_text("def (:\n")
    (root / "data.bin").write_bytes(b"\0\xff\1")
    with serving(root) as served:
        yield served


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Serving]]:
    """Daemons that are only looked at, so that all tests share them: of a free repository, and of a busy one."""
    folder = tmp_path_factory.mktemp("quick")
    with begun(folder / "free/work") as free, begun(folder / "busy/work") as busy:
        with pytest.MonkeyPatch.context() as patch:
            make_busy(go_to(busy, patch))
        yield {"free": free, "busy": busy}


@pytest.fixture
def free(looked_at: dict[str, Serving], monkeypatch: pytest.MonkeyPatch) -> Serving:
    return go_to(looked_at["free"], monkeypatch)


@pytest.fixture
def busy(looked_at: dict[str, Serving], monkeypatch: pytest.MonkeyPatch) -> Serving:
    return go_to(looked_at["busy"], monkeypatch)


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """One that a test may do something to."""
    with begun(tmp_path / "work") as served:
        yield go_to(served, monkeypatch)


def said(*words: str) -> Said:
    """What the command says, as it is installed: through its entry point."""
    entry = "import sys; from commonhold.cli.main import run; run()"
    return _heard(
        subprocess.run(
            [sys.executable, "-c", entry, *words], capture_output=True, check=False, timeout=PATIENCE_SECONDS
        )
    )


def said_in_full(*words: str) -> Said:
    """What the full program says; the variable, which only it heeds, changes nothing where nothing fails."""
    return _heard(process(*words, cwd=Path.cwd(), env=os.environ | {"COMMONHOLD_DEBUG": "1"}))


def said_both_ways(*words: str) -> tuple[Said, Said]:
    """What both say at one moment: no minute has passed if the short way says the same before and after."""
    while True:
        before, in_full, after = said(*words), said_in_full(*words), said(*words)
        if before == after:
            return after, in_full


def _heard(done: subprocess.CompletedProcess[bytes]) -> Said:
    return done.returncode, _AGO.sub(b"a moment ago", done.stdout), done.stderr


def is_quick(*words: str) -> bool:
    return quick.printing(words) is not None


def make_busy(place: Place, **choices: Any) -> None:
    """Something of everything that is shown."""
    with place.session("ann", **choices) as ann, place.session("böb", **choices) as bob:
        ann.set_intent("make it grow")
        ann.start_session()
        (one,) = ann.read("a.py#one")
        edit = Edit(Op.REPLACE, "a.py#one", base=one.hash, text=(one.text or "").replace("sep", "sep * 2"))
        assert ann.commit(Changeset(edits=(edit,), intent="one is eleven")).outcome == "committed"
        lease = ann.acquire("a.py#Box", "account:1", ttl_seconds=20 * HOUR, task="grow “it”").lease
        assert lease is not None
        bob.acquire("job:1", mode=Mode.SHARED, ttl_seconds=20 * HOUR)
        bob.acquire("account:1", patience_seconds=20 * HOUR, task="pay")
        bob.ask(lease.id, why="I need it")


@pytest.mark.parametrize(
    "words",
    [
        ("leases",),
        ("leases", "--holder", "ann"),
        ("status",),
        ("status", "--agent", "carl"),
        ("-C", "sub", "status"),
        ("regions", "a.py"),
        ("regions", "bad.py"),
        ("regions", "empty.py"),
        ("regions", "data.bin"),
        ("-C", "sub", "regions", "wörter.py"),
        ("regions", "-C", "sub", "../a.py"),
        ("show", "a.py"),
        ("show", "a.py#one"),
        ("show", "a.py#Box"),
        ("show", "empty.py"),
        ("show", "data.bin"),
        ("show", "sub/wörter.py#größe", "--agent", "ann"),
    ],
)
def test_both_ways_print_the_same(words: tuple[str, ...], busy: Serving) -> None:
    assert busy.is_served
    assert is_quick(*words)
    answer, in_full = said_both_ways(*words)
    assert answer == in_full


def test_a_free_repository_looks_the_same(free: Serving) -> None:
    for words in (("leases",), ("status",)):
        assert is_quick(*words)
        assert said(*words) == said_in_full(*words)
    assert not free.log


@pytest.mark.parametrize(
    "words",
    [
        ("leases", "--json"),
        ("leases", "a.py"),
        ("leases", "--holder"),
        ("leases", "--holder", "nobody"),
        ("leases", "--help"),
        ("status", "--holder", "ann"),
        ("log",),
        (),
        ("show", "a.py", "sub/wörter.py"),
        ("show", "a.py", "--to", "x"),
        ("show", "nosuch.py"),
        ("show", "a.py#nosuch"),
        ("show", "file:a.py"),
        ("show", "a.py::one"),
        ("show", "sub"),
        ("show", "0123456789abcdef"),
        ("regions", "../elsewhere.py"),
        ("-C", "nosuch", "leases"),
        ("--store", "sqlite:x", "leases"),
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_full_program(words: tuple[str, ...], free: Serving) -> None:
    assert free.is_served
    assert not is_quick(*words)


@pytest.mark.parametrize(
    ("name", "text", "is_left"),
    [
        ("commonhold.toml", "daemon = false\n", True),
        ("commonhold.toml", 'store = "sqlite:/x"\n', True),
        ("commonhold.toml", '"st\\u006fre" = "sqlite:/x"\n', True),
        ("commonhold.toml", "ttl_seconds = 60\n", False),
        ("pyproject.toml", '[project]\nname = "store-daemon"\n', False),
        ("pyproject.toml", '[tool.commonhold]\nnamespace = "x"\n', True),
    ],
)
def test_settings_that_say_where_to_ask_are_left_to_the_full_program(
    name: str, text: str, *, is_left: bool, free: Serving
) -> None:
    settings = free.root / name
    settings.write_text(text)
    try:
        assert is_quick("leases") is not is_left
    finally:
        settings.unlink()


@pytest.fixture
def left(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that much was done in, and no daemon is there."""
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    monkeypatch.delenv("COMMONHOLD_AGENT")
    make_busy(Place(root), daemon=False)
    return root


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Serving:
    """One that a daemon has served, and serves no more."""
    with begun(tmp_path_factory.mktemp("ended") / "work") as served, pytest.MonkeyPatch.context() as patch:
        make_busy(go_to(served, patch))
    (served.root / "pyproject.toml").write_text('[project]\nname = "x"\n')
    return served


@pytest.mark.parametrize("daemon_is_used", ["on", "off"])
@pytest.mark.parametrize(
    "words",
    [
        ("leases",),
        ("leases", "--holder", "ann"),
        ("status",),
        ("status", "--agent", "carl"),
        ("-C", "sub", "status"),
    ],
)
def test_without_a_daemon_both_ways_print_the_same(
    words: tuple[str, ...], daemon_is_used: str, ended: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_to(ended, monkeypatch)
    monkeypatch.setenv("COMMONHOLD_DAEMON", daemon_is_used)
    assert is_quick(*words)
    answer, in_full = said_both_ways(*words)
    assert answer == in_full
    assert b"ann" in answer[1]
    assert not ended.is_served
    assert not (ended.state / "daemon.sock").exists(), "who only looks begins nothing"


@pytest.mark.parametrize(
    "words",
    [
        ("regions", "a.py"),
        ("regions", "bad.py"),
        ("show", "a.py"),
        ("show", "a.py#one"),
        ("show", "sub/b.py#Box.grow"),
        ("-C", "sub", "show", "b.py#Box"),
    ],
)
def test_without_a_daemon_regions_are_printed_the_same(words: tuple[str, ...], left: Path) -> None:
    (left / "sub").mkdir()
    (left / "sub/b.py").write_bytes((left / "a.py").read_bytes())
    (left / "bad.py").write_text("def (:\n")
    answer = said_in_full(*words)  # the service keeps what it shows; only then no other does
    assert answer[0] == 0
    for _ in ("found", "kept"):
        assert is_quick(*words)
        assert said(*words) == answer


def test_without_a_daemon_what_is_shown_first_is_kept_by_the_full_program(left: Path) -> None:
    (left / "new.py").write_text("def new():\n    return 1\n")
    assert not is_quick("show", "new.py#new")
    _, text, heading = said("show", "new.py#new")
    shown = heading.decode().split()[-1]
    assert is_quick("show", "new.py#new")
    assert said("show", shown)[1] == text


def test_as_many_commits_are_shown_both_ways() -> None:
    assert glance.SHOWN == queries.SHOWN


def test_without_a_daemon_leases_that_are_over_are_not_shown(left: Path) -> None:
    with open_session(str(left), agent="eve", daemon=False) as eve:
        assert eve.acquire("job:7", ttl_seconds=0.001).lease
    assert is_quick("leases")
    answer, in_full = said_both_ways("leases")
    assert b"eve" not in answer[1]
    assert answer == in_full


def test_without_a_daemon_and_state_the_full_program_looks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    assert not is_quick("leases")
    assert said("leases")[:2] == (0, b"no live leases\n")
    assert not (root / ".git/commonhold").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("show", "a.py#one", "--agent", "carl"),
        ("regions", "a.py", "--agent", "ann"),
        ("leases", "--agent", "ann"),
        ("status", "--agent", " "),
    ],
)
def test_without_a_daemon_what_notes_who_has_read_or_keeps_leases_is_left_to_the_full_program(
    words: tuple[str, ...], left: Path
) -> None:
    assert left.exists()
    assert not is_quick(*words)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("commonhold.toml", "ttl_seconds = 60\n"),
        ("pyproject.toml", "[tool.commonhold]\nttl_seconds = 0\n"),
        ("pyproject.toml", '[tool."common\\u0068old"]\nttl_seconds = 0\n'),
        ("pyproject.toml", "[tool.\n"),
    ],
)
def test_without_a_daemon_settings_are_checked_by_the_full_program(name: str, text: str, left: Path) -> None:
    (left / name).write_text(text)
    assert not is_quick("leases")
    assert b"CONFIG_INVALID" in said("leases")[2] or name == "commonhold.toml"


def test_variables_are_checked_by_the_full_program(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert left.exists()
    monkeypatch.setenv("COMMONHOLD_DURABILITY", "some")
    assert not is_quick("leases")


def _restore_older(state: Path) -> None:
    with closing(sqlite3.connect(state / "state.db")) as database:
        database.execute("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
        database.commit()


def _interrupt_a_commit(state: Path) -> None:
    with closing(sqlite3.connect(state / "state.db")) as database:
        database.execute("INSERT INTO journal (body) VALUES ('{}')")
        database.commit()


def _lose_the_mark(state: Path) -> None:
    (state / "gate").unlink()


def _lose_the_state(state: Path) -> None:
    for path in state.glob("state.db*"):
        path.unlink()


def _restore_all(state: Path) -> None:
    _restore_older(state)
    (state / "gate").unlink()


def _be_of_another_version(state: Path) -> None:
    with closing(sqlite3.connect(state / "state.db")) as database:
        database.execute("PRAGMA user_version = 999")
        database.commit()


@pytest.mark.parametrize(
    "harm",
    [_restore_older, _interrupt_a_commit, _lose_the_mark, _lose_the_state, _restore_all, _be_of_another_version],
)
def test_a_state_that_is_not_whole_is_left_to_the_full_program(harm: Callable[[Path], None], left: Path) -> None:
    assert is_quick("leases")
    harm(left / ".git/commonhold")
    assert not is_quick("leases")


def test_whoever_does_not_speak_as_we_do_is_left_to_the_full_program(root: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    (root / ".git/commonhold").mkdir()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(root / ".git/commonhold/daemon.sock"))
        other.listen()
        other.close()
        assert not is_quick("leases")


def test_news_follow_the_answer(daemon: Serving) -> None:
    with daemon.session("ann") as ann, daemon.session("bob") as bob:
        (one,) = ann.read("a.py#one")
        edit = Edit(Op.REPLACE, "a.py#one", base=one.hash, text=(one.text or "").replace("sep", "sep * 2"))
        bob.read("a.py#one")
        assert bob.commit(Changeset(edits=(edit,), intent="eleven")).outcome == "committed"
    status, _, complaint = said("leases", "--agent", "ann")
    assert status == 0
    assert complaint.startswith(b"notice: ")
    assert b"bob" in complaint


def test_an_answer_that_cannot_be_written_is_told(free: Serving) -> None:
    assert free.is_served
    entry = "import sys; from commonhold.cli.main import run; run()"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", entry, "leases"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert b"DISK_FULL" in done.stderr
    assert done.returncode != 0
