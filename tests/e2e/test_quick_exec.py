"""`commonhold exec` without the program: what it says and does is what the full program would."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.e2e.cli_driver import GIT
from tests.e2e.daemon_process import Serving, serving

from commonhold.cli.quick_exec import executed
from commonhold.kernel.events import Committed
from commonhold.workspace.sandbox.probing import offered

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what ends a command is told of Linux"),
]
ENTRY = (sys.executable, "-c", "import sys; from commonhold.cli.main import run; run()", "exec")
"""How the installed command begins."""
FULL = (*ENTRY, "--repo", ".")
"""An option that only the full program reads."""
COMMANDS = {
    "nothing": ["true"],
    "its output": ["sh", "-c", "echo out; echo err >&2"],
    "its input": ["cat"],
    "an exit status": ["sh", "-c", "exit 7"],
    "a signal": ["sh", "-c", "kill -TERM $$"],
    "no such program": ["nosuchprogram"],
    "words that look like options": ["printf", "%s ", "--", "--agent", "-x"],
    "no words": [],
}
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("COMMONHOLD_")}
SAID = list[tuple[int, str, str]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    root = tmp_path_factory.mktemp("work")
    (root / "a.py").write_text("a = 1\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run((*GIT, *words), cwd=root, check=True, capture_output=True)
    with serving(root) as daemon:
        yield daemon


def told(root: Path, *words: str, folder: str = ".", **environment: str) -> tuple[int, str, str]:
    """The exit status of a command, its output and its errors."""
    done = subprocess.run(
        words, cwd=root / folder, env=ENVIRONMENT | environment, input="in", capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_ends_as_with_the_full_program(served: Serving, what: str) -> None:
    agent = ("--agent", "ann", "--")
    assert told(served.root, *ENTRY, *agent, *COMMANDS[what]) == told(served.root, *FULL, *agent, *COMMANDS[what])


@pytest.mark.parametrize("agent", [("--agent", "outside"), ("--agent", " "), ("--agent", "a\nb"), ()])
def test_a_holder_that_cannot_be_is_refused_as_by_the_full_program(served: Serving, agent: tuple[str, ...]) -> None:
    status, _, said = told(served.root, *ENTRY, *agent, "--", "true")
    assert (status, said) == told(served.root, *FULL, *agent, "--", "true")[::2]
    assert status != 0


def test_it_loads_nothing_that_takes_long(served: Serving) -> None:
    entry = (ENTRY[0], "-X", "importtime", *ENTRY[1:])
    status, _, said = told(served.root, *entry, "--", "true", COMMONHOLD_AGENT="ann")
    loaded = {line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")}
    assert status == 0
    assert "commonhold.client.launching.command" in loaded
    assert loaded.isdisjoint({"click", "ctypes", "dataclasses", "json", "msgspec", "pathlib", "socket", "tomllib"})


def test_what_it_writes_is_recorded_as_its_sessions(served: Serving) -> None:
    (served.root / "sub").mkdir(exist_ok=True)
    line = ("--agent", "ann", "--", "sh", "-c", "echo 'b = 1' > b.py")
    assert told(served.root, *ENTRY, *line, folder="sub") == (0, "", "")
    with served.session("ben") as session:
        commits = [each.event for each in session.log() if isinstance(each.event, Committed)]
    assert [(each.holder, [file.path for file in each.files]) for each in commits] == [("ann", ["sub/b.py"])]


def test_to_kill_it_is_to_kill_the_command(served: Serving) -> None:
    words = (*ENTRY, "--agent", "ann", "--", "sh", "-c", "echo $$; exec sleep 600")
    with subprocess.Popen(words, cwd=served.root, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        inner = int(child.stdout.readline())
        child.send_signal(signal.SIGTERM)
        assert child.wait() == 128 + signal.SIGTERM
    with suppress(ProcessLookupError):
        while True:  # it is gone as soon as it has been waited for
            os.kill(inner, 0)
            time.sleep(0.01)


@pytest.mark.skipif(not offered().is_enforced, reason="nothing can be made read-only here")
def test_a_package_of_a_project_never_stands_in_for_ours(served: Serving, tmp_path: Path) -> None:
    """Whoever sets PYTHONPATH has its packages before ours: one called `sandbox` is a common thing."""
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox/__init__.py").write_text("print('theirs')\n")
    (tmp_path / "sandbox/mounts.py").write_text("def mask(masked, kept): print('theirs')\n")
    before = (served.root / "a.py").read_text()
    words = ("--agent", "ann", "--", "sh", "-c", "f=a.py; echo 'a = 2' >> $f")
    with served.session("ben") as session:
        lease = session.acquire("a.py").lease
        status, output, said = told(served.root, *ENTRY, *words, PYTHONPATH=str(tmp_path))
        assert lease is not None
        session.release(lease.id)
    assert (status != 0, output) == (True, "")
    assert "ben holds a.py" in said
    assert (served.root / "a.py").read_text() == before


def test_where_no_daemon_is_the_full_program_begins_one(tmp_path: Path) -> None:
    subprocess.run((*GIT, "init", "-q"), cwd=tmp_path, check=True)
    try:
        assert told(tmp_path, *ENTRY, "--agent", "ann", "--", "echo", "x") == (0, "x\n", "")
    finally:
        told(tmp_path, sys.executable, "-m", "commonhold", "daemon", "stop")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["leases"],
        ["exec"],
        ["exec", "true"],
        ["exec", "--"],
        ["exec", "--help"],
        ["exec", "--agent", "ann", "true"],
        ["exec", "--agent", "--", "true"],
        ["exec", "--agent=ann", "--", "true"],
        ["exec", "--", "true"],
    ],
)
def test_what_is_not_plain_is_left_to_the_full_program(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMONHOLD_AGENT", raising=False)
    assert executed(words) is None


@pytest.mark.parametrize("name", ["COMMONHOLD_DEBUG", "_COMMONHOLD_COMPLETE"])
def test_what_only_the_full_program_heeds_is_left_to_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert executed(["exec", "--agent", "ann", "--", "true"]) is None
