"""The sandbox: what commands in it can see and change, and that their work comes out of it."""

import os
import shutil
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.session_host.repository import Project, git

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.managed_session import ManagedSession, Sandbox
from commonhold.session_host import bubblewrap
from commonhold.session_host.bubblewrap import boxed
from commonhold.session_host.session_files import WorkspaceNote

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap"),
]


class Box:
    """A session in a sandbox, whose home is a folder with a secret."""

    def __init__(self, project: Project, home: Path, **more: Any) -> None:
        self.project, self.home = project, home
        self.session: ManagedSession = project.session(sandbox=Sandbox.BUBBLEWRAP, **more)
        made = project.worktrees.make(self.session, 1)
        self.note: WorkspaceNote = boxed(self.session, made, project.files, project.worktrees.common_dir)

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        words = (*self.note.box, "/bin/sh", "-c", line)
        who = {f"GIT_{each}_{what}": "a@b" for each in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return subprocess.run(words, env={**os.environ, **who}, capture_output=True, text=True, check=False)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    (made / "secret").write_text("x")
    monkeypatch.setenv("HOME", str(made))
    return made


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_all_but_the_workspace_is_hidden_or_read_only(project: Project, home: Path) -> None:
    box = Box(project, home)
    assert box.run("echo new > b.py && cat a.py").returncode == 0
    assert (Path(box.note.path) / "b.py").read_text() == "new\n"
    for line in (
        f"cat {home}/secret",
        f"ls {project.root}/a.py",
        f"rm -rf {project.root}/.git/objects/*/*",
        f"rm {project.root}/.git/config",
        f"git -C {project.root} update-ref refs/heads/main HEAD~0",
        "touch /etc/x",
        "touch /usr/x",
        "mount -o remount,rw /",
    ):
        box.run(line)
    assert box.run(f"cat {home}/secret").returncode
    assert not Path("/etc/x").exists()
    assert git(project.root, "fsck") == ""
    assert (project.root / ".git/config").is_file()


def test_the_network_is_off_unless_it_is_asked_for(project: Project, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
        box = Box(project, home)
        assert box.run(f"bash -c '{line}'").returncode
        open_note = boxed(replace(box.session, network=True), box.note, project.files, project.worktrees.common_dir)
        box.note = open_note
        assert box.run(f"bash -c '{line}'").returncode == 0


def test_exposed_paths_are_visible_and_writable_only_if_that_is_said(project: Project, home: Path) -> None:
    for name in ("read", "write"):
        (home / name).mkdir()
    box = Box(project, home, exposed=(f"{home}/read", f"{home}/write:rw"))
    assert box.run(f"ls {home}/read && touch {home}/write/x").returncode == 0
    assert box.run(f"touch {home}/read/x").returncode
    assert (home / "write" / "x").exists()


def test_commits_and_uncommitted_work_come_out_and_settings_of_the_agent_do_not_run(
    project: Project, home: Path
) -> None:
    box = Box(project, home)
    ran = project.root.parent / "ran"
    done = box.run(
        "echo 1 > b.py && git add b.py && git commit -q -m one && git log --oneline | wc -l"
        " && echo 2 > c.py && git add c.py && echo '* filter=evil' > .gitattributes"
        f" && git config --worktree filter.evil.clean 'touch {ran}; cat'; git status --short"
    )
    assert "2\n" in done.stdout, done
    assert "A  c.py" in done.stdout
    Path(box.note.git_dir, "commondir").write_text("/nowhere\n")
    result, is_complete = project.worktrees.harvest(box.note)
    assert is_complete
    assert git(project.root, "show", f"{result.tip}:b.py") == "1"
    assert git(project.root, "show", f"{result.snapshot}:c.py") == "2"
    assert project.ref("agent/s1") == result.tip
    shutil.rmtree(box.note.private)
    assert git(project.root, "fsck", "--no-dangling") == ""
    assert not ran.exists()


def test_commits_that_are_not_checked_out_at_the_end_come_out_too(project: Project, home: Path) -> None:
    box = Box(project, home)
    commit = "git commit -q --allow-empty -m"
    done = box.run(f"{commit} one && git checkout -q -b agent/aside && {commit} two && git checkout -q --detach HEAD~2")
    assert done.returncode == 0, done
    result, _ = project.worktrees.harvest(box.note)
    project.worktrees.remove(box.note)
    assert result.tip == box.session.base
    assert git(project.root, "log", "-1", "--format=%s", "agent/s1") == "one"
    assert git(project.root, "log", "-1", "--format=%s", "refs/commonhold/sessions/s1/branches/aside") == "two"
    assert not Path(box.note.private).exists()


def test_a_sandbox_that_claims_a_commit_which_is_not_there_keeps_its_workspace(project: Project, home: Path) -> None:
    box = Box(project, home)
    Path(box.note.private, "branches", "s1").write_text(f"{'1' * 40}\n")
    with pytest.raises(StoreError):
        project.worktrees.harvest(box.note)
    Path(box.note.private, "branches", "s1").unlink()
    Path(box.note.private, "branches", "s1").symlink_to("/etc/passwd")
    result, _ = project.worktrees.harvest(box.note)
    assert result.tip == box.session.base


def test_a_missing_program_and_a_failure_of_it_are_named(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match="nowhere") as failed:
        Box(project, home, exposed=("/nowhere/at/all:rw",))
    assert failed.value.code is Code.SANDBOX_FAILED
    monkeypatch.setattr(bubblewrap, "_PROGRAM", "no-such-bwrap")
    note = project.files.note("s1")
    assert note is not None
    with pytest.raises(StoreError, match="not installed"):
        boxed(project.session(), note, project.files, project.worktrees.common_dir)
