"""Commits that travel between machines through a git remote."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from tests.unit.session_host.repository import Project, git

from commonhold.client.session import Commonhold
from commonhold.config import Settings
from commonhold.kernel.errors import Code, StoreError, UsageError
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionMove, SessionResult
from commonhold.session_host import supervisor
from commonhold.session_host.commands import Stopped
from commonhold.session_host.shared_commits import obtain_commit, offer_commit
from commonhold.session_host.supervisor import Supervisor, Wishes
from commonhold.sessions.commands import SessionReport
from commonhold.workspace.git.process import Git


@dataclass
class Undisturbed(Wishes):
    """The wishes of people who have none."""

    def asked(self) -> Stopped | None:
        return None


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    git(tmp_path, "clone", "--quiet", "--bare", "project", "remote.git")
    git(tmp_path, "clone", "--quiet", "remote.git", "elsewhere")
    git(made.root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    return made


def test_a_commit_that_is_offered_is_obtained_elsewhere(project: Project, tmp_path: Path) -> None:
    here, elsewhere = Git(str(project.root)), Git(str(tmp_path / "elsewhere"))
    project.write("b.py", "x = 1\n")
    work = project.commit("two")
    for _ in range(2):
        offer_commit(here, "origin", work)
    for _ in range(2):
        obtain_commit(elsewhere, "origin", work)
    assert elsewhere.line("show", f"{work}:b.py") == "x = 1"
    assert git(tmp_path / "remote.git", "branch", "--contains", work) == "", "a branch of the remote has moved"


@pytest.mark.parametrize("remote", ["upstream", "--all", "."])
def test_only_remotes_that_git_knows_are_asked(project: Project, remote: str) -> None:
    with pytest.raises(UsageError, match="no git remote"):
        offer_commit(Git(str(project.root)), remote, project.head)
    with pytest.raises(UsageError, match="no git remote"):
        obtain_commit(Git(str(project.root)), remote, "0" * 40)


def test_a_commit_that_the_remote_does_not_have_is_an_error_with_the_reason(project: Project) -> None:
    with pytest.raises(StoreError, match="cannot be fetched from the git remote origin: fatal") as raised:
        obtain_commit(Git(str(project.root)), "origin", "1" * 40)
    assert raised.value.code is Code.GIT_FAILED


@pytest.mark.parametrize(
    ("move", "after"), [(SessionMove.FINISH, SessionMove.FAIL), (SessionMove.PAUSE, SessionMove.PAUSE)]
)
def test_work_that_cannot_be_pushed_ends_a_session_and_its_note_says_why(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, move: SessionMove, after: SessionMove
) -> None:
    monkeypatch.setattr(supervisor, "_REPORT_SECONDS", 0.0)
    (tmp_path / "remote.git").rename(tmp_path / "gone.git")
    no_store = cast("Commonhold", None)
    record = ManagedSessionRecord(project.session(remote="origin"), 1, "ann", 0.0, 0.0)
    one = Supervisor(no_store, Git(str(project.root)), project.worktrees, project.files, Settings(), "")
    report = SessionReport(move, "the agent ended", result=SessionResult(project.head, project.head))
    found = one._offered(record, report, Undisturbed(no_store, record))
    assert (found.move, found.result) == (after, report.result)
    assert found.note.startswith("the agent ended; its work is on that machine only: the commit")
    (tmp_path / "gone.git").rename(tmp_path / "remote.git")
    assert one._offered(record, report, Undisturbed(no_store, record)) == report
