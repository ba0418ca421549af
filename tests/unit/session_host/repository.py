"""A git repository with a place for the workspaces of its sessions."""

import subprocess
from pathlib import Path

from commonhold.config import Settings
from commonhold.kernel.managed_session import ManagedSession
from commonhold.session_host.session_files import SessionFiles
from commonhold.session_host.worktrees import Worktrees
from commonhold.workspace.git.process import Git
from commonhold.workspace.repository import find_repository


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Project:
    """A repository with one commit, and the parts of a session host."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir(parents=True)
        git(self.root, "init", "--quiet", "--initial-branch", "main")
        git(self.root, "config", "user.name", "ann")
        git(self.root, "config", "user.email", "ann@example.com")
        self.write("a.py", "def f():\n    return 1\n")
        self.write(".gitignore", ".env\n*.log\n")
        self.commit("one")
        repository = find_repository(str(self.root))
        self.files = SessionFiles.of(repository, Settings(workspaces=str(folder / "workspaces")))
        self.worktrees = Worktrees(Git(str(self.root)), self.files)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def commit(self, message: str) -> str:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message", message)
        return self.head

    @property
    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD")

    def ref(self, name: str) -> str:
        return git(self.root, "rev-parse", "--verify", name)

    def session(self, session: str = "s1", **rest: object) -> ManagedSession:
        return ManagedSession(session, "do it", "agent", self.head, str(self.root), "here", **rest)  # type: ignore[arg-type]
