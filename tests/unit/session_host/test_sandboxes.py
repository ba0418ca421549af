"""What every sandbox keeps: how commands in it end, what they can see and change, and that their work comes out."""

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.services.fixtures import require
from tests.unit.session_host.repository import Project, git
from tests.unit.session_host.test_turn import in_a_process

from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.managed_session import EndCause, Sandbox, SessionMove
from commonhold.machine.process_groups import SESSION_LABEL
from commonhold.machine.process_tree import with_variable
from commonhold.session_host import bubblewrap
from commonhold.session_host.bubblewrap import boxed
from commonhold.session_host.containers import contained
from commonhold.session_host.limits import Limits, limits_of, remove_limits
from commonhold.session_host.turn import Turn, environment_of
from commonhold.sessions.commands import SessionReport

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes need Linux"),
]
ALL = [*Sandbox]
CONFINED = [Sandbox.BUBBLEWRAP, Sandbox.DOCKER]


class Box:
    """A session in a sandbox, whose home is a folder with a secret. Its commands are run as those of a turn."""

    def __init__(self, project: Project, sandbox: Sandbox, home: Path, image: str = "", **more: Any) -> None:
        self.project, self.home = project, home
        self.session = project.session(sandbox=sandbox, **more)
        made = project.worktrees.make(self.session, 1)
        if sandbox is Sandbox.DOCKER:
            made = contained(self.session, made, project.files, project.worktrees.common_dir, image)
        elif sandbox is Sandbox.BUBBLEWRAP:
            made = boxed(self.session, made, project.files, project.worktrees.common_dir)
        self.note = made
        project.files.put_note(made)
        self.label = project.files.label("s1", 1)
        self.log = project.files.log("s1", 1)

    def run(self, line: str, now: Callable[[], float] = time.monotonic) -> SessionReport:
        """Run a line of shell, as bash understands it."""
        who = {f"GIT_{each}_{what}": "a@b" for each in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = environment_of({**os.environ, **who}, "agent:s1", self.label, range(21_000, 21_010), {})
        group = self.project.files.group("s1")
        limits = Limits() if self.note.container else limits_of(self.session, group)
        turn = Turn(self.note, self.log, environment, lambda: None, tuple, limits, now=now)
        try:
            return in_a_process(lambda: turn.run(self.session, ("/bin/bash", "-c", line), is_first=True))
        finally:
            remove_limits(group)

    def works(self, line: str) -> bool:
        return self.run(line).move is SessionMove.FINISH

    @property
    def printed(self) -> str:
        return self.log.read_text()


NewBox = Callable[..., Box]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def new_box(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> NewBox:
    def make(sandbox: Sandbox, docker_host: str | None = None, **more: Any) -> Box:
        home = tmp_path / "home"
        home.mkdir()
        (home / "secret").write_text("x")
        if sandbox is Sandbox.DOCKER:
            monkeypatch.setenv("DOCKER_HOST", docker_host or request.getfixturevalue("docker_host"))
        elif sandbox is Sandbox.BUBBLEWRAP:
            require("bwrap")
        monkeypatch.setenv("HOME", str(home))
        return Box(project, sandbox, home, **more)

    return make


@pytest.mark.parametrize("sandbox", ALL)
def test_no_sandbox_changes_how_an_end_is_told(new_box: NewBox, sandbox: Sandbox) -> None:
    box = new_box(sandbox)
    exited, killed = box.run("echo out; echo err >&2; (setsid sleep 71 &); exit 3"), box.run("kill -9 $$")
    assert (exited.cause, exited.status, exited.note) == (EndCause.EXITED, 3, "the agent ended with exit status 3")
    assert (killed.cause, killed.status) == (EndCause.KILLED, -signal.SIGKILL)
    assert box.printed.splitlines()[:2] == ["out", "err"]
    assert with_variable(SESSION_LABEL, box.label) == ()


@pytest.mark.parametrize("sandbox", ALL)
def test_an_agent_that_takes_too_long_is_asked_to_end_and_all_that_it_started_ends(
    new_box: NewBox, sandbox: Sandbox
) -> None:
    box = new_box(sandbox)
    report = box.run(
        "trap 'echo asked; exit 0' TERM; (setsid sleep 71 &); echo begun; sleep 72 & wait",
        now=lambda: time.monotonic() + (4_000.0 if box.log.exists() and "begun" in box.printed else 0.0),
    )
    assert (report.move, report.cause, report.note) == (
        SessionMove.FAIL,
        EndCause.TIMED_OUT,
        "it exceeded the limit of 3600 s",
    )
    assert box.printed == "begun\nasked\n"
    assert with_variable(SESSION_LABEL, box.label) == ()


@pytest.mark.parametrize("sandbox", ALL)
def test_an_agent_that_eats_its_memory_is_said_to_have_done_so(new_box: NewBox, sandbox: Sandbox) -> None:
    box = new_box(sandbox, memory_bytes=64 << 20, cpus=1.5)
    try:
        report = box.run(f"""(sleep 71 &); {sys.executable} -c "b'x' * (200 << 20)"; exit 7""")
    except StoreError as fault:
        pytest.skip(fault.message)
    assert (report.move, report.cause, report.status) == (SessionMove.FAIL, EndCause.OUT_OF_MEMORY, 7)
    assert "its limit is 64 MiB, its peak was 6" in report.note


@pytest.mark.parametrize("sandbox", CONFINED)
def test_all_but_the_workspace_is_hidden_or_read_only(new_box: NewBox, project: Project, sandbox: Sandbox) -> None:
    (project.root / "shown").mkdir()
    (project.root / "written").mkdir()
    box = new_box(sandbox, exposed=(f"{project.root}/shown", f"{project.root}/written:rw"))
    refused = (
        f"cat {box.home}/secret",
        f"ls {project.root}/a.py",
        f"rm -rf {project.root}/.git/objects/*/*",
        f"rm {project.root}/.git/config",
        f"git -C {project.root} update-ref refs/heads/main HEAD~0",
        f"touch {project.root}/shown/x",
        "touch /etc/x",
        "touch /usr/x",
        "mount -o remount,rw /",
    )
    tries = "; ".join(f"({each}) && echo 'done: {each}'" for each in refused)
    assert box.works(
        f"echo new > b.py && cat a.py && touch {project.root}/written/x && ls {project.root}/shown; {tries}; :"
    )
    done = [each for each in box.printed.splitlines() if each.startswith("done: ")]
    assert done == [f"done: {refused[2]}"], box.printed  # of its own objects, which are none
    assert (Path(box.note.path) / "b.py").read_text() == "new\n"
    assert (project.root / "written/x").exists()
    assert not Path("/etc/x").exists()
    assert git(project.root, "fsck") == ""
    assert (project.root / ".git/config").is_file()


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("sandbox", CONFINED)
def test_the_network_is_off_unless_it_is_asked_for(new_box: NewBox, sandbox: Sandbox, *, is_open: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        box = new_box(sandbox, network=is_open)
        assert box.works(f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}") is is_open


@pytest.mark.parametrize("sandbox", CONFINED)
def test_commits_and_uncommitted_work_come_out_and_settings_of_the_agent_do_not_run(
    new_box: NewBox, project: Project, sandbox: Sandbox
) -> None:
    box = new_box(sandbox)
    ran = project.root.parent / "ran"
    assert box.works(
        "echo 1 > b.py && git add b.py && git commit -q -m one && git log --oneline | wc -l"
        " && echo 2 > c.py && git add c.py && echo '* filter=evil' > .gitattributes"
        f" && git config --worktree filter.evil.clean 'touch {ran}; cat'; git status --short"
    )
    assert "2\n" in box.printed
    assert "A  c.py" in box.printed
    Path(box.note.git_dir, "commondir").write_text("/nowhere\n")
    result, is_complete = project.worktrees.harvest(box.note)
    assert is_complete
    assert git(project.root, "show", f"{result.tip}:b.py") == "1"
    assert git(project.root, "show", f"{result.snapshot}:c.py") == "2"
    assert project.ref("agent/s1") == result.tip
    shutil.rmtree(box.note.private)
    assert git(project.root, "fsck", "--no-dangling") == ""
    assert not ran.exists()


@pytest.mark.parametrize("sandbox", CONFINED)
def test_commits_that_are_not_checked_out_at_the_end_come_out_too(
    new_box: NewBox, project: Project, sandbox: Sandbox
) -> None:
    box = new_box(sandbox)
    commit = "git commit -q --allow-empty -m"
    aside = "git rev-parse HEAD > $(git rev-parse --git-path refs/heads/agent/left.lock)"
    line = (
        f"{commit} one && git checkout -q -b agent/aside && {commit} two && {aside}"
        f" && git checkout -q -b agent/far/aside && {commit} three && git checkout -q --detach HEAD~3"
    )
    assert box.works(line), box.printed
    result, _ = project.worktrees.harvest(box.note)
    project.worktrees.remove(box.note)
    assert result.tip == box.session.base
    assert git(project.root, "log", "-1", "--format=%s", "agent/s1") == "one"
    assert git(project.root, "log", "-1", "--format=%s", "refs/commonhold/sessions/s1/1-branches/aside") == "two"
    assert git(project.root, "log", "-1", "--format=%s", "refs/commonhold/sessions/s1/1-branches/far/aside") == "three"
    assert not Path(box.note.private).exists()


def test_a_branch_that_git_cannot_name_keeps_the_workspace(new_box: NewBox, project: Project) -> None:
    box = new_box(Sandbox.BUBBLEWRAP)
    assert box.works("git commit -q --allow-empty -m one"), box.printed
    branches = Path(box.note.private, "branches")
    for name in ("a..b", "two\nlines", os.fsdecode(b"\xff"), "fine"):
        (branches / name).write_bytes((branches / "s1").read_bytes())
    result, is_complete = project.worktrees.harvest(box.note)
    assert not is_complete
    assert project.ref("agent/s1") == project.ref("refs/commonhold/sessions/s1/1-branches/fine") == result.tip


def test_a_sandbox_that_claims_a_commit_which_is_not_there_keeps_its_workspace(
    new_box: NewBox, project: Project
) -> None:
    box = new_box(Sandbox.BUBBLEWRAP)
    Path(box.note.private, "branches", "s1").write_text(f"{'1' * 40}\n")
    with pytest.raises(StoreError):
        project.worktrees.harvest(box.note)
    Path(box.note.private, "branches", "s1").unlink()
    Path(box.note.private, "branches", "s1").symlink_to("/etc/passwd")
    result, _ = project.worktrees.harvest(box.note)
    assert result.tip == box.session.base


def test_a_missing_program_and_a_failure_of_it_are_named(
    new_box: NewBox, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match="nowhere") as failed:
        new_box(Sandbox.BUBBLEWRAP, exposed=("/nowhere/at/all:rw",))
    assert failed.value.code is Code.SANDBOX_FAILED
    monkeypatch.setattr(bubblewrap, "_PROGRAM", "no-such-bwrap")
    note = project.files.note("s1")
    assert note is not None
    with pytest.raises(StoreError, match="not installed"):
        boxed(project.session(), note, project.files, project.worktrees.common_dir)
