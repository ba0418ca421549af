"""Agents run commands dozens of times a session: what a daemon answers loads nothing of what does the work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.daemon_process import Serving, serving

from commonhold.cli.commands import COMMANDS
from commonhold.client.opening import open_session

pytestmark = pytest.mark.slow

JUDGES = (
    "commonhold.commits.write_use_cases",
    "commonhold.merging",
    "commonhold.code.analysis.repository",
    "commonhold.code.analysis",
)
KEEPS = (
    "apsw",
    "tree_sitter",
    "commonhold.bootstrap",
    "commonhold.commits.use_cases",
    "commonhold.code.regions.discover",
)
ENGINE = (*JUDGES, *KEEPS)
"""What does the work: modules, and whole rooms."""
LIGHT = {
    "acquire": ("acquire", "a.py#one", "a.py#Box.grow", "new.py", "no.such.module", "account:1"),
    "ask": ("ask", "LEASE", "--why", "mine is small"),
    "break": ("break", "LEASE", "--reason", "it is in the way"),
    "commit": ("commit", "--key", "b.py", "--create", "--intent", "a new file"),
    "completion": ("completion", "bash"),
    "config": ("config",),
    "daemon": ("daemon", "status"),
    "exec": ("exec", "--", "true"),
    "exit-codes": ("exit-codes",),
    "explain": ("explain", "LOCK_CONFLICT"),
    "get": ("get", "account:1"),
    "hand-over": ("hand-over", "LEASE", "--to", "bob"),
    "help": ("help",),
    "hook": ("hook", "claude"),
    "install": ("install", "git", "--dry-run"),
    "leases": ("leases",),
    "log": ("log",),
    "put": ("put", "account:1", "100", "--expect", "0"),
    "adopt": ("adopt", "gone.py", "--from", "gone"),
    "regions": ("regions", "a.py"),
    "release": ("release", "LEASE"),
    "renew": ("renew", "LEASE"),
    "replay": ("replay",),
    "review": ("review",),
    "record-read": ("record-read", "a.py"),
    "show": ("show", "a.py#one"),
    "stats": ("stats",),
    "status": ("status",),
    "sweep": ("sweep",),
    "token": ("token", "issue"),
    "notify": ("notify", "add", "desktop"),
    "top": ("top", "--once"),
    "undo": ("undo", "gone"),
    "uninstall": ("uninstall", "git", "--dry-run"),
    "version-of": ("version-of", "a.py#one"),
    "who": ("who", "a.py#one"),
}
WORKING = {
    *(
        "archive",
        "backup",
        "callers",
        "check",
        "claim",
        "contract",
        "queue",
        "restore",
        "demo",
        "doctor",
        "impact",
        "mcp",
        "worker",
        "merge",
        "merge-file",
        "plan",
        "serve",
        "run",
        "session",
        "task",
    ),
}
"""What does the work in its own process, or serves others."""
QUICK = {
    "commonhold.cli.main": "*",
    "commonhold.cli.quick": "*",
    "commonhold.cli.output": "*",
    "commonhold.cli.describe": "*",
    "commonhold.cli.status_words": "status",
    "commonhold.cli.region_words": "regions show",
    "commonhold.client.reader": "*",
    "commonhold.workspace.repository_paths": "*",
    "commonhold.workspace.socket_paths": "*",
    "commonhold.kernel.errors": "*",
    "commonhold.kernel.write_slot_names": "*",
    "commonhold.kernel.texts": "*",
    "commonhold.api.wire": "*",
    "commonhold.api.wire.messagepack": "*",
    "commonhold.api.wire.protocol": "*",
}
"""All of ours that commands which only look load, beside packages; and which of them do."""
GLANCING = {
    "commonhold.machine.boot_clock": "*",
    "commonhold.stores.sqlite": "*",
    "commonhold.stores.sqlite.connect": "*",
    "commonhold.machine.file_systems": "*",
    "commonhold.stores.sqlite.last_event_mark": "*",
    "commonhold.stores.sqlite.statements": "*",
    "commonhold.stores.sqlite.checked_opening": "*",
    "commonhold.stores.statements": "*",
    "commonhold.stores.transaction": "*",
    "commonhold.client.glance": "*",
    "commonhold.client.outlines": "regions show",
    "commonhold.kernel.expiry": "*",
}
"""What they load beside those where no daemon is; and which of them do."""
HEAVY = {
    *("apsw", "asyncio", "click", "dataclasses", "inspect", "json", "logging", "msgspec", "pathlib", "socket"),
    *("subprocess", "tempfile", "threading", "tomllib", "urllib"),
}
"""What takes as long to load as Python takes to start, or a good part of it."""
PAYLOAD = {"session_id": "s1", "hook_event_name": "Notification", "message": "x", "cwd": "."}


ENTRY = ("-c", "import sys; from commonhold.cli.main import run; run()")
"""How the installed command begins; `-m` loads more before it comes to us."""


def loaded_by(*words: str, root: Path, entry: tuple[str, ...] = ("-m", "commonhold")) -> set[str]:
    """The modules that a command loads, which must succeed."""
    command = [sys.executable, "-X", "importtime", *entry, *words]
    done = subprocess.run(
        command, cwd=root, input=json.dumps(PAYLOAD), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.splitlines()[-3:]
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def parts_in(modules: set[str], parts: tuple[str, ...] = ENGINE) -> set[str]:
    """Which parts of the engine were loaded."""
    return {part for part in parts if any(f"{each}.".startswith(f"{part}.") for each in modules)}


def words_of(name: str, daemon: Serving) -> list[str]:
    """The words of a command, on a lease of its own."""
    with daemon.session() as hold:
        lease = hold.acquire(f"job:{name}").lease
    assert lease is not None
    return [lease.id if word == "LEASE" else word for word in LIGHT[name]]


def test_every_command_is_light_or_works() -> None:
    assert LIGHT.keys() | WORKING == COMMANDS.keys()
    assert not LIGHT.keys() & WORKING


@pytest.mark.parametrize("name", ["queue", "run", "session", "task"])
def test_a_list_loads_nothing_of_what_carries_out_or_merges(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    with serving(root):
        modules = loaded_by(name, "list", root=root)
    workers = ("commonhold.coordinator", "commonhold.index", "commonhold.session_host")
    assert parts_in(modules, (*ENGINE, *workers)) == set()


def test_what_the_daemon_answers_loads_no_engine(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    with serving(root) as daemon:
        with daemon.session("gone") as gone:
            (root / "gone.py").touch()
            gone.record_external_writes({"gone.py": None})
            gone.end_session()
        loaded = {name: loaded_by(*words_of(name, daemon), root=root) for name in LIGHT}
    assert {name: found for name, modules in loaded.items() if (found := parts_in(modules))} == {}


@pytest.mark.parametrize("name", ["leases", "regions", "show", "status"])
def test_commands_that_only_look_load_these_modules_and_no_others(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONHOLD_DAEMON", "on")
    with serving(root) as daemon:
        loaded = loaded_by(*words_of(name, daemon), root=root, entry=ENTRY)
    ours = {each for each in loaded if each.startswith("commonhold.") and each.count(".") > 1}
    assert ours == {module for module, names in QUICK.items() if names == "*" or name in names.split()}
    assert HEAVY & loaded == set()


@pytest.mark.parametrize("name", ["leases", "regions", "show", "status"])
def test_without_a_daemon_these_modules_are_loaded_and_no_others(
    name: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COMMONHOLD_AGENT")
    with open_session(str(root), agent="ann", daemon=False) as ann:
        assert ann.acquire("a.py#one").lease
    loaded_by(*LIGHT[name], root=root, entry=ENTRY)  # what it finds in the file is kept
    loaded = loaded_by(*LIGHT[name], root=root, entry=ENTRY)
    ours = {each for each in loaded if each.startswith("commonhold.") and each.count(".") > 1}
    expected = QUICK | GLANCING
    assert ours == {module for module, names in expected.items() if names == "*" or name in names.split()}
    assert (HEAVY - {"apsw", "json"}) & loaded == set()


@pytest.mark.parametrize("name", ["acquire", "log", "show"])
def test_without_a_daemon_what_judges_changes_is_not_loaded(name: str, root: Path) -> None:
    assert parts_in(loaded_by(*LIGHT[name], root=root)) == set(KEEPS)


def test_a_commit_without_a_daemon_loads_all(root: Path) -> None:
    assert parts_in(loaded_by(*LIGHT["commit"], root=root)) == set(ENGINE)
